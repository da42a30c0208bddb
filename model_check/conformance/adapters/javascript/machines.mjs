// The two state machines: which transitions there are, and what each does (PROTOCOL.md sections 3 and 4).

import { IllegalState, RequestBatch } from "./channels.mjs";
import { Refused, elect, refuse, removeReplica } from "./functions.mjs";
import { ascending, statePath, topicOf } from "./names.mjs";

// Which states may come before each, as Kafka's validPreviousStates have it.
export const BEFORE = {
  partition: {
    NonExistentPartition: ["OfflinePartition"],
    NewPartition: ["NonExistentPartition"],
    OnlinePartition: ["NewPartition", "OnlinePartition", "OfflinePartition"],
    OfflinePartition: ["NewPartition", "OnlinePartition", "OfflinePartition"],
  },
  replica: {
    NonExistentReplica: ["ReplicaDeletionSuccessful"],
    NewReplica: ["NonExistentReplica"],
    OnlineReplica: ["NewReplica", "OnlineReplica", "OfflineReplica", "ReplicaDeletionIneligible"],
    OfflineReplica: ["NewReplica", "OnlineReplica", "OfflineReplica", "ReplicaDeletionIneligible"],
    ReplicaDeletionStarted: ["OfflineReplica"],
    ReplicaDeletionSuccessful: ["ReplicaDeletionStarted"],
    ReplicaDeletionIneligible: ["ReplicaDeletionStarted"],
  },
};

class StateMachine {
  states = new Map();
  hasStarted = false;

  constructor(controller) {
    this.controller = controller;
    this.context = controller.context;
    this.zk = controller.zk;
    this.batch = new RequestBatch(controller);
  }

  shutdown() {
    this.hasStarted = false;
    this.states.clear();
  }

  // One batch: what is raised on the way, or by the send, is only logged, and the batch stays as it is.
  inOneBatch(changes) {
    try {
      this.batch.newBatch();
      changes();
      this.batch.send();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
    }
  }

  // One transition. What fails is only logged: the state stays, and the others of the batch go on.
  transition(key, from, to, effect) {
    if (!this.hasStarted) refuse("the state machine has not started");
    try {
      const before = BEFORE[this.kind][to];
      if (!before.includes(from)) throw new IllegalState(`from ${from} to ${to}`);
      effect();
      this.states.set(key, to);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
    }
  }
}

export class PartitionStateMachine extends StateMachine {
  kind = "partition";

  stateOf = (name) => this.states.get(name) ?? "NonExistentPartition";

  startup() {
    const { assignment, leadership, live } = this.context;
    for (const name of assignment.keys()) {
      const leader = leadership.get(name)?.leader;
      const hasLeader = live.includes(leader) ? "OnlinePartition" : "OfflinePartition";
      this.states.set(name, leader === undefined ? "NewPartition" : hasLeader);
    }
    this.hasStarted = true;
    this.triggerOnlinePartitionStateChange();
  }

  triggerOnlinePartitionStateChange() {
    const { deletion, selectors } = this.controller;
    this.inOneBatch(() => {
      for (const [name, state] of this.states) {
        const isDue = state === "NewPartition" || state === "OfflinePartition";
        if (isDue && !deletion.isTopicQueued(topicOf(name))) this.toOnline(name, selectors.offline);
      }
    });
  }

  handleStateChanges(names, to, select = this.controller.selectors.offline) {
    this.inOneBatch(() => {
      for (const name of names) {
        if (to === "OnlinePartition") this.toOnline(name, select);
        else this.transition(name, this.stateOf(name), to, () => {});
      }
    });
  }

  toOnline(name, select) {
    const from = this.stateOf(name);
    this.transition(name, from, "OnlinePartition", () =>
      from === "NewPartition" ? this.initializeLeaderAndIsr(name) : this.electLeader(name, select));
  }

  initializeLeaderAndIsr(name) {
    const { epoch, live } = this.context;
    const isr = this.context.assignmentOf(name).filter((one) => live.includes(one));
    if (isr.length === 0) refuse("no assigned replica is alive");
    const state = { leader: isr[0], leader_epoch: 0, isr, controller_epoch: epoch };
    this.zk.createState(name, state);
    this.lead(name, { ...state, zk_version: 0 }, isr);
  }

  electLeader(name, select) {
    for (;;) {
      const current = this.controller.readOwnState(name) ?? refuse("there is no state znode");
      const elected = select(name, current);
      if (elected === null) return;
      const { receivers, ...chosen } = elected;
      const state = { ...chosen, leader_epoch: current.leader_epoch + 1, controller_epoch: this.context.epoch };
      const zk_version = this.zk.writeState(name, state, current.zk_version);
      if (zk_version !== null) return this.lead(name, { ...state, zk_version }, receivers);
    }
  }

  lead(name, leadership, receivers) {
    this.context.leadership.set(name, leadership);
    this.batch.addLeaderAndIsr(receivers, name, leadership, this.context.assignmentOf(name));
  }
}

const keyOf = ({ partition, broker }) => `${partition}/${broker}`;

export class ReplicaStateMachine extends StateMachine {
  kind = "replica";

  stateOf = (replica) => this.states.get(keyOf(replica)) ?? "NonExistentReplica";

  startup() {
    const { assignment, live } = this.context;
    for (const replica of this.context.replicasForPartitions([...assignment.keys()])) {
      this.states.set(keyOf(replica), live.includes(replica.broker) ? "OnlineReplica" : "ReplicaDeletionIneligible");
    }
    this.hasStarted = true;
    this.handleStateChanges(this.context.replicasOnBrokers(live), "OnlineReplica");
  }

  replicasOfTopic = (topic) => this.context.replicasForPartitions(this.context.partitionsForTopic(topic));

  areAllReplicasDeleted(topic) {
    return this.replicasOfTopic(topic).every((one) =>
      (this.states.get(keyOf(one)) ?? refuse("a replica has no state")) === "ReplicaDeletionSuccessful");
  }

  replicasInState = (topic, state) => this.replicasOfTopic(topic).filter((one) => this.stateOf(one) === state);

  // `callback`: what the answer to a StopReplica with delete calls.
  handleStateChanges(replicas, to, callback) {
    if (replicas.length === 0) return;
    this.inOneBatch(() => {
      for (const replica of replicas) {
        const from = this.stateOf(replica);
        this.states.set(keyOf(replica), from); // it is known from its first touch on
        this.transition(keyOf(replica), from, to, () => {
          const assigned = this.context.assignmentOf(replica.partition);
          this[to]?.(replica, { from, assigned, callback });
        });
        if (to === "NonExistentReplica" && this.stateOf(replica) === to) this.states.delete(keyOf(replica));
      }
    });
  }

  NewReplica({ partition, broker }, { assigned }) {
    const stands = this.zk.readState(partition);
    if (stands === null) return;
    if (stands.leader === broker) refuse("it leads already");
    this.batch.addLeaderAndIsr([broker], partition, stands, assigned);
  }

  OnlineReplica({ partition, broker }, { from, assigned }) {
    const leadership = this.context.leadership.get(partition);
    if (from === "NewReplica") {
      if (!assigned.includes(broker)) this.context.assignment.set(partition, [...assigned, broker]);
    } else if (leadership !== undefined) this.batch.addLeaderAndIsr([broker], partition, leadership, assigned);
  }

  OfflineReplica({ partition, broker }, { assigned }) {
    this.batch.addStopReplica(broker, partition, false);
    const left = this.context.leadership.has(partition) ? this.removeReplicaFromIsr(partition, broker) : null;
    if (left === null) refuse("there is no leadership, so the state stays");
    if (this.controller.deletion.partitionsToBeDeleted.has(partition)) return;
    this.batch.addLeaderAndIsr(assigned.filter((one) => one !== broker), partition, left, assigned);
  }

  ReplicaDeletionStarted({ partition, broker }, { callback }) {
    this.batch.addStopReplica(broker, partition, true, callback);
  }

  NonExistentReplica({ partition, broker }, { assigned }) {
    this.context.assignment.set(partition, assigned.filter((one) => one !== broker));
  }

  // An attempt that fails is cached, too, with version -1 (S4).
  removeReplicaFromIsr(partition, broker) {
    const { epoch: controller_epoch, leadership } = this.context;
    for (let left = null; ;) {
      const state = this.controller.readOwnState(partition);
      if (state === null) return left;
      const isLast = state.isr.includes(broker) && state.isr.every((one) => one === broker);
      const unclean = isLast && this.controller.isUncleanElectionEnabled(topicOf(partition));
      const { written, cached } = removeReplica({ replica: broker, assigned: [], state, controller_epoch, unclean });
      const version = written === null ? state.zk_version : this.zk.writeState(partition, written, state.zk_version);
      left = { ...cached, zk_version: version ?? -1 };
      leadership.set(partition, left);
      if (version !== null) return left;
    }
  }
}

// How a selector of FORMAT.md's `elect` is asked: its ISR is a set there, and keeps the order of the old one here.
function select(selector, given, current) {
  const { elected, refused } = elect({ selector, isr: current.isr, ...given });
  if (refused === "not needed") return null;
  if (refused !== undefined) refuse("nobody can be elected");
  const kept = current.isr.filter((one) => elected.isr.includes(one));
  return { ...elected, isr: kept.length > 0 ? kept : elected.isr };
}

// The leader selectors, of a partition and its state as it stands in ZooKeeper (PROTOCOL.md section 5).
export function leaderSelectors(controller) {
  const { context } = controller;
  const assignedOf = (name) => context.assignmentOf(name);
  return {
    offline: (name, current) => {
      const isAnyoneInSync = current.isr.some((one) => context.live.includes(one));
      const unclean = !isAnyoneInSync && controller.isUncleanElectionEnabled(topicOf(name));
      return select("offline", { assigned: assignedOf(name), live: context.live, unclean }, current);
    },
    reassigned: (name, current) =>
      select("reassigned", { reassigned: context.partitionsBeingReassigned.get(name), live: context.live }, current),
    preferred: (name, current) => {
      const cached_leader = context.leadershipOf(name).leader;
      return select("preferred", { assigned: assignedOf(name), live: context.live, cached_leader }, current);
    },
    controlledShutdown: (name, current) => {
      const { registered, shuttingDown } = context;
      const given = { assigned: assignedOf(name), registered, shutting_down: ascending(shuttingDown) };
      return select("controlled-shutdown", given, current);
    },
  };
}
