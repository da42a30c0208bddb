import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Properties;
import java.util.TreeSet;

import kafka.cluster.Broker;
import kafka.common.TopicAndPartition;
import kafka.controller.ControllerBrokerStateInfo;
import kafka.controller.ControllerChannelManager;
import kafka.controller.KafkaController;
import kafka.controller.LeaderIsrAndControllerEpoch;
import kafka.controller.QueueItem;
import kafka.controller.ReassignedPartitionsContext;
import kafka.controller.TopicDeletionManager;
import kafka.server.BrokerState;
import kafka.server.KafkaConfig;
import kafka.utils.ZkUtils;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.SecurityProtocol;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.LeaderAndIsrRequest;
import org.apache.kafka.common.requests.StopReplicaRequest;
import org.apache.kafka.common.utils.Time;
import scala.Function1;
import scala.Option;
import scala.collection.JavaConversions;
import scala.collection.Set;
import scala.runtime.BoxedUnit;

/**
 * Kafka's controller, active, with a context that is filled by hand, and channels whose threads do not run: what it
 * sends stays in their queues. It does all that Kafka's does; beside that it notes what it is asked to do.
 */
final class SeenController extends KafkaController implements AutoCloseable {
    private static final ListenerName LISTENER = ListenerName.forSecurityProtocol(SecurityProtocol.PLAINTEXT);
    private static final Metrics METRICS = new Metrics();

    /** To whom a request is addressed, whether there is a channel or not. */
    record Addressed(int broker, AbstractRequest request) { }

    final List<Addressed> addressed = new ArrayList<>();
    final TreeSet<String> rebalanced = new TreeSet<>();
    boolean hasBegunReassignment;
    RuntimeException failedReassignment;

    SeenController(ZkUtils zookeeper, int epoch, String... settings) {
        super(config(settings), zookeeper, new BrokerState(), Time.SYSTEM, METRICS, Option.empty());
        controllerContext().epoch_$eq(epoch);
        kafka$controller$KafkaController$$controllerElector().leaderId_$eq(super.config().brokerId());  // it is active
    }

    static KafkaConfig config(String... settings) {
        Properties properties = new Properties();
        properties.put("zookeeper.connect", "none");
        properties.put("delete.topic.enable", "true");
        for (int at = 0; at < settings.length; at += 2) properties.put(settings[at], settings[at + 1]);
        return KafkaConfig.fromProps(properties);
    }

    // ------------------------------------------------------------------------------------------- filling its context

    /** Register these brokers, each with a channel; then some of them shut down. */
    SeenController register(Collection<Integer> registered, Collection<Integer> shuttingDown) {
        LinkedHashSet<Broker> brokers = new LinkedHashSet<>();
        for (int id : registered) brokers.add(new Broker(id, "localhost", 9092, LISTENER, SecurityProtocol.PLAINTEXT));
        controllerContext().liveBrokers_$eq(JavaConversions.asScalaSet(brokers).<Broker>toSet());  // immutable, as Kafka's
        controllerContext().controllerChannelManager_$eq(
            new ControllerChannelManager(controllerContext(), config(), Time.SYSTEM, METRICS, Option.empty()));
        for (Object id : shuttingDown) controllerContext().shuttingDownBrokerIds().add(id);
        return this;
    }

    /** A partition with its assigned replicas, and its leadership, null for none. */
    SeenController know(TopicAndPartition partition, List<?> assigned, LeaderIsrAndControllerEpoch leadership) {
        HashSet<String> topics = new HashSet<>(JavaConversions.setAsJavaSet(controllerContext().allTopics()));
        topics.add(partition.topic());
        controllerContext().allTopics_$eq(JavaConversions.asScalaSet(topics));
        controllerContext().partitionReplicaAssignment().put(partition, Lists.seq(assigned));
        if (leadership != null) controllerContext().partitionLeadershipInfo().put(partition, leadership);
        return this;
    }

    /** Begin with what it knows, as a controller does that takes over, but without electing anybody. */
    SeenController begin(List<?> deleting) throws ReflectiveOperationException {
        HashSet<String> topics = new HashSet<>();
        for (Object topic : deleting) topics.add((String) topic);
        Set<String> queued = JavaConversions.asScalaSet(topics);
        deleteTopicManager_$eq(new TopicDeletionManager(this, queued, JavaConversions.asScalaSet(new HashSet<String>())));
        call(partitionStateMachine(), "initializePartitionState");
        partitionStateMachine().kafka$controller$PartitionStateMachine$$hasStarted().set(true);
        call(replicaStateMachine(), "initializeReplicaState");
        replicaStateMachine().kafka$controller$ReplicaStateMachine$$hasStarted().set(true);
        return this;
    }

    private static void call(Object of, String name) throws ReflectiveOperationException {
        Method method = of.getClass().getDeclaredMethod(name);
        method.setAccessible(true);
        method.invoke(of);
    }

    // -------------------------------------------------------------------------------------------- seeing what it does

    /** It logs as Kafka's own class does. */
    @Override public String loggerName() { return KafkaController.class.getName(); }

    @Override public void sendRequest(
        int broker, ApiKeys key, AbstractRequest.Builder<? extends AbstractRequest> request,
        Function1<AbstractResponse, BoxedUnit> callback) {
        addressed.add(new Addressed(broker, request.build()));
        super.sendRequest(broker, key, request, callback);
    }

    @Override public void onPreferredReplicaElection(Set<TopicAndPartition> partitions, boolean byRebalance) {
        for (TopicAndPartition one : JavaConversions.setAsJavaSet(partitions))
            rebalanced.add(one.topic() + "-" + one.partition());
        super.onPreferredReplicaElection(partitions, byRebalance);
    }

    @Override public void onPartitionReassignment(TopicAndPartition partition, ReassignedPartitionsContext reassignment) {
        hasBegunReassignment = true;
        try {
            super.onPartitionReassignment(partition, reassignment);
        } catch (RuntimeException failed) {
            failedReassignment = failed;
            throw failed;
        }
    }

    /** Whom LeaderAndIsr is addressed to, ascending. */
    List<Object> leaderAndIsrReceivers() {
        TreeSet<Long> brokers = new TreeSet<>();
        for (Addressed one : addressed) if (one.request instanceof LeaderAndIsrRequest) brokers.add((long) one.broker);
        return new ArrayList<>(brokers);
    }

    /** Whom StopReplica with delete is addressed to, ascending. */
    List<Object> deletionReceivers() {
        TreeSet<Long> brokers = new TreeSet<>();
        for (Addressed one : addressed)
            if (one.request instanceof StopReplicaRequest stop && stop.deletePartitions()) brokers.add((long) one.broker);
        return new ArrayList<>(brokers);
    }

    /** What stands in the queue of a broker's channel, oldest first. */
    List<AbstractRequest> queued(int broker) {
        List<AbstractRequest> found = new ArrayList<>();
        for (QueueItem one : channels().get(broker).messageQueue()) found.add(one.request().build());
        return found;
    }

    java.util.Map<Object, ControllerBrokerStateInfo> channels() {
        return JavaConversions.mapAsJavaMap(controllerContext().controllerChannelManager().brokerStateInfo());
    }

    @Override public void close() {
        controllerContext().zkUtils().zkClient().unsubscribeAll();
        for (ControllerBrokerStateInfo one : channels().values()) one.networkClient().close();
    }
}
