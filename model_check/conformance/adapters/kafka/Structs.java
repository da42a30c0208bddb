import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.apache.kafka.common.protocol.types.ArrayOf;
import org.apache.kafka.common.protocol.types.Field;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.Struct;
import org.apache.kafka.common.protocol.types.Type;

/** The structs of Kafka's protocol as JSON has them, and bytes as texts. */
final class Structs {
    static String hex(ByteBuffer bytes) {
        StringBuilder hex = new StringBuilder();
        for (byte one : bytes.array()) hex.append(String.format("%02x", one));
        return hex.toString();
    }

    static ByteBuffer bytes(String hex) {
        ByteBuffer bytes = ByteBuffer.allocate(hex.length() / 2);
        for (int at = 0; at < hex.length(); at += 2) bytes.put((byte) Integer.parseInt(hex.substring(at, at + 2), 16));
        bytes.flip();
        return bytes;
    }

    /** A value of Kafka's protocol as JSON has it: a struct by the names of its fields, in capitals. */
    static Object toJson(Type type, Object value) {
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

    /** The same, back. */
    static Object fromJson(Type type, Object given) {
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
