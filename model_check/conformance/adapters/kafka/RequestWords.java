import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.LeaderAndIsrRequest;
import org.apache.kafka.common.requests.PartitionState;
import org.apache.kafka.common.requests.StopReplicaRequest;
import org.apache.kafka.common.requests.UpdateMetadataRequest;

/** A request of the controller's in the words of a vector. */
final class RequestWords {
    static Map<String, Object> of(AbstractRequest request) {
        Map<String, Object> told = new LinkedHashMap<>();
        if (request instanceof LeaderAndIsrRequest one) {
            told.put("name", "LeaderAndIsr");
            told.put("controller_epoch", (long) one.controllerEpoch());
            told.put("partitions", states(one.partitionStates()));
            told.put("live_leaders", ascending(one.liveLeaders().stream().map(Node::id).toList()));
        } else if (request instanceof UpdateMetadataRequest one) {
            told.put("name", "UpdateMetadata");
            told.put("controller_epoch", (long) one.controllerEpoch());
            told.put("partitions", states(one.partitionStates()));
            told.put("live_brokers", ascending(one.liveBrokers().stream().map(broker -> broker.id).toList()));
        } else {
            StopReplicaRequest one = (StopReplicaRequest) request;
            told.put("name", "StopReplica");
            told.put("controller_epoch", (long) one.controllerEpoch());
            told.put("delete", one.deletePartitions());
            List<String> names = one.partitions().stream().map(TopicPartition::toString).sorted().toList();
            told.put("partitions", new ArrayList<Object>(names));
        }
        return told;
    }

    private static List<Object> states(Map<TopicPartition, PartitionState> given) {
        Map<String, Object> found = new TreeMap<>();
        given.forEach((partition, state) -> {
            Map<String, Object> told = new LinkedHashMap<>();
            told.put("partition", partition.toString());
            told.put("leader", (long) state.leader);
            told.put("leader_epoch", (long) state.leaderEpoch);
            told.put("isr", new ArrayList<Object>(state.isr.stream().map(Integer::longValue).toList()));
            told.put("controller_epoch", (long) state.controllerEpoch);
            told.put("zk_version", (long) state.zkVersion);
            told.put("replicas", ascending(state.replicas));
            found.put(partition.toString(), told);
        });
        return new ArrayList<>(found.values());
    }

    private static List<Object> ascending(Collection<Integer> given) {
        return new ArrayList<>(given.stream().sorted().map(Integer::longValue).toList());
    }
}
