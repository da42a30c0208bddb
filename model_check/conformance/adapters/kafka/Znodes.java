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

    static Map<String, Object> readZnode(Map<String, Object> given) {
        String path = (String) given.get("path"), data = (String) given.get("data");
        try {
            Map<String, Object> told = new LinkedHashMap<>();
            if (path.equals("/controller")) {
                told.put("brokerid", (long) KafkaController.parseControllerId(data));
            } else if (path.equals("/controller_epoch")) {
                return outcome((long) new scala.collection.immutable.StringOps(data).toInt());
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
            } else {
                return Map.of("skip", "who reads " + path + " cannot be called by itself");
            }
            return outcome(told);
        } catch (RuntimeException | Error refused) {
            return Map.of("outcome", KafkaAdapter.REFUSED);
        }
    }

    private static Map<String, Object> outcome(Object value) {
        return Map.of("outcome", Map.of("value", value));
    }

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
        told.put("host", points.get(0).host());
        told.put("port", (long) points.get(0).port());
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
