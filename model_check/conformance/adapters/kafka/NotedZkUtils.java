import java.util.ArrayList;
import java.util.List;

import kafka.utils.ZkUtils;
import org.I0Itec.zkclient.ZkClient;
import org.I0Itec.zkclient.ZkConnection;
import scala.Function3;
import scala.Option;
import scala.Tuple2;

/** Kafka's client of ZooKeeper, which notes what is to be written on a condition, whatever comes of it. */
final class NotedZkUtils extends ZkUtils {
    /** A write: what, and on which version. */
    record Conditional(String data, int version) { }

    final List<Conditional> conditional = new ArrayList<>();

    NotedZkUtils(ZkClient client, ZkConnection connection) { super(client, connection, false); }

    @Override public Tuple2<Object, Object> conditionalUpdatePersistentPath(
        String path, String data, int version,
        Option<Function3<ZkUtils, String, String, Tuple2<Object, Object>>> checker) {
        conditional.add(new Conditional(data, version));
        return super.conditionalUpdatePersistentPath(path, data, version, checker);
    }
}
