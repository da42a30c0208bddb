"""Scripts by hand: terms that fail, end, and begin again, and what a controller keeps from one to the next."""

from typing import Final

from model_check.conformance.making.hands import (
    ELECTIONS,
    OTHER,
    ByHand,
    answers,
    asks_to_delete,
    asks_to_elect,
    asks_to_move,
    assigns,
    away,
    before,
    cannot_delete,
    creates,
    deletes,
    ends,
    hangs,
    is_elected,
    leads,
    registers,
    renews,
    reports,
    says,
    shuts_down,
    starts,
    state_path,
    takes_over,
    topic,
    topic_path,
    vanishes,
    wins_after,
)
from reference.scripts import CONTROLLER, CONTROLLER_EPOCH, REASSIGN_PARTITIONS

STUCK: Final = (topic("a", [2]), starts(1), asks_to_elect("a-0"))
"""A request for elections exists, for a partition that has no leadership (D49)."""
HALF: Final = (*STUCK, deletes(CONTROLLER) + wins_after(2))
"""A failover has failed on that, and another on the channels that are left over; then another controller won."""
SENDS_IN_VAIN: Final = (topic("a", [1, 2]), starts(1), starts(2), vanishes("a"), starts(3))
"""A topic has vanished, and UpdateMetadata for all partitions has left the batch dirty (D53)."""

TERMS: Final = (
    ByHand(
        "The request that a failover failed on is gone, and the next one fails on the channels that are left over",
        ("PROTOCOL.md section 6", "D42", "D56"), (*STUCK, deletes(CONTROLLER) + wins_after(2, deletes(ELECTIONS))),
    ),
    ByHand(
        "Half a controller, whose failover has failed, hears of a broker that starts",
        ("PROTOCOL.md section 6", "D4", "KafkaController.onBrokerStartup 0.10.2.2"), (*HALF, starts(3)),
    ),
    ByHand(
        "The session of half a controller ends, so it resigns, and wins whole once the request is gone",
        ("PROTOCOL.md section 6", "D4", "D56"),
        (*HALF, away(deletes(ELECTIONS), starts(2)), registers(1), ends(OTHER)),
    ),
    ByHand(
        "A failover that fails after its session has ended deletes another controller's znode",
        ("PROTOCOL.md section 6", "D3", "ZookeeperLeaderElector.resign 0.10.2.2"),
        (*STUCK, deletes(CONTROLLER) + before("set", CONTROLLER_EPOCH, ends(1), is_elected(), renews(1))),
    ),
    ByHand(
        "A topic has vanished: who starts is sent nothing, and who starts then has the controller resign by half",
        ("D53", "D4-send", "D28"), (*SENDS_IN_VAIN, wins_after(0) + starts(4)), compared=2,
    ),
    ByHand(
        "A controller that has resigned for a dirty batch still hears of a broker that starts",
        ("D53", "D4-send"), (*SENDS_IN_VAIN, wins_after(0) + starts(4), starts(5)),
    ),
    ByHand(
        "Two sessions end in a row; the first new session elects, the second finds its own id, and the term goes on",
        ("PROTOCOL.md section 6", "D10", "SessionExpirationListener 0.10.2.2 (KAFKA-4229)"),
        (topic("a", [1, 2]), starts(1), starts(2), [*away(), *away()], registers(1), topic("b", [1, 2])),
    ),
    ByHand(
        "A request to move a partition is removed by hand, and /controller, too; the next term goes on with it",
        ("D13-remedy", "D59", "KafkaController.onControllerResignation 0.10.2.2"),
        (topic("a", [1, 2]), starts(1), starts(2), asks_to_move(a_0=[2, 3]), deletes(REASSIGN_PARTITIONS),
         deletes(CONTROLLER), starts(3)),
    ),
    ByHand(
        "Another controller has undone a move; the next term of this one begins it again",
        ("D13", "KafkaController.onControllerResignation 0.10.2.2"),
        (topic("a", [1, 2]), starts(1), starts(2), starts(3), asks_to_move(a_0=[2, 3]), takes_over(2),
         assigns("a", [1, 2]) + leads("a-0", 1, 2, [1, 2], 2) + deletes(REASSIGN_PARTITIONS), ends(OTHER)),
    ),
    ByHand(
        "Elections that were stuck are forgotten by everybody but the controller, whose next term holds them",
        ("D13-elections", "D49"),
        (topic("a", [2, 1]) + topic("c", [3]), starts(1), starts(2), asks_to_elect("a-0", "c-0"), starts(3),
         leads("a-0", 1, 1, [1, 2]) + deletes(ELECTIONS), deletes(CONTROLLER)),
    ),
    ByHand(
        "In the next term nobody counts as shutting down, so a new topic is led by who asked for its shutdown",
        ("PROTOCOL.md section 7.2", "KafkaController.initializeControllerContext 0.10.2.2"),
        (topic("a", [1, 2]), starts(1), starts(2), shuts_down(2), deletes(CONTROLLER), topic("b", [2, 1])),
    ),
    ByHand(
        "Another controller has deleted a topic; in the next term of this one it is created again",
        ("PROTOCOL.md section 3", "PartitionStateMachine.shutdown 0.10.2.2"),
        (topic("a", [1, 2]), starts(1), starts(2), takes_over(2), vanishes("a") + deletes("/config/topics/a"),
         ends(OTHER), topic("a", [1, 2])),
    ),
    ByHand(
        "A broker answers what the term before asked of it, that it cannot delete; this term takes no notice",
        ("PROTOCOL.md section 7.4", "ControllerChannelManager.shutdown 0.10.2.2"),
        (topic("a", [1, 2]), starts(1), starts(2), hangs(2), asks_to_delete("a"), deletes(CONTROLLER),
         cannot_delete(2) + answers(2)),
    ),
    ByHand(
        "A notification stands before a broker is controller; who wins under a new session does not hear of it",
        ("PROTOCOL.md section 2", "PROTOCOL.md section 7.7"),
        (is_elected() + creates(CONTROLLER_EPOCH, 1) + topic("a", [1, 2]), starts(1),
         creates(state_path("a-0"), says(1, 0, [1])) + reports("a-0"), away(ends(OTHER)), registers(1)),
    ),
    ByHand(
        "Broker 2 dies while nobody is controller; the next term leaves it in the ISR, and tells nobody of it",
        ("D15", "ReplicaStateMachine.initializeReplicaState 0.10.2.2"),
        (topic("a", [1, 2]), starts(1), starts(2), leads("a-0", 1, 1, [1, 2]), deletes(CONTROLLER) + ends(2)),
    ),
    ByHand(
        "A replica is removed from the ISR in vain, and the next start of its broker is told of it",
        ("S4", "KafkaController.removeReplicaFromIsr 0.10.2.2"),
        (topic("a", [2, 3]), starts(1), starts(2, 3),
         ends(3) + before("set", state_path("a-0"), leads("a-0", 2, 5, [2, 3], 4)), starts(3)),
    ),
    ByHand(
        "A topic's znode without data ends every failover, before anything is left over",
        ("D52", "PROTOCOL.md section 2"),
        (topic("b", [1]), starts(1), creates(topic_path("a"), None), deletes(CONTROLLER) + wins_after(2)),
    ),
)  # fmt: skip
