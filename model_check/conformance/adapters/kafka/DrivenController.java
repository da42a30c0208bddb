import java.lang.reflect.Field;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

import kafka.controller.ControllerBrokerStateInfo;
import kafka.controller.ControllerChannelManager;
import kafka.controller.ControllerContext;
import kafka.controller.KafkaController;
import kafka.controller.TopicDeletionManager;
import kafka.server.BrokerState;
import kafka.server.KafkaConfig;
import kafka.utils.KafkaScheduler;
import kafka.utils.ZkUtils;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.StopReplicaResponse;
import org.apache.kafka.common.utils.Time;
import scala.Function0;
import scala.Function1;
import scala.Option;
import scala.runtime.BoxedUnit;

/**
 * Kafka's controller with all its threads, but for what it sends, which is handed over at once instead of being queued,
 * and for its clock: the automatic rebalance looks when it is told to.
 */
final class DrivenController extends KafkaController {
    private static final long LOOK_NS = 200_000;

    /** A request that a broker may answer, and the channel on which the answer would come. */
    private record Sent(ControllerBrokerStateInfo channel, Function1<AbstractResponse, BoxedUnit> callback) { }

    private final Conversation conversation;
    private final ToldScheduler scheduler = new ToldScheduler();
    private final Map<Long, Sent> sent = new HashMap<>();
    private final Set<TopicDeletionManager> deletions = new HashSet<>();
    private final Set<ControllerChannelManager> channelManagers = new HashSet<>();
    /** Whether a listener, or who called the controller, has not come to its end. */
    private volatile boolean isBusy = true;

    DrivenController(KafkaConfig config, ZkUtils zookeeper, Conversation conversation) throws ReflectiveOperationException {
        super(config, zookeeper, new BrokerState(), Time.SYSTEM, new Metrics(), Option.empty());
        this.conversation = conversation;
        put(KafkaController.class, this, "autoRebalanceScheduler", scheduler);
        put(ControllerContext.class, controllerContext(), "controllerLock", new DeletionLast());
    }

    /** It logs as the class that it is, under a name of its own here. */
    @Override public String loggerName() { return KafkaController.class.getName(); }

    private static void put(Class<?> type, Object of, String name, Object value) throws ReflectiveOperationException {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        field.set(of, value);
    }

    // ------------------------------------------------------------------------------------------------- what it sends

    @Override public void sendRequest(
        int broker, ApiKeys key, AbstractRequest.Builder<? extends AbstractRequest> request,
        Function1<AbstractResponse, BoxedUnit> callback) {
        ControllerChannelManager manager = controllerContext().controllerChannelManager();
        Option<ControllerBrokerStateInfo> channel = manager.brokerStateInfo().get(broker);
        if (channel.isEmpty()) return;
        channelManagers.add(manager);
        long number = conversation.send(broker, RequestWords.of(request.build()));
        if (callback != null) sent.put(number, new Sent(channel.get(), callback));
    }

    /** A broker has answered: its channel calls back, if it runs still. */
    void answered(long number, long error, Map<String, Object> codes) {
        Sent answered = sent.remove(number);
        if (answered == null || !answered.channel.requestSendThread().isRunning().get()) return;
        Map<TopicPartition, Short> told = new HashMap<>();
        codes.forEach((name, code) -> {
            int dash = name.lastIndexOf('-');
            TopicPartition one = new TopicPartition(name.substring(0, dash), Integer.parseInt(name.substring(dash + 1)));
            told.put(one, ((Long) code).shortValue());
        });
        answered.callback.apply(new StopReplicaResponse((short) error, told));
    }

    // ------------------------------------------------------------------------------------------------- its rebalance

    /** Have the automatic rebalance look, if it is scheduled. */
    void rebalance() { if (scheduler.isStarted()) scheduler.task.apply(); }

    /** A scheduler whose only task runs when it is told to. */
    private static final class ToldScheduler extends KafkaScheduler {
        private Function0<BoxedUnit> task;

        ToldScheduler() { super(1, "never-", true); }

        @Override public void schedule(String name, Function0<BoxedUnit> told, long delay, long period, TimeUnit unit) {
            task = told;
        }
    }

    // ------------------------------------------------------------------------------------------------- its threads

    void setBusy(boolean busy) { isBusy = busy; }

    /** Whether the threads that delete topics all wait for something to do. */
    boolean isDeletionAtRest() {
        for (TopicDeletionManager one : deletions) {
            Thread thread = one.deleteTopicsThread();
            if (thread == null || !thread.isAlive()) continue;
            one.deleteLock().lock();
            try {
                if (one.deleteTopicStateChanged().get() || !one.deleteLock().hasWaiters(one.deleteTopicsCond())) return false;
            } finally {
                one.deleteLock().unlock();
            }
        }
        return true;
    }

    @Override public void deleteTopicManager_$eq(TopicDeletionManager manager) {
        if (manager != null) deletions.add(manager);
        super.deleteTopicManager_$eq(manager);
    }

    /** The controller's lock, for which the thread that deletes topics steps back while there is something else to do. */
    private final class DeletionLast extends ReentrantLock {
        @Override public void lock() {
            if (Thread.currentThread() instanceof TopicDeletionManager.DeleteTopicsThread thread && !isHeldByCurrentThread())
                while (isBusy && thread.isRunning().get()) LockSupport.parkNanos(LOOK_NS);
            super.lock();
        }
    }

    /** End its threads; it writes nothing. */
    void end() {
        setBusy(false);
        try {
            shutdown();
        } finally {
            for (TopicDeletionManager one : deletions) if (one.deleteTopicsThread() != null) one.shutdown();
            for (ControllerChannelManager one : channelManagers) one.shutdown();
        }
    }
}
