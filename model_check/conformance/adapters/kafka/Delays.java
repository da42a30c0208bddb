import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

import kafka.server.DelayedOperation;
import kafka.server.DelayedOperationPurgatory;
import scala.collection.JavaConversions;

/** Operations that wait, by `DelayedOperationPurgatory`, on a timer whose clock goes on by hand. */
final class Delays {
    private final HandTimer timer = new HandTimer();
    private final DelayedOperationPurgatory<Operation> purgatory;
    private final Map<String, Operation> operations = new LinkedHashMap<>();
    private final TreeSet<String> expired = new TreeSet<>();

    static Map<String, Object> delay(Map<String, Object> given) {
        Delays delays = new Delays(Json.number(given.get("purge_interval")));
        List<Object> results = new ArrayList<>();
        for (Object step : (List<?>) given.get("steps")) results.add(delays.done(Json.object(step)));
        Map<String, Object> operations = new TreeMap<>();
        delays.operations.forEach((name, one) -> operations.put(name, one.told()));
        return Map.of(
            "results", results, "operations", operations, "watched", ((Number) delays.purgatory.watched()).longValue(),
            "delayed", (long) delays.purgatory.delayed());
    }

    private Delays(int purgeInterval) {
        this.purgatory = new DelayedOperationPurgatory<>("asked", timer, 0, purgeInterval, false);
    }

    private Object done(Map<String, Object> step) {
        Operation operation = operations.get(step.get("operation"));
        switch ((String) step.get("do")) {
            case "watch":
                operation = new Operation((String) step.get("operation"), (Long) step.get("timeout"));
                operation.holds = (Boolean) step.get("holds");
                operations.put(operation.name, operation);
                return purgatory.tryCompleteElseWatch(
                    operation, JavaConversions.asScalaBuffer(new ArrayList<Object>((List<?>) step.get("keys"))));
            case "set":
                operation.holds = (Boolean) step.get("holds");
                return null;
            case "check": return (long) purgatory.checkAndComplete(step.get("key"));
            case "complete": return operation.forceComplete();
            case "advance":
                expired.clear();
                purgatory.advanceClock((Long) step.get("by"));
                return new ArrayList<Object>(expired);
            default: throw new IllegalArgumentException("no step is called " + step.get("do"));
        }
    }

    /** An operation with a condition that is set from outside. */
    private final class Operation extends DelayedOperation {
        private final String name;
        private boolean holds, hasExpired;

        Operation(String name, long timeout) {
            super(timeout);
            this.name = name;
        }

        private String told() { return !isCompleted() ? "pending" : hasExpired ? "expired" : "completed"; }

        @Override public boolean tryComplete() { return holds && forceComplete(); }

        @Override public void onComplete() { }

        @Override public void onExpiration() {
            hasExpired = true;
            expired.add(name);
        }
    }
}
