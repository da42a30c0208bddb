package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// This file has the deletion of topics: TopicDeletionManager, its listener and its thread.

// deletionThread says what has become of the thread that deletes topics.
type deletionThread int

const (
	unmade  deletionThread = iota // it is made at the end of a failover
	running                       // it waits, or has something to do
	dead                          // an exception ended it; nothing is deleted until the next failover
	stopped                       // by a resignation
)

// ---- What holds a deletion back, and what lets it go on ----

// markIneligible holds the deletion of a topic back, if it is queued.
func (c *controller) markIneligible(topic string) {
	if c.queued[topic] {
		c.ineligible[topic] = true
	}
}

// resumeDeletion lets the deletion of a topic go on, if it is queued.
func (c *controller) resumeDeletion(topic string) {
	if c.queued[topic] {
		delete(c.ineligible, topic)
		c.woken = true
	}
}

// failReplicaDeletion holds the deletion of those topics back of which replicas could not be deleted.
func (c *controller) failReplicaDeletion(replicas []string) {
	replicas = slices.DeleteFunc(slices.Clone(replicas), func(key string) bool { return !c.isQueued(partitionOf(key)) })
	if len(replicas) == 0 {
		return
	}
	c.handleStateChanges(replicas, change{target: "ReplicaDeletionIneligible"})
	for _, key := range replicas {
		c.markIneligible(topicOf(partitionOf(key)))
	}
	c.woken = true
}

// partitionsOf has the partitions of a topic that have AR, ascending.
func (c *controller) partitionsOf(topic string) (names []string) {
	for _, name := range c.names() {
		if topicOf(name) == topic {
			names = append(names, name)
		}
	}
	return names
}

// replicasIn has the replicas of a topic that are in a state, ascending.
func (c *controller) replicasIn(topic, state string) (keys []string) {
	for _, key := range sortedKeys(c.states) {
		if isReplica(key) && topicOf(partitionOf(key)) == topic && c.states[key] == state {
			keys = append(keys, key)
		}
	}
	return keys
}

// ---- Requests for deletion ----

// onDeleteTopicsChange queues the topics that are to be deleted. It removes the requests for unknown ones, and all of
// them where topics may not be deleted.
func (k *kafkaController) onDeleteTopicsChange(children []string) error {
	asked := []string{}
	for _, topic := range children {
		if k.allTopics[topic] {
			asked = append(asked, topic)
		} else {
			if _, err := k.zk.deleteRecursive(requestPath(topic)); err != nil {
				return err
			}
		}
	}
	if !k.settings.DeleteTopics {
		return k.removeRequests(asked)
	}
	if err := k.needDeletionManager(); err != nil && len(asked) > 0 {
		return err
	}
	// What is in progress marks a topic here in vain, for it is not queued yet (D44).
	for _, topic := range asked {
		k.enqueue(topic)
	}
	k.woken = k.woken || len(asked) > 0
	return nil
}

// removeRequests removes what asks for topics to be deleted.
func (k *kafkaController) removeRequests(topics []string) error {
	for _, topic := range topics {
		if _, err := k.zk.delete(requestPath(topic)); err != nil {
			return err
		}
	}
	return nil
}

// enqueue takes a topic up for deletion, with the partitions that it has now.
func (c *controller) enqueue(topic string) {
	c.queued[topic] = true
	for _, name := range c.partitionsOf(topic) {
		c.leaving[name] = true
	}
}

// initializeTopicDeletion makes the deletion manager of a failover.
func (k *kafkaController) initializeTopicDeletion() error {
	topics, err := k.zk.childrenIfAny("/admin/delete_topics")
	if err != nil {
		return err
	}
	k.queued, k.ineligible, k.leaving, k.woken = map[string]bool{}, map[string]bool{}, map[string]bool{}, false
	k.thread = unmade
	if !k.settings.DeleteTopics {
		return k.removeRequests(topics)
	}
	for _, topic := range topics {
		k.enqueue(topic)
	}
	for name, replicas := range k.assigned {
		if len(replicas.without(k.live())) > 0 || k.electing[name] || k.reassigning[name] != nil {
			k.markIneligible(topicOf(name))
		}
	}
	return nil
}

// needDeletionManager fails where no failover has come so far as to make one. Kafka has a null pointer there.
func (k *kafkaController) needDeletionManager() error {
	if k.leaving == nil {
		return errors.New("there is no deletion manager yet")
	}
	return nil
}

// startDeletionThread is the end of a failover.
func (k *kafkaController) startDeletionThread() {
	k.thread, k.woken = running, len(k.queued) > 0
}

// shutDownDeletion stops the thread. Where a failover ended before it was made, that raises.
func (k *kafkaController) shutDownDeletion() error {
	if k.leaving == nil || !k.settings.DeleteTopics || k.thread == stopped {
		return nil
	} else if k.thread == unmade {
		return errors.New("there is no deletion thread to stop")
	}
	k.thread = stopped
	clear(k.queued)
	clear(k.leaving)
	clear(k.ineligible)
	return nil
}

// ---- The thread ----

// runDeletionThread lets the thread do what it has been woken for. An exception ends it for good.
func (k *kafkaController) runDeletionThread() {
	for k.thread == running && k.woken {
		k.woken = false
		for _, topic := range sortedKeys(k.queued) {
			if err := k.treatQueued(topic); err != nil {
				k.thread = dead
				return
			}
		}
	}
}

// treatQueued does what can be done for the deletion of one topic.
func (k *kafkaController) treatQueued(topic string) error {
	allDeleted, inProgress := true, false
	for _, key := range k.replicasOf(k.partitionsOf(topic)) {
		state, there := k.states[key]
		if !there {
			return fmt.Errorf("nobody knows the state of %s", key)
		}
		allDeleted = allDeleted && state == "ReplicaDeletionSuccessful"
		inProgress = inProgress || state == "ReplicaDeletionStarted"
	}
	if allDeleted {
		if err := k.completeDeletion(topic); err != nil {
			return err
		}
	} else if !inProgress {
		k.handleStateChanges(k.replicasIn(topic, "ReplicaDeletionIneligible"), change{target: "OfflineReplica"})
	}
	if k.queued[topic] && !inProgress && !k.ineligible[topic] {
		return k.startDeletion(topic)
	}
	return nil
}

// startDeletion has all live replicas of a topic deleted, and holds it back if there are others.
func (k *kafkaController) startDeletion(topic string) error {
	names := k.partitionsOf(topic)
	if err := k.sendUpdateMetadata(names...); err != nil {
		return err
	}
	var absent, present []string
	live := k.replicasOn(k.live())
	for _, key := range k.replicasOf(names) {
		if !slices.Contains(live, key) {
			absent = append(absent, key)
		} else if k.states[key] != "ReplicaDeletionSuccessful" {
			present = append(present, key)
		}
	}
	k.handleStateChanges(absent, change{target: "ReplicaDeletionIneligible"})
	k.handleStateChanges(present, change{target: "OfflineReplica"})
	k.handleStateChanges(present, change{target: "ReplicaDeletionStarted", answer: true})
	if len(absent) > 0 {
		k.markIneligible(topic)
	}
	return nil
}

// completeDeletion forgets a topic whose replicas are all deleted, and removes its znodes.
func (k *kafkaController) completeDeletion(topic string) error {
	listener, listens := k.topicListeners[topic]
	if !listens {
		return fmt.Errorf("nobody listens to the partitions of %s", topic)
	}
	k.zk.unsubscribeData(topicPath(topic), listener)
	delete(k.topicListeners, topic)
	k.handleStateChanges(k.replicasIn(topic, "ReplicaDeletionSuccessful"), change{target: "NonExistentReplica"})
	names := k.partitionsOf(topic)
	k.handleStateChanges(names, change{target: "OfflinePartition"})
	k.handleStateChanges(names, change{target: "NonExistentPartition"})
	delete(k.queued, topic)
	for name := range k.leaving {
		if topicOf(name) == topic {
			delete(k.leaving, name)
		}
	}
	for _, path := range []string{topicPath(topic), configPath(topic)} {
		if _, err := k.zk.deleteRecursive(path); err != nil { // where it stops half way nobody looks (D70)
			return err
		}
	}
	if err := k.removeRequests([]string{topic}); err != nil {
		return err
	}
	for name := range k.leaderships {
		if topicOf(name) == topic {
			delete(k.leaderships, name)
		}
	}
	for _, name := range names {
		delete(k.assigned, name)
	}
	delete(k.allTopics, topic)
	return nil
}

// onStopReplicaAnswer takes the answer of a broker that was to delete a replica. One that names no partition changes
// nothing.
func (k *kafkaController) onStopReplicaAnswer(answer answered) {
	var failed, deleted []string
	for _, name := range sortedKeys(answer.Partitions) {
		if key := replicaKey(name, answer.From); answer.Error != 0 || answer.Partitions[name] != 0 {
			failed = append(failed, key)
		} else {
			deleted = append(deleted, key)
		}
	}
	k.failReplicaDeletion(failed)
	if len(deleted) == 0 {
		return
	}
	deleted = slices.DeleteFunc(deleted, func(key string) bool { return !k.isQueued(partitionOf(key)) })
	k.handleStateChanges(deleted, change{target: "ReplicaDeletionSuccessful"})
	k.woken = true
}

// partitionOf is the partition that a key is of.
func partitionOf(key string) string {
	name, _, _ := strings.Cut(key, "/")
	return name
}
