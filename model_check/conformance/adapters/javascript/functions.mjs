// What a controller decides, as FORMAT.md has it: whom it elects, what it writes, and whom it sends what.

export const dialect = process.argv[2] ?? "as-coded-0.10.2";

export class Refused extends Error {}

export const refuse = (why) => { throw new Refused(why); };

// ----------------------------------------------------------------------------------------------------- elect

const among = (replicas, keep) => replicas.filter((one) => keep.includes(one));
export const ascending = (replicas) => [...new Set(replicas)].sort((one, other) => one - other);
const elected = (leader, isr, receivers) =>
  ({ elected: { leader, isr: ascending(isr), receivers: ascending(receivers) } });
const IMPOSSIBLE = { refused: "impossible" };

const SELECTORS = {
  offline({ assigned, isr, live, unclean }) {
    const liveAssigned = among(assigned, live);
    const liveInSync = among(isr, live);
    if (liveInSync.length > 0) {
      const [leader] = among(liveAssigned, liveInSync);
      return leader === undefined ? IMPOSSIBLE : elected(leader, liveInSync, liveAssigned);
    }
    if (!unclean || liveAssigned.length === 0) return IMPOSSIBLE;
    return elected(liveAssigned[0], [liveAssigned[0]], liveAssigned);
  },

  reassigned({ reassigned, isr, live }) {
    const [leader] = among(among(reassigned, live), isr);
    return leader === undefined ? IMPOSSIBLE : elected(leader, isr, reassigned);
  },

  preferred({ assigned, isr, live, cached_leader }) {
    const [preferred] = assigned;
    if (preferred === undefined) return IMPOSSIBLE;
    if (preferred === cached_leader) return { refused: "not needed" };
    const isFit = live.includes(preferred) && isr.includes(preferred);
    return isFit ? elected(preferred, isr, assigned) : IMPOSSIBLE;
  },

  "controlled-shutdown"({ assigned, isr, registered, shutting_down }) {
    const staying = isr.filter((one) => !shutting_down.includes(one));
    const asksWhoIsRegistered = !["as-coded-0.8.2", "as-coded-0.9.0"].includes(dialect);
    const [leader] = asksWhoIsRegistered ? among(among(assigned, registered), staying) : staying;
    return leader === undefined ? IMPOSSIBLE : elected(leader, staying, among(assigned, registered));
  },
};

export const elect = (given) => SELECTORS[given.selector](given);

// --------------------------------------------------------------------------------- create_partition, remove_replica

export function createPartition({ assigned, live, controller_epoch }) {
  const isr = among(assigned, live);
  if (isr.length === 0) refuse("nobody lives");
  return { created: { leader: isr[0], leader_epoch: 0, isr, controller_epoch }, receivers: ascending(isr) };
}

// The state without one replica. The last of the ISR stays there, unless an unclean election could do without it.
function without(replica, state, unclean) {
  const rest = state.isr.filter((one) => one !== replica);
  return {
    ...state,
    leader: state.leader === replica ? -1 : state.leader,
    leader_epoch: state.leader_epoch + 1,
    isr: rest.length === 0 && !unclean ? state.isr : rest,
  };
}

export function removeReplica({ replica, assigned, state, controller_epoch, unclean }) {
  if (state === null || state.controller_epoch > controller_epoch) refuse("no state of ours");
  const receivers = ascending(assigned.filter((one) => one !== replica));
  const own = { ...state, controller_epoch };
  if (!state.isr.includes(replica)) return { written: null, cached: own, receivers };
  const written = without(replica, own, unclean);
  return { written, cached: written, receivers };
}

// -------------------------------------------------------------------------------------------------- reassign

const isSame = (replicas, others) => replicas.length === others.length && replicas.every((one, n) => one === others[n]);

function leaderAfterMove({ reassigned, isr, live, leader }) {
  if (among(reassigned, live).includes(leader)) return leader;
  return SELECTORS.reassigned({ reassigned, isr, live }).elected?.leader;
}

export function reassign({ assigned, reassigned, isr, leader, leader_epoch, live }) {
  const asksWhoIsRegistered = ["as-coded-0.8.2", "as-coded-0.9.0", "as-coded-0.10.0"].includes(dialect);
  if (isSame(assigned, reassigned)) refuse("it is so already");
  if (asksWhoIsRegistered && among(reassigned, live).length < reassigned.length) refuse("one is not registered");

  const leaving = assigned.filter((one) => !reassigned.includes(one));
  if (among(reassigned, isr).length < reassigned.length) {
    const started = ascending(reassigned.filter((one) => !assigned.includes(one) && one !== leader));
    const both = [...reassigned, ...leaving];
    return { waits: true, assigned: both, leader, leader_epoch: leader_epoch + 1, isr, started, deleted: [] };
  }

  const moved = leaderAfterMove({ reassigned, isr, live, leader });
  let state = { leader, leader_epoch, isr };
  if (moved !== undefined) state = { leader: moved, leader_epoch: leader_epoch + 1, isr };
  for (const one of leaving) {
    // Whether an unclean election is allowed does not matter: RAR stays in the ISR, and is not empty.
    if (state.isr.includes(one)) state = without(one, state, true);
  }
  return { waits: false, assigned: reassigned, ...state, started: [], deleted: ascending(leaving) };
}

// -------------------------------------------------------------------------------------------- find_imbalance

export const topicOf = (name) => name.slice(0, name.lastIndexOf("-"));

export function findImbalance({ partitions, live, percentage, deleting, reassigning, electing }) {
  if (reassigning.length > 0 || electing.length > 0) return { elect: [] };
  const groups = new Map();
  for (const [name, { assigned: [first], leader }] of Object.entries(partitions)) {
    if (deleting.includes(topicOf(name))) continue;
    if (!groups.has(first)) groups.set(first, { size: 0, lost: [] });
    const group = groups.get(first);
    group.size += 1;
    if (leader !== null && leader !== first) group.lost.push(name);
  }
  const isDue = ([first, { size, lost }]) => live.includes(first) && lost.length * 100 > percentage * size;
  return { elect: [...groups].filter(isDue).flatMap(([, { lost }]) => lost).sort() };
}

// ------------------------------------------------------------------------------------------------ send_batch

const isGrouping = ["as-coded-0.10.2", "documented"].includes(dialect);

const entry = (map, key, initial) => map.get(key) ?? map.set(key, initial).get(key);

// Partitions by name, as the list that a request has.
const listed = (partitions) => Object.keys(partitions).sort().map((partition) => ({ partition, ...partitions[partition] }));

class Batch {
  leaderships = new Map(); // of each broker, the partitions of its LeaderAndIsr
  metadata = new Map(); // of each broker, the partitions that were added for it
  added = {}; // the partitions that were added for whomever
  stops = new Map(); // of each broker, what it is to stop, in order

  constructor({ live, shutting_down, partitions, deleting }) {
    this.registered = ascending([...live, ...shutting_down]);
    this.partitions = partitions;
    this.isDeleting = (name) => deleting.includes(topicOf(name));
  }

  hasLeadership = (name) => Boolean(this.partitions[name]?.leadership);

  told = (name) => ({ ...this.partitions[name].leadership, replicas: ascending(this.partitions[name].assigned) });

  toldOfDeletion = (name) => ({ ...this.told(name), leader: -2, leader_epoch: 0, zk_version: 0 });

  LeaderAndIsr({ brokers, partition }) {
    for (const one of brokers) entry(this.leaderships, one, {})[partition] = this.told(partition);
    this.UpdateMetadata({ brokers: null, partitions: [partition] });
  }

  UpdateMetadata({ brokers, partitions }) {
    const all = Object.keys(this.partitions).filter(this.hasLeadership);
    const asked = (partitions ?? all).filter((name) => !this.isDeleting(name));
    const states = Object.fromEntries([
      ...asked.filter(this.hasLeadership).map((name) => [name, this.told(name)]),
      ...all.filter(this.isDeleting).map((name) => [name, this.toldOfDeletion(name)]),
    ]);
    // Before 0.10.2 a broker is added with its first partition, or where nothing but deleted ones was asked for.
    if (!isGrouping && asked.length > 0 && Object.keys(states).length === 0) return;
    Object.assign(this.added, states);
    for (const one of brokers ?? this.registered) Object.assign(entry(this.metadata, one, {}), states);
  }

  StopReplica({ brokers, partition, delete: isDelete }) {
    for (const one of brokers) entry(this.stops, one, []).push({ partition, isDelete });
  }

  leaderAndIsr(broker) {
    const partitions = this.leaderships.get(broker);
    if (partitions === undefined) return [];
    const leaders = Object.values(partitions).map((one) => one.leader);
    return [{ name: "LeaderAndIsr", partitions: listed(partitions), live_leaders: among(this.registered, leaders) }];
  }

  updateMetadata(broker) {
    if (!this.metadata.has(broker)) return [];
    const partitions = isGrouping ? this.added : this.metadata.get(broker);
    if (dialect === "as-coded-0.8.2" && Object.keys(partitions).length === 0) return [];
    return [{ name: "UpdateMetadata", partitions: listed(partitions), live_brokers: this.registered }];
  }

  stopReplica(broker) {
    const stops = this.stops.get(broker);
    if (stops === undefined) return [];
    const request = (isDelete, partitions) => ({ name: "StopReplica", delete: isDelete, partitions });
    const single = ({ partition, isDelete }) => request(isDelete, [partition]);
    if (!isGrouping) return stops.map(single);
    const stopping = stops.filter((one) => !one.isDelete).map((one) => one.partition);
    return [request(false, [...new Set(stopping)].sort()), ...stops.filter((one) => one.isDelete).map(single)];
  }
}

// Only who is registered has a channel; so nobody asks whether an id is below 0.
export function sendBatch(given) {
  const batch = new Batch(given);
  for (const add of given.adds) batch[add.kind](add);
  const requests = batch.registered.map((to) =>
    ({ to, sent: [...batch.leaderAndIsr(to), ...batch.updateMetadata(to), ...batch.stopReplica(to)] }));
  return { requests: requests.filter(({ sent }) => sent.length > 0) };
}
