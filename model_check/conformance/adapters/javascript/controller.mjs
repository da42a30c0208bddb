// A controller of Kafka 0.10.2 that plays against the suite: FORMAT.md's verb `control`, written from that page and
// from PROTOCOL.md sections 2 to 9. Here is who is controller, and what a failover and a resignation do (section 6);
// the other files have what it does in between.

import { Brokers } from "./brokers.mjs";
import { ControllerChannels, IllegalState, RequestBatch } from "./channels.mjs";
import { ControllerContext } from "./context.mjs";
import { TopicDeletionManager } from "./deletion.mjs";
import { PreferredElections } from "./elections.mjs";
import { Refused, refuse } from "./functions.mjs";
import { PartitionStateMachine, ReplicaStateMachine, leaderSelectors } from "./machines.mjs";
import { Reassignment } from "./reassignment.mjs";
import { IsrChangeNotifications, Topics } from "./topics.mjs";
import { readZnode, unlessNoJson } from "./znodes.mjs";
import { ZkClient, ZooKeeperError } from "./zookeeper.mjs";

const CONTROLLER = "/controller";
const EPOCH = "/controller_epoch";

const DEFAULTS = {
  "delete.topic.enable": true,
  "leader.imbalance.per.broker.percentage": 10,
  "unclean.leader.election.enable": false,
};

export class KafkaController {
  context = new ControllerContext();
  leaderId = -1;
  callsOfNewSession = [];

  // `say` says a line to the suite, and gives the answer.
  constructor({ broker, settings }, say) {
    this.id = broker;
    this.settings = { ...DEFAULTS, ...settings };
    this.say = say;
    this.zk = new ZkClient((operation) => say({ ask: operation }));
    this.channels = new ControllerChannels(say);
    this.deletion = new TopicDeletionManager(this);
    this.batch = new RequestBatch(this);
    this.selectors = leaderSelectors(this);
    this.partitions = new PartitionStateMachine(this);
    this.replicas = new ReplicaStateMachine(this);
    this.topics = new Topics(this);
    this.notifications = new IsrChangeNotifications(this);
    this.elections = new PreferredElections(this);
    this.reassignment = new Reassignment(this);
    this.brokers = new Brokers(this);
  }

  // A controller with channels is active, whoever is in /controller.
  get isActive() { return this.channels.isStarted; }

  get amILeader() { return this.leaderId === this.id; }

  whileActive(handle) {
    return (told) => { if (this.isActive && told !== null) handle(told); };
  }

  // -------------------------------------------------------------------------------------------------- events

  run() {
    this.logged(() => this.startup());
    for (;;) {
      this.deletion.runThread();
      const { event, end } = this.say({ wait: true });
      if (end) return;
      this.logged(() => this.onEvent(event));
    }
  }

  // What leaves a callback is only logged.
  logged(callback) {
    try {
      callback();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
    }
  }

  onEvent(event) {
    if ("watch" in event) this.zk.onWatch(event.watch, event.type);
    else if (event.session === "expired") this.onNewSession();
    else if (event.session === "goes on") for (const call of this.callsOfNewSession) this.logged(call);
    else if ("answer" in event) this.channels.onAnswer(event.answer);
    else if ("shutdown" in event) this.say({ reply: this.brokers.onControlledShutdown(event.shutdown) });
    else if (event.rebalance && this.isActive) this.elections.rebalance();
  }

  startup() {
    const changed = (data) => this.onLeaderChange(data);
    this.zk.subscribeData(CONTROLLER, { changed, deleted: () => this.onLeaderDeleted() });
    this.elect();
  }

  // SessionExpirationListener: it may have been elected again by then (KAFKA-4229).
  onNewSession() {
    this.callsOfNewSession = this.zk.callsOfAll();
    if (this.readLeaderId() === this.id) return;
    this.onControllerResignation();
    this.elect();
  }

  onLeaderChange(data) {
    const wasLeader = this.amILeader;
    this.leaderId = this.leaderIdOf(data);
    if (wasLeader && !this.amILeader) this.onControllerResignation();
  }

  onLeaderDeleted() {
    if (this.amILeader) this.onControllerResignation();
    this.elect();
  }

  // ------------------------------------------------------------------------------------------------ election

  leaderIdOf = (data) => readZnode({ path: CONTROLLER, data }).value.brokerid;

  readLeaderId() {
    const stands = this.zk.read(CONTROLLER);
    return stands === null ? -1 : this.leaderIdOf(stands.data);
  }

  // ZookeeperLeaderElector.elect: whatever escapes from the failover makes it resign.
  elect() {
    this.leaderId = this.readLeaderId();
    if (this.leaderId !== -1) return;
    try {
      this.zk.createEphemeral(CONTROLLER, JSON.stringify({ version: 1, brokerid: this.id, timestamp: "0" }));
      this.leaderId = this.id;
      this.onControllerFailover();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (error instanceof ZooKeeperError && error.message === "NodeExists") this.leaderId = this.readLeaderId();
      else this.resign();
    }
  }

  // Whose znode it deletes it does not ask (D3), and it leaves half a controller behind (D4).
  resign() {
    this.leaderId = -1;
    this.zk.delete(CONTROLLER);
  }

  // ------------------------------------------------------------------------------------------------ failover

  onControllerFailover() {
    this.readControllerEpoch();
    this.incrementControllerEpoch();
    this.reassignment.registerListener();
    this.notifications.registerListener();
    this.elections.registerListener();
    this.topics.registerListener();
    this.deletion.registerListener();
    this.brokers.registerListener();
    this.initializeControllerContext();
    this.sendUpdateMetadata();
    this.replicas.startup();
    this.partitions.startup();
    this.topics.registerPartitionListeners(this.context.allTopics);
    this.reassignment.resume();
    this.elections.runPending();
    this.deletion.start();
  }

  readControllerEpoch() {
    const stands = this.zk.read(EPOCH);
    if (stands === null) return;
    this.context.epoch = readZnode({ path: EPOCH, data: stands.data }).value;
    this.context.epochZkVersion = stands.version;
  }

  // Where somebody else has incremented it, the failover goes on with the epoch that was read (D1).
  incrementControllerEpoch() {
    const epoch = this.context.epoch + 1;
    try {
      this.context.epochZkVersion = this.zk.set(EPOCH, String(epoch), this.context.epochZkVersion);
      this.context.epoch = epoch;
    } catch (error) {
      if (!(error instanceof ZooKeeperError)) throw error;
      if (error.message === "NoNode") this.createControllerEpoch();
    }
  }

  createControllerEpoch() {
    try {
      this.zk.create(EPOCH, "1");
    } catch (error) {
      if (error instanceof ZooKeeperError) refuse("the controller has moved");
      throw error;
    }
    this.context.epoch = 1;
    this.context.epochZkVersion = 1;
  }

  initializeControllerContext() {
    const { context } = this;
    context.registered = this.brokers.readAllRegistered();
    context.allTopics = new Set(this.topics.getAllTopics());
    context.assignment = this.topics.readAssignments(context.allTopics);
    context.leadership = new Map();
    context.shuttingDown = new Set();
    this.updateLeaderAndIsrCache(context.assignment.keys());
    this.channels.start(context.registered);
    this.elections.initialize();
    this.reassignment.initialize();
    this.deletion.initialize();
  }

  // Moves, elections, AR, leadership and who is registered are not cleared (D13).
  onControllerResignation() {
    this.notifications.unregisterListener();
    this.reassignment.unregisterListener();
    this.elections.unregisterListener();
    this.deletion.shutdown();
    this.reassignment.unregisterIsrListeners();
    this.partitions.shutdown();
    this.topics.unregisterListeners();
    this.deletion.unregisterListener();
    this.replicas.shutdown();
    this.brokers.unregisterListener();
    if (this.channels.isStarted) this.channels.shutdown();
    this.context.epoch = 0;
    this.context.epochZkVersion = 0;
  }

  // ------------------------------------------------------------------------------------- what all files need

  updateLeaderAndIsrCache(names) {
    for (const name of names) {
      const state = this.zk.readState(name);
      if (state !== null) this.context.leadership.set(name, state);
    }
  }

  // A state znode that a newer controller has written is not touched.
  readOwnState(name) {
    const state = this.zk.readState(name);
    if (state?.controller_epoch > this.context.epoch) refuse("another controller has written it");
    return state;
  }

  // The topic's own configuration goes before the broker's.
  isUncleanElectionEnabled(topic) {
    const path = `/config/topics/${topic}`;
    const stands = this.zk.read(path);
    const read = () => readZnode({ path, data: stands.data }).value.config;
    const own = stands === null ? {} : unlessNoJson(read, {});
    return String(own["unclean.leader.election.enable"] ?? this.settings["unclean.leader.election.enable"]) === "true";
  }

  // The raise of a reassignment's steps 2 and 7. The cache keeps the old leader epoch (D18).
  updateLeaderEpochAndSendRequest(name, receivers, assigned) {
    this.batch.newBatch();
    const leadership = this.updateLeaderEpoch(name);
    this.resigningIfBroken(() => {
      this.batch.addLeaderAndIsr(receivers, name, leadership, assigned);
      this.batch.send();
    });
  }

  updateLeaderEpoch(name) {
    for (;;) {
      const current = this.readOwnState(name) ?? refuse("there is no state znode");
      const raised = { ...current, leader_epoch: current.leader_epoch + 1, controller_epoch: this.context.epoch };
      const zk_version = this.zk.writeState(name, raised, current.zk_version);
      if (zk_version !== null) return { ...raised, zk_version };
    }
  }

  // Without names, of all partitions; to all that are registered.
  sendUpdateMetadata(names) {
    this.resigningIfBroken(() => {
      this.batch.newBatch();
      this.batch.addUpdateMetadata(names);
      this.batch.send();
    });
  }

  sendStopReplica(broker, name) {
    this.resigningIfBroken(() => {
      this.batch.newBatch();
      this.batch.addStopReplica(broker, name, false);
      this.batch.send();
    });
  }

  // Where it cannot send, it takes itself for broken.
  resigningIfBroken(sending) {
    try {
      sending();
    } catch (error) {
      if (error instanceof IllegalState) {
        this.batch.clear();
        this.resign();
      }
      throw error;
    }
  }
}
