package main

import (
	"fmt"
	"slices"
	"strconv"
)

// This file has the reassignment of partitions, step by step as section 8 of PROTOCOL.md numbers them.

// reassigning is a partition that is being reassigned.
type reassigning struct {
	replicas brokers // RAR
	listener *dataListener
}

const reassignPath = "/admin/reassign_partitions"

// ---- Requests ----

// readReassignments reads a request, if it is JSON.
func (k *kafkaController) readReassignments(data *string) (map[string]brokers, error) {
	asked := map[string]brokers{}
	if data != nil && !isJSON(data) {
		return asked, nil
	}
	var value struct {
		Partitions []struct {
			topicPartition
			Replicas brokers
		}
	}
	if err := k.readLists(reassignPath, data, &value); err != nil {
		return nil, err
	}
	for _, p := range value.Partitions {
		asked[p.name()] = p.Replicas
	}
	return asked, nil
}

// standingReassignments reads the request that stands there now.
func (k *kafkaController) standingReassignments() (map[string]brokers, error) {
	data, _, err := k.zk.get(reassignPath)
	if err != nil {
		return map[string]brokers{}, nil // there is none
	}
	return k.readReassignments(data)
}

// onReassignmentRequest begins the reassignments that are asked for, and not begun yet.
func (k *kafkaController) onReassignmentRequest(data *string) error {
	asked, err := k.readReassignments(data)
	if err != nil {
		return err
	}
	for name := range k.reassigning {
		delete(asked, name)
	}
	if err := k.needDeletionManager(); err != nil {
		return err
	}
	for _, name := range sortedKeys(asked) {
		if k.isQueued(name) {
			err = k.removeReassignment(name)
		} else {
			err = k.initiateReassignment(name, &reassigning{replicas: asked[name]})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// initializeReassignments reads the request at a failover, without what is done already, or cannot be.
func (k *kafkaController) initializeReassignments() error {
	asked, err := k.standingReassignments()
	if err != nil {
		return err
	}
	for _, name := range sortedKeys(asked) {
		if replicas, known := k.assigned[name]; !known || slices.Equal(replicas, asked[name]) {
			if err := k.removeReassignment(name); err != nil {
				return err
			}
			delete(asked, name)
		}
	}
	for name, replicas := range asked {
		k.reassigning[name] = &reassigning{replicas: replicas}
	}
	return nil
}

// initiateReassignment accepts a reassignment and makes its first run. Where that fails, it is dropped; nothing is
// undone.
func (k *kafkaController) initiateReassignment(name string, r *reassigning) error {
	replicas, known := k.assigned[name]
	if !known || slices.Equal(replicas, r.replicas) {
		return k.removeReassignment(name)
	}
	r.listener = &dataListener{changed: func(*string) error { return k.onIsrChange(name, r.replicas) }}
	k.zk.subscribeData(statePath(name), r.listener)
	k.reassigning[name] = r
	k.markIneligible(topicOf(name))
	if err := k.onPartitionReassignment(name, r); err != nil {
		return k.removeReassignment(name)
	}
	return nil
}

// removeReassignment takes a partition from the request that stands there, and forgets it.
func (k *kafkaController) removeReassignment(name string) error {
	if r := k.reassigning[name]; r != nil && r.listener != nil {
		k.zk.unsubscribeData(statePath(name), r.listener)
	}
	rest, err := k.standingReassignments()
	if err != nil {
		return err
	}
	delete(rest, name)
	if len(rest) == 0 {
		if _, err := k.zk.delete(reassignPath); err != nil {
			return err
		}
	} else if err := k.zk.upsert(reassignPath, reassignmentData(rest)); err != nil {
		return err
	}
	delete(k.reassigning, name)
	return nil
}

// reassignmentData is a request as it stands in its znode.
func reassignmentData(asked map[string]brokers) string {
	entries := []object{}
	for _, name := range sortedKeys(asked) {
		entries = append(entries, object{
			"topic": topicOf(name), "partition": numberOf(name), "replicas": listOf(asked[name]),
		})
	}
	return encoded(object{"version": 1, "partitions": entries})
}

// onIsrChange is called as a leader writes the state znode of a partition that is being reassigned.
func (k *kafkaController) onIsrChange(name string, replicas brokers) error {
	r := k.reassigning[name]
	if r == nil {
		return nil
	}
	stands, err := k.readState(name)
	if err != nil || stands == nil || len(replicas.without(stands.Isr)) > 0 {
		return err
	}
	return k.onPartitionReassignment(name, r)
}

// ---- A run ----

// onPartitionReassignment makes one run: it starts the new replicas, or it finishes, once they are in sync.
func (k *kafkaController) onPartitionReassignment(name string, r *reassigning) error {
	stands, err := k.readState(name)
	if err != nil {
		return err
	} else if stands == nil || len(r.replicas.without(stands.Isr)) > 0 {
		return k.startReassignment(name, r)
	}
	return k.finishReassignment(name, r)
}

// startReassignment has steps 1 to 3.
func (k *kafkaController) startReassignment(name string, r *reassigning) error {
	before, known := k.assigned[name]
	if !known {
		return fmt.Errorf("%s has no assigned replicas", name)
	}
	all := r.replicas.distinct()
	all = append(all, before.without(all)...)
	if err := k.writeAssignment(name, all); err != nil {
		return err
	}
	if err := k.raiseLeaderEpoch(name, all, all); err != nil {
		return err
	}
	for _, replica := range r.replicas.distinct().without(before) {
		k.handleStateChanges([]string{replicaKey(name, replica)}, change{target: "NewReplica"})
	}
	return nil
}

// finishReassignment has steps 5 to 12.
func (k *kafkaController) finishReassignment(name string, r *reassigning) error {
	before, known := k.assigned[name]
	if !known {
		return fmt.Errorf("%s has no assigned replicas", name)
	}
	for _, replica := range r.replicas {
		k.handleStateChanges([]string{replicaKey(name, replica)}, change{target: "OnlineReplica"})
	}
	leads, led := k.leaderships[name]
	if !led {
		return fmt.Errorf("nobody knows who leads %s", name)
	}
	before = k.assigned[name] // step 5 may have added to it
	k.assigned[name] = r.replicas
	if r.replicas.has(leads.Leader) && k.live().has(leads.Leader) {
		if err := k.raiseLeaderEpoch(name, before, r.replicas); err != nil {
			return err
		}
	} else {
		k.handleStateChanges([]string{name}, change{target: "OnlinePartition", selector: "reassigned"})
	}
	old := []string{}
	for _, replica := range before.without(r.replicas).distinct() {
		old = append(old, replicaKey(name, replica))
	}
	for _, target := range []string{
		"OfflineReplica", "ReplicaDeletionStarted", "ReplicaDeletionSuccessful", "NonExistentReplica",
	} {
		k.handleStateChanges(old, change{target: target})
	}
	if err := k.writeAssignment(name, r.replicas); err != nil {
		return err
	}
	if err := k.removeReassignment(name); err != nil {
		return err
	}
	if err := k.sendUpdateMetadata(name); err != nil {
		return err
	}
	k.resumeDeletion(topicOf(name))
	return nil
}

// writeAssignment writes the whole topic from memory, with the new AR of one partition, and then caches that.
func (k *kafkaController) writeAssignment(name string, replicas brokers) error {
	partitions, topic := map[string]brokers{}, topicOf(name)
	for _, other := range k.partitionsOf(topic) {
		partitions[strconv.Itoa(numberOf(other))] = listOf(k.assigned[other])
	}
	partitions[strconv.Itoa(numberOf(name))] = listOf(replicas)
	if err := k.zk.upsert(topicPath(topic), encoded(object{"version": 1, "partitions": partitions})); err != nil {
		return err
	}
	k.assigned[name] = replicas
	return nil
}

// raiseLeaderEpoch writes the state as it is, with a higher leader epoch, and tells some brokers. The cache keeps the
// old one (D18).
func (k *kafkaController) raiseLeaderEpoch(name string, to, replicas brokers) error {
	if err := k.batch.begin(); err != nil {
		return err
	}
	for {
		stands, err := k.readOwn(name)
		if err != nil {
			return err
		} else if stands == nil {
			return fmt.Errorf("%s has no state znode", name)
		}
		raised := state{stands.Leader, stands.LeaderEpoch + 1, stands.Isr, k.epoch}
		if version, done := k.updateState(name, raised, stands.ZkVersion); done {
			return k.resigning(func() error {
				if err := k.batch.addLeaderAndIsr(to, name, leadership{raised, version}, replicas); err != nil {
					return err
				}
				return k.batch.send()
			})
		}
	}
}

// listOf is the ids, of which none at all are an empty list and not null.
func listOf(b brokers) brokers { return append(brokers{}, b...) }
