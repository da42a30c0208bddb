import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;

import org.apache.log4j.AppenderSkeleton;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;
import org.apache.log4j.spi.LoggingEvent;

/** What Kafka logs as an error instead of throwing it: a refusal, or a slip of ours that would pass for one. */
final class Swallowed extends AppenderSkeleton {
    private static final List<Throwable> FOUND = new ArrayList<>();

    static void begin() {
        Logger.getRootLogger().removeAllAppenders();
        Logger.getRootLogger().setLevel(Level.ERROR);
        Logger.getRootLogger().addAppender(new Swallowed());
    }

    static void forget() {
        synchronized (FOUND) { FOUND.clear(); }
    }

    /** All of it, oldest first. */
    static List<Throwable> found() {
        synchronized (FOUND) { return List.copyOf(FOUND); }
    }

    /** The first that no rule of Kafka's throws, but a context that was filled wrongly; null if there is none. */
    static Throwable slip() {
        for (Throwable one : found())
            for (Throwable cause = one; cause != null; cause = cause.getCause())
                if (cause instanceof NullPointerException || cause instanceof NoSuchElementException
                    || cause instanceof ClassCastException || cause instanceof LinkageError) return one;
        return null;
    }

    @Override protected void append(LoggingEvent event) {
        if (event.getThrowableInformation() == null) return;
        synchronized (FOUND) { FOUND.add(event.getThrowableInformation().getThrowable()); }
    }

    @Override public boolean requiresLayout() { return false; }

    @Override public void close() { }
}
