// Moves of partitions to other replicas (PROTOCOL.md section 8, whose steps are numbered here).

import { Refused, refuse } from "./functions.mjs";
import { isSameList, partitionName, statePath, topicOf, topicPath, without } from "./names.mjs";
import { readZnode, unlessNoJson } from "./znodes.mjs";

const REQUEST = "/admin/reassign_partitions";

export class Reassignment {
  constructor(controller) {
    this.controller = controller;
    this.context = controller.context;
    this.zk = controller.zk;
  }

  // ------------------------------------------------------------------------------------------- the request

  registerListener() {
    this.zk.subscribeData(REQUEST, { changed: this.controller.whileActive((data) => this.onRequest(data)) });
  }

  unregisterListener() { this.zk.unsubscribe(REQUEST); }

  unregisterIsrListeners() {
    for (const name of this.context.partitionsBeingReassigned.keys()) this.zk.unsubscribe(statePath(name));
  }

  // RAR of each partition that a request names.
  parse(data) {
    const { partitions = [] } = unlessNoJson(() => readZnode({ path: REQUEST, data }).value, {});
    return new Map(partitions.map(({ topic, partition, replicas }) => [partitionName(topic, partition), replicas]));
  }

  readRequest() {
    const stands = this.zk.read(REQUEST);
    return stands === null ? new Map() : this.parse(stands.data);
  }

  // At a failover: what is done already, or has no topic, leaves the request.
  initialize() {
    const requested = this.readRequest();
    for (const [name, reassigned] of requested) {
      const assigned = this.context.assignment.get(name);
      if (assigned === undefined || isSameList(assigned, reassigned)) {
        this.removeFromRequest(name);
        requested.delete(name);
      }
    }
    for (const [name, reassigned] of requested) this.context.partitionsBeingReassigned.set(name, reassigned);
  }

  resume() {
    for (const [name, reassigned] of [...this.context.partitionsBeingReassigned]) this.initiate(name, reassigned);
  }

  // PartitionsReassignedListener
  onRequest(data) {
    const { partitionsBeingReassigned } = this.context;
    const asked = [...this.parse(data)].filter(([name]) => !partitionsBeingReassigned.has(name));
    for (const [name, reassigned] of asked) {
      if (this.controller.deletion.isTopicQueued(topicOf(name))) this.removeFromRequest(name);
      else this.initiate(name, reassigned);
    }
  }

  // What raises in its first run leaves the request, and nothing is undone.
  initiate(name, reassigned) {
    try {
      if (isSameList(this.context.assignmentOf(name), reassigned)) refuse("it is so already");
      const changed = this.controller.whileActive(() => this.onIsrChange(name));
      this.zk.subscribeData(statePath(name), { changed });
      this.context.partitionsBeingReassigned.set(name, reassigned);
      this.controller.deletion.markIneligible([topicOf(name)]);
      this.onPartitionReassignment(name, reassigned);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.removeFromRequest(name);
    }
  }

  removeFromRequest(name) {
    if (this.context.partitionsBeingReassigned.has(name)) this.zk.unsubscribe(statePath(name));
    const left = this.readRequest();
    left.delete(name);
    const partitions = [...left].map(([one, replicas]) => ({ ...this.entryOf(one), replicas }));
    if (partitions.length === 0) this.zk.delete(REQUEST);
    else this.zk.write(REQUEST, JSON.stringify({ version: 1, partitions }));
    this.context.partitionsBeingReassigned.delete(name);
  }

  entryOf = (name) => ({ topic: topicOf(name), partition: Number(name.slice(name.lastIndexOf("-") + 1)) });

  // ReassignedPartitionsIsrChangeListener
  onIsrChange(name) {
    const reassigned = this.context.partitionsBeingReassigned.get(name);
    if (reassigned !== undefined && this.areInIsr(name, reassigned)) this.onPartitionReassignment(name, reassigned);
  }

  // ------------------------------------------------------------------------------------------------ a run

  areInIsr(name, reassigned) {
    const state = this.zk.readState(name);
    if (state === null) return false;
    if (reassigned.some((one) => typeof one !== "number")) refuse("a text is no broker"); // Kafka's ClassCastException
    return reassigned.every((one) => state.isr.includes(one));
  }

  onPartitionReassignment(name, reassigned) {
    if (this.areInIsr(name, reassigned)) this.finish(name, reassigned);
    else this.begin(name, reassigned);
  }

  // Steps 1 to 3; step 4 is to wait.
  begin(name, reassigned) {
    const old = this.context.assignmentOf(name);
    const both = [...new Set([...reassigned, ...old])];
    this.updateAssignedReplicas(name, both); // 1
    this.controller.updateLeaderEpochAndSendRequest(name, both, both); // 2
    for (const broker of without(new Set(reassigned), old)) { // 3
      this.controller.replicas.handleStateChanges([{ partition: name, broker }], "NewReplica");
    }
  }

  finish(name, reassigned) {
    const { deletion, replicas } = this.controller;
    const old = without(this.context.assignmentOf(name), reassigned);
    for (const broker of reassigned) { // 5: one that RAR names twice goes twice (D62)
      replicas.handleStateChanges([{ partition: name, broker }], "OnlineReplica");
    }
    this.moveLeaderIfRequired(name, reassigned); // 6, 7
    const leaving = old.map((broker) => ({ partition: name, broker }));
    replicas.handleStateChanges(leaving, "OfflineReplica"); // 8
    replicas.handleStateChanges(leaving, "ReplicaDeletionStarted"); // 9
    replicas.handleStateChanges(leaving, "ReplicaDeletionSuccessful");
    replicas.handleStateChanges(leaving, "NonExistentReplica");
    this.updateAssignedReplicas(name, reassigned); // 10
    this.removeFromRequest(name); // 11
    this.controller.sendUpdateMetadata([name]); // 12
    deletion.resumeDeletion([topicOf(name)]);
  }

  moveLeaderIfRequired(name, reassigned) {
    const { partitions, selectors } = this.controller;
    const { leader } = this.context.leadershipOf(name);
    const before = this.context.assignmentOf(name);
    this.context.assignment.set(name, reassigned);
    if (reassigned.includes(leader) && this.context.live.includes(leader)) {
      this.controller.updateLeaderEpochAndSendRequest(name, before, reassigned);
    } else {
      partitions.handleStateChanges([name], "OnlinePartition", selectors.reassigned);
    }
  }

  // The whole topic is written from memory (D39).
  updateAssignedReplicas(name, assigned) {
    const topic = topicOf(name);
    const partitions = {};
    for (const one of this.context.partitionsForTopic(topic)) {
      partitions[this.entryOf(one).partition] = one === name ? assigned : this.context.assignmentOf(one);
    }
    this.zk.write(topicPath(topic), JSON.stringify({ version: 1, partitions }));
    this.context.assignment.set(name, assigned);
  }
}
