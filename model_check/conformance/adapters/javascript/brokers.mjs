// Brokers that come and go (PROTOCOL.md sections 7.1 and 7.2).

import { Refused } from "./functions.mjs";
import { ascending, topicOf, topicsOf, without } from "./names.mjs";
import { readZnode } from "./znodes.mjs";

const BROKERS = "/brokers/ids";
const CONTROLLER_MOVED = 11;
const BROKER_NOT_AVAILABLE = 8;
const UNKNOWN = -1;

export class Brokers {
  constructor(controller) {
    this.controller = controller;
    this.context = controller.context;
    this.zk = controller.zk;
  }

  registerListener() {
    this.zk.subscribeChildren(BROKERS, this.controller.whileActive((ids) => this.onBrokerChange(ids)));
  }

  unregisterListener() { this.zk.unsubscribe(BROKERS); }

  // Those whose registration can be read, ascending.
  readRegistered(ids) {
    const isRegistered = (id) => {
      const path = `${BROKERS}/${id}`;
      const stands = this.zk.read(path);
      return stands !== null && Boolean(readZnode({ path, data: stands.data }));
    };
    return ascending(ids.filter(isRegistered).map(Number));
  }

  readAllRegistered() { return this.readRegistered(this.zk.children(BROKERS)); }

  // BrokerChangeListener. What is registered is cached first: what an exception skips is not made up for (D51).
  onBrokerChange(ids) {
    if (!this.controller.replicas.hasStarted) return; // half a controller (D4)
    const before = this.context.registered;
    const now = this.readRegistered(ids);
    const started = without(now, before);
    const dead = without(before, now);
    this.context.registered = now;
    for (const one of started) this.controller.channels.add(one);
    for (const one of dead) this.controller.channels.remove(one);
    if (started.length > 0) this.onBrokerStartup(started);
    if (dead.length > 0) this.onBrokerFailure(dead);
  }

  onBrokerStartup(started) {
    const { deletion, partitions, reassignment, replicas } = this.controller;
    this.controller.sendUpdateMetadata();
    const onStarted = this.context.replicasOnBrokers(started);
    replicas.handleStateChanges(onStarted, "OnlineReplica");
    partitions.triggerOnlinePartitionStateChange();
    for (const [name, reassigned] of [...this.context.partitionsBeingReassigned]) {
      if (reassigned.some((one) => started.includes(one))) reassignment.onPartitionReassignment(name, reassigned);
    }
    deletion.resumeDeletion(topicsOf(onStarted.map(({ partition }) => partition)));
  }

  onBrokerFailure(dead) {
    const { deletion, partitions, replicas } = this.controller;
    const isQueued = (name) => deletion.isTopicQueued(topicOf(name));
    for (const one of dead) this.context.shuttingDown.delete(one);
    const leaderless = [...this.context.leadership].filter(([name, { leader }]) =>
      dead.includes(leader) && !isQueued(name)).map(([name]) => name);
    partitions.handleStateChanges(leaderless, "OfflinePartition");
    partitions.triggerOnlinePartitionStateChange();
    const onDead = this.context.replicasOnBrokers(dead);
    replicas.handleStateChanges(onDead.filter(({ partition }) => !isQueued(partition)), "OfflineReplica");
    deletion.failReplicaDeletion(onDead);
    if (leaderless.length === 0) this.controller.sendUpdateMetadata();
  }

  // ------------------------------------------------------------------------------------- controlled shutdown

  // What is answered to a broker that asks for its shutdown: a code, and the partitions that it still leads.
  onControlledShutdown(broker) {
    if (!this.controller.isActive) return { error: CONTROLLER_MOVED, remaining: [] };
    if (!this.context.registered.includes(broker)) return { error: BROKER_NOT_AVAILABLE, remaining: [] };
    try {
      return { error: 0, remaining: this.shutdownBroker(broker) };
    } catch (error) {
      if (error instanceof Refused) return { error: UNKNOWN, remaining: [] };
      throw error;
    }
  }

  shutdownBroker(broker) {
    this.context.shuttingDown.add(broker);
    const isReplicated = (name) => this.context.assignmentOf(name).length > 1;
    const names = this.context.replicasOnBrokers([broker]).map(({ partition }) => partition).filter(isReplicated);
    for (const name of names) if (this.context.leadership.has(name)) this.moveAway(name, broker);
    const isLedByIt = ([name, { leader }]) => leader === broker && isReplicated(name);
    return [...this.context.leadership].filter(isLedByIt).map(([name]) => name).sort();
  }

  moveAway(name, broker) {
    const { partitions, replicas, selectors } = this.controller;
    if (this.context.leadershipOf(name).leader === broker) {
      partitions.handleStateChanges([name], "OnlinePartition", selectors.controlledShutdown);
    } else {
      this.controller.sendStopReplica(broker, name);
      replicas.handleStateChanges([{ partition: name, broker }], "OfflineReplica");
    }
  }
}
