package main

import (
	"encoding/json"
	"errors"
	"slices"
)

// This file has the changes of an ISR: what a leader writes, and what a controller makes of the notifications of them.

// stateZnode is a state znode with its version.
type stateZnode struct {
	Data    *string
	Version int
}

// isJSON says whether the data of a znode is a JSON document.
func isJSON(data *string) bool {
	return data != nil && json.Valid([]byte(*data))
}

// ---- handle_isr_changes ----

// handleIsrChanges takes what the state znodes of all named partitions say into the cache, and tells everybody. What is
// raised ends that, but the notifications are removed in any case.
func (a *adapter) handleIsrChanges(given struct {
	knowledge
	Notifications map[string]string
	Partitions    map[string]struct {
		known
		Znode *stateZnode
	}
}) (object, error) {
	partitions, read := map[string]known{}, &stateTexts{adapter: a, znodes: map[string]*stateZnode{}}
	for name, p := range given.Partitions {
		partitions[name], read.znodes[name] = p.known, p.Znode
	}
	c := given.controller(a, partitions)
	c.znodes = read
	var err error
	names := []string{}
	for _, data := range given.Notifications {
		some, failed := a.readNotification(&data)
		names, err = append(names, some...), errors.Join(err, failed)
	}
	if err == nil {
		_ = c.takeIsrChanges(names)
	}
	cached := map[string]*leadership{}
	for name := range given.Partitions {
		cached[name] = nil
		if leads, led := c.leaderships[name]; led {
			cached[name] = &leads
		}
	}
	update := c.channels.(*recorder).update()
	return object{"cached": cached, "update_metadata": update, "removed": sortedKeys(given.Notifications)}, nil
}

// stateTexts are state znodes of which the text is known.
type stateTexts struct {
	memory
	adapter *adapter
	znodes  map[string]*stateZnode
}

// readState reads one, if it is there, and is JSON.
func (t *stateTexts) readState(name string) (*leadership, error) {
	znode := t.znodes[name]
	if znode == nil || !isJSON(znode.Data) {
		return nil, nil
	}
	stands, err := t.adapter.readState(znode.Data)
	return &leadership{stands, znode.Version}, err
}

// readNotification has the partitions that a notification names. One that is no JSON names nothing.
func (a *adapter) readNotification(data *string) (names []string, err error) {
	if data != nil && !isJSON(data) {
		return nil, nil
	}
	var value struct{ Partitions []topicPartition }
	if err := a.readInto("/isr_change_notification/isr_change_0", data, &value); err != nil {
		return nil, err
	}
	for _, p := range value.Partitions {
		names = append(names, p.name())
	}
	return names, nil
}

// ---- change_isr ----

// leaderChanges is what change_isr is given.
type leaderChanges struct {
	Broker   int
	Assigned brokers
	Knows    struct {
		LeaderEpoch     int `json:"leader_epoch"`
		Isr             brokers
		ControllerEpoch int `json:"controller_epoch"`
		ZkVersion       int `json:"zk_version"`
	}
	Znode   *stateZnode
	Changes []struct {
		Shrink brokers
		Expand *int
	}
}

// changeIsr makes one change after the other, each on the version that the leader knows.
func (a *adapter) changeIsr(given leaderChanges) (object, error) {
	knows, announces := &given.Knows, false
	writes := []object{}
	for _, change := range given.Changes {
		isr := knows.Isr.without(change.Shrink)
		if who := change.Expand; who != nil && !isr.has(*who) && given.Assigned.has(*who) {
			isr = append(isr, *who)
		}
		if slices.Equal(isr, knows.Isr) {
			writes = append(writes, object{"state": nil, "on_version": nil, "done": false})
			continue
		}
		to := state{given.Broker, knows.LeaderEpoch, isr, knows.ControllerEpoch}
		version, done, err := a.writeOn(given.Znode, knows.ZkVersion, to)
		if err != nil {
			return nil, err
		}
		writes = append(writes, object{"state": to, "on_version": knows.ZkVersion, "done": done})
		if done {
			knows.Isr, knows.ZkVersion, announces = isr, version, true
		}
	}
	outcome := object{
		"writes": writes, "knows": object{"isr": knows.Isr, "zk_version": knows.ZkVersion}, "version": nil,
		"announces": announces,
	}
	if given.Znode != nil {
		outcome["version"] = given.Znode.Version
	}
	return outcome, nil
}

// writeOn writes on a version as write_state does, and changes the znode if it is written.
func (a *adapter) writeOn(znode *stateZnode, expected int, to state) (version int, done bool, err error) {
	outcome, err := a.writeState(conditionalWrite{znode, expected, to})
	if err != nil || outcome["written"] == false {
		return -1, false, err
	}
	version = outcome["version"].(int)
	if version != znode.Version {
		text, err := json.Marshal(to)
		if err != nil {
			return -1, false, err
		}
		data := string(text)
		*znode = stateZnode{&data, version}
	}
	return version, true, nil
}
