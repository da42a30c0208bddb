// What a broker does by itself, as FORMAT.md has it: a leader's changes of its ISR, and operations that wait.

import { writeState } from "./readers.mjs";

// ---------------------------------------------------------------------------------------------------- change_isr

function changed(isr, assigned, { shrink, expand }) {
  if (shrink !== undefined) return shrink.length === 0 ? null : isr.filter((one) => !shrink.includes(one));
  return isr.includes(expand) || !assigned.includes(expand) ? null : [...isr, expand];
}

export function changeIsr({ broker, assigned, knows, znode, changes }) {
  const { leader_epoch, controller_epoch } = knows;
  let { isr, zk_version } = knows;
  let stands = znode;
  const writes = changes.map((change) => {
    const next = changed(isr, assigned, change);
    if (next === null) return { state: null, on_version: null, done: false };
    const state = { leader: broker, leader_epoch, isr: next, controller_epoch };
    const on_version = zk_version;
    const { written, version } = writeState({ znode: stands, expected_version: on_version, state });
    if (written) {
      if (version !== stands.version) stands = { data: JSON.stringify({ version: 1, ...state }), version };
      [isr, zk_version] = [next, version];
    }
    return { state, on_version, done: written };
  });
  const announces = writes.some((one) => one.done);
  return { writes, knows: { isr, zk_version }, version: stands?.version ?? null, announces };
}

// --------------------------------------------------------------------------------------------------------- delay

class Purgatory {
  now = 0;
  counted = 0; // what was watched since the last purge, and was delayed at it
  operations = new Map();
  lists = new Map();

  constructor(interval) { this.interval = interval; }

  get delayed() { return [...this.operations.values()].filter((one) => one.isArmed).length; }

  get watched() { return [...this.lists.values()].reduce((sum, list) => sum + list.length, 0); }

  end(operation, state) {
    if (operation.state !== "pending") return false;
    Object.assign(operation, { state, isArmed: false });
    return true;
  }

  pending = (operation) => operation.state === "pending";

  watch({ operation: name, keys, timeout, holds }) {
    const operation = { holds, due: this.now + timeout, state: "pending", isArmed: false };
    this.operations.set(name, operation);
    if (holds) return this.end(operation, "completed");
    for (const key of keys) this.lists.set(key, [...(this.lists.get(key) ?? []), operation]);
    operation.isArmed = true;
    this.counted += 1;
    return false;
  }

  set({ operation, holds }) {
    this.operations.get(operation).holds = holds;
    return null;
  }

  check({ key }) {
    const list = this.lists.get(key) ?? [];
    const done = list.filter((one) => one.holds && this.end(one, "completed")).length;
    this.lists.set(key, list.filter(this.pending));
    return done;
  }

  complete({ operation }) { return this.end(this.operations.get(operation), "completed"); }

  advance({ by }) {
    this.now += by;
    const due = [...this.operations].filter(([, one]) => one.isArmed && one.due <= this.now);
    for (const [, operation] of due) this.end(operation, "expired");
    if (this.counted - this.delayed > this.interval) {
      this.counted = this.delayed;
      for (const [key, list] of this.lists) this.lists.set(key, list.filter(this.pending));
    }
    return due.map(([name]) => name).sort();
  }
}

export function delay({ purge_interval, steps }) {
  const purgatory = new Purgatory(purge_interval);
  const results = steps.map((step) => purgatory[step.do](step));
  const operations = Object.fromEntries([...purgatory.operations].map(([name, { state }]) => [name, state]));
  return { results, operations, watched: purgatory.watched, delayed: purgatory.delayed };
}
