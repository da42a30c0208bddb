import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

import kafka.common.TopicAndPartition;
import kafka.controller.ControlledShutdownLeaderSelector;
import kafka.controller.ControllerContext;
import kafka.controller.NoOpLeaderSelector;
import kafka.controller.PartitionAndReplica;
import kafka.controller.PartitionLeaderSelector;
import kafka.controller.PartitionState;
import kafka.controller.PartitionStateMachine;
import kafka.controller.PreferredReplicaPartitionLeaderSelector;
import kafka.controller.ReplicaState;
import kafka.controller.ReplicaStateMachine;
import scala.collection.JavaConversions;

/** Several keys at once, by `handleStateChanges` of both state machines; what failed is what they log as failed. */
final class Machines {
    static Map<String, Object> handleStateChanges(Map<String, Object> given) throws Exception {
        boolean ofPartitions = given.get("machine").equals("partition");
        List<?> keys = (List<?>) given.get("keys");
        try (Called called = new Called(given)) {
            Map<String, Object> states = Json.object(given.get("states")), after = new TreeMap<>();
            TreeSet<String> asked = new TreeSet<>(states.keySet());
            for (Object key : keys) asked.add((String) key);
            if (ofPartitions) movePartitions(called, given, states);
            else moveReplicas(called, given, states);
            for (String key : asked) after.put(key, ofPartitions ? partitionState(called, key) : replicaState(called, key));
            Map<String, Object> found = new HashMap<>(Map.of("states", after, "failed", failed(keys)));
            Map<String, Object> assigned = new TreeMap<>();
            for (String name : Json.object(given.get("partitions")).keySet())
                assigned.put(name, Lists.inOrder(
                    called.controller.controllerContext().partitionReplicaAssignment().apply(Rebalance.partition(name))));
            found.put("assigned", assigned);
            found.put("written", called.written());
            found.put("leader_and_isr", called.leaderAndIsr());
            found.put("stop_replica", called.stopReplica());
            return found;
        }
    }

    private static void movePartitions(Called called, Map<String, Object> given, Map<String, Object> states)
        throws ReflectiveOperationException {
        called.partitionStates().clear();
        for (Map.Entry<String, Object> one : states.entrySet())
            called.partitionStates().put(
                Rebalance.partition(one.getKey()), (PartitionState) Transitions.named((String) one.getValue()));
        LinkedHashSet<TopicAndPartition> keys = new LinkedHashSet<>();
        for (Object key : (List<?>) given.get("keys")) keys.add(Rebalance.partition(key));
        for (TopicAndPartition one : keys) expectMissing(called, one);
        PartitionStateMachine machine = called.controller.partitionStateMachine();
        machine.handleStateChanges(
            JavaConversions.asScalaSet(keys), (PartitionState) Transitions.named((String) given.get("target")),
            selector(called.controller, (String) given.get("selector")), machine.handleStateChanges$default$4());
    }

    private static void moveReplicas(Called called, Map<String, Object> given, Map<String, Object> states)
        throws ReflectiveOperationException {
        called.replicaStates().clear();
        for (Map.Entry<String, Object> one : states.entrySet())
            called.replicaStates().put(
                Called.replica(one.getKey()), (ReplicaState) Transitions.named((String) one.getValue()));
        LinkedHashSet<PartitionAndReplica> keys = new LinkedHashSet<>();
        for (Object key : (List<?>) given.get("keys")) keys.add(Called.replica((String) key));
        for (PartitionAndReplica one : keys)
            expectMissing(called, new TopicAndPartition(one.topic(), one.partition()));
        ReplicaStateMachine machine = called.controller.replicaStateMachine();
        machine.handleStateChanges(
            JavaConversions.asScalaSet(keys), (ReplicaState) Transitions.named((String) given.get("target")),
            machine.handleStateChanges$default$3());
    }

    /** Of a partition without assigned replicas, or leadership, Kafka throws, and swallows, that there is no such key. */
    private static void expectMissing(Called called, TopicAndPartition partition) {
        ControllerContext context = called.controller.controllerContext();
        if (!context.partitionReplicaAssignment().contains(partition)
            || !context.partitionLeadershipInfo().contains(partition)) Swallowed.expect("key not found: " + partition);
    }

    private static PartitionLeaderSelector selector(SeenController controller, String name) {
        ControllerContext context = controller.controllerContext();
        switch (name) {
            case "offline": return controller.offlinePartitionSelector();
            case "preferred": return new PreferredReplicaPartitionLeaderSelector(context);
            case "controlled-shutdown": return new ControlledShutdownLeaderSelector(context);
            case "no-op": return new NoOpLeaderSelector(context);
            default: throw new IllegalArgumentException("no selector is called " + name);
        }
    }

    private static String partitionState(Called called, String key) {
        PartitionState state = called.partitionStates().get(Rebalance.partition(key));
        return state == null ? "NonExistentPartition" : state.toString();
    }

    private static String replicaState(Called called, String key) {
        ReplicaState state = called.replicaStates().get(Called.replica(key));
        return state == null ? "NonExistentReplica" : state.toString();
    }

    private static List<Object> failed(List<?> keys) {
        TreeSet<String> failed = new TreeSet<>();
        for (Object key : keys)
            for (String line : Swallowed.lines())
                if (line.contains(about((String) key)) && line.endsWith(" failed")) failed.add((String) key);
        return List.copyOf(failed);
    }

    /** How state-change.log names a key whose change failed. */
    private static String about(String key) {
        int slash = key.lastIndexOf('/');
        if (slash < 0) return " initiated state change for partition " + Rebalance.partition(key) + " ";
        return " initiated state change of replica " + key.substring(slash + 1) + " for partition "
            + Rebalance.partition(key.substring(0, slash)) + " ";
    }
}
