// Topic deletion: its listener, its thread and the answers to StopReplica (TopicDeletionManager; PROTOCOL.md 7.4).

import { Refused, refuse } from "./functions.mjs";
import { topicOf, topicPath, topicsOf, without } from "./names.mjs";

const DELETE_TOPICS = "/admin/delete_topics";

export class TopicDeletionManager {
  topicsToBeDeleted = new Set();
  partitionsToBeDeleted = new Set();
  topicsIneligibleForDeletion = new Set();
  isMade = false; // a failover makes the manager before it makes the thread
  thread = null; // "runs", or "dead" after an exception
  isWoken = false;

  constructor(controller) {
    this.controller = controller;
    this.context = controller.context;
    this.zk = controller.zk;
    this.isEnabled = controller.settings["delete.topic.enable"];
  }

  isTopicQueued = (topic) => this.isEnabled && this.topicsToBeDeleted.has(topic);

  // ------------------------------------------------------------------------------------------ a term's life

  registerListener() {
    this.zk.subscribeChildren(DELETE_TOPICS, this.controller.whileActive((topics) => this.onRequests(topics)));
  }

  unregisterListener() { this.zk.unsubscribe(DELETE_TOPICS); }

  // Queued is what is asked for, whether there is such a topic or not.
  initialize() {
    const { live, partitionsBeingReassigned, partitionsUndergoingPreferredReplicaElection } = this.context;
    const queued = this.zk.children(DELETE_TOPICS);
    const isAnyReplicaDead = ([, assigned]) => assigned.some((one) => !live.includes(one));
    const dead = [...this.context.assignment].filter(isAnyReplicaDead).map(([name]) => name);
    const busy = [...dead, ...partitionsBeingReassigned.keys(), ...partitionsUndergoingPreferredReplicaElection];
    this.clear();
    if (this.isEnabled) this.queue(queued);
    else for (const topic of queued) this.zk.delete(`${DELETE_TOPICS}/${topic}`);
    this.markIneligible(topicsOf(busy));
    this.isMade = true;
    this.thread = null;
  }

  start() {
    if (!this.isEnabled) return;
    this.thread = "runs";
    this.isWoken = this.topicsToBeDeleted.size > 0;
  }

  // Where a failover has made the manager, but not the thread, this raises (D56).
  shutdown() {
    if (!this.isMade || !this.isEnabled) return;
    if (this.thread === null) refuse("there is no deletion thread");
    this.isWoken = false;
    this.clear();
  }

  clear() {
    for (const one of [this.topicsToBeDeleted, this.partitionsToBeDeleted, this.topicsIneligibleForDeletion]) {
      one.clear();
    }
  }

  // ------------------------------------------------------------------------------------------- what is asked

  // DeleteTopicsListener
  onRequests(requested) {
    const known = requested.filter((topic) => this.context.allTopics.has(topic));
    for (const topic of without(requested, known)) this.zk.deleteRecursive(`${DELETE_TOPICS}/${topic}`);
    if (!this.isEnabled) {
      for (const topic of known) this.zk.delete(`${DELETE_TOPICS}/${topic}`);
    } else if (known.length > 0) {
      const { partitionsBeingReassigned, partitionsUndergoingPreferredReplicaElection } = this.context;
      const busy = topicsOf([...partitionsBeingReassigned.keys(), ...partitionsUndergoingPreferredReplicaElection]);
      this.markIneligible(known.filter((topic) => busy.has(topic))); // lost where it is not queued yet (D44)
      this.queue(known);
      this.isWoken = true;
    }
  }

  queue(topics) {
    for (const topic of topics) {
      this.topicsToBeDeleted.add(topic);
      for (const name of this.context.partitionsForTopic(topic)) this.partitionsToBeDeleted.add(name);
    }
  }

  markIneligible(topics) {
    for (const topic of topics) if (this.topicsToBeDeleted.has(topic)) this.topicsIneligibleForDeletion.add(topic);
  }

  resumeDeletion(topics) {
    for (const topic of topics) {
      if (!this.isTopicQueued(topic)) continue;
      this.topicsIneligibleForDeletion.delete(topic);
      this.isWoken = true;
    }
  }

  // ---------------------------------------------------------------------------------------------- the thread

  // Runs until nobody wakes it. An exception ends it, and it is not woken again (D37).
  runThread() {
    while (this.thread === "runs" && this.isWoken) {
      this.isWoken = false;
      try {
        for (const topic of [...this.topicsToBeDeleted]) this.advance(topic);
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        this.thread = "dead";
      }
    }
  }

  advance(topic) {
    const { replicas } = this.controller;
    if (replicas.areAllReplicasDeleted(topic)) this.completeDeleteTopic(topic);
    else if (!this.isInProgress(topic)) {
      const failed = replicas.replicasInState(topic, "ReplicaDeletionIneligible");
      replicas.handleStateChanges(failed, "OfflineReplica");
    }
    const isHeld = this.topicsIneligibleForDeletion.has(topic) || this.isInProgress(topic);
    if (this.isTopicQueued(topic) && !isHeld) this.startDeletion(topic);
  }

  isInProgress = (topic) => this.controller.replicas.replicasInState(topic, "ReplicaDeletionStarted").length > 0;

  startDeletion(topic) {
    const { replicas } = this.controller;
    const { live } = this.context;
    this.controller.sendUpdateMetadata(this.context.partitionsForTopic(topic));
    const all = replicas.replicasOfTopic(topic);
    const dead = all.filter(({ broker }) => !live.includes(broker));
    const toDelete = all.filter((one) =>
      live.includes(one.broker) && replicas.stateOf(one) !== "ReplicaDeletionSuccessful");
    replicas.handleStateChanges(dead, "ReplicaDeletionIneligible");
    replicas.handleStateChanges(toDelete, "OfflineReplica");
    replicas.handleStateChanges(toDelete, "ReplicaDeletionStarted", (...answer) => this.onStopReplicaAnswer(...answer));
    if (dead.length > 0) this.markIneligible([topic]);
  }

  completeDeleteTopic(topic) {
    const { partitions, replicas, topics } = this.controller;
    topics.unregisterPartitionListener(topic);
    const names = this.context.partitionsForTopic(topic);
    replicas.handleStateChanges(replicas.replicasInState(topic, "ReplicaDeletionSuccessful"), "NonExistentReplica");
    partitions.handleStateChanges(names, "OfflinePartition");
    partitions.handleStateChanges(names, "NonExistentPartition");
    this.topicsToBeDeleted.delete(topic);
    for (const name of [...this.partitionsToBeDeleted]) {
      if (topicOf(name) === topic) this.partitionsToBeDeleted.delete(name);
    }
    this.zk.deleteRecursive(topicPath(topic));
    this.zk.deleteRecursive(`/config/topics/${topic}`);
    this.zk.delete(`${DELETE_TOPICS}/${topic}`);
    this.context.removeTopic(topic);
  }

  // ----------------------------------------------------------------------------------------------- the answers

  onStopReplicaAnswer(broker, error, codes) {
    const answered = Object.keys(codes).map((partition) => ({ partition, broker }));
    const failed = answered.filter(({ partition }) => error !== 0 || codes[partition] !== 0);
    this.failReplicaDeletion(failed);
    if (failed.length < answered.length) this.completeReplicaDeletion(without(answered, failed));
  }

  failReplicaDeletion(replicas) {
    const failed = replicas.filter(({ partition }) => this.isTopicQueued(topicOf(partition)));
    if (failed.length === 0) return;
    this.controller.replicas.handleStateChanges(failed, "ReplicaDeletionIneligible");
    this.markIneligible(topicsOf(failed.map(({ partition }) => partition)));
    this.isWoken = true;
  }

  completeReplicaDeletion(replicas) {
    const deleted = replicas.filter(({ partition }) => this.isTopicQueued(topicOf(partition)));
    this.controller.replicas.handleStateChanges(deleted, "ReplicaDeletionSuccessful");
    this.isWoken = true;
  }
}
