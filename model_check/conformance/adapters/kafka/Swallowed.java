import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Set;

import org.apache.log4j.AppenderSkeleton;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;
import org.apache.log4j.spi.LoggingEvent;

/** What Kafka logs as an error instead of throwing it: a refusal, or a slip of ours that would pass for one. */
final class Swallowed extends AppenderSkeleton {
    private static final List<Throwable> FOUND = new ArrayList<>();
    private static final List<String> LINES = new ArrayList<>();
    private static final Set<String> EXPECTED = new HashSet<>();

    static void begin() {
        Logger.getRootLogger().removeAllAppenders();
        Logger.getRootLogger().setLevel(Level.ERROR);
        Logger.getRootLogger().addAppender(new Swallowed());
    }

    static void forget() {
        synchronized (FOUND) {
            FOUND.clear();
            LINES.clear();
            EXPECTED.clear();
        }
    }

    /** That Kafka itself lacks an element, and says so, is no slip. */
    static void expect(String message) { EXPECTED.add(message); }

    /** All of it, oldest first. */
    static List<Throwable> found() {
        synchronized (FOUND) { return List.copyOf(FOUND); }
    }

    /** What was logged of each. */
    static List<String> lines() {
        synchronized (FOUND) { return List.copyOf(LINES); }
    }

    /** The first that no rule of Kafka's throws, but a context that was filled wrongly; null if there is none. */
    static Throwable slip() {
        for (Throwable one : found())
            for (Throwable cause = one; cause != null; cause = cause.getCause())
                if (cause instanceof NullPointerException
                    || cause instanceof NoSuchElementException && !isExpected(cause)
                    || cause instanceof ClassCastException || cause instanceof LinkageError) return one;
        return null;
    }

    /** Whether it was expected, or a selector looks for the first of nobody: who is live in the ISR is not in AR. */
    private static boolean isExpected(Throwable missing) {
        return EXPECTED.contains(missing.getMessage()) || Arrays.stream(missing.getStackTrace()).anyMatch(
            one -> one.getMethodName().equals("selectLeader")) && missing.getMessage().equals("head of empty list");
    }

    @Override protected void append(LoggingEvent event) {
        if (event.getThrowableInformation() == null) return;
        synchronized (FOUND) {
            FOUND.add(event.getThrowableInformation().getThrowable());
            LINES.add(event.getRenderedMessage());
        }
    }

    @Override public boolean requiresLayout() { return false; }

    @Override public void close() { }
}
