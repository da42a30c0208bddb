import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import org.I0Itec.zkclient.ZkConnection;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import sun.reflect.ReflectionFactory;

/**
 * ZkClient's connection to a ZooKeeper that the suite plays: each operation is asked of it, and what it tells comes from
 * a thread of its own, as ZooKeeper's events do.
 */
final class ToldZooKeeper extends ZkConnection {
    private static final long OWN_SESSION = 1;

    private final Conversation conversation;
    private final ZooKeeper handle;
    private final ExecutorService events = Executors.newSingleThreadExecutor();
    private Watcher watcher;

    ToldZooKeeper(Conversation conversation) throws ReflectiveOperationException {
        super("the suite");
        this.conversation = conversation;
        this.handle = Handle.of(this);
    }

    /** Have it connected at once; ZkClient calls this again for a new session. */
    @Override public void connect(Watcher told) {
        watcher = told;
        tell(EventType.None, KeeperState.SyncConnected, null);
    }

    /** An event of ZooKeeper's. */
    void tell(EventType type, KeeperState state, String path) {
        events.execute(() -> watcher.process(new WatchedEvent(type, state, path)));
    }

    /** A session's end is no end of ours. */
    @Override public void close() { }

    void end() { events.shutdownNow(); }

    @Override public ZooKeeper getZookeeper() { return handle; }

    @Override public ZooKeeper.States getZookeeperState() { return ZooKeeper.States.CONNECTED; }

    // ----------------------------------------------------------------------------------------------- its operations

    @Override public String create(String path, byte[] data, CreateMode mode) throws KeeperException {
        Map<String, Object> call = call("create", path);
        call.put("data", data == null ? null : new String(data, StandardCharsets.UTF_8));
        call.put("ephemeral", mode.isEphemeral());
        conversation.ask(call);
        return path;
    }

    @Override public String create(String path, byte[] data, List<ACL> acl, CreateMode mode) throws KeeperException {
        return create(path, data, mode);
    }

    @Override public void delete(String path) throws KeeperException { delete(path, -1); }

    @Override public void delete(String path, int version) throws KeeperException {
        Map<String, Object> call = call("delete", path);
        call.put("version", (long) version);
        conversation.ask(call);
    }

    @Override public boolean exists(String path, boolean watch) throws KeeperException {
        return conversation.ask(watching("exists", path, watch)) != null;
    }

    @Override public List<String> getChildren(String path, boolean watch) throws KeeperException {
        List<String> names = new ArrayList<>();
        for (Object one : (List<?>) Json.object(conversation.ask(watching("children", path, watch))).get("children"))
            names.add((String) one);
        return names;
    }

    @Override public byte[] readData(String path, Stat stat, boolean watch) throws KeeperException {
        Map<String, Object> found = Json.object(conversation.ask(watching("get", path, watch)));
        if (stat != null) fill(stat, found);
        String data = (String) found.get("data");
        return data == null ? null : data.getBytes(StandardCharsets.UTF_8);
    }

    @Override public void writeData(String path, byte[] data, int version) throws KeeperException {
        writeDataReturnStat(path, data, version);
    }

    @Override public Stat writeDataReturnStat(String path, byte[] data, int version) throws KeeperException {
        Map<String, Object> call = call("set", path);
        call.put("data", data == null ? null : new String(data, StandardCharsets.UTF_8));
        call.put("version", (long) version);
        Stat stat = new Stat();
        fill(stat, Json.object(conversation.ask(call)));
        return stat;
    }

    private static Map<String, Object> call(String operation, String path) {
        Map<String, Object> call = new LinkedHashMap<>();
        call.put("op", operation);
        call.put("path", path);
        return call;
    }

    private static Map<String, Object> watching(String operation, String path, boolean watch) {
        Map<String, Object> call = call(operation, path);
        call.put("watch", watch);
        return call;
    }

    private static void fill(Stat stat, Map<String, Object> found) {
        stat.setVersion(Json.number(found.get("version")));
        stat.setCzxid((Long) found.get("czxid"));
        stat.setEphemeralOwner(Boolean.TRUE.equals(found.get("own")) ? OWN_SESSION : 0);
    }

    /**
     * The handle beneath, with which Kafka's `ZKCheckedEphemeral` creates `/controller`. ZooKeeper's own constructor would
     * connect to a server, so it is not run.
     */
    static final class Handle extends ZooKeeper {
        private ToldZooKeeper of;

        private Handle() throws java.io.IOException { super(null, 0, null); }

        static Handle of(ToldZooKeeper zookeeper) throws ReflectiveOperationException {
            Handle made = (Handle) ReflectionFactory.getReflectionFactory()
                .newConstructorForSerialization(Handle.class, Object.class.getDeclaredConstructor()).newInstance();
            made.of = zookeeper;
            return made;
        }

        @Override public long getSessionId() { return OWN_SESSION; }

        @Override public void create(
            String path, byte[] data, List<ACL> acl, CreateMode mode, AsyncCallback.StringCallback callback, Object context) {
            KeeperException.Code code = KeeperException.Code.OK;
            try {
                of.create(path, data, mode);
            } catch (KeeperException refused) {
                code = refused.code();
            }
            callback.processResult(code.intValue(), path, context, path);
        }

        @Override public void getData(String path, boolean watch, AsyncCallback.DataCallback callback, Object context) {
            KeeperException.Code code = KeeperException.Code.OK;
            Stat stat = new Stat();
            byte[] data = null;
            try {
                data = of.readData(path, stat, watch);
            } catch (KeeperException refused) {
                code = refused.code();
            }
            callback.processResult(code.intValue(), path, context, data, stat);
        }
    }
}
