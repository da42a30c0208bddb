// An adapter in JavaScript: `kcheck conform -- node adapter.mjs [as-coded-0.10.2]`.
//
// Written from FORMAT.md and PROTOCOL.md alone, as an example: it has its own tables, readers, codec and controller,
// and looks nothing up in the vectors. What an implementer has already, he calls in their place. What a controller
// decides is in functions.mjs and calls.mjs, what it does in controller.mjs, what a broker does in waiting.mjs, what
// logs say in lines.mjs, what znodes hold in znodes.mjs.

import { readFileSync, readSync, writeSync } from "node:fs";

import * as calls from "./calls.mjs";
import { KafkaController } from "./controller.mjs";
import * as functions from "./functions.mjs";
import { Refused, dialect, refuse } from "./functions.mjs";
import { readLine, writeLine } from "./lines.mjs";
import { BEFORE } from "./machines.mjs";
import { changeIsr, delay } from "./waiting.mjs";
import { readZnode, writeState } from "./znodes.mjs";

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

const DEFINED = ({ name, version }) => [NAMED.get(name).response.fields, version];

function encodeResponse({ correlation_id, body, ...asked }) {
  const [fields, version] = DEFINED(asked);
  const writer = new Writer();
  writer.int(correlation_id, 4);
  writer.struct(fields, body, version);
  return { hex: Buffer.concat(writer.parts).toString("hex") };
}

function decodeResponse({ hex, ...asked }) {
  const [fields, version] = DEFINED(asked);
  const reader = new Reader(Buffer.from(hex, "hex"));
  const correlation_id = reader.int(4);
  const body = reader.struct(fields, version);
  if (reader.at !== reader.bytes.length) refuse("bytes are left over");
  return { correlation_id, body };
}

// ------------------------------------------------------------------------------------------------ the adapter

const VERBS = {
  transition, fence, elect: functions.elect, create_partition: functions.createPartition,
  remove_replica: functions.removeReplica, reassign: functions.reassign, find_imbalance: functions.findImbalance,
  send_batch: functions.sendBatch, read_znode: readZnode, write_state: writeState, encode_request: encodeRequest,
  decode_request: decodeRequest, handle_state_changes: calls.handleStateChanges, shut_down: calls.shutDown,
  fail_broker: calls.failBroker, handle_isr_changes: calls.handleIsrChanges, change_isr: changeIsr, delay,
  encode_response: encodeResponse, decode_response: decodeResponse, read_line: readLine, write_line: writeLine,
};

const say = (line) => writeSync(1, `${JSON.stringify(line)}\n`);

let unread = Buffer.alloc(0);

// The next line, or null where the input ends.
function nextLine() {
  const chunk = Buffer.alloc(65536);
  for (;;) {
    const end = unread.indexOf("\n");
    if (end >= 0) {
      const line = unread.toString("utf8", 0, end);
      unread = unread.subarray(end + 1);
      return JSON.parse(line);
    }
    const count = readSync(0, chunk);
    if (count === 0) return null;
    unread = Buffer.concat([unread, chunk.subarray(0, count)]);
  }
}

// The controller plays to the end, which has no answer.
function control({ id, given }) {
  const converse = (what) => {
    say({ id, ...what });
    return nextLine() ?? process.exit(); // the input has ended
  };
  new KafkaController(given, converse).run();
}

function outcome({ verb, given }) {
  try {
    return VERBS[verb](given);
  } catch (error) {
    if (error instanceof Refused) return { refused: true };
    throw error;
  }
}

function answer(question) {
  const { verb, id } = question;
  if (verb === "hello") {
    const verbs = [...Object.keys(VERBS), "control"];
    return say({ protocol: 1, name: "example", language: "JavaScript", dialect, verbs, without: ["log"], resets: true });
  }
  if (verb === "reset") return say({ id, outcome: {} }); // nothing is kept from one question to the next
  try {
    if (verb === "control") return control(question);
    return say(verb in VERBS ? { id, outcome: outcome(question) } : { id, skip: `this example has no ${verb}` });
  } catch (error) {
    return say({ id, error: String(error) });
  }
}

for (let question = nextLine(); question !== null && question.verb !== "bye"; question = nextLine()) answer(question);
