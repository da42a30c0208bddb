// Whole calls of a controller, as FORMAT.md has them: its state machines with several keys, a broker that leaves or is
// gone, and notifications of ISR changes.

import { Refused, ascending, createPartition, dialect, elect, refuse, removeReplica, topicOf } from "./functions.mjs";
import { BEFORE, readZnode } from "./readers.mjs";

const isOldest = dialect === "as-coded-0.8.2";
const NOTHING = { partition: "NonExistentPartition", replica: "NonExistentReplica" };
const parts = (key) => [key.split("/")[0], Number(key.split("/")[1])];

// A controller's caches, the state znodes, and what came of them.
class Controller {
  written = {};
  led = {}; // by partition, who is sent LeaderAndIsr; also nobody
  stopped = {}; // by partition and delete, who is sent StopReplica

  constructor(given) {
    Object.assign(this, given);
    const all = Object.entries(given.partitions);
    this.assigned = Object.fromEntries(all.map(([name, one]) => [name, one.assigned]));
    this.cached = Object.fromEntries(all.map(([name, one]) => [name, one.leadership]));
    this.znodes = Object.fromEntries(all.map(([name, one]) => [name, one.znode]));
  }

  isDoomed = (name) => this.deleting.includes(topicOf(name));

  lead(name, brokers) { this.led[name] = [...(this.led[name] ?? []), ...brokers]; }

  stop(name, broker, isDelete) {
    const key = JSON.stringify([name, isDelete]);
    this.stopped[key] = [...(this.stopped[key] ?? []), broker];
  }

  write(name, state) { this.written[name] = this.znodes[name] = this.cached[name] = state; }

  // What stands in the state znode, if this controller may decide on it.
  read(name) {
    const state = this.znodes[name];
    return state === null || state.controller_epoch > this.controller_epoch ? refuse("no state of ours") : state;
  }

  bringOnline(name, from, selector) {
    if (this.assigned[name] === undefined) refuse("no AR");
    if (from === "NewPartition") return this.create(name);
    const state = this.read(name);
    const { elected, refused } = this.elect(name, state, selector);
    if (refused === "impossible") refuse("nobody can lead");
    if (refused !== undefined) return undefined;
    const leader_epoch = state.leader_epoch + (selector === "no-op" ? 0 : 1);
    const { controller_epoch } = this;
    this.write(name, { leader: elected.leader, leader_epoch, isr: elected.ordered, controller_epoch });
    return this.lead(name, elected.receivers);
  }

  create(name) {
    const { created, receivers } = createPartition({ ...this, assigned: this.assigned[name] });
    if (this.znodes[name] !== null) refuse("a state znode stands");
    this.write(name, created);
    this.lead(name, receivers);
  }

  elect(name, { leader, isr }, selector) {
    if (selector === "no-op") return { elected: { leader, ordered: isr, receivers: this.assigned[name] } };
    const { live, shutting_down, unclean } = this;
    const registered = [...live, ...shutting_down];
    const cached_leader = this.cached[name]?.leader;
    const assigned = this.assigned[name];
    const found = elect({ selector, assigned, isr, live, registered, shutting_down, unclean, cached_leader });
    if (found.elected === undefined) return found;
    const kept = isr.filter((one) => found.elected.isr.includes(one)); // in the order of the ISR
    return { elected: { ...found.elected, ordered: kept.length > 0 ? kept : found.elected.isr } };
  }

  // A replica goes to OfflineReplica.
  remove(name, replica) {
    this.stop(name, replica, false);
    const isWanting = this.cached[name] === null || this.znodes[name] === null;
    if (isWanting && this.isDoomed(name) && !isOldest) return false; // it stays, which is no failure
    const { controller_epoch, unclean } = this;
    const state = isWanting ? null : this.znodes[name];
    const found = removeReplica({ replica, assigned: this.assigned[name], state, controller_epoch, unclean });
    if (found.written !== null) this.write(name, found.written);
    this.cached[name] = found.cached;
    if (!this.isDoomed(name)) this.lead(name, found.receivers);
    return true;
  }

  outcome() {
    const stops = Object.entries(this.stopped).map(([key, to]) => {
      const [partition, isDelete] = JSON.parse(key);
      return { partition, delete: isDelete, to: ascending(to) };
    });
    const order = (one, other) => (one.partition < other.partition ? -1 : 1) || one.delete - other.delete;
    return {
      written: Object.keys(this.written).sort().map((partition) => ({ partition, ...this.written[partition] })),
      leader_and_isr: Object.keys(this.led).sort().filter((name) => this.led[name].length > 0)
        .map((partition) => ({ partition, to: ascending(this.led[partition]) })),
      stop_replica: stops.sort(order),
    };
  }
}

// Whether something was done; where it is refused it was not.
function isDone(act) {
  try {
    return act() !== false;
  } catch (error) {
    if (error instanceof Refused) return false;
    throw error;
  }
}

// ---------------------------------------------------------------------------------------- handle_state_changes

function movePartition(one, name, from, { target, selector }) {
  if (one.assigned[name] === undefined) refuse("no AR");
  if (target === "OnlinePartition") one.bringOnline(name, from, selector);
}

function moveReplica(one, key, from, { target }) {
  const [name, replica] = parts(key);
  if (one.assigned[name] === undefined) refuse("no AR");
  const state = one.znodes[name];
  switch (target) {
    case "NewReplica":
      if (state?.leader === replica) refuse("it leads");
      if (state !== null) one.lead(name, [replica]);
      return true;
    case "OnlineReplica":
      if (from !== "NewReplica") return one.cached[name] === null ? true : one.lead(name, [replica]) ?? true;
      if (!one.assigned[name].includes(replica)) one.assigned[name] = [...one.assigned[name], replica];
      return true;
    case "OfflineReplica": return one.remove(name, replica);
    case "ReplicaDeletionStarted": return one.stop(name, replica, true);
    case "NonExistentReplica":
      one.assigned[name] = one.assigned[name].filter((each) => each !== replica);
      return true;
    default: return true;
  }
}

export function handleStateChanges(given) {
  const { machine, target, keys } = given;
  const one = new Controller(given);
  const states = { ...given.states };
  const failed = [];
  for (const key of keys) {
    const from = states[key] ?? NOTHING[machine];
    states[key] = from;
    let fails = true;
    try {
      if (!BEFORE[machine][target].includes(from)) refuse("not in the table");
      if (target === "NewPartition") states[key] = target;
      const moved = machine === "partition" ? movePartition(one, key, from, given) : moveReplica(one, key, from, given);
      fails = false;
      if (moved !== false) states[key] = target;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
    }
    if (fails) failed.push(key);
  }
  return { states, failed: failed.sort(), assigned: one.assigned, ...one.outcome() };
}

// --------------------------------------------------------------------------------------- shut_down, fail_broker

export function shutDown(given) {
  const { broker, live, shutting_down } = given;
  if (![...live, ...shutting_down].includes(broker)) return { error_code: isOldest ? -1 : 8 };
  const staying = live.filter((one) => one !== broker);
  const one = new Controller({ ...given, live: staying, shutting_down: ascending([...shutting_down, broker]) });
  const isMoved = (replicas) => replicas.length > 1 && replicas.includes(broker);
  const several = Object.keys(one.assigned).filter((name) => isMoved(one.assigned[name]));
  for (const name of several.filter((each) => one.cached[each] !== null)) {
    const leads = one.cached[name].leader === broker;
    if (!leads) one.stop(name, broker, false);
    const mayLeave = BEFORE.replica.OfflineReplica.includes(given.replica_states[`${name}/${broker}`] ?? "OnlineReplica");
    if (leads) isDone(() => one.bringOnline(name, "OnlinePartition", "controlled-shutdown"));
    else if (mayLeave) isDone(() => one.remove(name, broker));
  }
  const isLed = (name) => one.cached[name]?.leader === broker && one.assigned[name].length > 1;
  const remaining = Object.keys(one.cached).filter(isLed).sort();
  return { error_code: 0, remaining, ...one.outcome() };
}

export function failBroker(given) {
  const { dead } = given;
  const one = new Controller(given);
  const partition_states = { ...given.partition_states };
  const asked = Object.keys(one.assigned).filter((name) => !one.isDoomed(name));
  const lost = asked.filter((name) => dead.includes(one.cached[name]?.leader));
  for (const name of lost) partition_states[name] = "OfflinePartition";
  for (const name of asked.filter((each) => partition_states[each] !== "OnlinePartition")) {
    const isOnline = isDone(() => one.bringOnline(name, partition_states[name], "offline"));
    if (isOnline) partition_states[name] = "OnlinePartition";
  }
  const replica_states = {};
  for (const name of Object.keys(one.assigned)) {
    for (const broker of dead.filter((each) => one.assigned[name].includes(each))) {
      const key = `${name}/${broker}`;
      const from = given.replica_states[key] ?? "OnlineReplica";
      const to = one.isDoomed(name) ? "ReplicaDeletionIneligible" : "OfflineReplica";
      const moves = BEFORE.replica[to].includes(from) && (one.isDoomed(name) || isDone(() => one.remove(name, broker)));
      replica_states[key] = moves ? to : from;
    }
  }
  const known = Object.keys(one.cached).filter((name) => one.cached[name] !== null);
  const told = [...Object.keys(one.led), ...(lost.length === 0 && !isOldest ? known : [])];
  const doomed = told.length > 0 ? known.filter(one.isDoomed) : [];
  const { written, leader_and_isr } = one.outcome();
  const update_metadata = [...new Set([...told, ...doomed])].sort();
  return { partition_states, replica_states, written, leader_and_isr, update_metadata };
}

// ------------------------------------------------------------------------------------------ handle_isr_changes

const isJson = (data) => { try { JSON.parse(data); return true; } catch { return false; } };

function readStates(given, names) {
  const found = {};
  for (const name of names) {
    const { znode } = given.partitions[name];
    if (znode === null || !isJson(znode.data)) continue;
    const { value } = readZnode({ path: "/brokers/topics/any/partitions/0/state", data: znode.data });
    const { leader, leader_epoch, isr, controller_epoch } = value;
    found[name] = { leader, leader_epoch, isr, controller_epoch, zk_version: znode.version };
  }
  return found;
}

export function handleIsrChanges(given) {
  const { notifications, partitions, deleting } = given;
  const cached = Object.fromEntries(Object.entries(partitions).map(([name, one]) => [name, one.leadership]));
  const outcome = { cached, update_metadata: null, removed: Object.keys(notifications).sort() };
  try {
    const path = "/isr_change_notification/isr_change_0000000000";
    const named = new Set();
    for (const data of Object.values(notifications).filter(isJson)) {
      for (const { topic, partition } of readZnode({ path, data }).value.partitions) named.add(`${topic}-${partition}`);
    }
    if (named.size === 0) return outcome;
    Object.assign(cached, readStates(given, named));
    if ([...named].some((name) => cached[name] && partitions[name].assigned === null)) refuse("no AR");
    outcome.update_metadata = metadata(given, cached, [...named], (name) => deleting.includes(topicOf(name)));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
  }
  return outcome;
}

function metadata({ live, shutting_down }, cached, named, isDoomed) {
  const known = Object.keys(cached).filter((name) => cached[name] !== null);
  const asked = named.filter((name) => !isDoomed(name));
  const told = known.filter((name) => isDoomed(name) || asked.includes(name)).sort();
  const isGrouping = ["as-coded-0.10.2", "documented"].includes(dialect);
  if (!isGrouping && asked.length > 0 && told.length === 0) return null;
  const leader = (name) => (isDoomed(name) ? -2 : cached[name].leader);
  return {
    to: ascending([...live, ...shutting_down]),
    partitions: told.map((partition) => ({ partition, leader: leader(partition) })),
  };
}
