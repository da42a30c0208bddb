package main

import (
	"errors"
	"maps"
	"slices"
)

// This file has the verbs that ask what a controller makes of one thing, of what it is given to know:
// handle_state_changes, shut_down and fail_broker.

// knowledge is what several verbs are given in common.
type knowledge struct {
	ControllerEpoch int `json:"controller_epoch"`
	Live            brokers
	ShuttingDown    brokers `json:"shutting_down"`
	Unclean         bool
	Deleting        []string
}

// controller makes one that knows this. What it does is recorded.
func (k knowledge) controller(a *adapter, partitions map[string]known) *controller {
	r := &recorder{leaderAndIsr: map[string]brokers{}, stops: map[stop]brokers{}, told: map[string]told{}}
	c := a.start(&memory{unclean: k.Unclean}, r)
	c.epoch, c.registered, c.shuttingDown = k.ControllerEpoch, slices.Concat(k.Live, k.ShuttingDown).set(), k.ShuttingDown
	c.partitionsStarted, c.replicasStarted, c.queued = true, true, setOf(k.Deleting)
	for name, p := range partitions {
		if p.Assigned != nil {
			c.assigned[name] = p.Assigned
		}
		if p.Leadership != nil {
			c.leaderships[name] = *p.Leadership
		}
		if c.isQueued(name) {
			c.leaving[name] = true
		}
	}
	return c
}

// memory has the state znodes that a verb is given. Their versions do not matter.
type memory struct {
	unclean bool
	stands  map[string]*state
	written map[string]state
}

func (m *memory) readState(name string) (*leadership, error) {
	if stands := m.stands[name]; stands != nil {
		return &leadership{*stands, 0}, nil
	}
	return nil, nil
}

func (m *memory) createState(name string, to state) error {
	if m.stands[name] != nil {
		return errNodeExists
	}
	m.updateState(name, to, 0)
	return nil
}

func (m *memory) updateState(name string, to state, _ int) (version int, done bool) {
	m.stands[name], m.written[name] = &to, to
	return 0, true
}

func (m *memory) isUnclean(string) (bool, error) { return m.unclean, nil }

// recorder records what is sent.
type recorder struct {
	leaderAndIsr map[string]brokers // to whom, by partition, registered or not
	stops        map[stop]brokers
	told         map[string]told // by UpdateMetadata, to anybody
	toldTo       brokers
}

// deliver records a batch.
func (r *recorder) deliver(b *batch) error {
	for broker, partitions := range b.leaderAndIsr {
		for name := range partitions {
			r.leaderAndIsr[name] = append(r.leaderAndIsr[name], broker)
		}
	}
	for broker, stops := range b.stops {
		for _, one := range stops {
			r.stops[one] = append(r.stops[one], broker)
		}
	}
	for _, broker := range b.controller.registered {
		for _, request := range b.metadataFor(broker) {
			r.toldTo = append(r.toldTo, broker)
			for _, info := range request["partitions"].([]named) {
				r.told[info.Partition] = info.told
			}
		}
	}
	return nil
}

// update is who is told what, in short; nil if nobody is told anything.
func (r *recorder) update() any {
	if len(r.toldTo) == 0 {
		return nil
	}
	partitions := []object{}
	for _, info := range listed(r.told) {
		partitions = append(partitions, object{"partition": info.Partition, "leader": info.Leader})
	}
	return object{"to": r.toldTo.set(), "partitions": partitions}
}

// ---- What the three verbs share ----

// situation is what they are given.
type situation struct {
	knowledge
	Partitions map[string]struct {
		Assigned          brokers
		Leadership, Znode *state
	}
}

// controller makes one in this situation, with the states of partitions and replicas.
func (s situation) controller(a *adapter, states ...map[string]string) *controller {
	partitions, m := map[string]known{}, &memory{s.Unclean, map[string]*state{}, map[string]state{}}
	for name, p := range s.Partitions {
		one := known{Assigned: p.Assigned}
		if p.Leadership != nil {
			one.Leadership = &leadership{*p.Leadership, 0}
		}
		partitions[name], m.stands[name] = one, p.Znode
	}
	c := s.knowledge.controller(a, partitions)
	c.znodes = m
	for _, some := range states {
		maps.Copy(c.states, some)
	}
	return c
}

// online has the states of partitions with leadership, and of all replicas, as they are if nothing else is given.
func (s situation) online() map[string]string {
	states := map[string]string{}
	for name, p := range s.Partitions {
		if p.Leadership != nil {
			states[name] = "OnlinePartition"
		}
		for _, replica := range p.Assigned {
			states[replicaKey(name, replica)] = "OnlineReplica"
		}
	}
	return states
}

// outcome has what was written and sent, beside what a verb asks more.
func (c *controller) outcome(more object) object {
	m, r := c.znodes.(*memory), c.channels.(*recorder)
	written, leaderAndIsr, stops := []any{}, []object{}, []object{}
	for _, name := range sortedKeys(m.written) {
		written = append(written, struct {
			Partition string `json:"partition"`
			state
		}{name, m.written[name]})
	}
	for _, name := range sortedKeys(r.leaderAndIsr) {
		leaderAndIsr = append(leaderAndIsr, object{"partition": name, "to": r.leaderAndIsr[name].set()})
	}
	for _, name := range c.names() {
		for _, withDelete := range []bool{false, true} {
			if to := r.stops[stop{name, withDelete, false}].set(); len(to) > 0 {
				stops = append(stops, object{"partition": name, "to": to, "delete": withDelete})
			}
		}
	}
	more["written"], more["leader_and_isr"], more["stop_replica"] = written, leaderAndIsr, stops
	return more
}

// ---- handle_state_changes ----

// handleStateChanges lets each key go to the target by itself.
func (a *adapter) handleStateChanges(given struct {
	situation
	Machine, Target, Selector string
	Keys                      []string
	States                    map[string]string
}) (object, error) {
	c := given.controller(a, given.States)
	to := change{target: given.Target, selector: given.Selector}
	failed := append([]string{}, c.handleStateChanges(given.Keys, to)...)
	slices.Sort(failed)
	for _, key := range given.Keys {
		if _, there := c.states[key]; !there { // a replica that is gone has no entry
			c.states[key] = "NonExistentReplica"
		}
	}
	assigned := map[string]brokers{}
	for name := range given.Partitions {
		assigned[name] = c.assigned[name]
	}
	return c.outcome(object{"states": c.states, "failed": failed, "assigned": assigned}), nil
}

// ---- shut_down ----

// shutDown moves what a broker leads, and stops its other replicas, where somebody else has one.
func (a *adapter) shutDown(given struct {
	situation
	Broker        int
	ReplicaStates map[string]string `json:"replica_states"`
}) (object, error) {
	c := given.controller(a, given.online(), given.ReplicaStates)
	if !c.registered.has(given.Broker) {
		return object{"error_code": map[bool]int{true: -1, false: 8}[a.upTo("as-coded-0.8.2")]}, nil
	}
	remaining, err := c.shutdownBroker(given.Broker)
	return c.outcome(object{"error_code": 0, "remaining": remaining}), err
}

// ---- fail_broker ----

// failBroker elects for what the dead have led, and takes their replicas offline.
func (a *adapter) failBroker(given struct {
	situation
	Dead            brokers
	PartitionStates map[string]string `json:"partition_states"`
	ReplicaStates   map[string]string `json:"replica_states"`
}) (object, error) {
	c := given.controller(a, given.online(), given.ReplicaStates, given.PartitionStates)
	c.registered = c.registered.without(given.Dead)
	if err := c.onBrokerFailure(given.Dead); errors.Is(err, errIllegalState) {
		return nil, err
	}
	partitions, replicas := map[string]string{}, map[string]string{}
	for name := range given.PartitionStates {
		partitions[name] = c.states[name]
	}
	for _, key := range c.replicasOn(given.Dead) {
		replicas[key] = c.states[key]
	}
	return c.outcome(object{
		"partition_states": partitions, "replica_states": replicas,
		"update_metadata": sortedKeys(c.channels.(*recorder).told),
	}), nil
}
