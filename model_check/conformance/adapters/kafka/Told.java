import java.util.List;
import java.util.Map;
import java.util.Set;

import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.requests.LeaderAndIsrRequest;
import org.apache.kafka.common.requests.PartitionState;
import org.apache.kafka.common.requests.UpdateMetadataRequest;

/** Requests that tell a broker what it is to know before it is asked: that it leads a partition alone, at an epoch. */
final class Told {
    static LeaderAndIsrRequest leaderAndIsr(int broker, int controllerEpoch, TopicPartition partition, int leaderEpoch) {
        Set<Node> leaders = Set.of(new Node(broker, "localhost", 9092));
        return new LeaderAndIsrRequest.Builder(
            1, controllerEpoch, state(broker, controllerEpoch, partition, leaderEpoch), leaders).build();
    }

    static UpdateMetadataRequest updateMetadata(int broker, int controllerEpoch, TopicPartition partition, int leaderEpoch) {
        return (UpdateMetadataRequest) new UpdateMetadataRequest.Builder(
            1, controllerEpoch, state(broker, controllerEpoch, partition, leaderEpoch), Set.of()).build();
    }

    private static Map<TopicPartition, PartitionState> state(
        int broker, int controllerEpoch, TopicPartition partition, int leaderEpoch) {
        PartitionState state = new PartitionState(controllerEpoch, broker, leaderEpoch, List.of(broker), 0, Set.of(broker));
        return Map.of(partition, state);
    }
}
