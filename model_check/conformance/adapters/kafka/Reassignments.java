import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

import kafka.common.TopicAndPartition;
import kafka.controller.LeaderIsrAndControllerEpoch;
import kafka.controller.NewReplica$;
import kafka.controller.PartitionAndReplica;
import kafka.controller.ReassignedPartitionsContext;
import kafka.utils.ZkUtils;
import scala.collection.JavaConversions;
import scala.collection.Seq;
import scala.collection.Set;

/** One run of a reassignment, by `KafkaController.initiateReassignReplicasForTopicPartition`. */
final class Reassignments {
    private static final TopicAndPartition PARTITION = Partitions.PARTITION;
    private static final int EPOCH = 3;

    static Map<String, Object> reassign(Map<String, Object> given) throws Exception {
        Map<String, Object> stands = new HashMap<>(given);
        stands.put("controller_epoch", (long) EPOCH);
        LeaderIsrAndControllerEpoch state = States.of(stands);
        Seq<Object> assigned = Lists.seq(given.get("assigned")), wanted = Lists.seq(given.get("reassigned"));
        ZkUtils zookeeper = LocalZooKeeper.empty();
        LocalZooKeeper.putState("orders", 0, state);
        LocalZooKeeper.putAssignment("orders", 0, assigned);
        Map<TopicAndPartition, Seq<Object>> asked = new HashMap<>(Map.of(PARTITION, wanted));
        LocalZooKeeper.put(
            ZkUtils.ReassignPartitionsPath(), ZkUtils.formatAsReassignmentJson(JavaConversions.mapAsScalaMap(asked)), 0);
        try (SeenController controller = new SeenController(zookeeper, EPOCH)) {
            controller.register(Lists.ints(given.get("live")), List.of());
            controller.know(PARTITION, (List<?>) given.get("assigned"), state).begin(List.of());
            ReassignedPartitionsContext reassignment = new ReassignedPartitionsContext(wanted, null);
            controller.controllerContext().controllerLock().lock();  // as Kafka does; no watch is heeded meanwhile
            try {
                controller.initiateReassignReplicasForTopicPartition(PARTITION, reassignment);
                if (controller.failedReassignment != null) throw controller.failedReassignment;
                return controller.hasBegunReassignment ? found(controller, zookeeper) : KafkaAdapter.REFUSED;
            } finally {
                zookeeper.zkClient().unsubscribeAll();
                controller.controllerContext().partitionsBeingReassigned().clear();
                controller.controllerContext().controllerLock().unlock();
            }
        }
    }

    private static Map<String, Object> found(SeenController controller, ZkUtils zookeeper) {
        Map<String, Object> found = new LinkedHashMap<>(States.told(LocalZooKeeper.state("orders", 0)));
        found.remove("controller_epoch");
        found.put("waits", controller.controllerContext().partitionsBeingReassigned().contains(PARTITION));
        found.put("assigned", Lists.inOrder(zookeeper.getReplicasForPartition("orders", 0)));
        Set<PartitionAndReplica> begun = controller.replicaStateMachine().replicasInState("orders", NewReplica$.MODULE$);
        TreeSet<Long> started = new TreeSet<>();
        for (PartitionAndReplica one : JavaConversions.setAsJavaSet(begun)) started.add((long) one.replica());
        found.put("started", new ArrayList<>(started));
        found.put("deleted", controller.deletionReceivers());
        return found;
    }
}
