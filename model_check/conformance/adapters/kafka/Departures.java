import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

import kafka.common.TopicAndPartition;
import kafka.controller.PartitionState;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.protocol.Errors;
import scala.collection.JavaConversions;

/** Brokers that leave, by `KafkaController.shutdownBroker` and `onBrokerFailure`. */
final class Departures {
    static Map<String, Object> shutDown(Map<String, Object> given) throws Exception {
        try (Called called = new Called(given)) {
            called.putReplicaStates(Json.object(given.get("replica_states")));
            PartitionState online = (PartitionState) Transitions.named("OnlinePartition");
            for (TopicAndPartition one :
                 JavaConversions.mutableMapAsJavaMap(called.controller.controllerContext().partitionLeadershipInfo()).keySet())
                called.partitionStates().put(one, online);
            TreeSet<String> remaining = new TreeSet<>();
            try {
                for (TopicAndPartition one :
                     JavaConversions.setAsJavaSet(called.controller.shutdownBroker(Json.number(given.get("broker")))))
                    remaining.add(one.topic() + "-" + one.partition());
            } catch (ApiException refused) {  // which a broker answers by its code
                return Map.of("error_code", (long) Errors.forException(refused).code());
            }
            return Map.of(
                "error_code", 0L, "remaining", new ArrayList<Object>(remaining), "written", called.written(),
                "leader_and_isr", called.leaderAndIsr(), "stop_replica", called.stopReplica());
        }
    }

    static Map<String, Object> fail(Map<String, Object> given) throws Exception {
        try (Called called = new Called(given)) {
            called.putReplicaStates(Json.object(given.get("replica_states")));
            for (Map.Entry<String, Object> one : Json.object(given.get("partition_states")).entrySet())
                called.partitionStates().put(
                    Rebalance.partition(one.getKey()), (PartitionState) Transitions.named((String) one.getValue()));
            List<Integer> dead = Lists.ints(given.get("dead"));
            called.controller.onBrokerFailure(Lists.seq(given.get("dead")));
            Map<String, Object> partitions = new TreeMap<>(), replicas = new TreeMap<>();
            called.partitionStates().forEach(
                (one, state) -> partitions.put(one.topic() + "-" + one.partition(), state.toString()));
            called.replicaStates().forEach((one, state) -> {
                if (dead.contains(one.replica()))
                    replicas.put(one.topic() + "-" + one.partition() + "/" + one.replica(), state.toString());
            });
            return new HashMap<>(Map.of(
                "partition_states", partitions, "replica_states", replicas, "written", called.written(),
                "leader_and_isr", called.leaderAndIsr(), "update_metadata", called.updateMetadata()));
        }
    }
}
