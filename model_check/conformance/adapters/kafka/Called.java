import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

import kafka.common.TopicAndPartition;
import kafka.controller.LeaderIsrAndControllerEpoch;
import kafka.controller.PartitionAndReplica;
import kafka.controller.PartitionState;
import kafka.controller.ReplicaState;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.requests.LeaderAndIsrRequest;
import org.apache.kafka.common.requests.StopReplicaRequest;
import org.apache.kafka.common.requests.UpdateMetadataRequest;

/** A controller that is called with several partitions in its context and in ZooKeeper, and what it has done then. */
final class Called implements AutoCloseable {
    final SeenController controller;
    private final Map<String, Object> partitions;

    Called(Map<String, Object> given) throws Exception {
        this.controller = new SeenController(
            LocalZooKeeper.empty(), Json.number(given.get("controller_epoch")),
            "unclean.leader.election.enable", String.valueOf(given.get("unclean")), "broker.id", id(given));
        this.partitions = Json.object(given.get("partitions"));
        registerAll(controller, given);
        for (Map.Entry<String, Object> one : partitions.entrySet()) {
            TopicAndPartition partition = Rebalance.partition(one.getKey());
            Map<String, Object> told = Json.object(one.getValue());
            controller.know(partition, (List<?>) told.get("assigned"), States.of(told.get("leadership")));
            LeaderIsrAndControllerEpoch stands = States.of(told.get("znode"));
            if (stands != null) LocalZooKeeper.putState(partition.topic(), partition.partition(), stands);
        }
        controller.begin((List<?>) given.get("deleting"));
    }

    /** The id of the controller's broker, where it matters. */
    static String id(Map<String, Object> given) { return String.valueOf(given.getOrDefault("controller", -1L)); }

    /** Register who lives and who shuts down. */
    static void registerAll(SeenController controller, Map<String, Object> given) {
        List<Integer> shuttingDown = Lists.ints(given.get("shutting_down"));
        TreeSet<Integer> registered = new TreeSet<>(Lists.ints(given.get("live")));
        registered.addAll(shuttingDown);
        controller.register(registered, shuttingDown);
    }

    // ------------------------------------------------------------------------------------------- states of its machines

    Map<TopicAndPartition, PartitionState> partitionStates() {
        return scala.collection.JavaConversions.mutableMapAsJavaMap(
            controller.partitionStateMachine().kafka$controller$PartitionStateMachine$$partitionState());
    }

    Map<PartitionAndReplica, ReplicaState> replicaStates() {
        return scala.collection.JavaConversions.mutableMapAsJavaMap(
            controller.replicaStateMachine().kafka$controller$ReplicaStateMachine$$replicaState());
    }

    /** Every replica is Online, but for those of which something else is given. */
    void putReplicaStates(Map<String, Object> given) throws ReflectiveOperationException {
        ReplicaState online = (ReplicaState) Transitions.named("OnlineReplica");
        replicaStates().replaceAll((replica, state) -> online);
        for (Map.Entry<String, Object> one : given.entrySet())
            replicaStates().put(replica(one.getKey()), (ReplicaState) Transitions.named((String) one.getValue()));
    }

    /** A replica by its name, such as `orders-0/2`. */
    static PartitionAndReplica replica(String name) {
        int slash = name.lastIndexOf('/');
        TopicAndPartition partition = Rebalance.partition(name.substring(0, slash));
        return new PartitionAndReplica(
            partition.topic(), partition.partition(), Integer.parseInt(name.substring(slash + 1)));
    }

    // ------------------------------------------------------------------------------------------------ what it has done

    /** What stands in the state znodes that it has written. */
    List<Object> written() {
        List<Object> told = new ArrayList<>();
        for (String name : new TreeSet<>(partitions.keySet())) {
            TopicAndPartition partition = Rebalance.partition(name);
            LeaderIsrAndControllerEpoch stands = LocalZooKeeper.state(partition.topic(), partition.partition());
            boolean hadNone = Json.object(partitions.get(name)).get("znode") == null;
            if (stands == null || !hadNone && stands.leaderAndIsr().zkVersion() == 0) continue;
            Map<String, Object> one = new LinkedHashMap<>(States.told(stands));
            one.put("partition", name);
            told.add(one);
        }
        return told;
    }

    List<Object> leaderAndIsr() {
        Map<String, TreeSet<Long>> receivers = new TreeMap<>();
        for (SeenController.Addressed one : controller.addressed)
            if (one.request() instanceof LeaderAndIsrRequest request)
                for (TopicPartition each : request.partitionStates().keySet())
                    receivers.computeIfAbsent(each.toString(), name -> new TreeSet<>()).add((long) one.broker());
        List<Object> told = new ArrayList<>();
        receivers.forEach((name, to) -> told.add(Map.of("partition", name, "to", new ArrayList<Object>(to))));
        return told;
    }

    List<Object> stopReplica() {
        Map<String, Map<Boolean, TreeSet<Long>>> receivers = new TreeMap<>();
        for (SeenController.Addressed one : controller.addressed)
            if (one.request() instanceof StopReplicaRequest request)
                for (TopicPartition each : request.partitions())
                    receivers.computeIfAbsent(each.toString(), name -> new TreeMap<>())
                        .computeIfAbsent(request.deletePartitions(), delete -> new TreeSet<>()).add((long) one.broker());
        List<Object> told = new ArrayList<>();
        receivers.forEach((name, kinds) -> kinds.forEach((delete, to) ->
            told.add(Map.of("partition", name, "delete", delete, "to", new ArrayList<Object>(to)))));
        return told;
    }

    /** The partitions of which UpdateMetadata tells anybody. */
    List<Object> updateMetadata() {
        TreeSet<String> told = new TreeSet<>();
        for (SeenController.Addressed one : controller.addressed)
            if (one.request() instanceof UpdateMetadataRequest request)
                for (TopicPartition each : request.partitionStates().keySet()) told.add(each.toString());
        return new ArrayList<>(told);
    }

    @Override public void close() { controller.close(); }
}
