// Lines of state-change.log and controller.log, both ways, from templates as FORMAT.md has them.

import { dialect, refuse } from "./functions.mjs";

const RELEASES = ["0.8.2", "0.9.0", "0.10.0", "0.10.1", "0.10.2"];
const release = dialect === "documented" ? 4 : RELEASES.indexOf(dialect.replace("as-coded-", ""));
const since = (first, newer, older) => (release >= RELEASES.indexOf(first) ? newer : older);

// ------------------------------------------------------------------------------------------------- the shapes

const INT = "(?:0|-?[1-9][0-9]{0,9})";
const ID = "(?:0|[1-9][0-9]{0,9})";
const TOPIC = "[a-zA-Z0-9._-]+";

const number = (text) => (Math.abs(Number(text)) <= 2147483647 ? Number(text) : refuse("beyond 32 bits"));
const numbers = (text) => (text === "" ? [] : text.split(/, ?/).map(number));
const shape = (pattern, read, write = String) => ({ pattern, read, write });
const list = (separator, pattern = INT) =>
  shape(`(?:${pattern}(?:${separator}${pattern})*)?`, numbers, (values) => values.join(separator));
const partition = (before, between, after) => shape(
  `${before}${TOPIC}${between}${ID}${after}`, (text) => {
    const [, topic, id] = text.match(new RegExp(`^\\[?(${TOPIC})[-,](${ID})\\]?$`));
    return `${topic}-${number(id)}`;
  }, (name) => {
    const at = name.lastIndexOf("-");
    return `${before}${name.slice(0, at)}${between}${name.slice(at + 1)}${after}`.replaceAll("\\", "");
  });

// A text with holes as a pattern whose groups are its holes.
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

class Template {
  constructor(text, shapes) {
    this.pieces = text.split(/<(\w+)>/); // words, a hole, words, ...
    this.shapes = shapes;
  }

  get pattern() {
    return this.pieces.map((one, n) => (n % 2 === 0 ? escaped(one) : `(?:${this.shapes(one).pattern})`)).join("");
  }

  read(text) {
    const holes = this.pieces.filter((_, n) => n % 2 === 1);
    const found = text.match(new RegExp(`^${this.pieces.map((one, n) =>
      (n % 2 === 0 ? escaped(one) : `(${this.shapes(one).pattern})`)).join("")}$`));
    if (found === null) return null;
    const fields = {};
    for (const [n, hole] of holes.entries()) {
      const value = this.shapes(hole).read(found[n + 1]);
      if (hole in fields && JSON.stringify(fields[hole]) !== JSON.stringify(value)) return null;
      fields[hole] = value;
    }
    return fields;
  }

  write(fields) {
    return this.pieces.map((one, n) => (n % 2 === 0 ? one : this.shapes(one).write(fields[one]))).join("");
  }
}

const record = (text, shapes, check = (told) => told) => {
  const template = new Template(text, (hole) => shapes[hole] ?? SHAPES[hole]);
  const written = (value) => template.write({ ...value, count: value.replicas?.length });
  return shape(template.pattern, (told) => check(template.read(told)), written);
};

const COMMAS = list(",");
const BRACKETS = partition("\\[", ",", "\\]");
const DASH = partition("", "-", "");
const HANDLED = since("0.10.2", DASH, BRACKETS);
const COUNT = shape(ID, number);
const SET = shape(
  `Set\\(${list(", ").pattern}\\)`, (text) => numbers(text.slice(4, -1)), (ids) => `Set(${ids.join(", ")})`);
const state = (text) => shape(text, String);
const PARTITION_STATES = "NonExistentPartition|NewPartition|OnlinePartition|OfflinePartition";
const REPLICA_STATES = "NewReplica|OnlineReplica|OfflineReplica|ReplicaDeletionStarted|ReplicaDeletionSuccessful|" +
  "ReplicaDeletionIneligible|NonExistentReplica";

const SHAPES = {
  ...Object.fromEntries(["leader", "leader_epoch", "controller_epoch", "zk_version", "known_epoch", "correlation_id",
    "current_leader_epoch", "epoch_zk_version"].map((name) => [name, shape(INT, number)])),
  ...Object.fromEntries(["controller", "broker", "replica", "epoch"].map((name) => [name, shape(ID, number)])),
  ...Object.fromEntries(["isr", "assigned_replicas", "brokers", "new", "dead", "live"].map((name) => [name, COMMAS])),
  partition: BRACKETS,
  role: state("become-leader|become-follower"),
  reason: state(".*"),
  request: state(".*"),
  delete: shape("true|false", (text) => text === "true"),
  live_brokers: SET,
  source: state(`${PARTITION_STATES}|${REPLICA_STATES}`),
  target: state(`${PARTITION_STATES}|${REPLICA_STATES}`),
};
const JSON_SHAPE = record('{"leader":<leader>,"leader_epoch":<leader_epoch>,"isr":[<isr>]}', {});
const LI_TEXT = "(Leader:<leader>,ISR:<isr>,LeaderEpoch:<leader_epoch>,ControllerEpoch:<controller_epoch>)";
const REPLICAS = list(", ");
const NEW_STATE = record(
  "PartitionState(controllerEpoch=<controller_epoch>, leader=<leader>, leaderEpoch=<leader_epoch>, isr=[<isr>]," +
  " zkVersion=<zk_version>, replicas=[<replicas>])", { isr: REPLICAS, replicas: REPLICAS });
const OLD_STATE = record(`(LeaderAndIsrInfo:${LI_TEXT},ReplicationFactor:<count>),AllReplicas:<replicas>)`,
  { replicas: COMMAS, count: COUNT },
  ({ count, ...told }) => (count === told.replicas.length ? told : refuse("miscounted")));
Object.assign(SHAPES, {
  value: JSON_SHAPE, leader_and_isr: JSON_SHAPE, leadership: record(LI_TEXT, {}),
  state: since("0.10.0", NEW_STATE, OLD_STATE),
});

// -------------------------------------------------------------------------------------------------- the lines

const CE = "Controller <controller> epoch <epoch> ";
const FROM = "correlation id <correlation_id> from controller <controller> epoch <epoch>";
const IG = "Broker <broker> ignoring LeaderAndIsr request from controller <controller> with correlation id" +
  " <correlation_id>";
const HANDLES = "LeaderAndIsr request correlationId <correlation_id> from controller <controller> epoch <epoch>";
const ITS = "[Controller <controller>]: ";
const CORRELATED = since("0.9.0", "", " with correlationId <correlation_id>");

// Kind, level, text, and shapes of its own. A text that a release does not have is null.
const CHANGES = [
  ["PartitionBecameNew", "TRACE",
    `${CE}changed partition <partition> state from <source> to <target> with assigned replicas` +
    ` <assigned_replicas>`],
  ["PartitionBecameOnline", "TRACE",
    `${CE}changed partition <partition> from <source> to <target> with leader <leader>`],
  ["PartitionLostLeader", "TRACE", `${CE}changed partition <partition> state from <source> to <target>`],
  ["PartitionChangeFailed", "ERROR",
    `${CE}initiated state change for partition <partition> from <source> to <target> failed`],
  ["LeaderElectionStarted", "TRACE", `${CE}started leader election for partition <partition>`],
  ["LeaderElected", "TRACE", `${CE}elected leader <leader> for Offline partition <partition>`],
  ["NoAssignedReplicaAlive", "ERROR",
    `${CE}encountered error during state change of partition <partition> from New to Online, assigned replicas` +
    ` are [<assigned_replicas>], live brokers are [<live_brokers>]. No assigned replica is alive.`],
  ["StateZnodeExists", "ERROR",
    `${CE}encountered error while changing partition <partition>'s state from New to Online since LeaderAndIsr` +
    ` path already exists with value <value> and controller epoch <controller_epoch>`],
  ["ElectionAborted", "ERROR",
    `${CE}aborted leader election for partition <partition> since the LeaderAndIsr path was already written by` +
    ` another controller. This probably means that the current controller <controller> went through a soft` +
    ` failure and another controller was elected with epoch <controller_epoch>.`],
  ["ElectionFailed", "ERROR",
    `${CE}encountered error while electing leader for partition <partition> due to: <reason>.`],
  ["ReplicaChanged", "TRACE",
    `${CE}changed state of replica <replica> for partition <partition> from <source> to <target>`],
  ["ReplicaChangeFailed", "ERROR",
    `${CE}initiated state change of replica <replica> for partition <partition> from <source> to <target> failed`],
  ["LeaderAndIsrSending", "TRACE",
    `${CE}sending <role> LeaderAndIsr request <leadership>${CORRELATED} to broker <broker> for partition` +
    ` <partition>`],
  ["UpdateMetadataSending", "TRACE",
    `${CE}sending UpdateMetadata request <leadership>${CORRELATED} to ${since("0.10.2", "brokers", "broker")}` +
    ` <brokers> for partition <partition>`,
    { brokers: since("0.10.2", SET, shape(ID, (text) => [number(text)])), partition: since("0.9.0", DASH, BRACKETS) }],
  ["LeaderAndIsrReceived", "TRACE",
    `Broker <broker> received LeaderAndIsr request <state> ${FROM} for partition <partition>`],
  ["LeaderAndIsrFromOldController", "WARN",
    `${IG} since its controller epoch <epoch> is old. Latest known controller epoch is <known_epoch>`],
  ["LeaderEpochNotHigher", "WARN",
    `${IG} epoch <epoch> for partition <partition> since its associated leader epoch <leader_epoch> is` +
    ` ${since("0.10.1", "not higher than the current leader epoch", "old. Current leader epoch is")}` +
    ` <current_leader_epoch>`],
  ["NotInAssignedReplicas", "WARN",
    `${IG} epoch <epoch> for partition <partition> as itself is not in assigned replica list <assigned_replicas>`],
  ["TransitionStarted", "TRACE",
    `Broker <broker> handling ${HANDLES} starting the <role> transition for partition <partition>`,
    { partition: HANDLED }],
  ["TransitionCompleted", "TRACE",
    `Broker <broker> completed ${HANDLES} for the <role> transition for partition <partition>`,
    { partition: HANDLED }],
  ["LeaderUnavailable", "ERROR",
    `Broker <broker> received LeaderAndIsrRequest with ${FROM} for partition <partition> but cannot become` +
    ` follower since the new leader <leader> is unavailable.`, { partition: HANDLED }],
  ["BecomeLeaderUnchanged", "INFO",
    since("0.9.0", `Broker <broker> skipped the become-leader state change after marking its partition as` +
    ` leader with ${FROM} for partition <partition> since it is already the leader for the partition.`, null),
    { partition: HANDLED }],
  ["FetcherStarted", "TRACE",
    "Broker <broker> started fetcher to new leader as part of become-follower request from controller" +
    " <controller> epoch <epoch> with correlation id <correlation_id> for partition <partition>",
    { partition: HANDLED }],
  ["StopReplicaStarted", "TRACE",
    "Broker <broker> handling stop replica (delete=<delete>) for partition <partition>", { partition: HANDLED }],
  ["StopReplicaFinished", "TRACE",
    "Broker <broker> finished handling stop replica (delete=<delete>) for partition <partition>",
    { partition: HANDLED }],
  ["StopReplicaFromOldController", "WARN",
    `Broker <broker> received stop replica request from an old controller epoch <epoch>. Latest known` +
    ` controller epoch is ${since("0.10.0", "", "%d ")}<known_epoch>`],
  ["PartitionUncached", "TRACE",
    "Broker <broker> deleted partition <partition> from metadata cache in response to UpdateMetadata request" +
    " sent by controller <controller> epoch <epoch> with correlation id <correlation_id>",
    { partition: since("0.10.0", DASH, BRACKETS) }],
  ["UpdateMetadataFromOldController", "WARN",
    "Broker <broker> received update metadata request with correlation id <correlation_id> from an old" +
    " controller <controller> with epoch <epoch>. Latest known controller epoch is <known_epoch>"],
].map(([kind, level, text, own]) => ({ kind, level, text, own, logger: "state.change.logger" }));

const listOf = (one) => shape(`${one.pattern}(?:,${one.pattern})*`,
  (text) => text.match(new RegExp(one.pattern, "g")).map(one.read), (values) => values.map(one.write).join(","));
const REPLICA = shape(`\\[Topic=${TOPIC},Partition=${ID},Replica=${ID}\\]`,
  (text) => text.replace(/^\[Topic=(.*),Partition=(.*),Replica=(.*)\]$/, "$1-$2/$3"),
  (key) => key.replace(/^(.*)-(.*)\/(.*)$/, "[Topic=$1,Partition=$2,Replica=$3]"));

const CONTROLLER = [
  ["BecomingController", "INFO", `${ITS}Broker <controller> starting become controller state transition`],
  ["EpochIncremented", "INFO", `${ITS}Controller <controller> incremented epoch to <epoch>`],
  ["EpochRead", "INFO", `${ITS}Initialized controller epoch to <epoch> and zk version <epoch_zk_version>`],
  ["BrokerFailure", "INFO", `${ITS}Broker failure callback for <brokers>`],
  ["ShuttingDownBroker", "INFO", `${ITS}Shutting down broker <broker>`],
  ["IsrShrunk", "INFO", `${ITS}New leader and ISR for partition <partition> is <leader_and_isr>`],
  ["BrokerDifference", "INFO",
    "[BrokerChangeListener on Controller <controller>]: Newly added brokers: <new>, deleted brokers: <dead>," +
    " all live brokers: <live>", {}, "ReplicaStateMachine$BrokerChangeListener"],
  ["PartitionsInvoked", "INFO",
    "[Partition state machine on Controller <controller>]: Invoking state change to <target> for partitions" +
    " <partitions>", { partitions: listOf(BRACKETS) }, "PartitionStateMachine"],
  ["ReplicasInvoked", "INFO",
    "[Replica state machine on controller <controller>]: Invoking state change to <target> for replicas" +
    " <replicas>", { replicas: listOf(REPLICA) }, "ReplicaStateMachine"],
  ["RequestDropped", "WARN",
    "[Channel manager on controller <controller>]: Not sending request <request> to broker <broker>, since it" +
    " is offline.", {}, "ControllerChannelManager"],
].map(([kind, level, text, own, name = "KafkaController"]) =>
  ({ kind, level, text, own, logger: `kafka.controller.${name}` }));

const LOGS = { "state-change.log": CHANGES, "controller.log": CONTROLLER };
const template = ({ text, own = {} }) => new Template(text, (hole) => own[hole] ?? SHAPES[hole]);

function isTime(time) {
  const [date, clock] = [time.slice(0, 10), time.slice(11).replace(",", ".")];
  const parsed = new Date(`${date}T${clock}Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().slice(0, 10) === date;
}

export function readLine({ log, entry }) {
  const form = /^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] (TRACE|DEBUG|INFO|WARN|ERROR|FATAL) (.*) \(([^()\s]+)\)$/;
  const [, time, level, text, logger] = entry.match(form) ?? refuse("no entry");
  if (!isTime(time)) refuse("no time");
  for (const line of LOGS[log].filter((one) => one.text !== null)) {
    const fields = template(line).read(text);
    if (fields !== null) return { kind: line.kind, time, level, logger, fields };
  }
  return refuse("no line");
}

export function writeLine({ log, kind, time, fields }) {
  const line = LOGS[log].find((one) => one.kind === kind && one.text !== null) ?? refuse("no such line");
  return { entry: `[${time}] ${line.level} ${template(line).write(fields)} (${line.logger})` };
}
