import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;

import kafka.api.ControlledShutdownResponse;
import kafka.common.TopicAndPartition;
import org.apache.kafka.common.protocol.Protocol;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.Struct;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.ResponseHeader;
import scala.collection.JavaConversions;

/**
 * The bytes of answers, by Kafka's own protocol, and read into its own answers. Version 0 of the one to a
 * ControlledShutdown is not in the protocol: the class with which a broker writes it answers for that.
 */
final class Responses {
    static Map<String, Object> encode(Map<String, Object> given) {
        int correlation = Json.number(given.get("correlation_id"));
        Schema schema = schema(given);
        if (schema == null) return Map.of("hex", Structs.hex(written(correlation, Json.object(given.get("body")))));
        Struct head = new ResponseHeader(correlation).toStruct(), body = (Struct) Structs.fromJson(schema, given.get("body"));
        ByteBuffer bytes = ByteBuffer.allocate(head.sizeOf() + body.sizeOf());
        head.writeTo(bytes);
        body.writeTo(bytes);
        return Map.of("hex", Structs.hex(bytes));
    }

    static Map<String, Object> decode(Map<String, Object> given) {
        ByteBuffer bytes = Structs.bytes((String) given.get("hex"));
        Schema schema = schema(given);
        try {
            if (schema == null) return told(ControlledShutdownResponse.readFrom(bytes));
            int correlation = ResponseHeader.parse(bytes).correlationId();
            Struct body = schema.read(bytes);
            AbstractResponse.getResponse(key(given), body);  // its own constructor takes it, too
            return Map.of("correlation_id", (long) correlation, "body", Structs.toJson(schema, body));
        } catch (RuntimeException refused) {
            return KafkaAdapter.REFUSED;
        }
    }

    private static Schema schema(Map<String, Object> given) {
        return Protocol.RESPONSES[key(given)][Json.number(given.get("version"))];
    }

    private static int key(Map<String, Object> given) {
        int at = Requests.NAMES.indexOf(given.get("name"));
        return at < 0 ? ControlledShutdowns.KEY : Requests.FIRST_KEY + at;
    }

    private static ByteBuffer written(int correlation, Map<String, Object> body) {
        HashSet<TopicAndPartition> remaining = new HashSet<>();
        for (Object one : (List<?>) body.get("PartitionsRemaining")) {
            Map<String, Object> named = Json.object(one);
            remaining.add(new TopicAndPartition((String) named.get("Topic"), Json.number(named.get("Partition"))));
        }
        ControlledShutdownResponse answer = new ControlledShutdownResponse(
            correlation, ((Long) body.get("ErrorCode")).shortValue(), JavaConversions.asScalaSet(remaining));
        ByteBuffer bytes = ByteBuffer.allocate(answer.sizeInBytes());
        answer.writeTo(bytes);
        return bytes;
    }

    private static Map<String, Object> told(ControlledShutdownResponse answer) {
        List<Object> remaining = new ArrayList<>();
        for (TopicAndPartition one : JavaConversions.setAsJavaSet(answer.partitionsRemaining()))
            remaining.add(Map.of("Topic", one.topic(), "Partition", (long) one.partition()));
        return Map.of("correlation_id", (long) answer.correlationId(),
            "body", Map.of("ErrorCode", (long) answer.errorCode(), "PartitionsRemaining", remaining));
    }
}
