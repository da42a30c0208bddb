import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Kafka 0.10.2 itself as an adapter: its own classes, with nothing of ours between, and no rule of ours in it.
 * `kcheck conform --kafka 0.10.2.2` compiles the files of this folder against the jars of the release, and asks it.
 */
public final class KafkaAdapter {
    static final Map<String, Object> REFUSED = Map.of("refused", true);
    private static final List<String> VERBS = List.of(
        "transition", "elect", "create_partition", "remove_replica", "reassign", "find_imbalance", "write_state",
        "send_batch", "fence", "read_znode", "encode_request", "decode_request",
        "encode_response", "decode_response", "handle_state_changes", "shut_down", "fail_broker", "handle_isr_changes",
        "change_isr", "delay", "write_line", "control");

    public static void main(String[] arguments) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream output = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        Swallowed.begin();
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            Map<String, Object> question = Json.object(new Json(line).value());
            if (question.get("verb").equals("bye")) break;
            if (question.get("verb").equals("control")) {
                control(question, input, output);
                continue;
            }
            Map<String, Object> told = new LinkedHashMap<>(answer(question));
            if (question.containsKey("id")) told.put("id", question.get("id"));
            output.println(Json.text(told));
        }
        LocalZooKeeper.end();
        Fences.end();
        System.exit(0);  // ZooKeeper's threads, and Kafka's, do not end with this one
    }

    /** A conversation, at whose end nothing is said, unless it goes wrong. */
    private static void control(Map<String, Object> question, BufferedReader input, PrintStream output) {
        Swallowed.forget();
        try {
            Control.control(Json.object(question.get("given")), new Conversation(question.get("id"), input, output));
        } catch (Throwable error) {
            output.println(Json.text(Map.of("id", question.get("id"), "error", String.valueOf(error))));
        }
    }

    private static Map<String, Object> answer(Map<String, Object> question) {
        Map<String, Object> given = Json.object(question.getOrDefault("given", Map.of()));
        Swallowed.forget();
        try {
            switch ((String) question.get("verb")) {
                case "hello":
                    return Map.of("protocol", 1L, "name", "Kafka 0.10.2", "language", "Scala",
                        "dialect", "as-coded-0.10.2", "verbs", VERBS, "resets", true);
                case "reset": return Map.of("outcome", Map.of());  // each verb begins with what is empty
                case "transition": return outcome(Transitions.transition(given));
                case "elect": return outcome(Elections.elect(given));
                case "create_partition": return outcome(Partitions.create(given));
                case "remove_replica": return outcome(Partitions.removeReplica(given));
                case "reassign": return outcome(Reassignments.reassign(given));
                case "find_imbalance": return outcome(Rebalance.findImbalance(given));
                case "write_state": return outcome(Partitions.writeState(given));
                case "send_batch": return outcome(Batches.send(given));
                case "fence": return outcome(Fences.fence(given));
                case "read_znode": return Map.of("outcome", Znodes.readZnode(given));  // whatever a reader throws
                case "encode_request": return outcome(Requests.encode(given));
                case "decode_request": return outcome(Requests.decode((String) given.get("hex")));
                case "encode_response": return outcome(Responses.encode(given));
                case "decode_response": return outcome(Responses.decode(given));
                case "handle_state_changes": return outcome(Machines.handleStateChanges(given));
                case "shut_down": return outcome(Departures.shutDown(given));
                case "fail_broker": return outcome(Departures.fail(given));
                case "handle_isr_changes": return outcome(Notifications.handle(given));
                case "change_isr": return outcome(IsrChanges.change(given));
                case "delay": return outcome(Delays.delay(given));
                case "write_line": return Lines.write(given);
                default: return Map.of("skip", "nobody has taught this adapter the verb");
            }
        } catch (Throwable error) {
            return Map.of("error", String.valueOf(error));
        }
    }

    private static Map<String, Object> outcome(Map<String, Object> found) {
        Throwable slip = Swallowed.slip();
        return slip == null ? Map.of("outcome", found) : Map.of("error", "Kafka swallowed " + slip);
    }
}
