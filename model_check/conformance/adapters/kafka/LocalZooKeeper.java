import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Map;
import java.util.stream.Stream;

import kafka.controller.LeaderIsrAndControllerEpoch;
import kafka.utils.ReplicationUtils;
import kafka.utils.ZkUtils;
import org.I0Itec.zkclient.ZkClient;
import org.I0Itec.zkclient.ZkConnection;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import scala.Option;
import scala.Tuple2;
import scala.collection.JavaConversions;
import scala.collection.Seq;

/** A real ZooKeeper within this process, begun when it is first needed, and empty for each question. */
final class LocalZooKeeper {
    private static final int TICK_MS = 2000, SESSION_MS = 30_000, CONNECTIONS = 10;
    private static Path folder;
    private static NIOServerCnxnFactory server;
    private static NotedZkUtils utils;

    /** Kafka's client of it, and nothing in it. */
    static NotedZkUtils empty() throws Exception {
        if (utils == null) begin();
        utils.zkClient().unsubscribeAll();
        utils.conditional.clear();
        for (String child : zookeeper().getChildren("/", false))
            if (!child.equals("zookeeper")) utils.zkClient().deleteRecursive("/" + child);
        return utils;
    }

    private static void begin() throws Exception {
        System.setProperty("zookeeper.forceSync", "no");
        System.setProperty("zookeeper.preAllocSize", "64");
        folder = Files.createTempDirectory("kafka-adapter-zookeeper-");
        File where = folder.toFile();
        server = new NIOServerCnxnFactory();
        server.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), CONNECTIONS);
        server.startup(new ZooKeeperServer(where, where, TICK_MS));
        String address = InetAddress.getLoopbackAddress().getHostAddress() + ":" + server.getLocalPort();
        Tuple2<ZkClient, ZkConnection> client = ZkUtils.createZkClientAndConnection(address, SESSION_MS, SESSION_MS);
        utils = new NotedZkUtils(client._1(), client._2());
    }

    /** Close all that was begun, and remove its folder. */
    static void end() throws IOException {
        if (utils != null) utils.close();
        if (server != null) server.shutdown();
        if (folder != null) remove(folder);
    }

    static void remove(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path one : (Iterable<Path>) files.sorted(Comparator.reverseOrder())::iterator) Files.deleteIfExists(one);
        }
    }

    private static ZooKeeper zookeeper() { return utils.zkConnection().getZookeeper(); }

    /** Put a text, or null, into a znode, as it is, at this data version. */
    static void put(String path, String data, int version) throws Exception {
        byte[] bytes = data == null ? null : data.getBytes(StandardCharsets.UTF_8);
        for (int slash = path.indexOf('/', 1); slash > 0; slash = path.indexOf('/', slash + 1))
            create(path.substring(0, slash), null);
        create(path, bytes);
        for (int written = 0; written < version; written++) zookeeper().setData(path, bytes, written);
    }

    private static void create(String path, byte[] data) throws Exception {
        try {
            zookeeper().create(path, data, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        } catch (KeeperException.NodeExistsException there) {
            if (data != null) throw there;
        }
    }

    /** The data version of a znode; null if there is none. */
    static Long version(String path) throws Exception {
        Stat stat = zookeeper().exists(path, false);
        return stat == null ? null : (Long) (long) stat.getVersion();
    }

    /** Put what Kafka itself would write into the state znode of a partition. */
    static void putState(String topic, int partition, LeaderIsrAndControllerEpoch state) throws Exception {
        String data = utils.leaderAndIsrZkData(state.leaderAndIsr(), state.controllerEpoch());
        put(ZkUtils.getTopicPartitionLeaderAndIsrPath(topic, partition), data, state.leaderAndIsr().zkVersion());
    }

    /** Put the assigned replicas of a topic's only partition into its znode, as Kafka itself would. */
    static void putAssignment(String topic, int partition, Seq<Object> replicas) throws Exception {
        Map<String, Seq<Object>> assigned = Map.of(String.valueOf(partition), replicas);
        String data = utils.replicaAssignmentZkData(JavaConversions.mapAsScalaMap(assigned));
        zookeeper().setData(ZkUtils.getTopicPath(topic), data.getBytes(StandardCharsets.UTF_8), -1);
    }

    /** What Kafka reads in the state znode of a partition; null if there is none. */
    static LeaderIsrAndControllerEpoch state(String topic, int partition) {
        Option<LeaderIsrAndControllerEpoch> found =
            ReplicationUtils.getLeaderIsrAndEpochForPartition(utils, topic, partition);
        return found.isDefined() ? found.get() : null;
    }
}
