import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;

import kafka.api.LeaderAndIsr;
import kafka.cluster.Broker;
import kafka.cluster.EndPoint;
import kafka.common.LeaderElectionNotNeededException;
import kafka.common.TopicAndPartition;
import kafka.controller.ControlledShutdownLeaderSelector;
import kafka.controller.ControllerContext;
import kafka.controller.LeaderIsrAndControllerEpoch;
import kafka.controller.OfflinePartitionLeaderSelector;
import kafka.controller.PartitionLeaderSelector;
import kafka.controller.PreferredReplicaPartitionLeaderSelector;
import kafka.controller.ReassignedPartitionLeaderSelector;
import kafka.controller.ReassignedPartitionsContext;
import kafka.server.KafkaConfig;
import scala.Tuple2;
import scala.collection.JavaConversions;
import scala.collection.Seq;

/** The leader selectors: Kafka's own, on a context that is filled from what is given. */
final class Elections {
    private static final TopicAndPartition PARTITION = new TopicAndPartition("t", 0);
    private static final OneZnode ZOOKEEPER = new OneZnode();

    static Map<String, Object> elect(Map<String, Object> given) {
        String unclean = "\"unclean.leader.election.enable\":\"" + Boolean.TRUE.equals(given.get("unclean")) + "\"";
        ControllerContext context =
            new ControllerContext(ZOOKEEPER.holding("/config/topics/t", "{\"version\":1,\"config\":{" + unclean + "}}"));
        if (given.containsKey("assigned"))
            context.partitionReplicaAssignment().put(PARTITION, Lists.seq(given.get("assigned")));
        List<Integer> shuttingDown = Lists.ints(given.getOrDefault("shutting_down", List.of()));
        List<Broker> registered = new ArrayList<>();
        for (int id : Lists.ints(given.getOrDefault("registered", given.get("live"))))
            registered.add(new Broker(id, JavaConversions.asScalaBuffer(new ArrayList<EndPoint>()), scala.Option.empty()));
        context.liveBrokers_$eq(JavaConversions.asScalaSet(new java.util.HashSet<>(registered)));
        for (Object id : shuttingDown) context.shuttingDownBrokerIds().add(id);
        PartitionLeaderSelector selector = selector(given, context);
        LeaderAndIsr current = new LeaderAndIsr(-1, 0, Lists.list(given.get("isr")), 0);
        try {
            Tuple2<LeaderAndIsr, Seq<Object>> chosen = selector.selectLeader(PARTITION, current);
            Map<String, Object> elected = new LinkedHashMap<>();
            elected.put("leader", (long) chosen._1().leader());
            elected.put("isr", Lists.ascending(chosen._1().isr()));
            elected.put("receivers", Lists.ascending(chosen._2()));
            return Map.of("elected", elected);
        } catch (LeaderElectionNotNeededException notNeeded) {
            return Map.of("refused", "not needed");
        } catch (RuntimeException impossible) {
            return Map.of("refused", "impossible");
        }
    }

    private static PartitionLeaderSelector selector(Map<String, Object> given, ControllerContext context) {
        switch ((String) given.get("selector")) {
            case "offline":
                Properties settings = new Properties();
                settings.put("zookeeper.connect", "none");
                return new OfflinePartitionLeaderSelector(context, KafkaConfig.fromProps(settings));
            case "reassigned":
                context.partitionsBeingReassigned().put(
                    PARTITION, new ReassignedPartitionsContext(Lists.seq(given.get("reassigned")), null));
                return new ReassignedPartitionLeaderSelector(context);
            case "preferred":
                int leader = ((Long) given.get("cached_leader")).intValue();
                context.partitionLeadershipInfo().put(
                    PARTITION, new LeaderIsrAndControllerEpoch(new LeaderAndIsr(leader, Lists.list(given.get("isr"))), 1));
                return new PreferredReplicaPartitionLeaderSelector(context);
            case "controlled-shutdown": return new ControlledShutdownLeaderSelector(context);
            default: throw new IllegalArgumentException("no selector is called " + given.get("selector"));
        }
    }
}
