"""Scripts by hand: moves to other replicas, elections on request and by the rebalance, and controlled shutdowns."""

from typing import Final

from model_check.conformance.making.hands import (
    ELECTIONS,
    LOOKS,
    ByHand,
    asks_to_delete,
    asks_to_elect,
    asks_to_move,
    assigns,
    before,
    creates,
    deletes,
    ends,
    leads,
    loses,
    reports,
    shuts_down,
    starts,
    state_path,
    topic,
    topic_path,
    vanishes,
    writes,
)
from reference.scripts import CONTROLLER, REASSIGN_PARTITIONS

BALANCES: Final = {"auto.leader.rebalance.enable": True}
IN_SYNC: Final = leads("a-0", 1, 1, [1, 2]) + reports("a-0")
"""Broker 1 has taken 2 into the ISR of a-0, and the controller hears of it."""
TWICE: Final = (topic("a", [1, 2]), starts(1), starts(2), starts(3), asks_to_move(a_0=[3, 3]),
                leads("a-0", 1, 2, [1, 2, 3]))  # fmt: skip
"""A move to a broker that is named twice has come to its end."""

MOVES: Final = (
    ByHand(
        "A broker starts amid a move, and is told an older leader epoch than the leader was",
        ("D18", "KafkaController.updateLeaderEpochAndSendRequest 0.10.2.2"),
        (topic("a", [1, 2]), starts(1), starts(2), starts(3), asks_to_move(a_0=[2, 3]), starts(4)),
    ),
    ByHand(
        "A partition moves to a broker that RAR names twice, which goes Online twice",
        ("D62", "PROTOCOL.md section 8"), TWICE,
    ),
    ByHand(
        "A broker that an AR names twice asks for its shutdown, and the partition remains",
        ("D62", "KafkaController.shutdownBroker 0.10.2.2"), (*TWICE, shuts_down(3)),
    ),
    ByHand(
        "A move is over though its leader is dead, and nobody of RAR can be elected",
        ("D48", "PROTOCOL.md section 8"),
        (topic("a", [2, 3]), starts(1), starts(2), deletes(CONTROLLER) + ends(2), asks_to_move(a_0=[2])),
    ),
    ByHand(
        "A partition is added between the controller's read and its write of the topic, and is lost",
        ("D39", "KafkaController.updateAssignedReplicasForPartition 0.10.2.2"),
        (topic("a", [1, 2]), starts(1), starts(2),
         before("set", topic_path("a"), assigns("a", [1, 2], [2, 1])) + asks_to_move(a_0=[2, 3])),
    ),
    ByHand(
        "A topic vanishes right before the first step of a move, which brings its znode back",
        ("D52-topic", "ZkUtils.updatePersistentPath"),
        (topic("a", [1, 2]), starts(1), starts(2),
         before("set", topic_path("a"), vanishes("a")) + asks_to_move(a_0=[2, 3])),
    ),
    ByHand(
        "A broker starts whose move cannot go on, and the death of another in the same event is lost",
        ("D51", "ReplicaStateMachine.BrokerChangeListener 0.10.2.2"),
        (topic("a", [1]) + topic("b", [2, 1]), starts(2), starts(1), asks_to_move(a_0=[1, 3]),
         deletes(state_path("a-0")), ends(2) + starts(3)),
    ),
    ByHand(
        "The answer to the delete of a request is lost, and the next request is deleted unread",
        ("S8-lost", "ZkUtils.deletePath"),
        (topic("a", [1]) + topic("b", [1]), starts(1), starts(2),
         loses("delete", REASSIGN_PARTITIONS) + before("delete", REASSIGN_PARTITIONS, asks_to_move(b_0=[2]))
         + asks_to_move(a_0=[1])),
    ),
    ByHand(
        "AR that somebody writes by hand is not heard of, before the next failover",
        ("D73", "PartitionModificationsListener 0.10.2.2"),
        (topic("a", [1]), starts(1), starts(2), assigns("a", [1, 2]), deletes(CONTROLLER)), compared=2,
    ),
    ByHand(
        "Who leads was taken out of AR by hand: the one that is left shuts down, and stays in the ISR",
        ("D73-leader", "KafkaController.shutdownBroker 0.10.2.2"),
        (topic("a", [1, 2]), starts(1), starts(2), IN_SYNC, assigns("a", [2]), deletes(CONTROLLER), shuts_down(2)),
    ),
    ByHand(
        "Somebody asks for elections that are stuck once more, and gets none",
        ("D49", "KafkaController.PreferredReplicaElectionListener"),
        (topic("a", [2, 1]) + topic("c", [4]), starts(1), starts(2), asks_to_elect("a-0", "c-0"), IN_SYNC,
         deletes(ELECTIONS), asks_to_elect("a-0")),
    ),
    ByHand(
        "While an election is stuck the automatic rebalance does nothing",
        ("D49-rebalance", "KafkaController.checkAndTriggerPartitionRebalance 0.10.2.2"),
        (topic("a", [2, 1]) + topic("c", [4]), starts(1), starts(2), asks_to_elect("c-0"), IN_SYNC, LOOKS), BALANCES,
    ),
    ByHand(
        "A request for elections that is no JSON stands, and the automatic rebalance leaves it there",
        ("PROTOCOL.md section 7.6", "KafkaController.checkAndTriggerPartitionRebalance 0.10.2.2"),
        (topic("a", [2, 1]), starts(1), starts(2), IN_SYNC, creates(ELECTIONS, "x{"), LOOKS), BALANCES,
    ),
    ByHand(
        "While a partition moves the automatic rebalance does nothing, and once that is over it elects",
        ("PROTOCOL.md section 7.6", "KafkaController.checkAndTriggerPartitionRebalance 0.10.2.2"),
        (topic("a", [2, 1]) + topic("b", [1]), starts(1), starts(2), IN_SYNC, asks_to_move(b_0=[1, 3]), LOOKS,
         starts(3), leads("b-0", 1, 2, [1, 3]), LOOKS), BALANCES, 4,
    ),
    ByHand(
        "The automatic rebalance does not elect for a topic whose deletion waits",
        ("PROTOCOL.md section 7.6", "KafkaController.checkAndTriggerPartitionRebalance 0.10.2.2"),
        (topic("a", [2, 1, 4]), starts(1), starts(2), IN_SYNC, deletes(CONTROLLER) + asks_to_delete("a"), LOOKS),
        BALANCES,
    ),
    ByHand(
        "A preferred replica is not in sync, and the automatic rebalance elects it in vain, again and again",
        ("D36", "KafkaController.checkAndTriggerPartitionRebalance 0.10.2.2"),
        (topic("a", [2, 1]), starts(1), starts(2), LOOKS, LOOKS, IN_SYNC, LOOKS), BALANCES, 4,
    ),
    ByHand(
        "A topic comes to allow unclean elections: nobody is elected before some broker starts",
        ("D63", "PROTOCOL.md section 5"),
        (topic("a", [2, 3]), starts(1), starts(2), starts(3), ends(2),
         writes("/config/topics/a", {"version": 1, "config": {"unclean.leader.election.enable": "true"}}), starts(4)),
        compared=2,
    ),
    ByHand(
        "A topic is created while a broker of it shuts down, which may not lead it",
        ("PROTOCOL.md section 3", "PROTOCOL.md section 7.2"),
        (topic("a", [1, 2]), starts(1), starts(2), shuts_down(2), topic("b", [2, 1])),
    ),
)  # fmt: skip
