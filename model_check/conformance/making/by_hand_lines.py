"""Scripts by hand of which the lines of the last turn are compared: what a controller logs every day, and in trouble.

The kinds of lines are those of which the specification says nothing, or not all, so that no walk asks for them
(`logged.py`). What is expected is what the reference's controller says; the independent reason is that Kafka's own says
the same. In each script all of these kinds are compared, so that a controller that says too much is found, too. A
thread that starts, waits or ends has no line here: when it does is nobody's business.
"""

from typing import Final

from model_check.conformance.making.hands import (
    ByHand,
    asks_to_delete,
    asks_to_elect,
    asks_to_move,
    assigns,
    away,
    before,
    creates,
    deletes,
    ends,
    hangs,
    is_elected,
    leads,
    registers,
    renews,
    says,
    shuts_down,
    starts,
    state_path,
    topic,
    topic_path,
    vanishes,
    writes,
)

SAID: Final = frozenset({
    "AssignmentWritten", "BrokerChangeError", "BrokerFailure", "BrokerStartup", "BrokersChanged", "CleanLeader",
    "DeletionAnswered", "ForcedToResign", "IneligibleTopics", "IsrShrunk", "LastIsrRetained", "LiveAssignedReplicas",
    "NoAssignedReplicaAlive", "NoneInIsrAlive", "OfflineSelected", "PartitionsCreated", "PartitionsError",
    "PartitionsInvoked", "PartitionsSkipped", "PreferredSelected", "ReassignedIsrError", "ReassignedNeverCreated",
    "ReassignmentRequested", "RemovingFromIsr", "ReplicasInvoked", "SessionExpiredElectedAlready",
    "ShutDownBrokersGone", "ShuttingDownBrokers", "StateInitialized", "StateZnodeExists", "StopReplicaSending",
    "TopicChangeError", "TopicDifference", "TopicModified", "TopicsChanged", "TopicsCreated", "UncleanLeader",
})  # fmt: skip
"""The kinds that are compared."""
TWO: Final = (topic("a", [1, 2]), starts(1), starts(2))
"""Brokers 1 and 2 run; a topic has a replica on each."""
MOVES: Final = (*TWO, starts(3), asks_to_move(a_0=[2, 3]))
"""The same with a third broker, and the partition is to move."""
LED_BY_2: Final = (topic("a", [2, 1]), starts(1, 2))
"""Two run, and broker 2 leads, for both have registered when the controller is elected."""

LINES: Final = (
    ByHand("A broker starts", ("KafkaController.onBrokerStartup",), TWO),
    ByHand(
        "The leader's broker dies, and another of the ISR leads",
        ("KafkaController.onBrokerFailure", "OfflinePartitionLeaderSelector"), (*LED_BY_2, ends(2)),
    ),
    ByHand(
        "A broker has left in good order, and its session ends",
        ("KafkaController.shutdownBroker", "KafkaController.onBrokerFailure"), (*TWO, shuts_down(2), ends(2)),
    ),
    ByHand(
        "A follower is about to leave in good order", ("KafkaController.shutdownBroker",), (*TWO, shuts_down(2)),
    ),
    ByHand(
        "The last of an ISR dies, and nobody else may lead",
        ("KafkaController.removeReplicaFromIsr",), (topic("a", [2]), starts(1, 2), ends(2)),
    ),
    ByHand(
        "The last of an ISR dies, and who was out of sync leads",
        ("OfflinePartitionLeaderSelector", "unclean.leader.election.enable"),
        (topic("a", [2, 1], unclean_leader_election_enable="true"), starts(1, 2), leads("a-0", 2, 0, [2]), ends(2)),
    ),
    ByHand(
        "A topic is created", ("PartitionStateMachine.TopicChangeListener",), (*TWO, topic("b", [2, 1])),
    ),
    ByHand(
        "A topic is created of which no replica lives",
        ("PartitionStateMachine.initializeLeaderAndIsrForPartition",), (*TWO, topic("b", [3])),
    ),
    ByHand(
        "A topic is created of which a state znode is there",
        ("PartitionStateMachine.initializeLeaderAndIsrForPartition",),
        (*TWO, topic("b", [1, 2]) + creates(state_path("b-0"), says(2, 3, [2], 9))),
    ),
    ByHand("A topic's znode has no data", ("D52", "TopicChangeListener"), (*TWO, creates(topic_path("b"), None))),
    ByHand(
        "A partition is added", ("PartitionStateMachine.PartitionModificationsListener",),
        (*TWO, assigns("a", [1, 2], [2, 1])),
    ),
    ByHand(
        "A partition is added to a topic that waits for its deletion",
        ("PartitionStateMachine.PartitionModificationsListener",),
        (topic("a", [1, 2]), starts(1), asks_to_delete("a"), assigns("a", [1, 2], [1])),
    ),
    ByHand("A topic is deleted", ("TopicDeletionManager",), (*TWO, asks_to_delete("a"))),
    ByHand(
        "The deletion of a topic waits for a broker that is dead, and there is a failover",
        ("KafkaController.initializeControllerContext",),
        (topic("a", [1, 2]), starts(1), starts(2), ends(2), asks_to_delete("a"), away()),
    ),
    ByHand(
        "A partition is to move", ("KafkaController.PartitionsReassignedListener",),
        MOVES,
    ),
    ByHand(
        "A partition has moved", ("KafkaController.onPartitionReassignment",),
        (*MOVES, leads("a-0", 1, 1, [1, 2, 3])),
    ),
    ByHand(
        "The state znode of a partition that moves is deleted by hand, of which its listener says nothing",
        ("ReassignedPartitionsIsrChangeListener.handleDataDeleted",), (*MOVES, deletes(state_path("a-0"))),
    ),
    ByHand(
        "Somebody writes what is no JSON into the state znode of a partition that moves",
        ("ReassignedPartitionsIsrChangeListener.handleDataChange",), (*MOVES, writes(state_path("a-0"), "no JSON")),
    ),
    ByHand(
        "Somebody writes a list into the state znode of a partition that moves",
        ("ReassignedPartitionsIsrChangeListener.handleDataChange",), (*MOVES, writes(state_path("a-0"), [1])),
    ),
    ByHand(
        "The data of a topic's znode are gone", ("PartitionStateMachine.PartitionModificationsListener",),
        (*TWO, writes(topic_path("a"), None)),
    ),
    ByHand(
        "The preferred replica is to lead", ("PreferredReplicaPartitionLeaderSelector",),
        (topic("a", [2, 1]), starts(1), starts(2), leads("a-0", 1, 0, [1, 2]), asks_to_elect("a-0")),
    ),
    ByHand(
        "Two sessions end in a row; the second new one finds that the first is elected",
        ("KafkaController.SessionExpirationListener",), (*TWO, ends(1) + renews(1) + ends(1) + renews(1), registers(1)),
    ),
    ByHand(
        "A broker starts while the batch is dirty, and who is told to resign does",
        ("D53", "ControllerBrokerRequestBatch"),
        (*TWO, vanishes("a"), starts(3), before("create", "/controller", is_elected()) + starts(4)),
    ),
    ByHand(
        "A broker that answers nothing is to delete a replica",
        ("TopicDeletionManager.startReplicaDeletion",), (*TWO, hangs(2), asks_to_delete("a")),
    ),
)  # fmt: skip
