import java.nio.charset.StandardCharsets;

import kafka.utils.ZkUtils;
import org.I0Itec.zkclient.ZkClient;
import org.I0Itec.zkclient.ZkConnection;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/** A ZooKeeper that holds one znode, for what Kafka reads while it decides. */
final class OneZnode extends ZkConnection {
    private String path, data;
    private ZkUtils utils;

    OneZnode() { super("none:1"); }

    /** The client of a ZooKeeper that holds this and nothing else. */
    ZkUtils holding(String path, String data) {
        this.path = path;
        this.data = data;
        if (utils == null)
            utils = new ZkUtils(new ZkClient(this, 1000, kafka.utils.ZKStringSerializer$.MODULE$), this, false);
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
