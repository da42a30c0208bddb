import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;

import kafka.api.ControlledShutdownRequest;
import org.apache.kafka.common.protocol.ApiKeys;
import scala.Option;

/** ControlledShutdown, by the class with which a broker reads every version of it, once it has read the key. */
final class ControlledShutdowns {
    static final int KEY = ApiKeys.CONTROLLED_SHUTDOWN_KEY.id;

    static ByteBuffer encode(Map<String, Object> given) {
        Map<String, Object> header = Json.object(given.get("header"));
        ControlledShutdownRequest request = new ControlledShutdownRequest(
            ((Long) given.get("version")).shortValue(), Json.number(header.get("CorrelationId")),
            Option.apply((String) header.get("ClientId")), Json.number(Json.object(given.get("body")).get("BrokerId")));
        ByteBuffer bytes = ByteBuffer.allocate(2 + request.sizeInBytes());
        bytes.putShort((Short) request.requestId().get());
        request.writeTo(bytes);
        return bytes;
    }

    static Map<String, Object> decode(ByteBuffer bytes) {
        Map<String, Object> header = new LinkedHashMap<>();
        header.put("ApiKey", (long) bytes.getShort());
        ControlledShutdownRequest request = ControlledShutdownRequest.readFrom(bytes);
        header.put("ApiVersion", (long) request.versionId());
        header.put("CorrelationId", (long) request.correlationId());
        if (request.clientId().isDefined()) header.put("ClientId", request.clientId().get());
        return Map.of("name", "ControlledShutdown", "version", (long) request.versionId(), "header", header,
            "body", Map.of("BrokerId", (long) request.brokerId()));
    }
}
