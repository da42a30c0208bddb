import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;

import kafka.cluster.Partition;
import kafka.cluster.Replica;
import kafka.common.NotAssignedReplicaException;
import kafka.common.TopicAndPartition;
import kafka.server.FetchDataInfo;
import kafka.server.LogOffsetMetadata;
import kafka.server.LogReadResult;
import kafka.server.ReplicaManager;
import kafka.utils.ZkUtils;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.requests.PartitionState;
import org.apache.kafka.common.utils.Time;
import scala.Option;
import scala.collection.JavaConversions;

/**
 * A leader's changes of its ISR, by `Partition`: `maybeShrinkIsr` after a time in which all but the lagging have
 * fetched, and `maybeExpandIsr` as one fetches from the end of the log, which is empty.
 */
final class IsrChanges {
    private static final long MAX_LAG_MS = 1000;

    private final HandClock clock = new HandClock();
    private final NotedZkUtils zookeeper;
    private final ReplicaManager manager;
    private final Partition partition;

    static Map<String, Object> change(Map<String, Object> given) throws Exception {
        ReplicaManager manager = Fences.manager(Json.number(given.get("broker")));
        NotedZkUtils zookeeper = LocalZooKeeper.empty();
        TopicAndPartition named = Rebalance.partition(given.get("partition"));
        String path = ZkUtils.getTopicPartitionLeaderAndIsrPath(named.topic(), named.partition());
        if (given.get("znode") != null) {
            Map<String, Object> znode = Json.object(given.get("znode"));
            LocalZooKeeper.put(path, (String) znode.get("data"), Json.number(znode.get("version")));
        }
        IsrChanges leader = new IsrChanges(zookeeper, manager, named, given);
        List<Object> writes = new ArrayList<>();
        for (Object one : (List<?>) given.get("changes")) writes.add(leader.done(Json.object(one)));
        Map<String, Object> found = new HashMap<>();
        found.put("writes", writes);
        found.put("knows", Map.of("isr", leader.isr(), "zk_version", leader.version()));
        found.put("version", LocalZooKeeper.version(path));
        found.put("announces", leader.announced().contains(new TopicPartition(named.topic(), named.partition())));
        return found;
    }

    private IsrChanges(
        NotedZkUtils zookeeper, ReplicaManager manager, TopicAndPartition named, Map<String, Object> given) throws Exception {
        int broker = Json.number(given.get("broker"));
        Map<String, Object> knows = Json.object(given.get("knows"));
        this.zookeeper = zookeeper;
        this.manager = manager;
        announced().clear();
        this.partition = new Partition(named.topic(), named.partition(), clock, manager);
        int epoch = Json.number(knows.get("controller_epoch"));
        partition.makeLeader(1, new PartitionState(
            epoch, broker, Json.number(knows.get("leader_epoch")), Lists.ints(knows.get("isr")),
            Json.number(knows.get("zk_version")), new HashSet<>(Lists.ints(given.get("assigned")))), 1);
    }

    /** One change, and what was to be written then. */
    private Map<String, Object> done(Map<String, Object> change) {
        zookeeper.conditional.clear();
        List<Object> before = isr();
        if (change.containsKey("shrink")) shrink(Lists.ints(change.get("shrink")));
        else expand(Json.number(change.get("expand")));
        Map<String, Object> told = new HashMap<>();
        told.put("state", null);
        told.put("on_version", null);
        told.put("done", !before.equals(isr()));
        if (zookeeper.conditional.size() > 1) throw new IllegalStateException("it has written twice");
        for (NotedZkUtils.Conditional one : zookeeper.conditional) {
            Map<String, Object> state = Json.object(new Json(one.data()).value());
            state.remove("version");
            told.put("state", state);
            told.put("on_version", (long) one.version());
        }
        return told;
    }

    private void shrink(List<Integer> lagging) {
        clock.now += MAX_LAG_MS + 1;
        for (Replica one : JavaConversions.setAsJavaSet(partition.inSyncReplicas()))
            if (!one.isLocal() && !lagging.contains(one.brokerId())) one.updateLogReadResult(fetched());
        partition.maybeShrinkIsr(MAX_LAG_MS);
    }

    private void expand(int broker) {
        try {
            partition.updateReplicaLogReadResult(broker, fetched());
        } catch (NotAssignedReplicaException refused) {
            // The fetch is answered by an error, and nothing more comes of it.
        }
    }

    /** What a follower has read that is at the end of the log. */
    private LogReadResult fetched() {
        FetchDataInfo nothing = new FetchDataInfo(new LogOffsetMetadata(0, 0, 0), MemoryRecords.EMPTY, false);
        return new LogReadResult(nothing, 0, 0, clock.now, 0, Option.empty());
    }

    private List<Object> isr() {
        List<Object> told = new ArrayList<>();
        for (Replica one : JavaConversions.setAsJavaSet(partition.inSyncReplicas())) told.add((long) one.brokerId());
        return told;
    }

    private long version() { return partition.kafka$cluster$Partition$$zkVersion(); }

    /** The partitions that the broker will announce to the controller. */
    @SuppressWarnings("unchecked")
    private java.util.Set<TopicPartition> announced() throws ReflectiveOperationException {
        Method found = ReplicaManager.class.getDeclaredMethod("isrChangeSet");
        found.setAccessible(true);
        return JavaConversions.mutableSetAsJavaSet((scala.collection.mutable.Set<TopicPartition>) found.invoke(manager));
    }

    /** A clock that goes on by hand. */
    private static final class HandClock implements Time {
        private long now = 1_000_000;

        @Override public long milliseconds() { return now; }
        @Override public long hiResClockMs() { return now; }
        @Override public long nanoseconds() { return now * 1_000_000; }
        @Override public void sleep(long ms) { now += ms; }
    }
}
