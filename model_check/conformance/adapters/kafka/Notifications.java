import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

import kafka.common.TopicAndPartition;
import kafka.controller.IsrChangeNotificationListener;
import kafka.controller.LeaderIsrAndControllerEpoch;
import kafka.utils.ZkUtils;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.requests.UpdateMetadataRequest;
import scala.Option;
import scala.collection.JavaConversions;

/** Notifications of ISR changes, by `IsrChangeNotificationListener`; what it throws ends the call, as in ZkClient. */
final class Notifications {
    private static final String PATH = ZkUtils.IsrChangeNotificationPath();

    static Map<String, Object> handle(Map<String, Object> given) throws Exception {
        ZkUtils zookeeper = LocalZooKeeper.empty();
        Map<String, Object> partitions = Json.object(given.get("partitions"));
        Map<String, Object> notifications = Json.object(given.get("notifications"));
        try (SeenController controller = new SeenController(zookeeper, Json.number(given.get("controller_epoch")))) {
            Called.registerAll(controller, given);
            for (Map.Entry<String, Object> one : partitions.entrySet())
                know(controller, Rebalance.partition(one.getKey()), Json.object(one.getValue()));
            controller.begin((List<?>) given.get("deleting"));
            LocalZooKeeper.put(PATH, null, 0);
            for (Map.Entry<String, Object> one : notifications.entrySet())
                LocalZooKeeper.put(PATH + "/" + one.getKey(), (String) one.getValue(), 0);
            try {
                new IsrChangeNotificationListener(controller).doHandleChildChange(PATH, zookeeper.getChildren(PATH));
            } catch (RuntimeException raised) {
                if (raised instanceof NullPointerException) throw raised;  // a slip of ours
            }
            TreeSet<String> removed = new TreeSet<>(notifications.keySet());
            removed.removeAll(JavaConversions.seqAsJavaList(zookeeper.getChildren(PATH)));
            Map<String, Object> found = new HashMap<>();
            found.put("cached", cached(controller, partitions));
            found.put("update_metadata", updateMetadata(controller));
            found.put("removed", new ArrayList<Object>(removed));
            return found;
        }
    }

    private static void know(SeenController controller, TopicAndPartition partition, Map<String, Object> given)
        throws Exception {
        LeaderIsrAndControllerEpoch leadership = States.of(given.get("leadership"));
        if (given.get("assigned") != null) controller.know(partition, (List<?>) given.get("assigned"), leadership);
        else if (leadership != null) controller.controllerContext().partitionLeadershipInfo().put(partition, leadership);
        if (given.get("znode") == null) return;
        Map<String, Object> znode = Json.object(given.get("znode"));
        LocalZooKeeper.put(
            ZkUtils.getTopicPartitionLeaderAndIsrPath(partition.topic(), partition.partition()),
            (String) znode.get("data"), Json.number(znode.get("version")));
    }

    private static Map<String, Object> cached(SeenController controller, Map<String, Object> partitions) {
        Map<String, Object> told = new TreeMap<>();
        for (String name : partitions.keySet()) {
            Option<LeaderIsrAndControllerEpoch> found =
                controller.controllerContext().partitionLeadershipInfo().get(Rebalance.partition(name));
            told.put(name, null);
            if (found.isEmpty()) continue;
            Map<String, Object> state = new LinkedHashMap<>(States.told(found.get()));
            state.put("zk_version", (long) found.get().leaderAndIsr().zkVersion());
            told.put(name, state);
        }
        return told;
    }

    /** Who is sent UpdateMetadata, and the leader of each partition that it tells of; null if nobody is. */
    private static Map<String, Object> updateMetadata(SeenController controller) {
        TreeSet<Long> to = new TreeSet<>();
        Map<String, Object> leaders = new TreeMap<>();
        for (SeenController.Addressed one : controller.addressed)
            if (one.request() instanceof UpdateMetadataRequest request) {
                to.add((long) one.broker());
                for (TopicPartition each : request.partitionStates().keySet())
                    leaders.put(each.toString(), (long) request.partitionStates().get(each).leader);
            }
        if (to.isEmpty()) return null;
        List<Object> told = new ArrayList<>();
        leaders.forEach((name, leader) -> told.add(Map.of("partition", name, "leader", leader)));
        return Map.of("to", new ArrayList<Object>(to), "partitions", told);
    }
}
