import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

import kafka.common.TopicAndPartition;
import kafka.server.KafkaConfig;
import kafka.utils.ZKStringSerializer$;
import kafka.utils.ZkUtils;
import org.I0Itec.zkclient.IZkStateListener;
import org.I0Itec.zkclient.ZkClient;
import org.apache.kafka.common.protocol.Errors;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import scala.collection.JavaConversions;

/**
 * Kafka's controller, driven: what happens is told to its ZkClient, or called as a broker's other threads would, and it
 * waits when all of its threads do. An event that is put behind the others into ZkClient's queue says when these are done.
 */
final class Control {
    private static final int PATIENCE_MS = 8_000;
    private static final long LOOK_NS = 200_000;

    private final Conversation conversation;
    private final ToldZooKeeper zookeeper;
    private final ZkClient client;
    private final DrivenController controller;
    /** One for each time that ZkClient's thread has done what came before, or waits for the session to go on. */
    private final Semaphore done = new Semaphore(0);
    private final Semaphore goesOn = new Semaphore(0);

    private Control(Map<String, Object> given, Conversation conversation) throws ReflectiveOperationException {
        this.conversation = conversation;
        zookeeper = new ToldZooKeeper(conversation);
        client = new ZkClient(zookeeper, PATIENCE_MS, ZKStringSerializer$.MODULE$);
        controller = new DrivenController(config(given), new ZkUtils(client, zookeeper, false), conversation);
    }

    private static KafkaConfig config(Map<String, Object> given) {
        Properties properties = new Properties();
        properties.put("zookeeper.connect", "the suite");
        properties.put("broker.id", String.valueOf(given.get("broker")));
        Json.object(given.get("settings")).forEach((name, value) -> properties.put(name, String.valueOf(value)));
        return KafkaConfig.fromProps(properties);
    }

    /** Drive a controller until the script has ended. */
    static void control(Map<String, Object> given, Conversation conversation) throws Exception {
        Control driven = new Control(given, conversation);
        SaidLines lines = given.containsKey("lines") ? new SaidLines(conversation) : null;
        try (lines) {
            driven.begin();
            for (Map<String, Object> event = conversation.next(); event != null; event = conversation.next()) {
                driven.controller.setBusy(true);
                driven.happens(event);
                driven.rest();
            }
        } finally {
            conversation.end();
            driven.end();
        }
    }

    private void begin() throws Exception {
        controller.startup();
        client.subscribeStateChanges(new Last());
        rest();
    }

    private void happens(Map<String, Object> event) throws Exception {
        if (event.containsKey("watch")) {
            zookeeper.tell(EventType.valueOf((String) event.get("type")), KeeperState.SyncConnected, (String) event.get("watch"));
            zookeeper.tell(EventType.None, KeeperState.SyncConnected, null);
            listened();
        } else if (event.containsKey("session")) {
            if (event.get("session").equals("expired")) zookeeper.tell(EventType.None, KeeperState.Expired, null);
            else goesOn.release();
            listened();
        } else if (event.containsKey("answer")) {
            Map<String, Object> answer = Json.object(event.get("answer"));
            controller.answered((Long) answer.get("number"), (Long) answer.get("error"), Json.object(answer.get("partitions")));
        } else if (event.containsKey("shutdown")) {
            shutDown(Json.number(event.get("shutdown")));
        } else if (event.containsKey("rebalance")) {
            controller.rebalance();
        } else {
            throw new IllegalArgumentException("nobody has taught this adapter what happens: " + event);
        }
    }

    /** What `KafkaApis` does of it, with `ControlledShutdownRequest`. */
    private void shutDown(int broker) {
        short error = Errors.NONE.code();
        List<Object> remaining = List.of();
        try {
            remaining = JavaConversions.setAsJavaSet(controller.shutdownBroker(broker)).stream()
                .map(one -> (Object) (one.topic() + "-" + one.partition())).sorted().toList();
        } catch (Exception refused) {
            error = Errors.forException(refused).code();
        }
        conversation.reply(Map.of("error", (long) error, "remaining", remaining));
    }

    /** Wait until ZkClient's thread has done what it was told. */
    private void listened() throws Exception {
        if (!done.tryAcquire(PATIENCE_MS, TimeUnit.MILLISECONDS)) throw new TimeoutException("Kafka's listeners do not end");
    }

    /** Have the deletion thread do what there is to do. */
    private void rest() throws Exception {
        controller.setBusy(false);
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MS);
        while (!controller.isDeletionAtRest()) {
            if (System.nanoTime() > end) throw new TimeoutException("Kafka's deletion thread does not come to rest");
            LockSupport.parkNanos(LOOK_NS);
        }
    }

    private void end() {
        try {
            client.close();
            controller.end();
        } finally {
            zookeeper.end();
        }
    }

    /** A listener behind Kafka's: it has ZkClient's thread wait while the broker is registered again. */
    private final class Last implements IZkStateListener {
        @Override public void handleStateChanged(KeeperState state) { if (state == KeeperState.SyncConnected) done.release(); }

        @Override public void handleNewSession() throws InterruptedException {
            done.release();
            goesOn.acquire();
        }

        @Override public void handleSessionEstablishmentError(Throwable error) { }
    }
}
