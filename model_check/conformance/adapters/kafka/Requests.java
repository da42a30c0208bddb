import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.apache.kafka.common.protocol.Protocol;
import org.apache.kafka.common.protocol.types.ArrayOf;
import org.apache.kafka.common.protocol.types.Field;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.Struct;
import org.apache.kafka.common.protocol.types.Type;

/** The bytes of requests, by Kafka's own protocol. */
final class Requests {
    private static final List<Object> NAMES = List.of("LeaderAndIsr", "StopReplica", "UpdateMetadata");
    private static final int FIRST_KEY = 4;

    static Map<String, Object> encode(Map<String, Object> given) {
        boolean isControlledShutdown = given.get("name").equals("ControlledShutdown");
        ByteBuffer bytes = isControlledShutdown ? ControlledShutdowns.encode(given) : bytes(given);
        StringBuilder hex = new StringBuilder();
        for (byte one : bytes.array()) hex.append(String.format("%02x", one));
        return Map.of("hex", hex.toString());
    }

    private static ByteBuffer bytes(Map<String, Object> given) {
        Struct head = (Struct) fromJson(Protocol.REQUEST_HEADER, given.get("header")), body = body(given);
        ByteBuffer bytes = ByteBuffer.allocate(head.sizeOf() + body.sizeOf());
        head.writeTo(bytes);
        body.writeTo(bytes);
        return bytes;
    }

    /** The body of a request, but of ControlledShutdown. */
    static Struct body(Map<String, Object> given) {
        int key = FIRST_KEY + NAMES.indexOf(given.get("name")), version = Json.number(given.get("version"));
        return (Struct) fromJson(Protocol.REQUESTS[key][version], given.get("body"));
    }

    static Map<String, Object> decode(String hex) {
        ByteBuffer bytes = ByteBuffer.allocate(hex.length() / 2);
        for (int at = 0; at < hex.length(); at += 2) bytes.put((byte) Integer.parseInt(hex.substring(at, at + 2), 16));
        bytes.flip();
        try {
            int key = bytes.getShort(0), version = bytes.getShort(2);
            if (key == ControlledShutdowns.KEY) return ControlledShutdowns.decode(bytes);
            Object head = toJson(Protocol.REQUEST_HEADER, Protocol.REQUEST_HEADER.read(bytes));
            Object body = toJson(Protocol.REQUESTS[key][version], Protocol.REQUESTS[key][version].read(bytes));
            return Map.of("name", NAMES.get(key - FIRST_KEY), "version", (long) version, "header", head, "body", body);
        } catch (RuntimeException refused) {
            return KafkaAdapter.REFUSED;
        }
    }

    private static Object toJson(Type type, Object value) {
        if (type instanceof Schema) {
            Map<String, Object> told = new LinkedHashMap<>();
            for (Field field : ((Schema) type).fields())
                told.put(capitals(field.name), toJson(field.type, ((Struct) value).get(field)));
            return told;
        }
        if (type instanceof ArrayOf) {
            List<Object> told = new ArrayList<>();
            for (Object one : (Object[]) value) told.add(toJson(((ArrayOf) type).type(), one));
            return told;
        }
        return value instanceof Number ? (Object) ((Number) value).longValue() : value;
    }

    private static Object fromJson(Type type, Object given) {
        if (type instanceof Schema) {
            Struct struct = new Struct((Schema) type);
            for (Field field : ((Schema) type).fields())
                struct.set(field, fromJson(field.type, Json.object(given).get(capitals(field.name))));
            return struct;
        }
        if (type instanceof ArrayOf) {
            List<Object> made = new ArrayList<>();
            for (Object one : (List<?>) given) made.add(fromJson(((ArrayOf) type).type(), one));
            return made.toArray();
        }
        if (type == Type.INT16) return ((Long) given).shortValue();
        if (type == Type.INT32) return ((Long) given).intValue();
        if (type.toString().equals("BOOLEAN")) return given;
        return type.toString().equals("INT8") ? (Object) (byte) (Boolean.TRUE.equals(given) ? 1 : 0) : given;
    }

    private static String capitals(String name) {
        StringBuilder made = new StringBuilder();
        for (String word : name.split("_")) made.append(Character.toUpperCase(word.charAt(0))).append(word.substring(1));
        return made.toString();
    }
}
