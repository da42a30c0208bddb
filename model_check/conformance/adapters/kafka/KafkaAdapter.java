// Kafka 0.10.2 itself as an adapter: its own selectors, readers of znodes, and protocol, with nothing of ours between.
// `kcheck conform --kafka 0.10.2.2` compiles this against the jars of the release and asks it; it holds no rule of its own.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;

import kafka.admin.AdminUtils;
import kafka.admin.PreferredReplicaLeaderElectionCommand;
import kafka.api.LeaderAndIsr;
import kafka.cluster.Broker;
import kafka.cluster.EndPoint;
import kafka.common.LeaderElectionNotNeededException;
import kafka.common.TopicAndPartition;
import kafka.controller.ControlledShutdownLeaderSelector;
import kafka.controller.ControllerContext;
import kafka.controller.KafkaController;
import kafka.controller.LeaderIsrAndControllerEpoch;
import kafka.controller.OfflinePartitionLeaderSelector;
import kafka.controller.PartitionLeaderSelector;
import kafka.controller.PreferredReplicaPartitionLeaderSelector;
import kafka.controller.ReassignedPartitionLeaderSelector;
import kafka.controller.ReassignedPartitionsContext;
import kafka.server.KafkaConfig;
import kafka.utils.ReplicationUtils$;
import kafka.utils.ZkUtils;
import org.I0Itec.zkclient.ZkClient;
import org.I0Itec.zkclient.ZkConnection;
import org.apache.kafka.common.protocol.Protocol;
import org.apache.kafka.common.protocol.types.ArrayOf;
import org.apache.kafka.common.protocol.types.Field;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.Struct;
import org.apache.kafka.common.protocol.types.Type;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import scala.Tuple2;
import scala.collection.JavaConversions;
import scala.collection.Seq;

public final class KafkaAdapter {
    private static final TopicAndPartition PARTITION = new TopicAndPartition("t", 0);
    private static final List<Object> NAMES = List.of("LeaderAndIsr", "StopReplica", "UpdateMetadata", "ControlledShutdown");
    private static final int FIRST_KEY = 4;
    private static final FakeZooKeeper ZOOKEEPER = new FakeZooKeeper();
    private static final Map<String, Object> REFUSED = Map.of("refused", true);

    public static void main(String[] arguments) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream output = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        org.apache.log4j.Logger.getRootLogger().setLevel(org.apache.log4j.Level.OFF);
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            Map<String, Object> question = Json.object(new Json(line).value());
            if (question.get("verb").equals("bye")) return;
            Map<String, Object> told = new LinkedHashMap<>(answer(question));
            if (question.containsKey("id")) told.put("id", question.get("id"));
            output.println(Json.text(told));
        }
    }

    private static Map<String, Object> answer(Map<String, Object> question) {
        Map<String, Object> given = Json.object(question.getOrDefault("given", Map.of()));
        try {
            switch ((String) question.get("verb")) {
                case "hello":
                    return Map.of("protocol", 1L, "name", "Kafka 0.10.2", "language", "Scala", "dialect", "as-coded-0.10.2",
                        "verbs", List.of("elect", "read_znode", "encode_request", "decode_request"));
                case "elect": return Map.of("outcome", elect(given));
                case "read_znode": return readZnode(given);
                case "encode_request": return encode(given);
                case "decode_request": return decode((String) given.get("hex"));
                default: return Map.of("skip", "the state machines ask their tables inside of what they do");
            }
        } catch (Throwable error) {
            return Map.of("error", String.valueOf(error));
        }
    }

    // ------------------------------------------------------------------------------------------------- elections

    private static Map<String, Object> elect(Map<String, Object> given) {
        String unclean = "\"unclean.leader.election.enable\":\"" + Boolean.TRUE.equals(given.get("unclean")) + "\"";
        ControllerContext context =
            new ControllerContext(ZOOKEEPER.holding("/config/topics/t", "{\"version\":1,\"config\":{" + unclean + "}}"));
        if (given.containsKey("assigned")) context.partitionReplicaAssignment().put(PARTITION, seq(given.get("assigned")));
        List<Integer> shuttingDown = ints(given.getOrDefault("shutting_down", List.of()));
        List<Broker> registered = new ArrayList<>();
        for (int id : ints(given.getOrDefault("registered", given.get("live"))))
            registered.add(new Broker(id, JavaConversions.asScalaBuffer(new ArrayList<EndPoint>()), scala.Option.empty()));
        context.liveBrokers_$eq(JavaConversions.asScalaSet(new java.util.HashSet<>(registered)));
        for (Object id : shuttingDown) context.shuttingDownBrokerIds().add(id);
        PartitionLeaderSelector selector = selector(given, context);
        LeaderAndIsr current = new LeaderAndIsr(-1, 0, list(given.get("isr")), 0);
        try {
            Tuple2<LeaderAndIsr, Seq<Object>> chosen = selector.selectLeader(PARTITION, current);
            Map<String, Object> elected = new LinkedHashMap<>();
            elected.put("leader", (long) chosen._1().leader());
            elected.put("isr", ascending(chosen._1().isr()));
            elected.put("receivers", ascending(chosen._2()));
            return Map.of("elected", elected);
        } catch (LeaderElectionNotNeededException notNeeded) {
            return Map.of("refused", "not needed");
        } catch (RuntimeException impossible) {
            return Map.of("refused", "impossible");
        }
    }

    private static PartitionLeaderSelector selector(Map<String, Object> given, ControllerContext context) {
        switch ((String) given.get("selector")) {
            case "offline":
                Properties settings = new Properties();
                settings.put("zookeeper.connect", "none");
                return new OfflinePartitionLeaderSelector(context, KafkaConfig.fromProps(settings));
            case "reassigned":
                context.partitionsBeingReassigned().put(
                    PARTITION, new ReassignedPartitionsContext(seq(given.get("reassigned")), null));
                return new ReassignedPartitionLeaderSelector(context);
            case "preferred":
                int leader = ((Long) given.get("cached_leader")).intValue();
                context.partitionLeadershipInfo().put(
                    PARTITION, new LeaderIsrAndControllerEpoch(new LeaderAndIsr(leader, list(given.get("isr"))), 1));
                return new PreferredReplicaPartitionLeaderSelector(context);
            case "controlled-shutdown": return new ControlledShutdownLeaderSelector(context);
            default: throw new IllegalArgumentException("no selector is called " + given.get("selector"));
        }
    }

    // ---------------------------------------------------------------------------------------------------- znodes

    private static Map<String, Object> readZnode(Map<String, Object> given) {
        String path = (String) given.get("path"), data = (String) given.get("data");
        try {
            Map<String, Object> told = new LinkedHashMap<>();
            if (path.equals("/controller")) {
                told.put("brokerid", (long) KafkaController.parseControllerId(data));
            } else if (path.equals("/controller_epoch")) {
                return outcome((long) new scala.collection.immutable.StringOps(data).toInt());
            } else if (path.endsWith("/state")) {
                Object found = ReplicationUtils$.MODULE$.kafka$utils$ReplicationUtils$$parseLeaderAndIsr(data, path, new Stat());
                LeaderIsrAndControllerEpoch state = (LeaderIsrAndControllerEpoch) ((scala.Option<?>) found).get();
                told.put("leader", (long) state.leaderAndIsr().leader());
                told.put("leader_epoch", (long) state.leaderAndIsr().leaderEpoch());
                told.put("isr", inOrder(state.leaderAndIsr().isr()));
                told.put("controller_epoch", (long) state.controllerEpoch());
            } else if (path.startsWith("/brokers/topics/")) {
                told.put("partitions", assignment(path, data));
            } else if (path.startsWith("/brokers/ids/")) {
                register(told, Broker.createBroker(1, data));
            } else if (path.equals("/cluster/id")) {
                told.put("id", ZOOKEEPER.holding(path, data).ClusterId().fromJson(data));
            } else if (path.equals("/admin/reassign_partitions")) {
                told.put("partitions", moves(ZkUtils.parsePartitionReassignmentData(data)));
            } else if (path.equals("/admin/preferred_replica_election")) {
                List<Object> asked = new ArrayList<>();
                for (Object one : JavaConversions.asJavaCollection(
                    PreferredReplicaLeaderElectionCommand.parsePreferredReplicaElectionData(data)))
                    asked.add(partition((TopicAndPartition) one));
                told.put("partitions", asked);
            } else if (path.startsWith("/config/topics/")) {
                Map<String, Object> values = new TreeMap<>();
                Properties found = AdminUtils.fetchEntityConfig(ZOOKEEPER.holding(path, data), "topics", "t");
                found.forEach((key, value) -> values.put((String) key, value));
                told.put("config", values);
            } else {
                return Map.of("skip", "who reads " + path + " cannot be called by itself");
            }
            return outcome(told);
        } catch (RuntimeException | Error refused) {
            return Map.of("outcome", REFUSED);
        }
    }

    private static Map<String, Object> outcome(Object value) {
        return Map.of("outcome", Map.of("value", value));
    }

    private static void register(Map<String, Object> told, Broker broker) {
        List<EndPoint> points = JavaConversions.seqAsJavaList(broker.endPoints());
        List<Object> named = new ArrayList<>();
        Map<String, Object> protocols = new TreeMap<>();
        for (EndPoint one : points) {
            named.add(one.connectionString());
            protocols.put(one.listenerName().value(), one.securityProtocol().name);
        }
        told.put("endpoints", named);
        told.put("listener_security_protocol_map", protocols);
        told.put("host", points.get(0).host());
        told.put("port", (long) points.get(0).port());
        if (broker.rack().isDefined()) told.put("rack", broker.rack().get());
    }

    private static Map<String, Object> assignment(String path, String data) {
        ZkUtils utils = ZOOKEEPER.holding(path, data);
        Map<String, Object> told = new TreeMap<>();
        JavaConversions.mapAsJavaMap(
            utils.getReplicaAssignmentForTopics(JavaConversions.asScalaBuffer(List.of("t")))
        ).forEach((one, replicas) -> told.put(String.valueOf(one.partition()), inOrder(replicas)));
        if (told.isEmpty() && data == null) throw new IllegalStateException("no data");
        return told;
    }

    private static List<Object> moves(scala.collection.Map<TopicAndPartition, Seq<Object>> found) {
        List<Object> told = new ArrayList<>();
        JavaConversions.mapAsJavaMap(found).forEach((one, replicas) -> {
            Map<String, Object> move = partition(one);
            move.put("replicas", inOrder(replicas));
            told.add(move);
        });
        return told;
    }

    private static Map<String, Object> partition(TopicAndPartition one) {
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("topic", one.topic());
        told.put("partition", (long) one.partition());
        return told;
    }

    // -------------------------------------------------------------------------------------------------- requests

    private static Schema header(long key, long version) {
        boolean isBare = key == FIRST_KEY + 3 && version == 0;
        Field[] fields = Protocol.REQUEST_HEADER.fields();
        return isBare ? new Schema(Arrays.copyOf(fields, fields.length - 1)) : Protocol.REQUEST_HEADER;
    }

    private static Map<String, Object> encode(Map<String, Object> given) {
        int key = FIRST_KEY + NAMES.indexOf(given.get("name")), version = ((Long) given.get("version")).intValue();
        if (Protocol.REQUESTS[key][version] == null) return Map.of("skip", "Protocol has no version " + version + " of it");
        Struct head = (Struct) fromJson(header(key, version), given.get("header"));
        Struct body = (Struct) fromJson(Protocol.REQUESTS[key][version], given.get("body"));
        ByteBuffer bytes = ByteBuffer.allocate(head.sizeOf() + body.sizeOf());
        head.writeTo(bytes);
        body.writeTo(bytes);
        StringBuilder hex = new StringBuilder();
        for (byte one : bytes.array()) hex.append(String.format("%02x", one));
        return Map.of("outcome", Map.of("hex", hex.toString()));
    }

    private static Map<String, Object> decode(String hex) {
        ByteBuffer bytes = ByteBuffer.allocate(hex.length() / 2);
        for (int at = 0; at < hex.length(); at += 2) bytes.put((byte) Integer.parseInt(hex.substring(at, at + 2), 16));
        bytes.flip();
        try {
            int key = bytes.getShort(0), version = bytes.getShort(2);
            if (version < Protocol.REQUESTS[key].length && version >= 0 && Protocol.REQUESTS[key][version] == null)
                return Map.of("skip", "Protocol has no version " + version + " of it");
            Object head = toJson(header(key, version), header(key, version).read(bytes));
            Object body = toJson(Protocol.REQUESTS[key][version], Protocol.REQUESTS[key][version].read(bytes));
            return Map.of("outcome", Map.of(
                "name", NAMES.get(key - FIRST_KEY), "version", (long) version, "header", head, "body", body));
        } catch (RuntimeException refused) {
            return Map.of("outcome", REFUSED);
        }
    }

    private static Object toJson(Type type, Object value) {
        if (type instanceof Schema) {
            Map<String, Object> told = new LinkedHashMap<>();
            for (Field field : ((Schema) type).fields()) told.put(capitals(field.name), toJson(field.type, ((Struct) value).get(field)));
            return told;
        }
        if (type instanceof ArrayOf) {
            List<Object> told = new ArrayList<>();
            for (Object one : (Object[]) value) told.add(toJson(((ArrayOf) type).type(), one));
            return told;
        }
        return value instanceof Number ? (Object) ((Number) value).longValue() : value;
    }

    private static Object fromJson(Type type, Object given) {
        if (type instanceof Schema) {
            Struct struct = new Struct((Schema) type);
            for (Field field : ((Schema) type).fields())
                struct.set(field, fromJson(field.type, Json.object(given).get(capitals(field.name))));
            return struct;
        }
        if (type instanceof ArrayOf) {
            List<Object> made = new ArrayList<>();
            for (Object one : (List<?>) given) made.add(fromJson(((ArrayOf) type).type(), one));
            return made.toArray();
        }
        if (type == Type.INT16) return ((Long) given).shortValue();
        if (type == Type.INT32) return ((Long) given).intValue();
        if (type.toString().equals("BOOLEAN")) return given;
        return type.toString().equals("INT8") ? (Object) (byte) (Boolean.TRUE.equals(given) ? 1 : 0) : given;
    }

    private static String capitals(String name) {
        StringBuilder made = new StringBuilder();
        for (String word : name.split("_")) made.append(Character.toUpperCase(word.charAt(0))).append(word.substring(1));
        return made.toString();
    }

    // ------------------------------------------------------------------------------------------- Scala's collections

    private static List<Integer> ints(Object given) {
        List<Integer> made = new ArrayList<>();
        for (Object one : (List<?>) given) made.add(((Long) one).intValue());
        return made;
    }

    private static Seq<Object> seq(Object given) { return list(given); }

    private static scala.collection.immutable.List<Object> list(Object given) {
        return JavaConversions.asScalaBuffer(new ArrayList<Object>(ints(given))).toList();
    }

    private static List<Object> inOrder(Seq<?> given) {
        List<Object> made = new ArrayList<>();
        for (Object one : JavaConversions.seqAsJavaList(given)) made.add(((Integer) one).longValue());
        return made;
    }

    private static List<Object> ascending(Seq<?> given) {
        TreeSet<Long> made = new TreeSet<>();
        for (Object one : inOrder(given)) made.add((Long) one);
        return new ArrayList<>(made);
    }

    /** A ZooKeeper that holds one znode, for what Kafka reads while it decides. */
    private static final class FakeZooKeeper extends ZkConnection {
        private String path, data;
        private ZkUtils utils;

        FakeZooKeeper() { super("none:1"); }

        /** The client of a ZooKeeper that holds this and nothing else. */
        ZkUtils holding(String path, String data) {
            this.path = path;
            this.data = data;
            if (utils == null) utils = new ZkUtils(new ZkClient(this, 1000, kafka.utils.ZKStringSerializer$.MODULE$), this, false);
            return utils;
        }

        @Override public void connect(Watcher watcher) {
            WatchedEvent connected =
                new WatchedEvent(Watcher.Event.EventType.None, Watcher.Event.KeeperState.SyncConnected, null);
            new Thread(() -> watcher.process(connected)).start();
        }

        @Override public ZooKeeper.States getZookeeperState() { return ZooKeeper.States.CONNECTED; }

        @Override public boolean exists(String asked, boolean watch) { return asked.equals(path) && data != null; }

        @Override public byte[] readData(String asked, Stat stat, boolean watch) throws KeeperException {
            if (!exists(asked, watch)) throw new KeeperException.NoNodeException(asked);
            return data.getBytes(StandardCharsets.UTF_8);
        }
    }

    /** JSON as maps, lists, texts, longs, booleans and null. */
    private static final class Json {
        private final String text;
        private int at;

        Json(String text) { this.text = text; }

        @SuppressWarnings("unchecked")
        static Map<String, Object> object(Object value) { return (Map<String, Object>) value; }

        Object value() {
            skip();
            char first = text.charAt(at);
            if (first == '{') return object();
            if (first == '[') return array();
            if (first == '"') return string();
            for (String word : List.of("true", "false", "null"))
                if (text.startsWith(word, at)) {
                    at += word.length();
                    return word.equals("null") ? null : (Object) word.equals("true");
                }
            int start = at;
            while (at < text.length() && "+-0123456789.eE".indexOf(text.charAt(at)) >= 0) at++;
            return Long.parseLong(text.substring(start, at));
        }

        private Map<String, Object> object() {
            Map<String, Object> made = new LinkedHashMap<>();
            for (at++, skip(); text.charAt(at) != '}'; skip()) {
                String key = string();
                skip();
                at++;  // the colon
                made.put(key, value());
                skip();
                if (text.charAt(at) == ',') { at++; skip(); }
            }
            at++;
            return made;
        }

        private List<Object> array() {
            List<Object> made = new ArrayList<>();
            for (at++, skip(); text.charAt(at) != ']'; skip()) {
                made.add(value());
                skip();
                if (text.charAt(at) == ',') { at++; skip(); }
            }
            at++;
            return made;
        }

        private String string() {
            StringBuilder made = new StringBuilder();
            for (at++; text.charAt(at) != '"'; at++) {
                char one = text.charAt(at);
                if (one != '\\') { made.append(one); continue; }
                one = text.charAt(++at);
                if (one == 'u') {
                    made.append((char) Integer.parseInt(text.substring(at + 1, at + 5), 16));
                    at += 4;
                } else made.append("\"\\/bfnrt".indexOf(one) >= 3 ? "\b\f\n\r\t".charAt("bfnrt".indexOf(one)) : one);
            }
            at++;
            return made.toString();
        }

        private void skip() { while (at < text.length() && Character.isWhitespace(text.charAt(at))) at++; }

        static String text(Object value) {
            if (value instanceof Map) {
                List<String> parts = new ArrayList<>();
                object(value).forEach((key, one) -> parts.add(text(key) + ":" + text(one)));
                return "{" + String.join(",", parts) + "}";
            }
            if (value instanceof List) {
                List<String> parts = new ArrayList<>();
                for (Object one : (List<?>) value) parts.add(text(one));
                return "[" + String.join(",", parts) + "]";
            }
            if (!(value instanceof String)) return String.valueOf(value);
            StringBuilder made = new StringBuilder("\"");
            for (char one : ((String) value).toCharArray()) {
                if (one == '"' || one == '\\') made.append('\\').append(one);
                else if (one < ' ') made.append(String.format("\\u%04x", (int) one));
                else made.append(one);
            }
            return made.append('"').toString();
        }
    }
}
