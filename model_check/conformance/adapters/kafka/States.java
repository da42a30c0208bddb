import java.util.LinkedHashMap;
import java.util.Map;

import kafka.api.LeaderAndIsr;
import kafka.controller.LeaderIsrAndControllerEpoch;

/** What a state znode says: leader, leader epoch, ISR and controller epoch, as JSON has it and as Kafka does. */
final class States {
    /** Read what is given, with `zk_version` 0 unless it is named; null stays null. */
    static LeaderIsrAndControllerEpoch of(Object given) {
        if (given == null) return null;
        Map<String, Object> state = Json.object(given);
        int version = Json.number(state.getOrDefault("zk_version", 0L));
        LeaderAndIsr leaderAndIsr = new LeaderAndIsr(
            Json.number(state.get("leader")), Json.number(state.get("leader_epoch")), Lists.list(state.get("isr")), version);
        return new LeaderIsrAndControllerEpoch(leaderAndIsr, Json.number(state.get("controller_epoch")));
    }

    static Map<String, Object> told(LeaderIsrAndControllerEpoch state) {
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("leader", (long) state.leaderAndIsr().leader());
        told.put("leader_epoch", (long) state.leaderAndIsr().leaderEpoch());
        told.put("isr", Lists.inOrder(state.leaderAndIsr().isr()));
        told.put("controller_epoch", (long) state.controllerEpoch());
        return told;
    }
}
