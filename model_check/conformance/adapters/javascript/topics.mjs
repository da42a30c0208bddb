// Topics that come and go, and partitions that are added (PROTOCOL.md section 7.3); ISR change notifications (7.7).

import { refuse } from "./functions.mjs";
import { partitionName, topicPath, without } from "./names.mjs";
import { readZnode, unlessNoJson } from "./znodes.mjs";

const TOPICS = "/brokers/topics";
const NOTIFICATIONS = "/isr_change_notification";

export class Topics {
  listened = new Set(); // the topics whose znode is listened to

  constructor(controller) {
    this.controller = controller;
    this.context = controller.context;
    this.zk = controller.zk;
  }

  registerListener() {
    this.zk.subscribeChildren(TOPICS, this.controller.whileActive((topics) => this.onTopicChange(topics)));
  }

  registerPartitionListeners(topics) {
    for (const topic of topics) {
      this.listened.add(topic);
      const changed = this.controller.whileActive(() => this.onPartitionModification(topic));
      this.zk.subscribeData(topicPath(topic), { changed });
    }
  }

  // Where nobody listens to it, this raises (D37).
  unregisterPartitionListener(topic) {
    if (!this.listened.delete(topic)) refuse(`nobody listens to topic ${topic}`);
    this.zk.unsubscribe(topicPath(topic));
  }

  unregisterListeners() {
    this.zk.unsubscribe(TOPICS);
    for (const topic of this.listened) this.unregisterPartitionListener(topic);
  }

  getAllTopics = () => this.zk.children(TOPICS);

  // AR of each partition of these topics, those left out that are gone.
  readAssignments(topics) {
    const found = new Map();
    for (const topic of topics) {
      const path = topicPath(topic);
      const stands = this.zk.read(path);
      if (stands === null) continue;
      const { partitions } = unlessNoJson(() => readZnode({ path, data: stands.data }).value, { partitions: {} });
      for (const [number, assigned] of Object.entries(partitions)) found.set(partitionName(topic, number), assigned);
    }
    return found;
  }

  // TopicChangeListener. Of a topic that has vanished only AR is forgotten (D53).
  onTopicChange(topics) {
    if (!this.controller.partitions.hasStarted) return; // half a controller (D4)
    const appeared = without(topics, this.context.allTopics);
    for (const topic of without(this.context.allTopics, topics)) {
      for (const name of this.context.partitionsForTopic(topic)) this.context.assignment.delete(name);
    }
    this.context.allTopics = new Set(topics);
    const added = this.readAssignments(appeared);
    for (const [name, assigned] of added) this.context.assignment.set(name, assigned);
    if (appeared.length === 0) return;
    this.registerPartitionListeners(appeared);
    this.onNewPartitionCreation([...added.keys()]);
  }

  // PartitionModificationsListener. Another AR of a partition that is known is not looked at (D73).
  onPartitionModification(topic) {
    const added = [...this.readAssignments([topic])].filter(([name]) => !this.context.assignment.has(name));
    if (this.controller.deletion.isTopicQueued(topic) || added.length === 0) return;
    for (const [name, assigned] of added) this.context.assignment.set(name, assigned);
    this.onNewPartitionCreation(added.map(([name]) => name));
  }

  onNewPartitionCreation(names) {
    const { partitions, replicas } = this.controller;
    partitions.handleStateChanges(names, "NewPartition");
    replicas.handleStateChanges(this.context.replicasForPartitions(names), "NewReplica");
    partitions.handleStateChanges(names, "OnlinePartition");
    replicas.handleStateChanges(this.context.replicasForPartitions(names), "OnlineReplica");
  }
}

export class IsrChangeNotifications {
  constructor(controller) {
    this.controller = controller;
    this.zk = controller.zk;
  }

  registerListener() {
    this.zk.subscribeChildren(NOTIFICATIONS, this.controller.whileActive((children) => this.onNotifications(children)));
  }

  unregisterListener() { this.zk.unsubscribe(NOTIFICATIONS); }

  onNotifications(children) {
    const paths = children.map((child) => `${NOTIFICATIONS}/${child}`);
    try {
      const names = new Set(paths.flatMap((path) => this.partitionsOf(path)));
      if (names.size === 0) return;
      this.controller.updateLeaderAndIsrCache(names);
      this.controller.sendUpdateMetadata([...names]);
    } finally {
      for (const path of paths) this.zk.delete(path);
    }
  }

  partitionsOf(path) {
    const stands = this.zk.read(path);
    if (stands === null) return [];
    const { partitions } = unlessNoJson(() => readZnode({ path, data: stands.data }).value, { partitions: [] });
    return partitions.map(({ topic, partition }) => partitionName(topic, partition));
  }
}
