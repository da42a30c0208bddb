import java.text.ParseException;
import java.text.SimpleDateFormat;
import java.util.ArrayList;
import java.util.List;

import org.apache.log4j.AppenderSkeleton;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;
import org.apache.log4j.PatternLayout;
import org.apache.log4j.spi.LoggingEvent;

/** What Kafka's controller logs meanwhile, with its own layout (`config/log4j.properties`), at a time that is given. */
final class Logged extends AppenderSkeleton implements AutoCloseable {
    private static final String LAYOUT = "[%d] %p %m (%c)%n", CHANGES = "state.change.logger", CONTROLLER = "kafka.controller";
    private final List<LoggingEvent> events = new ArrayList<>();

    Logged() {
        level(Level.TRACE, Level.INFO);
        Logger.getRootLogger().addAppender(this);
    }

    /** The levels of the two logs; those of log4j's configuration where they are null. */
    static void level(Level changes, Level controller) {
        Logger.getLogger(CHANGES).setLevel(changes);
        Logger.getLogger(CONTROLLER).setLevel(controller);
    }

    static boolean isOfController(LoggingEvent event) {
        return event.getLoggerName().equals(CHANGES) || event.getLoggerName().startsWith(CONTROLLER);
    }

    /** The first line of a log that has these words, as if it were written then; null if there is none. */
    synchronized String first(String log, String words, String time) throws ParseException {
        long millis = new SimpleDateFormat("yyyy-MM-dd HH:mm:ss,SSS").parse(time).getTime();
        for (LoggingEvent one : events) {
            boolean isOfLog = one.getLoggerName().equals(CHANGES) == log.equals("state-change.log");
            if (!isOfLog || !one.getRenderedMessage().contains(words)) continue;
            LoggingEvent then = new LoggingEvent(
                one.getFQNOfLoggerClass(), one.getLogger(), millis, one.getLevel(), one.getMessage(), null);
            return new PatternLayout(LAYOUT).format(then).stripTrailing();
        }
        return null;
    }

    @Override protected synchronized void append(LoggingEvent event) { events.add(event); }

    @Override public boolean requiresLayout() { return false; }

    /** Once: a finalizer of log4j's calls it again, when another may listen. */
    @Override public void close() {
        if (closed) return;
        closed = true;
        Logger.getRootLogger().removeAppender(this);
        level(null, null);
    }
}
