package main

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// This file has the two state machines, and what a controller does by them: handle_state_changes, shut_down and
// fail_broker.

// partition is one that the controller knows.
type partition struct {
	Assigned   brokers // none at all: the controller knows no such partition
	Leadership *state  // in the cache
	Znode      *state  // what stands in the state znode
}

// controller is what the three verbs are given in common, and what has come of it so far.
type controller struct {
	ControllerEpoch int `json:"controller_epoch"`
	Live            brokers
	ShuttingDown    brokers `json:"shutting_down"`
	Unclean         bool
	Deleting        []string
	Partitions      map[string]*partition

	adapter      *adapter
	states       map[string]string // of partitions and replicas
	written      map[string]state
	leaderAndIsr map[string]brokers // who is sent it, by partition; perhaps nobody
	stops        map[stop]brokers
}

// stop is a request to stop replicas of a partition.
type stop struct {
	partition  string
	withDelete bool
}

// begin makes a controller ready, with the states of partitions and replicas.
func (c *controller) begin(a *adapter, states ...map[string]string) {
	c.adapter, c.states, c.written = a, map[string]string{}, map[string]state{}
	c.leaderAndIsr, c.stops = map[string]brokers{}, map[stop]brokers{}
	for _, some := range states {
		maps.Copy(c.states, some)
	}
}

// isDeleting says whether the topic of a partition is being deleted.
func (c *controller) isDeleting(name string) bool { return slices.Contains(c.Deleting, topicOf(name)) }

// names has all partitions, ascending.
func (c *controller) names() []string { return slices.Sorted(maps.Keys(c.Partitions)) }

// replicaKey is the key of a replica.
func replicaKey(partition string, replica int) string { return partition + "/" + strconv.Itoa(replica) }

// change lets one key go to another state, and says whether it could.
func (c *controller) change(key, target, selector string) bool {
	name, id, isReplica := strings.Cut(key, "/")
	machine, from := "partition", "NonExistentPartition"
	if isReplica {
		machine, from = "replica", "NonExistentReplica"
	}
	if known, there := c.states[key]; there {
		from = known
	}
	c.states[key] = from
	if !slices.Contains(predecessors[machine][target], from) {
		return false
	}
	p := c.Partitions[name]
	if p == nil {
		p = &partition{}
	}
	changed := false
	if replica, err := strconv.Atoi(id); isReplica {
		changed = err == nil && p.Assigned != nil && c.changeReplica(name, p, replica, from, target)
	} else {
		changed = c.changePartition(name, p, from, target, selector)
	}
	if changed || target == "NewPartition" { // whose state is set before it is known whether there is AR
		c.states[key] = target
	}
	return changed
}

// changePartition does what a change of a partition comes with, and says whether it succeeds.
func (c *controller) changePartition(name string, p *partition, from, target, selector string) bool {
	switch {
	case target == "NewPartition":
		return p.Assigned != nil
	case target != "OnlinePartition":
		return true
	case from == "NewPartition":
		isr := p.Assigned.in(c.Live)
		if len(isr) == 0 || p.Znode != nil {
			return false
		}
		c.write(name, p, state{Leader: isr[0], Isr: isr})
		c.sendLeaderAndIsr(name, isr)
		return true
	case p.Znode == nil || p.Znode.ControllerEpoch > c.ControllerEpoch:
		return false
	case selector == "no-op":
		c.write(name, p, *p.Znode)
		c.sendLeaderAndIsr(name, p.Assigned)
		return true
	}
	e := election{
		Selector: selector, Assigned: p.Assigned, Isr: p.Znode.Isr, Live: c.Live, Registered: c.registered(),
		ShuttingDown: c.ShuttingDown, Unclean: c.Unclean,
	}
	if p.Leadership != nil {
		e.CachedLeader = p.Leadership.Leader
	} else if selector == "preferred" { // it asks who leads by the cache
		return false
	}
	chosen, err := c.adapter.choose(e)
	if err != nil || chosen.refused != "" {
		return chosen.refused == "not needed"
	}
	c.write(name, p, state{Leader: chosen.leader, LeaderEpoch: p.Znode.LeaderEpoch + 1, Isr: chosen.isr})
	c.sendLeaderAndIsr(name, chosen.receivers)
	return true
}

// changeReplica does what a change of a replica comes with, and says whether it succeeds.
func (c *controller) changeReplica(name string, p *partition, replica int, from, target string) bool {
	switch target {
	case "NewReplica":
		if p.Znode != nil && p.Znode.Leader == replica {
			return false
		} else if p.Znode != nil {
			c.sendLeaderAndIsr(name, brokers{replica})
		}
	case "OnlineReplica":
		if from == "NewReplica" && !p.Assigned.has(replica) {
			p.Assigned = append(p.Assigned, replica)
		} else if from != "NewReplica" && p.Leadership != nil {
			c.sendLeaderAndIsr(name, brokers{replica})
		}
	case "OfflineReplica":
		c.sendStop(name, replica, false)
		return c.takeOffline(name, p, replica)
	case "ReplicaDeletionStarted":
		c.sendStop(name, replica, true)
	case "NonExistentReplica":
		p.Assigned = p.Assigned.without(brokers{replica})
	}
	return true
}

// takeOffline removes a replica from the ISR, and tells the others.
func (c *controller) takeOffline(name string, p *partition, replica int) bool {
	if p.Leadership == nil || p.Znode == nil || p.Znode.ControllerEpoch > c.ControllerEpoch {
		return false
	}
	after, changed := p.Znode.without(replica, c.Unclean)
	if changed {
		c.write(name, p, after)
	} else {
		after.ControllerEpoch = c.ControllerEpoch
		p.Leadership = &after
	}
	if !c.isDeleting(name) {
		c.sendLeaderAndIsr(name, p.Assigned.without(brokers{replica}))
	}
	return true
}

// isExcused says whether a replica that stays as it is has not failed: one of a topic that is being deleted, which lacks
// leadership or a state znode.
func (c *controller) isExcused(key, target string) bool {
	name, _, isReplica := strings.Cut(key, "/")
	p := c.Partitions[name]
	return isReplica && target == "OfflineReplica" && p != nil && p.Assigned != nil && c.isDeleting(name) &&
		(p.Leadership == nil || p.Znode == nil) && !c.adapter.upTo("as-coded-0.8.2") &&
		slices.Contains(predecessors["replica"][target], c.states[key])
}

// write writes a state under the controller's own epoch, and caches it.
func (c *controller) write(name string, p *partition, to state) {
	to.ControllerEpoch = c.ControllerEpoch
	p.Znode, p.Leadership, c.written[name] = &to, &to, to
}

// registered is who has a channel, whether shutting down or not.
func (c *controller) registered() brokers { return slices.Concat(c.Live, c.ShuttingDown).set() }

// sendLeaderAndIsr addresses LeaderAndIsr to some brokers, perhaps to nobody.
func (c *controller) sendLeaderAndIsr(name string, to brokers) {
	c.leaderAndIsr[name] = append(c.leaderAndIsr[name], to...)
}

// sendStop addresses StopReplica to the broker of a replica.
func (c *controller) sendStop(name string, replica int, withDelete bool) {
	key := stop{name, withDelete}
	c.stops[key] = append(c.stops[key], replica)
}

// ---- What has come of it ----

// writes has what was written to state znodes, the last of each.
func (c *controller) writes() []any {
	list := []any{}
	for _, name := range slices.Sorted(maps.Keys(c.written)) {
		list = append(list, struct {
			Partition string `json:"partition"`
			state
		}{name, c.written[name]})
	}
	return list
}

// leaderAndIsrs has who is sent LeaderAndIsr.
func (c *controller) leaderAndIsrs() []object {
	list := []object{}
	for _, name := range slices.Sorted(maps.Keys(c.leaderAndIsr)) {
		if to := c.leaderAndIsr[name].set(); len(to) > 0 {
			list = append(list, object{"partition": name, "to": to})
		}
	}
	return list
}

// stopReplicas has who is sent StopReplica.
func (c *controller) stopReplicas() []object {
	list := []object{}
	for _, name := range c.names() {
		for _, withDelete := range []bool{false, true} {
			if to := c.stops[stop{name, withDelete}].set(); len(to) > 0 {
				list = append(list, object{"partition": name, "to": to, "delete": withDelete})
			}
		}
	}
	return list
}

// ---- handle_state_changes ----

// stateChanges is what handle_state_changes is given.
type stateChanges struct {
	controller
	Machine, Target, Selector string
	Keys                      []string
	States                    map[string]string
}

// handleStateChanges lets each key go to the target by itself.
func (a *adapter) handleStateChanges(given stateChanges) (object, error) {
	c := &given.controller
	c.begin(a, given.States)
	failed, assigned := []string{}, map[string]brokers{}
	for _, key := range given.Keys {
		if !c.change(key, given.Target, given.Selector) && !c.isExcused(key, given.Target) {
			failed = append(failed, key)
		}
	}
	slices.Sort(failed)
	for name, p := range c.Partitions {
		assigned[name] = p.Assigned
	}
	return object{
		"states": c.states, "failed": failed, "assigned": assigned, "written": c.writes(),
		"leader_and_isr": c.leaderAndIsrs(), "stop_replica": c.stopReplicas(),
	}, nil
}

// ---- shut_down ----

// shutdown is what shut_down is given.
type shutdown struct {
	controller
	Broker        int
	ReplicaStates map[string]string `json:"replica_states"`
}

// setStates puts partitions with leadership, and all replicas, online, but for those whose states are given.
func (c *controller) setStates(a *adapter, given ...map[string]string) {
	online := map[string]string{}
	for name, p := range c.Partitions {
		if p.Leadership != nil {
			online[name] = "OnlinePartition"
		}
		for _, replica := range p.Assigned {
			online[replicaKey(name, replica)] = "OnlineReplica"
		}
	}
	c.begin(a, append([]map[string]string{online}, given...)...)
}

// shutDown moves what a broker leads, and stops its other replicas, where somebody else has one.
func (a *adapter) shutDown(given shutdown) (object, error) {
	c := &given.controller
	if !c.registered().has(given.Broker) {
		return object{"error_code": map[bool]int{true: -1, false: 8}[a.upTo("as-coded-0.8.2")]}, nil
	}
	c.setStates(a, given.ReplicaStates)
	leaving := brokers{given.Broker}
	c.Live, c.ShuttingDown = c.Live.without(leaving), append(c.ShuttingDown, given.Broker).set()
	for _, name := range c.names() {
		p := c.Partitions[name]
		if len(p.Assigned) < 2 || !p.Assigned.has(given.Broker) || p.Leadership == nil {
			continue
		} else if p.Leadership.Leader == given.Broker {
			c.change(name, "OnlinePartition", "controlled-shutdown")
		} else {
			c.sendStop(name, given.Broker, false)
			c.change(replicaKey(name, given.Broker), "OfflineReplica", "")
		}
	}
	remaining := []string{}
	for _, name := range c.names() {
		p := c.Partitions[name]
		if len(p.Assigned) > 1 && p.Leadership != nil && p.Leadership.Leader == given.Broker {
			remaining = append(remaining, name)
		}
	}
	return object{
		"error_code": 0, "remaining": remaining, "written": c.writes(), "leader_and_isr": c.leaderAndIsrs(),
		"stop_replica": c.stopReplicas(),
	}, nil
}

// ---- fail_broker ----

// failure is what fail_broker is given.
type failure struct {
	controller
	Dead            brokers
	PartitionStates map[string]string `json:"partition_states"`
	ReplicaStates   map[string]string `json:"replica_states"`
}

// failBroker elects for what the dead have led, and takes their replicas offline.
func (a *adapter) failBroker(given failure) (object, error) {
	c := &given.controller
	c.setStates(a, given.ReplicaStates, given.PartitionStates)
	c.ShuttingDown = c.ShuttingDown.without(given.Dead)
	ledNothing := true
	for _, name := range c.names() {
		if p := c.Partitions[name]; !c.isDeleting(name) && p.Leadership != nil && given.Dead.has(p.Leadership.Leader) {
			ledNothing = false
			c.change(name, "OfflinePartition", "")
		}
	}
	for _, name := range c.names() {
		if s := c.states[name]; !c.isDeleting(name) && (s == "NewPartition" || s == "OfflinePartition") {
			c.change(name, "OnlinePartition", "offline")
		}
	}
	partitions, replicas := map[string]string{}, map[string]string{}
	for _, name := range c.names() {
		target := "OfflineReplica"
		if c.isDeleting(name) {
			target = "ReplicaDeletionIneligible"
		}
		for _, replica := range c.Partitions[name].Assigned.in(given.Dead) {
			key := replicaKey(name, replica)
			c.change(key, target, "")
			replicas[key] = c.states[key]
		}
	}
	for name := range given.PartitionStates {
		partitions[name] = c.states[name]
	}
	return object{
		"partition_states": partitions, "replica_states": replicas, "written": c.writes(),
		"leader_and_isr": c.leaderAndIsrs(), "update_metadata": c.toldOf(ledNothing && !a.upTo("as-coded-0.8.2")),
	}, nil
}

// toldOf has the partitions of which UpdateMetadata tells anybody: all, or those of which LeaderAndIsr was sent, and
// those of topics that are being deleted beside them.
func (c *controller) toldOf(all bool) []string {
	told := []string{}
	if len(c.registered()) == 0 || !all && len(c.leaderAndIsr) == 0 {
		return told
	}
	for _, name := range c.names() {
		_, sent := c.leaderAndIsr[name]
		if c.Partitions[name].Leadership != nil && (all || sent || c.isDeleting(name)) {
			told = append(told, name)
		}
	}
	return told
}
