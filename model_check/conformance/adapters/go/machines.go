package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// This file has the controller as its verbs share it: what it caches, and its two state machines.

// controller is what a controller knows. One that is driven has more.
type controller struct {
	adapter                  *adapter
	epoch                    int
	registered, shuttingDown brokers               // the former in ascending order, whether shutting down or not
	assigned                 map[string]brokers    // AR by partition
	leaderships              map[string]leadership // by partition
	reassigning              map[string]*reassigning

	states                             map[string]string // of partitions and replicas
	partitionsStarted, replicasStarted bool
	queued, ineligible                 map[string]bool // topics that are to be deleted, and of them those that cannot be
	leaving                            map[string]bool // the partitions of the queued topics that were known then
	woken                              bool            // the deletion thread has something to look at

	znodes                              znodes
	channels                            channels
	batch, partitionBatch, replicaBatch *batch
	resign                              func() // what the controller's own sends do when they fail
}

// znodes are those that the state machines read and write.
type znodes interface {
	// readState gives what the state znode of a partition holds, or nil where there is none, or none that is JSON.
	readState(name string) (*leadership, error)
	createState(name string, to state) error
	// updateState writes on a version, and gives the version then.
	updateState(name string, to state, on int) (version int, done bool)
	// isUnclean says whether a replica of a topic may be elected that is not in the ISR.
	isUnclean(topic string) (bool, error)
}

// channels lead to the brokers. To deliver fails where there are none to deliver by, and something is to be sent.
type channels interface{ deliver(*batch) error }

// start makes a controller that knows nothing yet.
func (a *adapter) start(z znodes, ch channels) *controller {
	c := &controller{
		adapter: a, assigned: map[string]brokers{}, leaderships: map[string]leadership{}, states: map[string]string{},
		reassigning: map[string]*reassigning{}, queued: map[string]bool{},
		ineligible: map[string]bool{}, leaving: map[string]bool{}, znodes: z, channels: ch, resign: func() {},
	}
	c.batch, c.partitionBatch, c.replicaBatch = newBatch(c), newBatch(c), newBatch(c)
	return c
}

// live is who is registered and does not shut down.
func (c *controller) live() brokers { return c.registered.without(c.shuttingDown) }

// isQueued says whether the topic of a partition is queued for deletion.
func (c *controller) isQueued(name string) bool { return c.queued[topicOf(name)] }

// isLeaving says whether a partition is being deleted.
func (c *controller) isLeaving(name string) bool { return c.leaving[name] }

// names has all partitions with AR, ascending.
func (c *controller) names() []string { return slices.Sorted(maps.Keys(c.assigned)) }

// replicaKey is the key of a replica.
func replicaKey(partition string, replica int) string { return partition + "/" + strconv.Itoa(replica) }

// replicasOn has the keys of the replicas on some brokers. They are a set, even where AR names a broker twice.
func (c *controller) replicasOn(on brokers) (keys []string) {
	for _, name := range c.names() {
		for _, replica := range c.assigned[name].in(on).distinct() {
			keys = append(keys, replicaKey(name, replica))
		}
	}
	return keys
}

// replicasOf has the keys of all replicas of some partitions, likewise a set.
func (c *controller) replicasOf(names []string) (keys []string) {
	for _, name := range names {
		for _, replica := range c.assigned[name].distinct() {
			keys = append(keys, replicaKey(name, replica))
		}
	}
	return keys
}

// isReplica says whether a key, or a state, is one of a replica.
func isReplica(keyOrState string) bool {
	return strings.Contains(keyOrState, "/") || strings.Contains(keyOrState, "Replica")
}

// change is what keys are to undergo.
type change struct {
	target   string
	selector string // who elects
	answer   bool   // whether a StopReplica is to be answered
}

// ---- Both machines ----

// handleStateChanges lets each key go to the target by itself, and sends what comes of it as one batch. It gives the
// keys that failed, and never fails itself: where the batch cannot be begun, nothing is done.
func (c *controller) handleStateChanges(keys []string, to change) (failed []string) {
	b, started := c.partitionBatch, c.partitionsStarted
	if isReplica(to.target) {
		b, started = c.replicaBatch, c.replicasStarted
	}
	if b.begin() != nil || !started {
		return keys
	}
	for _, key := range keys {
		if c.changeState(key, to) != nil {
			failed = append(failed, key)
		}
	}
	_ = b.send() // Kafka logs it
	return failed
}

// changeState lets one key go to another state.
func (c *controller) changeState(key string, to change) error {
	name, id, _ := strings.Cut(key, "/")
	machine, from := "partition", "NonExistentPartition"
	if isReplica(key) {
		machine, from = "replica", "NonExistentReplica"
	}
	if known, there := c.states[key]; there {
		from = known
	}
	c.states[key] = from
	replicas, known := c.assigned[name]
	if !known && machine == "replica" {
		return fmt.Errorf("%s has no assigned replicas", name)
	}
	if !slices.Contains(predecessors[machine][to.target], from) {
		return fmt.Errorf("%s cannot go from %s to %s", key, from, to.target)
	}
	if machine == "partition" {
		return c.changePartition(name, from, to)
	}
	replica, err := strconv.Atoi(id)
	if err != nil {
		return err
	}
	return c.changeReplica(name, replica, replicas, from, to)
}

// ---- PartitionStateMachine ----

// changePartition does what a change of a partition comes with.
func (c *controller) changePartition(name, from string, to change) error {
	if to.target != "OnlinePartition" {
		c.states[name] = to.target
		if _, known := c.assigned[name]; !known && to.target == "NewPartition" {
			return fmt.Errorf("%s has no assigned replicas", name) // which is found when the state is set
		}
		return nil
	}
	var err error
	if from == "NewPartition" {
		err = c.initializeLeaderAndIsr(name)
	} else {
		err = c.electLeader(name, to.selector)
	}
	if err == nil {
		c.states[name] = to.target
	}
	return err
}

// initializeLeaderAndIsr gives a new partition its first leader.
func (c *controller) initializeLeaderAndIsr(name string) error {
	isr := c.assigned[name].in(c.live())
	if len(isr) == 0 {
		return errors.New("no assigned replica lives")
	}
	first := state{Leader: isr[0], Isr: isr, ControllerEpoch: c.epoch}
	if err := c.znodes.createState(name, first); err != nil {
		return err
	}
	c.leaderships[name] = leadership{first, 0}
	return c.partitionBatch.addLeaderAndIsr(isr, name, c.leaderships[name], c.assigned[name])
}

// electLeader elects by what the state znode holds, until it is written.
func (c *controller) electLeader(name, selector string) error {
	for {
		stands, err := c.readOwn(name)
		if err != nil {
			return err
		} else if stands == nil {
			return fmt.Errorf("%s has no state znode", name)
		}
		chosen, err := c.selectLeader(name, selector, stands.state)
		if err != nil || chosen.refused == "not needed" {
			return err
		} else if chosen.refused != "" {
			return errors.New(chosen.refused)
		}
		to := state{chosen.leader, stands.LeaderEpoch + 1, chosen.isr, c.epoch}
		if selector == "no-op" {
			to.LeaderEpoch = stands.LeaderEpoch
		}
		if version, done := c.znodes.updateState(name, to, stands.ZkVersion); done {
			c.leaderships[name] = leadership{to, version}
			return c.partitionBatch.addLeaderAndIsr(chosen.receivers, name, c.leaderships[name], c.assigned[name])
		}
	}
}

// readOwn reads a state znode, and fails where a later controller has written it.
func (c *controller) readOwn(name string) (*leadership, error) {
	stands, err := c.znodes.readState(name)
	if err == nil && stands != nil && stands.ControllerEpoch > c.epoch {
		err = fmt.Errorf("%s was written by another controller, of epoch %d", name, stands.ControllerEpoch)
	}
	return stands, err
}

// selectLeader asks a selector. What the topic is configured to is read only where no member of the ISR lives.
func (c *controller) selectLeader(name, selector string, stands state) (elected, error) {
	replicas, known := c.assigned[name]
	if !known {
		return elected{}, fmt.Errorf("%s has no assigned replicas", name)
	} else if selector == "no-op" {
		return elected{leader: stands.Leader, isr: stands.Isr, receivers: replicas}, nil
	}
	e := election{
		Selector: selector, Assigned: replicas, Isr: stands.Isr, Live: c.live(), Registered: c.registered,
		ShuttingDown: c.shuttingDown,
	}
	switch selector {
	case "preferred":
		leads, led := c.leaderships[name]
		if !led {
			return elected{}, fmt.Errorf("nobody knows who leads %s", name)
		}
		e.CachedLeader = leads.Leader
	case "reassigned":
		e.Reassigned = c.reassigning[name].replicas
	case "offline":
		if len(e.Isr.in(e.Live)) == 0 {
			var err error
			if e.Unclean, err = c.znodes.isUnclean(topicOf(name)); err != nil {
				return elected{}, err
			}
		}
	}
	return c.adapter.choose(e)
}

// triggerOnline lets all partitions that are New or Offline go Online, where they can.
func (c *controller) triggerOnline() {
	names := []string{}
	for _, key := range slices.Sorted(maps.Keys(c.states)) {
		if s := c.states[key]; (s == "NewPartition" || s == "OfflinePartition") && !c.isQueued(key) {
			names = append(names, key)
		}
	}
	c.handleStateChanges(names, change{target: "OnlinePartition", selector: "offline"})
}

// ---- ReplicaStateMachine ----

// changeReplica does what a change of a replica comes with.
func (c *controller) changeReplica(name string, replica int, assigned brokers, from string, to change) error {
	b, key := c.replicaBatch, replicaKey(name, replica)
	var err error
	switch to.target {
	case "NewReplica":
		var stands *leadership
		if stands, err = c.znodes.readState(name); err == nil && stands != nil {
			if stands.Leader == replica {
				return fmt.Errorf("%s leads", key)
			}
			err = b.addLeaderAndIsr(brokers{replica}, name, *stands, assigned)
		}
	case "OnlineReplica":
		leads, led := c.leaderships[name]
		if from == "NewReplica" && !assigned.has(replica) {
			c.assigned[name] = append(slices.Clone(assigned), replica)
		} else if from != "NewReplica" && led {
			err = b.addLeaderAndIsr(brokers{replica}, name, leads, assigned)
		}
	case "OfflineReplica":
		b.addStop(replica, name, false, false)
		stays, err := c.takeOffline(name, replica)
		if err != nil || stays {
			return err
		}
	case "ReplicaDeletionStarted":
		b.addStop(replica, name, true, to.answer)
	case "NonExistentReplica":
		c.assigned[name] = assigned.without(brokers{replica})
		delete(c.states, key)
		return nil
	}
	if err == nil {
		c.states[key] = to.target
	}
	return err
}

// takeOffline removes a replica from the ISR, and tells the others. One of a partition that is being deleted, which
// lacks leadership or a state znode, stays as it is; from 0.9.0 on that is no failure.
func (c *controller) takeOffline(name string, replica int) (stays bool, err error) {
	if _, led := c.leaderships[name]; led {
		after, err := c.removeFromIsr(name, replica)
		if err != nil {
			return false, err
		} else if after != nil && !c.isLeaving(name) {
			others := c.assigned[name].without(brokers{replica})
			return false, c.replicaBatch.addLeaderAndIsr(others, name, *after, c.assigned[name])
		} else if after != nil {
			return false, nil
		}
	}
	if c.isLeaving(name) && !c.adapter.upTo("as-coded-0.8.2") {
		return true, nil
	}
	return false, fmt.Errorf("%s has no leadership", name)
}

// removeFromIsr removes a replica from the ISR, until it is written, and caches what was tried. Nil: there is no znode.
func (c *controller) removeFromIsr(name string, replica int) (*leadership, error) {
	var tried *leadership
	for {
		stands, err := c.readOwn(name)
		if err != nil || stands == nil {
			return tried, err
		}
		unclean := false
		if stands.Isr.has(replica) && len(stands.Isr.without(brokers{replica})) == 0 {
			if unclean, err = c.znodes.isUnclean(topicOf(name)); err != nil {
				return nil, err
			}
		}
		to, changed := stands.without(replica, unclean)
		to.ControllerEpoch = c.epoch
		version, done := stands.ZkVersion, true
		if changed {
			version, done = c.znodes.updateState(name, to, stands.ZkVersion)
		}
		tried = &leadership{to, version}
		c.leaderships[name] = *tried
		if done {
			return tried, nil
		}
	}
}

// ---- The controller's own batch ----

// sendUpdateMetadata tells everybody of some partitions; no names are all.
func (c *controller) sendUpdateMetadata(names ...string) error {
	return c.resigning(func() error {
		if err := c.batch.begin(); err != nil {
			return err
		} else if err := c.batch.addMetadata(c.registered, names); err != nil {
			return err
		}
		return c.batch.send()
	})
}

// resigning does something with the controller's own batch. Where that is in a state in which it should not be, the
// controller resigns.
func (c *controller) resigning(do func() error) error {
	err := do()
	if errors.Is(err, errIllegalState) {
		c.batch.clear()
		c.resign()
	}
	return err
}
