import java.util.concurrent.DelayQueue;
import java.util.concurrent.atomic.AtomicInteger;

import kafka.utils.timer.Timer;
import kafka.utils.timer.TimerTask;
import kafka.utils.timer.TimerTaskEntry;
import kafka.utils.timer.TimerTaskList;
import kafka.utils.timer.TimingWheel;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/**
 * Kafka's `SystemTimer` on a clock that goes on by hand: its timing wheel, with its sizes, and its buckets. What
 * expires is run in the thread that advances the clock, not in another.
 */
final class HandTimer implements Timer {
    private static final long TICK_MS = 1;
    private static final int WHEEL_SIZE = 20;

    private final DelayQueue<TimerTaskList> buckets = new DelayQueue<>();
    private final AtomicInteger armed = new AtomicInteger();
    private final TimingWheel wheel = new TimingWheel(TICK_MS, WHEEL_SIZE, 0, armed, buckets);
    private long now;

    @Override public void add(TimerTask task) { addEntry(new TimerTaskEntry(task, now + task.delayMs())); }

    private void addEntry(TimerTaskEntry entry) {
        if (!wheel.add(entry) && !entry.cancelled()) entry.timerTask().run();
    }

    @Override public boolean advanceClock(long by) {
        now += by;
        boolean hasExpired = false;
        for (TimerTaskList first = buckets.peek(); isDue(first); first = buckets.peek()) {
            buckets.remove(first);
            wheel.advanceClock(first.getExpiration());
            first.flush(new Again());
            hasExpired = true;
        }
        return hasExpired;
    }

    private boolean isDue(TimerTaskList bucket) { return bucket != null && bucket.getExpiration() <= now; }

    @Override public int size() { return armed.get(); }

    @Override public void shutdown() { }

    /** An entry of a bucket whose time has come is added once more: to a finer wheel, or to be run. */
    private final class Again extends AbstractFunction1<TimerTaskEntry, BoxedUnit> {
        @Override public BoxedUnit apply(TimerTaskEntry entry) {
            addEntry(entry);
            return BoxedUnit.UNIT;
        }
    }
}
