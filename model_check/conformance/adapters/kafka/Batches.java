import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

import kafka.common.TopicAndPartition;
import kafka.controller.ControllerBrokerRequestBatch;
import org.apache.kafka.common.requests.AbstractRequest;
import scala.collection.JavaConversions;
import scala.collection.Seq;

/** A batch of requests, by `ControllerBrokerRequestBatch`; what is sent of it is what stands in the channels' queues. */
final class Batches {
    static Map<String, Object> send(Map<String, Object> given) throws Exception {
        int epoch = Json.number(given.get("controller_epoch"));
        try (SeenController controller =
                 new SeenController(LocalZooKeeper.empty(), epoch, "broker.id", Called.id(given))) {
            List<Integer> shuttingDown = Lists.ints(given.get("shutting_down"));
            TreeSet<Integer> registered = new TreeSet<>(Lists.ints(given.get("live")));
            registered.addAll(shuttingDown);
            controller.register(registered, shuttingDown);
            Json.object(given.get("partitions")).forEach((name, value) -> {
                Map<String, Object> one = Json.object(value);
                controller.know(Rebalance.partition(name), (List<?>) one.get("assigned"), States.of(one.get("leadership")));
            });
            controller.begin((List<?>) given.get("deleting"));
            ControllerBrokerRequestBatch batch = new ControllerBrokerRequestBatch(controller);
            batch.newBatch();
            for (Object one : (List<?>) given.get("adds")) add(batch, controller, Json.object(one));
            batch.sendRequestsToBrokers(epoch);
            List<Object> sent = new ArrayList<>();
            for (int broker : registered) {
                List<Object> requests = new ArrayList<>();
                for (AbstractRequest request : controller.queued(broker)) {
                    Map<String, Object> told = RequestWords.of(request);
                    told.remove("controller_epoch"); // which no batch is asked for
                    requests.add(told);
                }
                if (!requests.isEmpty()) sent.add(Map.of("to", (long) broker, "sent", requests));
            }
            return Map.of("requests", sent);
        }
    }

    private static void add(ControllerBrokerRequestBatch batch, SeenController controller, Map<String, Object> add) {
        Seq<Object> brokers = add.get("brokers") == null
            ? controller.controllerContext().liveOrShuttingDownBrokerIds().toSeq() : Lists.seq(add.get("brokers"));
        if (add.get("kind").equals("UpdateMetadata")) {
            HashSet<TopicAndPartition> named = new HashSet<>();  // none is all
            if (add.get("partitions") != null)
                for (Object name : (List<?>) add.get("partitions")) named.add(Rebalance.partition(name));
            batch.addUpdateMetadataRequestForBrokers(brokers, JavaConversions.asScalaSet(named), null);
            return;
        }
        TopicAndPartition one = Rebalance.partition(add.get("partition"));
        if (add.get("kind").equals("StopReplica")) {
            batch.addStopReplicaRequestForBrokers(brokers, one.topic(), one.partition(), (Boolean) add.get("delete"), null);
            return;
        }
        batch.addLeaderAndIsrRequestForBrokers(
            brokers, one.topic(), one.partition(), controller.controllerContext().partitionLeadershipInfo().apply(one),
            controller.controllerContext().partitionReplicaAssignment().apply(one), null);
    }
}
