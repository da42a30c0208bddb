import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import kafka.api.PartitionStateInfo;
import kafka.cluster.Partition;
import kafka.log.CleanerConfig;
import kafka.log.LogConfig;
import kafka.log.LogManager;
import kafka.server.BecomeLeaderOrFollowerResult;
import kafka.server.BrokerState;
import kafka.server.KafkaConfig;
import kafka.server.MetadataCache;
import kafka.server.QuotaFactory;
import kafka.server.QuotaType;
import kafka.server.ReplicaManager;
import kafka.server.ReplicationQuotaManager;
import kafka.utils.Scheduler;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ControllerMovedException;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.types.Struct;
import org.apache.kafka.common.requests.LeaderAndIsrRequest;
import org.apache.kafka.common.requests.StopReplicaRequest;
import org.apache.kafka.common.requests.UpdateMetadataRequest;
import org.apache.kafka.common.utils.Time;
import scala.Function0;
import scala.Option;
import scala.Tuple2;
import scala.collection.Iterable;
import scala.collection.JavaConversions;
import scala.runtime.AbstractFunction2;
import scala.runtime.BoxedUnit;

/**
 * A broker's fences, by `ReplicaManager` and `MetadataCache`, on logs in a temporary folder. What the broker knows it
 * is told first, by requests. One replica manager answers for a broker; before each question it stops the replica, with
 * delete, and forgets the controller's epoch, so that it knows what a process knows that has just begun.
 */
final class Fences {
    private static final Map<Integer, Fences> BROKERS = new HashMap<>();
    private static final Metrics METRICS = new Metrics();
    private static Path folder;

    private final int broker;
    private final ReplicaManager manager;
    private MetadataCache cache;

    static Map<String, Object> fence(Map<String, Object> given) throws Exception {
        return of(Json.number(given.get("broker"))).asked(Json.object(given.get("knows")), Json.object(given.get("request")));
    }

    /** The replica manager of a broker. */
    static ReplicaManager manager(int broker) throws Exception { return of(broker).manager; }

    private static Fences of(int broker) throws Exception {
        if (!BROKERS.containsKey(broker)) BROKERS.put(broker, new Fences(broker));
        return BROKERS.get(broker);
    }

    /** Remove the folder of the logs. */
    static void end() throws Exception {
        if (folder != null) LocalZooKeeper.remove(folder);
    }

    private Fences(int broker) throws Exception {
        if (folder == null) folder = Files.createTempDirectory("kafka-adapter-logs-");
        File logs = folder.resolve(String.valueOf(broker)).toFile();
        KafkaConfig config = SeenController.config("broker.id", String.valueOf(broker), "log.dirs", logs.getPath());
        CleanerConfig noCleaner = new CleanerConfig(1, 1 << 20, 0.9, 1 << 20, 1 << 20, 1e9, 1000, false, "MD5");
        LogManager log = new LogManager(
            new File[] {logs}, JavaConversions.mapAsScalaMap(new HashMap<String, LogConfig>()), LogConfig.apply(), noCleaner,
            1, Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE, new NoScheduler(), new BrokerState(), Time.SYSTEM);
        ReplicationQuotaManager quota = new ReplicationQuotaManager(
            QuotaFactory.replicationConfig(config), METRICS, QuotaType.FollowerReplication$.MODULE$, Time.SYSTEM);
        this.broker = broker;
        this.manager = new ReplicaManager(
            config, METRICS, Time.SYSTEM, LocalZooKeeper.empty(), new NoScheduler(), log, new AtomicBoolean(), quota,
            Option.empty());
    }

    private Map<String, Object> asked(Map<String, Object> knows, Map<String, Object> request) {
        Map<String, Object> body = Json.object(request.get("body"));
        Object first = ((java.util.List<?>) body.getOrDefault("PartitionStates", body.get("Partitions"))).get(0);
        TopicPartition partition =
            new TopicPartition((String) Json.object(first).get("Topic"), Json.number(Json.object(first).get("Partition")));
        begin(partition, knows);
        Map<String, Object> before = knows(partition);
        if (!before.equals(knows)) throw new IllegalStateException("it was to know " + knows + ", and knows " + before);
        return Map.of("fenced", isFenced(request, partition), "knows", knows(partition));
    }

    private void begin(TopicPartition partition, Map<String, Object> knows) {
        manager.stopReplica(partition, true);
        cache = new MetadataCache(broker);
        int epoch = Json.number(knows.get("controller_epoch"));
        manager.controllerEpoch_$eq(epoch);
        if (Json.number(knows.get("leader_epoch")) >= 0)
            obey(Told.leaderAndIsr(broker, epoch, partition, Json.number(knows.get("leader_epoch"))), partition);
        if (Json.number(knows.get("cached_leader_epoch")) >= 0)
            manager.maybeUpdateMetadataCache(
                1, Told.updateMetadata(broker, epoch, partition, Json.number(knows.get("cached_leader_epoch"))), cache);
    }

    private Map<String, Object> knows(TopicPartition partition) {
        Option<Partition> known = manager.getPartition(partition);
        Option<PartitionStateInfo> cached = cache.getPartitionInfo(partition.topic(), partition.partition());
        return Map.of(
            "controller_epoch", (long) manager.controllerEpoch(),
            "leader_epoch", known.isDefined() ? (long) known.get().getLeaderEpoch() : -1L,
            "cached_leader_epoch",
            cached.isDefined() ? (long) cached.get().leaderIsrAndControllerEpoch().leaderAndIsr().leaderEpoch() : -1L);
    }

    private boolean isFenced(Map<String, Object> request, TopicPartition partition) {
        Struct body = Requests.body(request);
        short version = ((Long) request.get("version")).shortValue();
        switch ((String) request.get("name")) {
            case "LeaderAndIsr": return !obey(new LeaderAndIsrRequest(body, version), partition);
            case "StopReplica":
                Tuple2<scala.collection.mutable.Map<TopicPartition, Object>, Object> answer =
                    manager.stopReplicas(new StopReplicaRequest(body, version));
                return !isObeyed(((Number) answer._2()).shortValue(), answer._1(), partition);
            default:
                try {
                    manager.maybeUpdateMetadataCache(1, new UpdateMetadataRequest(body, version), cache);
                    return false;
                } catch (ControllerMovedException fenced) {
                    return true;
                }
        }
    }

    private boolean obey(LeaderAndIsrRequest request, TopicPartition partition) {
        BecomeLeaderOrFollowerResult answer = manager.becomeLeaderOrFollower(1, request, cache, new NothingElse());
        return isObeyed(answer.errorCode(), answer.responseMap(), partition);
    }

    /** By the error codes of its answer, of the whole request and of the partition. */
    private static boolean isObeyed(
        short whole, scala.collection.Map<TopicPartition, Object> parts, TopicPartition partition) {
        Errors error = Errors.forCode(whole);
        if (error == Errors.NONE) error = Errors.forCode(((Number) parts.apply(partition)).shortValue());
        if (error != Errors.NONE && error != Errors.STALE_CONTROLLER_EPOCH) throw error.exception();
        return error == Errors.NONE;
    }

    /** What the broker does beside that once it leads or follows: nothing. */
    private static final class NothingElse extends AbstractFunction2<Iterable<Partition>, Iterable<Partition>, BoxedUnit> {
        @Override public BoxedUnit apply(Iterable<Partition> led, Iterable<Partition> followed) { return BoxedUnit.UNIT; }
    }

    /** Nothing is done later: no flush, no checkpoint, no retention. */
    private static final class NoScheduler implements Scheduler {
        @Override public void startup() { }
        @Override public void shutdown() { }
        @Override public boolean isStarted() { return true; }
        @Override public void schedule(String name, Function0<BoxedUnit> task, long delay, long period, TimeUnit unit) { }
        @Override public long schedule$default$3() { return 0; }
        @Override public long schedule$default$4() { return -1; }
        @Override public TimeUnit schedule$default$5() { return TimeUnit.MILLISECONDS; }
    }
}
