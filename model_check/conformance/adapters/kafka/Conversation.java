import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;

import org.apache.zookeeper.KeeperException;

/**
 * What a driven controller and the suite say to each other: a line, and the answer to it. Kafka's threads ask whenever
 * they have to, each under its turn.
 */
final class Conversation {
    private final Object id;
    private final BufferedReader input;
    private final PrintStream output;
    private boolean isOver;

    Conversation(Object id, BufferedReader input, PrintStream output) {
        this.id = id;
        this.input = input;
        this.output = output;
    }

    /** Do a ZooKeeper operation; its result, or ZooKeeper's exception. */
    Object ask(Map<String, Object> call) throws KeeperException {
        Map<String, Object> answer = say("ask", call);
        String refused = (String) answer.get("refused");
        if (refused == null) return answer.get("result");
        throw KeeperException.create(KeeperException.Code.valueOf(refused.toUpperCase()), (String) call.get("path"));
    }

    /** Send a request to a broker; the number by which its answer is told. */
    long send(int broker, Map<String, Object> request) {
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("to", (long) broker);
        told.put("request", request);
        return (Long) Json.object(say("send", told).get("result")).get("number");
    }

    /** Answer who asked for a controlled shutdown. */
    void reply(Map<String, Object> reply) { say("reply", reply); }

    /** Log a line; what is logged when everything is over is nobody's business. */
    synchronized void log(String line) { if (!isOver) say("log", line); }

    /** What happens next, when everything is done; null at the end, behind which no other thread says a line. */
    synchronized Map<String, Object> next() {
        Map<String, Object> answer = say("wait", true);
        if (!answer.containsKey("event")) end();
        return Json.object(answer.get("event"));
    }

    /** Nothing is said any more: a thread of Kafka's that still asks gets an exception. */
    synchronized void end() { isOver = true; }

    private synchronized Map<String, Object> say(String kind, Object what) {
        if (isOver) throw new IllegalStateException("the conversation is over");
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("id", id);
        told.put(kind, what);
        output.println(Json.text(told));
        try {
            String line = input.readLine();
            if (line == null) throw new EOFException("the suite has gone");
            return Json.object(new Json(line).value());
        } catch (IOException gone) {
            isOver = true;
            throw new UncheckedIOException(gone);
        }
    }
}
