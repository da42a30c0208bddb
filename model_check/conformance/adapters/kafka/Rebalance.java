import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import kafka.common.TopicAndPartition;
import kafka.controller.LeaderIsrAndControllerEpoch;
import kafka.controller.ReassignedPartitionsContext;

/** The check of the automatic rebalance, by `KafkaController.checkAndTriggerPartitionRebalance`. */
final class Rebalance {
    static Map<String, Object> findImbalance(Map<String, Object> given) throws Exception {
        String percentage = String.valueOf(given.get("percentage"));
        try (SeenController controller =
                 new SeenController(LocalZooKeeper.empty(), 1, "leader.imbalance.per.broker.percentage", percentage)) {
            controller.register(Lists.ints(given.get("live")), List.of());
            for (Map.Entry<String, Object> one : Json.object(given.get("partitions")).entrySet())
                know(controller, partition(one.getKey()), Json.object(one.getValue()));
            controller.begin((List<?>) given.get("deleting"));
            for (Object name : (List<?>) given.get("reassigning"))
                controller.controllerContext().partitionsBeingReassigned().put(
                    partition(name), new ReassignedPartitionsContext(Lists.seq(List.of()), null));
            for (Object name : (List<?>) given.get("electing"))
                controller.controllerContext().partitionsUndergoingPreferredReplicaElection().add(partition(name));
            controller.kafka$controller$KafkaController$$checkAndTriggerPartitionRebalance();
            return Map.of("elect", new ArrayList<Object>(controller.rebalanced));
        }
    }

    private static void know(SeenController controller, TopicAndPartition partition, Map<String, Object> given)
        throws Exception {
        List<?> assigned = (List<?>) given.get("assigned");
        Object leader = given.get("leader");
        LeaderIsrAndControllerEpoch leadership = leader == null ? null
            : States.of(Map.of("leader", leader, "leader_epoch", 0L, "isr", assigned, "controller_epoch", 1L));
        if (leadership != null) LocalZooKeeper.putState(partition.topic(), partition.partition(), leadership);
        controller.know(partition, assigned, leadership);
    }

    /** A partition by its name, such as `a-b-0`. */
    static TopicAndPartition partition(Object name) {
        String text = (String) name;
        int dash = text.lastIndexOf('-');
        return new TopicAndPartition(text.substring(0, dash), Integer.parseInt(text.substring(dash + 1)));
    }
}
