// ZooKeeper as Kafka's ZkClient and ZkUtils show it: operations that are done again until they are answered, and
// listeners whose watches are set again before they are called (PROTOCOL.md section 2).

import { Refused } from "./functions.mjs";
import { statePath } from "./names.mjs";
import { readZnode, saysTheSame, unlessNoJson } from "./znodes.mjs";

export class ZooKeeperError extends Refused {}

const stateData = ({ leader, leader_epoch, isr, controller_epoch }) =>
  JSON.stringify({ version: 1, leader, leader_epoch, controller_epoch, isr });

const parentOf = (path) => path.slice(0, path.lastIndexOf("/"));

// What an operation gives, or `otherwise` where ZooKeeper refuses it for this reason.
function unless(reason, operation, otherwise) {
  try {
    return operation();
  } catch (error) {
    if (error instanceof ZooKeeperError && error.message === reason) return otherwise();
    throw error;
  }
}

export class ZkClient {
  dataListeners = new Map(); // by path: {changed(data), deleted()}
  childListeners = new Map(); // by path: (children or null) => ...

  constructor(ask) { this.ask = ask; }

  // ---------------------------------------------------------------------------------------------- operations

  // Without an answer the operation is done again, under the new session where the old one has ended.
  retryUntilConnected(operation) {
    for (;;) {
      const { result, refused } = this.ask(operation);
      if (refused === undefined) return result;
      if (refused !== "ConnectionLoss" && refused !== "SessionExpired") throw new ZooKeeperError(refused);
    }
  }

  hasListeners = (path) => this.dataListeners.has(path) || this.childListeners.has(path);

  exists = (path, watch = false) => this.retryUntilConnected({ op: "exists", path, watch });

  get = (path) => this.retryUntilConnected({ op: "get", path, watch: this.hasListeners(path) });

  children = (path) =>
    this.retryUntilConnected({ op: "children", path, watch: this.hasListeners(path) }).children.sort();

  create = (path, data) => this.retryUntilConnected({ op: "create", path, data, ephemeral: false });

  set = (path, data, version = -1) => this.retryUntilConnected({ op: "set", path, data, version }).version;

  // Whether there was something to delete.
  delete(path) {
    const operation = { op: "delete", path, version: -1 };
    return unless("NoNode", () => { this.retryUntilConnected(operation); return true; }, () => false);
  }

  // The data and the version, or null where there is no znode.
  read = (path) => unless("NoNode", () => this.get(path), () => null);

  // A child that is gone ends it: so the rest stays where the answer to a delete is lost (D70).
  deleteRecursive(path) {
    const children = unless("NoNode", () => this.children(path), () => null);
    if (children === null) return true;
    return children.every((child) => this.deleteRecursive(`${path}/${child}`)) && this.delete(path);
  }

  createWithParents(path, data) {
    unless("NoNode", () => this.create(path, data), () => {
      this.createParents(parentOf(path));
      this.create(path, data);
    });
  }

  createParents(path) {
    unless("NodeExists", () => this.createWithParents(path, null), () => {});
  }

  // An upsert (ZkUtils.updatePersistentPath).
  write(path, data) {
    unless("NoNode", () => this.set(path, data), () =>
      unless("NodeExists", () => this.createWithParents(path, data), () => this.set(path, data)));
  }

  // The state znode of a partition, with its version; null where there is none.
  readState(name) {
    const path = statePath(name);
    const stands = this.read(path);
    if (stands === null) return null;
    const told = unlessNoJson(() => readZnode({ path, data: stands.data }).value, null);
    if (told === null) return null;
    const { leader, leader_epoch, isr, controller_epoch } = told;
    return { leader, leader_epoch, isr, controller_epoch, zk_version: stands.version };
  }

  createState(name, state) { this.createWithParents(statePath(name), stateData(state)); }

  // A conditional write: the version then, or null. What stands there already counts as written, whoever wrote it
  // (KAFKA-1382).
  writeState(name, state, version) {
    const path = statePath(name);
    return unless("NoNode", () => unless("BadVersion", () => this.set(path, stateData(state), version), () => {
      const stands = this.read(path);
      return stands !== null && saysTheSame(stands.data, state) ? stands.version : null;
    }), () => null);
  }

  // The creation of /controller is bound to the session (ZKCheckedEphemeral): its end is an error. Whether the znode is
  // of this session tells a creation whose answer was lost from that of another (KAFKA-1387).
  createEphemeral(path, data) {
    for (;;) {
      const { refused } = this.ask({ op: "create", path, data, ephemeral: true });
      if (refused === undefined) return;
      if (refused === "ConnectionLoss") continue;
      if (refused !== "NodeExists") throw new ZooKeeperError(refused);
      const stands = this.exists(path);
      if (stands?.own) return;
      if (stands !== null) throw new ZooKeeperError(refused);
    }
  }

  // ----------------------------------------------------------------------------------------------- listeners

  subscribeData(path, listener) {
    this.dataListeners.set(path, listener);
    this.exists(path, true);
  }

  subscribeChildren(path, listener) {
    this.childListeners.set(path, listener);
    unless("NoNode", () => this.children(path), () => {});
  }

  unsubscribe(path) {
    this.dataListeners.delete(path);
    this.childListeners.delete(path);
  }

  fireData(path, { changed, deleted }) {
    this.exists(path, true);
    const stands = this.read(path);
    return stands === null ? deleted?.() : changed(stands.data);
  }

  fireChildren(path, listener) {
    this.exists(path, true);
    listener(unless("NoNode", () => this.children(path), () => null));
  }

  onWatch(path, type) {
    const ofData = this.dataListeners.get(path);
    const ofChildren = this.childListeners.get(path);
    if (ofData && type !== "NodeChildrenChanged") this.fireData(path, ofData);
    if (ofChildren && type !== "NodeDataChanged") this.fireChildren(path, ofChildren);
  }

  // What calls every listener that there is now, once the new session stands.
  callsOfAll() {
    const ofChildren = [...this.childListeners].map(([path, one]) => () => this.fireChildren(path, one));
    const ofData = [...this.dataListeners].map(([path, one]) => () => this.fireData(path, one));
    return [...ofChildren, ...ofData];
  }
}
