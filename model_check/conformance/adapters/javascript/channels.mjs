// What is sent to brokers: the channels, and the batch that collects requests (PROTOCOL.md section 9).

import { Refused, refuse } from "./functions.mjs";
import { ascending } from "./names.mjs";

export class IllegalState extends Refused {}

// ControllerChannelManager. A broker that is not registered has no channel: what is sent to it is dropped.
export class ControllerChannels {
  opened = new Set(); // the brokers with a channel, also those that a resignation has forgotten to close (D4)
  callbacks = new Map(); // by the number of a request: what its answer calls
  isStarted = false;

  constructor(say) { this.say = say; }

  start(brokers) {
    for (const one of brokers) {
      if (this.opened.has(one)) refuse(`a channel to broker ${one} is left over`);
      this.add(one);
    }
    this.isStarted = true;
  }

  add(broker) { this.opened.add(broker); }

  remove(broker) {
    this.opened.delete(broker);
    for (const [number, { to }] of this.callbacks) if (to === broker) this.callbacks.delete(number);
  }

  shutdown() {
    for (const one of [...this.opened]) this.remove(one);
    this.isStarted = false;
  }

  send(to, request, call) {
    if (!this.isStarted) throw new IllegalState("there are no channels");
    if (!this.opened.has(to)) return;
    const { number } = this.say({ send: { to, request } }).result;
    if (call) this.callbacks.set(number, { to, call });
  }

  onAnswer({ from, number, error, partitions }) {
    const callback = this.callbacks.get(number);
    this.callbacks.delete(number);
    callback?.call(from, error, partitions);
  }
}

const byName = (partitions) => [...partitions.keys()].sort().map((name) => partitions.get(name));

// ControllerBrokerRequestBatch: there are three, of the controller and of each of its state machines.
export class RequestBatch {
  leaderships = new Map(); // of each broker, the partitions of its LeaderAndIsr
  metadata = new Map(); // the partitions of the UpdateMetadata
  told = new Set(); // who is sent that
  stops = new Map(); // of each broker, what it is to stop, in order

  constructor({ context, deletion, channels }) { Object.assign(this, { context, deletion, channels }); }

  newBatch() {
    if (this.leaderships.size + this.told.size + this.stops.size > 0) throw new IllegalState("the batch is not empty");
  }

  clear() {
    for (const one of [this.leaderships, this.metadata, this.told, this.stops]) one.clear();
  }

  addLeaderAndIsr(brokers, name, leadership, replicas) {
    for (const one of brokers) {
      if (!this.leaderships.has(one)) this.leaderships.set(one, new Map());
      this.leaderships.get(one).set(name, { partition: name, ...leadership, replicas: ascending(replicas) });
    }
    this.addUpdateMetadata([name]);
  }

  // Without names, of all partitions. Those that are being deleted come with each.
  addUpdateMetadata(names = []) {
    const { leadership, registered } = this.context;
    const { partitionsToBeDeleted } = this.deletion;
    for (const one of registered) this.told.add(one);
    for (const name of names.length > 0 ? names : leadership.keys()) {
      if (!partitionsToBeDeleted.has(name)) this.addMetadata(name, {});
    }
    for (const name of partitionsToBeDeleted) this.addMetadata(name, { leader: -2, leader_epoch: 0, zk_version: 0 });
  }

  addMetadata(name, instead) {
    const leadership = this.context.leadership.get(name);
    if (leadership === undefined) return;
    const replicas = ascending(this.context.assignmentOf(name));
    this.metadata.set(name, { partition: name, ...leadership, ...instead, replicas });
  }

  addStopReplica(broker, name, isDelete, callback) {
    if (!this.stops.has(broker)) this.stops.set(broker, []);
    this.stops.get(broker).push({ name, isDelete, callback });
  }

  send() {
    try {
      this.sendLeaderAndIsr();
      this.sendUpdateMetadata();
      this.sendStopReplica();
    } catch (error) {
      if (error instanceof Refused) throw new IllegalState(error.message);
      throw error;
    }
  }

  sendTo(broker, request, callback) {
    this.channels.send(broker, { ...request, controller_epoch: this.context.epoch }, callback);
  }

  sendLeaderAndIsr() {
    for (const [broker, partitions] of this.leaderships) {
      const leaders = new Set([...partitions.values()].map(({ leader }) => leader));
      const live_leaders = this.context.registered.filter((one) => leaders.has(one));
      this.sendTo(broker, { name: "LeaderAndIsr", partitions: byName(partitions), live_leaders });
    }
    this.leaderships.clear();
  }

  sendUpdateMetadata() {
    const partitions = byName(this.metadata);
    const request = { name: "UpdateMetadata", partitions, live_brokers: this.context.registered };
    for (const broker of this.told) this.sendTo(broker, request);
    this.metadata.clear();
    this.told.clear();
  }

  // One request for all that are only stopped, sent even if there are none, then one for each other (KAFKA-4420).
  sendStopReplica() {
    const request = (isDelete, partitions) => ({ name: "StopReplica", delete: isDelete, partitions });
    for (const [broker, stops] of this.stops) {
      const grouped = stops.filter(({ isDelete, callback }) => !isDelete && !callback).map(({ name }) => name);
      this.sendTo(broker, request(false, [...new Set(grouped)].sort()));
      for (const { name, isDelete, callback } of stops) {
        if (isDelete || callback) this.sendTo(broker, request(isDelete, [name]), callback);
      }
    }
    this.stops.clear();
  }
}
