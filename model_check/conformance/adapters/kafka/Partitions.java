import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;

import kafka.common.TopicAndPartition;
import kafka.controller.LeaderIsrAndControllerEpoch;
import kafka.controller.OfflineReplica$;
import kafka.controller.OnlinePartition$;
import kafka.controller.PartitionAndReplica;
import kafka.utils.ReplicationUtils;
import kafka.utils.ZkUtils;
import scala.Tuple2;
import scala.collection.JavaConversions;
import scala.collection.Set;

/** The life of one partition: its first leader, a replica that goes offline, and the write of its state znode. */
final class Partitions {
    static final TopicAndPartition PARTITION = new TopicAndPartition("orders", 0);
    private static final String STATE = ZkUtils.getTopicPartitionLeaderAndIsrPath("orders", 0);
    private static final Map<String, Object> STALE =
        Map.of("leader", -9L, "leader_epoch", 0L, "isr", List.of(), "controller_epoch", 0L);

    /** By `onNewPartitionCreation`, as both state machines do it. */
    static Map<String, Object> create(Map<String, Object> given) throws Exception {
        ZkUtils zookeeper = LocalZooKeeper.empty();
        try (SeenController controller = new SeenController(zookeeper, Json.number(given.get("controller_epoch")))) {
            controller.register(Lists.ints(given.get("live")), List.of()).begin(List.of());
            controller.know(PARTITION, (List<?>) given.get("assigned"), null);
            controller.onNewPartitionCreation(set(PARTITION));
            LeaderIsrAndControllerEpoch created = LocalZooKeeper.state("orders", 0);
            Set<TopicAndPartition> online = controller.partitionStateMachine().partitionsInState(OnlinePartition$.MODULE$);
            if (online.contains(PARTITION) != (created != null)) throw new IllegalStateException("online, but not created");
            if (created == null) return KafkaAdapter.REFUSED;
            return Map.of("created", States.told(created), "receivers", controller.leaderAndIsrReceivers());
        }
    }

    /** By `ReplicaStateMachine.handleStateChanges` to OfflineReplica, which calls `removeReplicaFromIsr`. */
    static Map<String, Object> removeReplica(Map<String, Object> given) throws Exception {
        ZkUtils zookeeper = LocalZooKeeper.empty();
        LeaderIsrAndControllerEpoch state = States.of(given.get("state"));
        if (state != null) LocalZooKeeper.putState("orders", 0, state);
        String unclean = "\"unclean.leader.election.enable\":\"" + given.get("unclean") + "\"";
        LocalZooKeeper.put("/config/topics/orders", "{\"version\":1,\"config\":{" + unclean + "}}", 0);
        PartitionAndReplica replica = new PartitionAndReplica("orders", 0, Json.number(given.get("replica")));
        try (SeenController controller = new SeenController(zookeeper, Json.number(given.get("controller_epoch")))) {
            controller.register(Lists.ints(given.get("assigned")), List.of());
            controller.know(PARTITION, (List<?>) given.get("assigned"), States.of(STALE)).begin(List.of());
            controller.replicaStateMachine().handleStateChanges(
                set(replica), OfflineReplica$.MODULE$, controller.replicaStateMachine().handleStateChanges$default$3());
            if (!controller.replicaStateMachine().replicasInState("orders", OfflineReplica$.MODULE$).contains(replica))
                return KafkaAdapter.REFUSED;
            LeaderIsrAndControllerEpoch stands = LocalZooKeeper.state("orders", 0);
            boolean isWritten = stands.leaderAndIsr().zkVersion() > 0;
            Map<String, Object> found = new HashMap<>();
            found.put("written", isWritten ? States.told(stands) : null);
            found.put("cached", States.told(controller.controllerContext().partitionLeadershipInfo().apply(PARTITION)));
            found.put("receivers", controller.leaderAndIsrReceivers());
            return found;
        }
    }

    /** By `ReplicationUtils.updateLeaderAndIsr`. */
    static Map<String, Object> writeState(Map<String, Object> given) throws Exception {
        ZkUtils zookeeper = LocalZooKeeper.empty();
        if (given.get("znode") != null) {
            Map<String, Object> znode = Json.object(given.get("znode"));
            LocalZooKeeper.put(STATE, (String) znode.get("data"), Json.number(znode.get("version")));
        }
        LeaderIsrAndControllerEpoch state = States.of(given.get("state"));
        Tuple2<Object, Object> done = ReplicationUtils.updateLeaderAndIsr(
            zookeeper, "orders", 0, state.leaderAndIsr(), state.controllerEpoch(),
            Json.number(given.get("expected_version")));
        return Map.of("written", done._1(), "version", ((Integer) done._2()).longValue());
    }

    static <T> Set<T> set(T one) {
        return JavaConversions.asScalaSet(new HashSet<>(List.of(one)));
    }
}
