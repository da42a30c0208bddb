import java.util.Arrays;
import java.util.List;
import java.util.Map;

import kafka.controller.PartitionAndReplica;
import kafka.controller.PartitionState;
import kafka.controller.PartitionStateMachine;
import kafka.controller.ReplicaState;
import kafka.controller.ReplicaStateMachine;

/**
 * The two tables, by `handleStateChanges` of Kafka's state machines, where nothing else stands in the way: both
 * replicas live and are in sync, and who is moved does not lead. A state change that the table forbids is one that
 * `assertValidPreviousStates` throws at, which the machines catch and log.
 */
final class Transitions {
    private static final Map<String, Object> LED =
        Map.of("leader", 1L, "leader_epoch", 0L, "isr", List.of(1L, 2L), "controller_epoch", 1L);

    static Map<String, Object> transition(Map<String, Object> given) throws Exception {
        String from = (String) given.get("from"), to = (String) given.get("to");
        boolean isNew = from.equals("NewPartition");
        try (SeenController controller = new SeenController(LocalZooKeeper.empty(), 1)) {
            if (!isNew) LocalZooKeeper.putState("orders", 0, States.of(LED));
            controller.register(List.of(1, 2), List.of());
            controller.know(Partitions.PARTITION, List.of(1L, 2L), isNew ? null : States.of(LED)).begin(List.of());
            if (given.get("machine").equals("partition")) movePartition(controller, from, to);
            else moveReplica(controller, from, to);
        }
        for (Throwable error : Swallowed.found()) if (!isForbidden(error)) throw new IllegalStateException(error);
        return Map.of("permitted", Swallowed.found().isEmpty());
    }

    private static boolean isForbidden(Throwable error) {
        return Arrays.stream(error.getStackTrace()).anyMatch(one -> one.getMethodName().equals("assertValidPreviousStates"));
    }

    private static void movePartition(SeenController controller, String from, String to) throws Exception {
        PartitionStateMachine machine = controller.partitionStateMachine();
        machine.kafka$controller$PartitionStateMachine$$partitionState().put(
            Partitions.PARTITION, (PartitionState) named(from));
        machine.handleStateChanges(
            Partitions.set(Partitions.PARTITION), (PartitionState) named(to), controller.offlinePartitionSelector(),
            machine.handleStateChanges$default$4());
    }

    private static void moveReplica(SeenController controller, String from, String to) throws Exception {
        ReplicaStateMachine machine = controller.replicaStateMachine();
        PartitionAndReplica replica = new PartitionAndReplica("orders", 0, 2);
        machine.kafka$controller$ReplicaStateMachine$$replicaState().put(replica, (ReplicaState) named(from));
        machine.handleStateChanges(
            Partitions.set(replica), (ReplicaState) named(to), machine.handleStateChanges$default$3());
    }

    /** The object that Kafka has for a state, such as `OnlineReplica`. */
    static Object named(String state) throws ReflectiveOperationException {
        return Class.forName("kafka.controller." + state + "$").getField("MODULE$").get(null);
    }
}
