package main

import (
	"encoding/json"
	"slices"
	"strconv"
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

// isrChanges is what handle_isr_changes is given. A partition that the controller does not know has no AR.
type isrChanges struct {
	ControllerEpoch int `json:"controller_epoch"`
	Live            brokers
	ShuttingDown    brokers `json:"shutting_down"`
	Deleting        []string
	Notifications   map[string]string
	Partitions      map[string]*struct {
		known
		Znode *stateZnode
	}
}

// handleIsrChanges takes what the state znodes of all named partitions say into the cache, and tells everybody. What is
// raised ends that, but the notifications are removed in any case.
func (a *adapter) handleIsrChanges(given isrChanges) (object, error) {
	var update any
	if named, read, err := a.readIsrChanges(given); err == nil {
		for name, info := range read {
			given.Partitions[name].Leadership = &info
		}
		update = a.updateMetadata(given, named)
	}
	removed, cached := []string{}, map[string]*leadership{}
	for name := range given.Notifications {
		removed = append(removed, name)
	}
	for name, p := range given.Partitions {
		cached[name] = p.Leadership
	}
	slices.Sort(removed)
	return object{"cached": cached, "update_metadata": update, "removed": removed}, nil
}

// readIsrChanges reads the notifications, and the state znodes of all partitions that they name.
func (a *adapter) readIsrChanges(given isrChanges) (named []string, read map[string]leadership, err error) {
	for _, data := range given.Notifications {
		if !isJSON(&data) {
			continue
		}
		some, err := a.readNotification(data)
		if err != nil {
			return nil, nil, err
		}
		named = append(named, some...)
	}
	slices.Sort(named)
	named, read = slices.Compact(named), map[string]leadership{}
	for _, name := range named {
		p := given.Partitions[name]
		if p == nil || p.Znode == nil || !isJSON(p.Znode.Data) {
			continue
		}
		stands, err := a.readState(p.Znode.Data)
		if err != nil {
			return nil, nil, err
		}
		read[name] = leadership{stands, p.Znode.Version}
	}
	return named, read, nil
}

// readNotification has the partitions that a notification names.
func (a *adapter) readNotification(data string) (names []string, err error) {
	var value struct {
		Partitions []struct {
			Topic     string
			Partition int
		}
	}
	if err := a.readInto("/isr_change_notification/isr_change_0", &data, &value); err != nil {
		return nil, err
	}
	for _, p := range value.Partitions {
		names = append(names, p.Topic+"-"+strconv.Itoa(p.Partition))
	}
	return names, nil
}

// updateMetadata is who is told what of the named partitions; nil if nobody is told anything.
func (a *adapter) updateMetadata(given isrChanges, named []string) any {
	b := &batch{
		context:  context{Live: given.Live, ShuttingDown: given.ShuttingDown, Deleting: given.Deleting},
		metadata: map[int]map[string]told{}, everybody: map[string]told{},
	}
	b.Partitions = map[string]known{}
	for name, p := range given.Partitions {
		b.Partitions[name] = p.known
	}
	for _, name := range named {
		if p := given.Partitions[name]; p != nil && p.Leadership != nil && p.Assigned == nil && !b.isDeleting(name) {
			return nil // it raises
		}
	}
	if len(named) == 0 {
		return nil
	}
	a.addMetadata(b, b.registered(), named)
	to, partitions := brokers{}, []object{}
	for _, broker := range b.registered() {
		if len(a.sendMetadata(b, broker)) > 0 {
			to = append(to, broker)
		}
	}
	if len(to) == 0 {
		return nil
	}
	for _, info := range listed(b.everybody) {
		partitions = append(partitions, object{"partition": info.Partition, "leader": info.Leader})
	}
	return object{"to": to, "partitions": partitions}
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
