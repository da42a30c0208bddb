// What znodes hold, and what Kafka's readers take of it.

import { Refused, refuse } from "./functions.mjs";

// The data are neither a JSON object nor a list, which many of Kafka's readers take for nothing (Json.parseFull).
class NotJson extends Refused {}

// JSON.parse takes 5.0 for 5; Kafka's readers do not.
const hasFractions = (text) => /[0-9][.eE]/.test(text.replace(/"(?:[^"\\]|\\.)*"/g, '""'));

const number = (value, least = 0) =>
  Number.isInteger(value) && value >= least && value <= 2147483647 ? value : refuse("no number");
const numbers = (value) => (Array.isArray(value) ? value.map((one) => number(one)) : refuse("no list"));
const text = (value) => (typeof value === "string" ? value : refuse("no text"));
const entries = (value) => (Array.isArray(value) ? value : refuse("no list"));
const named = (one) => ({ topic: text(one.topic), partition: number(one.partition) });

const READERS = [
  [/^\/controller_epoch$/, (data) => (/^(0|[1-9][0-9]*)$/.test(data) ? number(Number(data)) : refuse("no epoch"))],
  [/^\/controller$/, (data) => {
    if (/^-?[0-9]{1,10}$/.test(data)) return { brokerid: number(Number(data)) };
    const told = object(data);
    number(told.brokerid);
    return told;
  }],
  [/^\/brokers\/topics\/[^/]+\/partitions\/[0-9]+\/state$/, (data) => {
    const told = object(data);
    number(told.leader, -1);
    number(told.leader_epoch);
    number(told.controller_epoch);
    numbers(told.isr);
    return told;
  }],
  [/^\/brokers\/topics\/[^/]+$/, (data) => {
    const { partitions = {} } = object(data);
    for (const [partition, replicas] of Object.entries(partitions)) {
      if (!/^(0|[1-9][0-9]{0,9})$/.test(partition)) refuse("no partition");
      numbers(replicas);
    }
    return { ...object(data), partitions };
  }],
  [/^\/brokers\/ids\/[0-9]+$/, (data) => {
    const told = object(data);
    if (number(told.version) < 1) refuse("no such version");
    if (told.version >= 2) entries(told.endpoints);
    return told;
  }],
  [/^\/config\/topics\/[^/]+$/, (data) => {
    const told = object(data);
    if (told.version !== 1 || typeof told.config !== "object") refuse("no configuration");
    return told;
  }],
  [/^\/admin\/reassign_partitions$/, (data) => {
    const told = object(data);
    entries(told.partitions ?? []).forEach((one) => { named(one); entries(one.replicas); });
    return told;
  }],
  [/^\/(admin\/preferred_replica_election|isr_change_notification\/isr_change_[0-9]+)$/, (data) => {
    const told = object(data);
    entries(told.partitions).forEach(named);
    return told;
  }],
  [/^\/cluster\/id$/, (data) => { text(object(data).id); return object(data); }],
];

function parsed(data) {
  try {
    return JSON.parse(data);
  } catch {
    throw new NotJson("no JSON");
  }
}

function object(data) {
  const told = parsed(data);
  if (typeof told !== "object" || told === null) throw new NotJson("neither object nor list");
  if (hasFractions(data)) refuse("a fraction");
  return Array.isArray(told) ? refuse("no object") : told;
}

// What a reader makes of data, or `nothing` where they are no JSON.
export function unlessNoJson(read, nothing) {
  try {
    return read();
  } catch (error) {
    if (error instanceof NotJson) return nothing;
    throw error;
  }
}

export function readZnode({ path, data }) {
  const [, read] = READERS.find(([shape]) => shape.test(path)) ?? [];
  if (read === undefined) return { value: data === null ? null : refuse("no data expected") };
  return { value: data === null ? refuse("no data") : read(data) };
}

// ----------------------------------------------------------------------------------------------- write_state

const STATE_KEYS = ["leader", "leader_epoch", "isr", "controller_epoch"];

// Whether a znode says this state, however it is spelled. What no reader can use says nothing.
export function saysTheSame(data, state) {
  try {
    const { value } = readZnode({ path: "/brokers/topics/any/partitions/0/state", data });
    return STATE_KEYS.every((key) => JSON.stringify(value[key]) === JSON.stringify(state[key]));
  } catch {
    return false;
  }
}

export function writeState({ znode, expected_version, state }) {
  if (znode === null) return { written: false, version: -1 };
  if ([-1, znode.version].includes(expected_version)) return { written: true, version: znode.version + 1 };
  return saysTheSame(znode.data, state) ? { written: true, version: znode.version } : { written: false, version: -1 };
}
