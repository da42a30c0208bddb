// An adapter in JavaScript: `kcheck conform -- node adapter.mjs [as-coded-0.10.2]`.
//
// Written from FORMAT.md alone, as an example: it has its own tables, readers and codec, and looks nothing up in the
// vectors. What an implementer has already, he calls in their place. What a controller decides is in functions.mjs.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

import * as functions from "./functions.mjs";
import { Refused, dialect, refuse } from "./functions.mjs";

// ------------------------------------------------------------------------------------------------ transition

// Which states may come before each, as Kafka's validPreviousStates have it.
const BEFORE = {
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

const transition = ({ machine, from, to }) => ({ permitted: BEFORE[machine][to].includes(from) });

// ----------------------------------------------------------------------------------------------------- fence

function fence({ knows, request: { name, body } }) {
  if (body.ControllerEpoch < knows.controller_epoch) return { fenced: true, knows };
  const now = { ...knows, controller_epoch: body.ControllerEpoch };
  const [told] = body.PartitionStates ?? [];
  if (name === "LeaderAndIsr") {
    if (told.LeaderEpoch <= now.leader_epoch) return { fenced: true, knows: now };
    now.leader_epoch = told.LeaderEpoch;
  }
  if (name === "StopReplica" && body.DeletePartitions) now.leader_epoch = -1;
  if (name === "UpdateMetadata") now.cached_leader_epoch = told.Leader === -2 ? -1 : told.LeaderEpoch;
  return { fenced: false, knows: now };
}

// ------------------------------------------------------------------------------------------------ read_znode

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

function object(data) {
  if (hasFractions(data)) refuse("a fraction");
  const told = JSON.parse(data);
  return typeof told === "object" && told !== null && !Array.isArray(told) ? told : refuse("no object");
}

function readZnode({ path, data }) {
  const [, read] = READERS.find(([shape]) => shape.test(path)) ?? [];
  if (read === undefined) return { value: data === null ? null : refuse("no data expected") };
  return { value: data === null ? refuse("no data") : read(data) };
}

// ----------------------------------------------------------------------------------------------- write_state

const STATE_KEYS = ["leader", "leader_epoch", "isr", "controller_epoch"];

// Whether a znode says this state, however it is spelled. What no reader can use says nothing.
function saysTheSame(data, state) {
  try {
    const { value } = readZnode({ path: "/brokers/topics/any/partitions/0/state", data });
    return STATE_KEYS.every((key) => JSON.stringify(value[key]) === JSON.stringify(state[key]));
  } catch {
    return false;
  }
}

function writeState({ znode, expected_version, state }) {
  if (znode === null) return { written: false, version: -1 };
  if ([-1, znode.version].includes(expected_version)) return { written: true, version: znode.version + 1 };
  return saysTheSame(znode.data, state) ? { written: true, version: znode.version } : { written: false, version: -1 };
}

// -------------------------------------------------------------------------------------------------- requests

const DEFINITIONS = JSON.parse(readFileSync(new URL("../../requests.json", import.meta.url), "utf8"));
const KEYS = new Map(DEFINITIONS.requests.map((one) => [one.request.apiKey, one]));
const NAMED = new Map(DEFINITIONS.requests.map((one) => [one.name, one]));

function has(versions, version) {
  if (versions.endsWith("+")) return version >= Number(versions.slice(0, -1));
  const [first, last = first] = versions.split("-").map(Number);
  return first <= version && version <= last;
}

class Writer {
  parts = [];

  int(value, bytes) {
    const part = Buffer.alloc(bytes);
    part.writeIntBE(value, 0, bytes);
    this.parts.push(part);
  }

  string(value) {
    const bytes = Buffer.from(value ?? "", "utf8");
    this.int(value === null ? -1 : bytes.length, 2);
    this.parts.push(bytes);
  }

  value(field, type, value, version) {
    if (type.startsWith("[]")) {
      this.int(value.length, 4);
      for (const one of value) this.value(field, type.slice(2), one, version);
    } else if (type === "string") this.string(value);
    else if (type === "bool") this.int(value ? 1 : 0, 1);
    else if (type.startsWith("int")) this.int(value, Number(type.slice(3)) / 8);
    else this.struct(field.fields, value, version);
  }

  struct(fields, value, version) {
    for (const field of fields) {
      if (has(field.versions, version)) this.value(field, field.type, value[field.name], version);
    }
  }
}

class Reader {
  at = 0;

  constructor(bytes) { this.bytes = bytes; }

  take(count) {
    if (count < 0 || this.at + count > this.bytes.length) refuse("too few bytes");
    this.at += count;
    return this.bytes.subarray(this.at - count, this.at);
  }

  int(bytes) { return this.take(bytes).readIntBE(0, bytes); }

  string(isNullable) {
    const length = this.int(2);
    if (length === -1 && isNullable) return null;
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(this.take(length));
    } catch {
      return refuse("no UTF-8");
    }
  }

  value(field, type, version) {
    if (type.startsWith("[]")) {
      const count = this.int(4);
      if (count < 0 || count > this.bytes.length) refuse("no such count");
      return Array.from({ length: count }, () => this.value(field, type.slice(2), version));
    }
    if (type === "string") return this.string(has(field.nullableVersions ?? "99", version));
    if (type === "bool") return [false, true][this.int(1)] ?? refuse("neither 0 nor 1");
    if (type.startsWith("int")) return this.int(Number(type.slice(3)) / 8);
    return this.struct(field.fields, version);
  }

  struct(fields, version) {
    const of = fields.filter((field) => has(field.versions, version));
    return Object.fromEntries(of.map((field) => [field.name, this.value(field, field.type, version)]));
  }
}

const headerVersion = (definition, version) => (definition.bare_header.includes(version) ? 0 : 1);

function encodeRequest({ name, version, header, body }) {
  const definition = NAMED.get(name);
  const writer = new Writer();
  writer.struct(DEFINITIONS.header.fields, header, headerVersion(definition, version));
  writer.struct(definition.request.fields, body, version);
  return { hex: Buffer.concat(writer.parts).toString("hex") };
}

function decodeRequest({ hex }) {
  const reader = new Reader(Buffer.from(hex, "hex"));
  const definition = KEYS.get(reader.int(2)) ?? refuse("no such request");
  const version = reader.int(2);
  const [, newest = "0"] = definition.request.validVersions.split("-");
  if (version < 0 || version > Number(newest)) refuse("no such version");
  reader.at = 0;
  const header = reader.struct(DEFINITIONS.header.fields, headerVersion(definition, version));
  const body = reader.struct(definition.request.fields, version);
  if (reader.at !== reader.bytes.length) refuse("bytes are left over");
  return { name: definition.name, version, header, body };
}

// ------------------------------------------------------------------------------------------------ the adapter

const VERBS = {
  transition, fence, elect: functions.elect, create_partition: functions.createPartition,
  remove_replica: functions.removeReplica, reassign: functions.reassign, find_imbalance: functions.findImbalance,
  send_batch: functions.sendBatch, read_znode: readZnode, write_state: writeState, encode_request: encodeRequest,
  decode_request: decodeRequest,
};

function answer({ verb, id, given }) {
  if (verb === "hello") {
    return { protocol: 1, name: "example", language: "JavaScript", dialect, verbs: Object.keys(VERBS) };
  }
  if (!(verb in VERBS)) return { id, skip: `this example has no ${verb}` };
  try {
    return { id, outcome: VERBS[verb](given) };
  } catch (error) {
    const isOutcome = error instanceof Refused || (verb === "read_znode" && error instanceof SyntaxError);
    return isOutcome ? { id, outcome: { refused: true } } : { id, error: String(error) };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line);
  if (question.verb === "bye") break;
  process.stdout.write(`${JSON.stringify(answer(question))}\n`);
}
