import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;

import org.apache.kafka.common.protocol.Protocol;
import org.apache.kafka.common.protocol.types.Struct;

/** The bytes of requests, by Kafka's own protocol. */
final class Requests {
    static final List<Object> NAMES = List.of("LeaderAndIsr", "StopReplica", "UpdateMetadata");
    static final int FIRST_KEY = 4;

    static Map<String, Object> encode(Map<String, Object> given) {
        boolean isControlledShutdown = given.get("name").equals("ControlledShutdown");
        ByteBuffer bytes = isControlledShutdown ? ControlledShutdowns.encode(given) : bytes(given);
        return Map.of("hex", Structs.hex(bytes));
    }

    private static ByteBuffer bytes(Map<String, Object> given) {
        Struct head = (Struct) Structs.fromJson(Protocol.REQUEST_HEADER, given.get("header")), body = body(given);
        ByteBuffer bytes = ByteBuffer.allocate(head.sizeOf() + body.sizeOf());
        head.writeTo(bytes);
        body.writeTo(bytes);
        return bytes;
    }

    /** The body of a request, but of ControlledShutdown. */
    static Struct body(Map<String, Object> given) {
        int key = FIRST_KEY + NAMES.indexOf(given.get("name")), version = Json.number(given.get("version"));
        return (Struct) Structs.fromJson(Protocol.REQUESTS[key][version], given.get("body"));
    }

    static Map<String, Object> decode(String hex) {
        ByteBuffer bytes = Structs.bytes(hex);
        try {
            int key = bytes.getShort(0), version = bytes.getShort(2);
            if (key == ControlledShutdowns.KEY) return ControlledShutdowns.decode(bytes);
            Object head = Structs.toJson(Protocol.REQUEST_HEADER, Protocol.REQUEST_HEADER.read(bytes));
            Object body = Structs.toJson(Protocol.REQUESTS[key][version], Protocol.REQUESTS[key][version].read(bytes));
            return Map.of("name", NAMES.get(key - FIRST_KEY), "version", (long) version, "header", head, "body", body);
        } catch (RuntimeException refused) {
            return KafkaAdapter.REFUSED;
        }
    }
}
