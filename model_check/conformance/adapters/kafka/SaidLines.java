import org.apache.log4j.AppenderSkeleton;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;
import org.apache.log4j.spi.LoggingEvent;

/** What a driven controller logs, said in the conversation as it is logged, whichever of Kafka's threads does so. */
final class SaidLines extends AppenderSkeleton implements AutoCloseable {
    private final Conversation conversation;

    SaidLines(Conversation conversation) {
        this.conversation = conversation;
        Logged.level(Level.TRACE, Level.TRACE);
        Logger.getRootLogger().addAppender(this);
    }

    @Override protected void append(LoggingEvent event) {
        if (Logged.isOfController(event)) conversation.log(event.getRenderedMessage());
    }

    @Override public boolean requiresLayout() { return false; }

    /** Once: a finalizer of log4j's calls it again, when another may listen. */
    @Override public void close() {
        if (closed) return;
        closed = true;
        Logger.getRootLogger().removeAppender(this);
        Logged.level(null, null);
    }
}
