import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Lines of logs, as Kafka writes them in the midst of other work: each is what is logged of a call that is made so that
 * it says just this. What no call of this adapter comes to is skipped; Kafka has no reader of lines.
 */
final class Lines {
    /** By kind, words that tell its line from the others that a call logs. */
    private static final Map<String, String> WORDS = Map.ofEntries(
        Map.entry("PartitionBecameNew", " with assigned replicas "),
        Map.entry("PartitionBecameOnline", " with leader "),
        Map.entry("PartitionLostLeader", " changed partition "),
        Map.entry("PartitionChangeFailed", " initiated state change for partition "),
        Map.entry("LeaderElectionStarted", " started leader election "),
        Map.entry("LeaderElected", " elected leader "),
        Map.entry("NoAssignedReplicaAlive", " No assigned replica is alive."),
        Map.entry("StateZnodeExists", " path already exists "),
        Map.entry("ElectionAborted", " aborted leader election "),
        Map.entry("ReplicaChanged", " changed state of replica "),
        Map.entry("ReplicaChangeFailed", " initiated state change of replica "),
        Map.entry("LeaderAndIsrSending", " LeaderAndIsr request "),
        Map.entry("UpdateMetadataSending", " UpdateMetadata request "),
        Map.entry("BrokerFailure", "Broker failure callback "),
        Map.entry("ShuttingDownBroker", "Shutting down broker "),
        Map.entry("IsrShrunk", "New leader and ISR for partition "),
        Map.entry("PartitionsInvoked", "Invoking state change "),
        Map.entry("ReplicasInvoked", "Invoking state change "));

    private static final long GONE = 99;
    private static final List<Object> GONE_ALONE = List.of(GONE);

    static Map<String, Object> write(Map<String, Object> given) throws Exception {
        String kind = (String) given.get("kind");
        if (!WORDS.containsKey(kind)) return Map.of("skip", "no call of this adapter has Kafka write this line");
        Map<String, Object> fields = Json.object(given.get("fields"));
        try (Logged logged = new Logged()) {
            call(kind, fields);
            String entry = logged.first((String) given.get("log"), WORDS.get(kind), (String) given.get("time"));
            if (entry == null) return Map.of("skip", "Kafka refuses what this line says, and does not write it");
            return Map.of("outcome", Map.of("entry", entry));
        }
    }

    private static void call(String kind, Map<String, Object> fields) throws Exception {
        String name = (String) fields.getOrDefault("partition", "t-0");
        Object leader = fields.getOrDefault("leader", 1L);
        switch (kind) {
            case "LeaderElectionStarted", "LeaderElected", "PartitionBecameOnline":
                boolean isNew = "NewPartition".equals(fields.get("source"));
                Map<String, Object> led = isNew ? null : state(GONE, 4, List.of(leader), 1);
                move(fields, name, "OnlinePartition", partition(List.of(leader), led), List.of(leader));
                return;
            case "PartitionBecameNew":
                move(fields, name, "NewPartition", partition((List<?>) fields.get("assigned_replicas"), null), List.of());
                return;
            case "PartitionLostLeader", "PartitionChangeFailed":
                move(fields, name, (String) fields.get("target"), partition(GONE_ALONE, null), List.of());
                return;
            case "NoAssignedReplicaAlive":
                moveNew(fields, name, partition((List<?>) fields.get("assigned_replicas"), null),
                    (List<?>) fields.get("live_brokers"));
                return;
            case "StateZnodeExists":
                Map<String, Object> value = new HashMap<>(Json.object(fields.get("value")));
                value.put("controller_epoch", fields.get("controller_epoch"));
                moveNew(fields, name, partition((List<?>) value.get("isr"), value), (List<?>) value.get("isr"));
                return;
            case "ElectionAborted":
                int newer = Json.number(fields.get("controller_epoch"));
                move(fields, name, "OnlinePartition", partition(List.of(1L), state(1, 4, List.of(1L), newer)), List.of(1L));
                return;
            case "ReplicaChanged", "ReplicaChangeFailed":
                moveReplica(fields, name, (Long) fields.get("replica"), (String) fields.get("source"),
                    (String) fields.get("target"));
                return;
            case "IsrShrunk":
                shrink(fields, name, Json.object(fields.get("leader_and_isr")));
                return;
            case "PartitionsInvoked": invoke(fields, "partition", (List<?>) fields.get("partitions")); return;
            case "ReplicasInvoked": invoke(fields, "replica", (List<?>) fields.get("replicas")); return;
            case "LeaderAndIsrSending", "UpdateMetadataSending": send(kind, fields, name); return;
            case "BrokerFailure":
                Map<String, Object> failed = around(fields, Map.of(), List.of());
                failed.putAll(Map.of("dead", fields.get("brokers"), "replica_states", Map.of(), "partition_states", Map.of()));
                Departures.fail(failed);
                return;
            default:  // ShuttingDownBroker
                Map<String, Object> asked = around(fields, Map.of(), List.of(fields.get("broker")));
                asked.putAll(Map.of("broker", fields.get("broker"), "replica_states", Map.of()));
                Departures.shutDown(asked);
        }
    }

    // -------------------------------------------------------------------------------------------------- calls of machines

    private static void moveNew(Map<String, Object> fields, String name, Map<String, Object> partition, List<?> live)
        throws Exception {
        Map<String, Object> made = new HashMap<>(fields);
        made.put("source", "NewPartition");
        move(made, name, "OnlinePartition", partition, live);
    }

    /** One partition from the source that is named, else from Offline. */
    private static void move(
        Map<String, Object> fields, String name, String target, Map<String, Object> partition, List<?> live) throws Exception {
        Object source = fields.getOrDefault("source", "OfflinePartition");
        Map<String, Object> asked = around(fields, Map.of(name, partition), live);
        asked.putAll(Map.of("machine", "partition", "target", target, "selector", "offline", "keys", List.of(name),
            "states", Map.of(name, source)));
        Machines.handleStateChanges(asked);
    }

    private static void moveReplica(Map<String, Object> fields, String name, long replica, String from, String to)
        throws Exception {
        List<Object> both = List.of(GONE, replica);
        String key = name + "/" + replica;
        Map<String, Object> asked = around(fields, Map.of(name, partition(both, state(GONE, 4, both, 1))), List.of());
        asked.putAll(Map.of("machine", "replica", "target", to, "selector", "offline", "keys", List.of(key),
            "states", Map.of(key, from)));
        Machines.handleStateChanges(asked);
    }

    /** A replica goes offline, and what is named is left: it led if nobody leads then. */
    private static void shrink(Map<String, Object> fields, String name, Map<String, Object> left) throws Exception {
        List<Object> isr = new ArrayList<>((List<?>) left.get("isr"));
        isr.add(GONE);
        long leader = (Long) left.get("leader");
        Map<String, Object> before = state(leader < 0 ? GONE : leader, (Long) left.get("leader_epoch") - 1, isr, 1);
        String key = name + "/" + GONE;
        Map<String, Object> asked = around(fields, Map.of(name, partition(isr, before)), List.of());
        asked.putAll(Map.of("machine", "replica", "target", "OfflineReplica", "selector", "offline", "keys", List.of(key),
            "states", Map.of(key, "OnlineReplica")));
        Machines.handleStateChanges(asked);
    }

    private static void invoke(Map<String, Object> fields, String machine, List<?> keys) throws Exception {
        Map<String, Object> asked = around(fields, Map.of(), List.of());
        asked.putAll(Map.of("machine", machine, "target", fields.get("target"), "selector", "offline", "keys", keys,
            "states", Map.of()));
        Machines.handleStateChanges(asked);
    }

    // ------------------------------------------------------------------------------------------------- calls of the batch

    /** Leader -2 says that the topic is being deleted. */
    private static void send(String kind, Map<String, Object> fields, String name) throws Exception {
        Map<String, Object> leadership = Json.object(fields.get("leadership"));
        boolean isRequest = kind.equals("LeaderAndIsrSending");
        List<?> to = isRequest ? List.of(fields.get("broker")) : (List<?>) fields.get("brokers");
        Map<String, Object> asked =
            around(fields, Map.of(name, Map.of("assigned", leadership.get("isr"), "leadership", leadership)), to);
        if (leadership.get("leader").equals(-2L)) asked.put("deleting", List.of(Rebalance.partition(name).topic()));
        asked.put("adds", List.of(isRequest
            ? Map.of("kind", "LeaderAndIsr", "brokers", to, "partition", name)
            : Map.of("kind", "UpdateMetadata", "brokers", to, "partitions", List.of(name))));
        Batches.send(asked);
    }

    // ------------------------------------------------------------------------------------------------ what they are given

    private static Map<String, Object> around(Map<String, Object> fields, Map<String, Object> partitions, List<?> live) {
        return new HashMap<>(Map.of(
            "controller", fields.get("controller"), "controller_epoch", fields.getOrDefault("epoch", 3L), "live", live,
            "shutting_down", List.of(), "deleting", List.of(), "unclean", false, "partitions", partitions));
    }

    private static Map<String, Object> partition(List<?> assigned, Map<String, Object> state) {
        Map<String, Object> made = new HashMap<>(Map.of("assigned", assigned));
        made.put("leadership", state);
        made.put("znode", state);
        return made;
    }

    private static Map<String, Object> state(long leader, long epoch, List<?> isr, long controllerEpoch) {
        return Map.of("leader", leader, "leader_epoch", epoch, "isr", isr, "controller_epoch", controllerEpoch);
    }
}
