import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

import kafka.admin.AdminUtils;
import kafka.admin.PreferredReplicaLeaderElectionCommand;
import kafka.cluster.Broker;
import kafka.cluster.EndPoint;
import kafka.common.TopicAndPartition;
import kafka.controller.IsrChangeNotificationListener;
import kafka.controller.KafkaController;
import kafka.controller.LeaderIsrAndControllerEpoch;
import kafka.utils.ReplicationUtils$;
import kafka.utils.ZkUtils;
import org.apache.zookeeper.data.Stat;
import scala.collection.JavaConversions;
import scala.collection.Seq;

/** What Kafka's own readers make of a znode. */
final class Znodes {
    private static final OneZnode ZOOKEEPER = new OneZnode();

    static Map<String, Object> readZnode(Map<String, Object> given) throws Exception {
        try {
            return read((String) given.get("path"), (String) given.get("data"));
        } catch (RuntimeException | Error refused) {
            return KafkaAdapter.REFUSED;
        }
    }

    private static Map<String, Object> read(String path, String data) throws Exception {
        Map<String, Object> told = new LinkedHashMap<>();
        if (path.equals("/controller")) {
            told.put("brokerid", (long) KafkaController.parseControllerId(data));
        } else if (path.equals("/controller_epoch")) {
            return value((long) new scala.collection.immutable.StringOps(data).toInt());
        } else if (path.endsWith("/state")) {
            Object found =
                ReplicationUtils$.MODULE$.kafka$utils$ReplicationUtils$$parseLeaderAndIsr(data, path, new Stat());
            told.putAll(States.told((LeaderIsrAndControllerEpoch) ((scala.Option<?>) found).get()));
        } else if (path.startsWith("/brokers/topics/")) {
            told.put("partitions", assignment(path, data));
        } else if (path.startsWith("/brokers/ids/")) {
            register(told, Broker.createBroker(1, data));
        } else if (path.equals("/cluster/id")) {
            told.put("id", ZOOKEEPER.holding(path, data).ClusterId().fromJson(data));
        } else if (path.equals("/admin/reassign_partitions")) {
            told.put("partitions", moves(ZkUtils.parsePartitionReassignmentData(data)));
        } else if (path.equals("/admin/preferred_replica_election")) {
            List<Object> asked = new ArrayList<>();
            for (Object one : JavaConversions.asJavaCollection(
                PreferredReplicaLeaderElectionCommand.parsePreferredReplicaElectionData(data)))
                asked.add(partition((TopicAndPartition) one));
            told.put("partitions", asked);
        } else if (path.startsWith("/config/topics/")) {
            Map<String, Object> values = new TreeMap<>();
            Properties found = AdminUtils.fetchEntityConfig(ZOOKEEPER.holding(path, data), "topics", "t");
            found.forEach((key, value) -> values.put((String) key, value));
            told.put("config", values);
        } else if (path.startsWith("/isr_change_notification/")) {
            told.put("partitions", isrChanges(path, data));
        } else if (path.startsWith("/admin/delete_topics/")) {
            return deletion(path, data);
        } else {
            throw new Exception("nobody has taught this adapter who reads " + path);
        }
        return value(told);
    }

    private static Map<String, Object> value(Object value) {
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("value", value);
        return told;
    }

    /** What the listener for changed ISRs makes of a notification; where it is no JSON it logs that, and makes nothing. */
    private static List<Object> isrChanges(String path, String data) {
        if (data == null || kafka.utils.Json.parseFull(data).isEmpty()) throw new IllegalStateException("no JSON");
        IsrChangeNotificationListener listener =
            new IsrChangeNotificationListener(new SeenController(ZOOKEEPER.holding(path, data), 1));
        List<Object> told = new ArrayList<>();
        for (TopicAndPartition one : JavaConversions.setAsJavaSet(
            listener.kafka$controller$IsrChangeNotificationListener$$getTopicAndPartition(lastOf(path))))
            told.add(partition(one));
        return told;
    }

    /** Whether the listener for deletions queues the topic; it looks at the znode's name alone. */
    private static Map<String, Object> deletion(String path, String data) throws Exception {
        ZkUtils zookeeper = LocalZooKeeper.empty();
        LocalZooKeeper.put(path, data, 0);
        String topic = lastOf(path);
        try (SeenController controller = new SeenController(zookeeper, 1)) {
            controller.register(List.of(1), List.of());
            controller.know(new TopicAndPartition(topic, 0), List.of(1L), null).begin(List.of());
            controller.partitionStateMachine().new DeleteTopicsListener(controller).doHandleChildChange(
                ZkUtils.DeleteTopicsPath(), zookeeper.getChildren(ZkUtils.DeleteTopicsPath()));
            return controller.deleteTopicManager().isTopicQueuedUpForDeletion(topic) ? value(null) : KafkaAdapter.REFUSED;
        }
    }

    private static String lastOf(String path) { return path.substring(path.lastIndexOf('/') + 1); }

    private static void register(Map<String, Object> told, Broker broker) {
        List<EndPoint> points = JavaConversions.seqAsJavaList(broker.endPoints());
        List<Object> named = new ArrayList<>();
        Map<String, Object> protocols = new TreeMap<>();
        for (EndPoint one : points) {
            named.add(one.connectionString());
            protocols.put(one.listenerName().value(), one.securityProtocol().name);
        }
        told.put("endpoints", named);
        told.put("listener_security_protocol_map", protocols);
        if (!points.isEmpty()) {
            told.put("host", points.get(0).host());
            told.put("port", (long) points.get(0).port());
        }
        if (broker.rack().isDefined()) told.put("rack", broker.rack().get());
    }

    private static Map<String, Object> assignment(String path, String data) {
        ZkUtils utils = ZOOKEEPER.holding(path, data);
        Map<String, Object> told = new TreeMap<>();
        JavaConversions.mapAsJavaMap(
            utils.getReplicaAssignmentForTopics(JavaConversions.asScalaBuffer(List.of("t")))
        ).forEach((one, replicas) -> told.put(String.valueOf(one.partition()), Lists.inOrder(replicas)));
        if (told.isEmpty() && data == null) throw new IllegalStateException("no data");
        return told;
    }

    private static List<Object> moves(scala.collection.Map<TopicAndPartition, Seq<Object>> found) {
        List<Object> told = new ArrayList<>();
        JavaConversions.mapAsJavaMap(found).forEach((one, replicas) -> {
            Map<String, Object> move = partition(one);
            move.put("replicas", Lists.inOrder(replicas));
            told.add(move);
        });
        return told;
    }

    private static Map<String, Object> partition(TopicAndPartition one) {
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("topic", one.topic());
        told.put("partition", (long) one.partition());
        return told;
    }
}
