// Preferred elections on request, and the automatic rebalance (PROTOCOL.md sections 7.5 and 7.6).

import { findImbalance, refuse } from "./functions.mjs";
import { partitionName, topicOf, topicsOf } from "./names.mjs";
import { readZnode } from "./znodes.mjs";

const REQUEST = "/admin/preferred_replica_election";

// The replica that is to lead, which a partition has not that was reassigned to nobody (D61).
const preferredOf = (assigned) => assigned[0] ?? refuse("there is no replica to prefer");

export class PreferredElections {
  constructor(controller) {
    this.controller = controller;
    this.context = controller.context;
    this.zk = controller.zk;
    this.running = this.context.partitionsUndergoingPreferredReplicaElection;
  }

  registerListener() {
    this.zk.subscribeData(REQUEST, { changed: this.controller.whileActive((data) => this.onRequest(data)) });
  }

  unregisterListener() { this.zk.unsubscribe(REQUEST); }

  parse(data) {
    const { partitions } = readZnode({ path: REQUEST, data }).value;
    const names = partitions.map(({ topic, partition }) => partitionName(topic, partition));
    return new Set(names).size === names.length ? names : refuse("a partition is named twice");
  }

  // At a failover: of the request those stay away that have no topic, or whose preferred replica leads. Without
  // leadership it raises (D42), and without a replica (D61). What ran before is not looked at (D13).
  initialize() {
    const stands = this.zk.read(REQUEST);
    const requested = stands === null ? [] : this.parse(stands.data);
    const isDone = (name) => {
      const assigned = this.context.assignment.get(name);
      return assigned === undefined || this.context.leadershipOf(name).leader === preferredOf(assigned);
    };
    const done = requested.filter(isDone);
    for (const name of requested) this.running.add(name);
    for (const name of done) this.running.delete(name);
  }

  runPending() { this.elect([...this.running], false); }

  // PreferredReplicaElectionListener
  onRequest(data) {
    const asked = this.parse(data).filter((name) => !this.running.has(name));
    this.elect(asked.filter((name) => !this.controller.deletion.isTopicQueued(topicOf(name))), false);
  }

  // What has no leadership, or no replica, makes it raise before the request is deleted (D49, D61).
  elect(names, isAutomatic) {
    const { deletion, partitions, selectors } = this.controller;
    for (const name of names) this.running.add(name);
    deletion.markIneligible(topicsOf(names));
    partitions.handleStateChanges(names, "OnlinePartition", selectors.preferred);
    for (const name of names) {
      this.context.leadershipOf(name);
      preferredOf(this.context.assignmentOf(name));
    }
    if (!isAutomatic) this.zk.delete(REQUEST);
    for (const name of names) this.running.delete(name);
    deletion.resumeDeletion(topicsOf(names));
  }

  // checkAndTriggerPartitionRebalance: each is elected for on its own.
  rebalance() {
    const { allTopics, assignment, leadership, live, partitionsBeingReassigned } = this.context;
    const { deletion, settings } = this.controller;
    const partitions = Object.fromEntries([...assignment].map(([name, assigned]) =>
      [name, { assigned, leader: leadership.get(name)?.leader ?? null }]));
    const { elect } = findImbalance({
      partitions,
      live,
      percentage: settings["leader.imbalance.per.broker.percentage"],
      deleting: [...deletion.topicsToBeDeleted],
      reassigning: [...partitionsBeingReassigned.keys()],
      electing: [...this.running],
    });
    for (const name of elect) if (allTopics.has(topicOf(name))) this.elect([name], true);
  }
}
