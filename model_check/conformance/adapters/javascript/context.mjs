// What the controller caches (ControllerContext; PROTOCOL.md section 1).

import { refuse } from "./functions.mjs";
import { topicOf } from "./names.mjs";

export class ControllerContext {
  epoch = 0;
  epochZkVersion = 0;
  registered = []; // the brokers, ascending: "liveOrShuttingDown"
  shuttingDown = new Set();
  allTopics = new Set();
  assignment = new Map(); // AR of each partition
  leadership = new Map(); // of each partition {leader, leader_epoch, isr, controller_epoch, zk_version}
  partitionsBeingReassigned = new Map(); // RAR of each
  partitionsUndergoingPreferredReplicaElection = new Set();

  get live() { return this.registered.filter((one) => !this.shuttingDown.has(one)); }

  assignmentOf(name) { return this.assignment.get(name) ?? refuse(`${name} has no assignment`); }

  leadershipOf(name) { return this.leadership.get(name) ?? refuse(`${name} has no leadership`); }

  partitionsForTopic(topic) { return [...this.assignment.keys()].filter((name) => topicOf(name) === topic); }

  replicasForPartitions(names) {
    const brokersOf = (partition) => [...new Set(this.assignmentOf(partition))];
    return names.flatMap((partition) => brokersOf(partition).map((broker) => ({ partition, broker })));
  }

  replicasOnBrokers(brokers) {
    return this.replicasForPartitions([...this.assignment.keys()]).filter(({ broker }) => brokers.includes(broker));
  }

  removeTopic(topic) {
    for (const name of this.partitionsForTopic(topic)) this.assignment.delete(name);
    for (const name of [...this.leadership.keys()]) if (topicOf(name) === topic) this.leadership.delete(name);
    this.allTopics.delete(topic);
  }
}
