"""Scripts by hand: topics that are created, vanish, and are deleted, and what a deletion waits for."""

from typing import Final

from model_check.conformance.making.hands import (
    ByHand,
    answers,
    asks_to_delete,
    asks_to_elect,
    asks_to_move,
    away,
    before,
    creates,
    deletes,
    ends,
    hangs,
    leads,
    loses,
    reports,
    says,
    starts,
    state_path,
    topic,
    topic_path,
    vanishes,
    writes,
)
from reference.scripts import CONTROLLER, ISR_CHANGES

WAITS: Final = (topic("a", [1, 2]), starts(1), starts(2), starts(3), asks_to_move(a_0=[2, 3]),
                deletes(CONTROLLER) + asks_to_delete("a"))  # fmt: skip
"""A topic is to be deleted of which a partition moves, and a new term has found both."""

DELETIONS: Final = (
    ByHand(
        "A replica that is deleted already dies with its broker; the topic is deleted, created, and then held back",
        ("D45", "TopicDeletionManager.completeDeleteTopic 0.10.2.2"),
        (topic("a", [1, 2, 3]), starts(1, 2, 3), hangs(3), asks_to_delete("a"), ends(2), answers(3), starts(2),
         topic("a", [1, 2, 3]), asks_to_delete("a")),
    ),
    ByHand(
        "A topic is to be deleted while a partition of it moves to a dead broker; that one starts",
        ("D44", "D57", "KafkaController.onBrokerStartup 0.10.2.2"),
        (topic("a", [1, 2]), starts(1), starts(2), asks_to_move(a_0=[2, 3]), asks_to_delete("a"), starts(3)),
    ),
    ByHand(
        "A topic is deleted amid a move, and created again: its leader's ISR brings the move to its end",
        ("D44", "KafkaController.ReassignedPartitionsIsrChangeListener"),
        (topic("a", [1, 2]), starts(1), starts(2), starts(3), asks_to_move(a_0=[2, 3]), asks_to_delete("a"),
         topic("a", [1, 2]), leads("a-0", 1, 1, [1, 2, 3])),
    ),
    ByHand(
        "A failover finds a topic to be deleted of which a partition moves: the move goes on, the deletion waits",
        ("D44-failover", "PROTOCOL.md section 7.4"),
        (topic("a", [2, 3]), starts(1), starts(2), starts(3), starts(4), asks_to_move(a_0=[3, 4]),
         away(asks_to_delete("a"))),
    ),
    ByHand(
        "The move that a deletion waits for is over, so the topic is deleted",
        ("PROTOCOL.md section 7.4", "PROTOCOL.md section 8"), (*WAITS, leads("a-0", 1, 3, [1, 2, 3])),
    ),
    ByHand(
        "A partition is added to a topic whose deletion waits for a broker, and goes with it",
        ("D17", "PartitionModificationsListener 0.10.2.2"),
        (topic("a", [1, 2]), starts(1), starts(2), ends(2), asks_to_delete("a"),
         writes(topic_path("a"), {"version": 1, "partitions": {"0": [1, 2], "1": [1, 2]}}), starts(2)),
    ),
    ByHand(
        "Somebody asks for an election of a topic whose deletion waits: nobody is elected, and the deletion begins",
        ("PROTOCOL.md section 7.4", "PROTOCOL.md section 7.6"),
        (topic("a", [2, 1]), starts(1), starts(2), ends(2), asks_to_delete("a"), asks_to_elect("a-0")),
    ),
    ByHand(
        "The leader of a topic dies whose deletion waits for another broker: all are told who lives",
        ("PROTOCOL.md section 7.1", "KafkaController.onBrokerFailure 0.10.2.2"),
        (topic("a", [2, 3]), starts(1), starts(2), deletes(CONTROLLER) + asks_to_delete("a"), ends(2)),
    ),
    ByHand(
        "The first of two topics has no znode any more: its request ends the deletion thread, the second one stays",
        ("D37", "TopicDeletionManager.completeDeleteTopic 0.10.2.2"),
        (topic("b", [1]), starts(1), deletes(CONTROLLER) + asks_to_delete("a"), asks_to_delete("b")),
    ),
    ByHand(
        "The answer to the delete of a topic's znode is lost, the topic is created again, and that is deleted",
        ("D70-again", "ZkClient.retryUntilConnected"),
        (topic("a", [1]), starts(1),
         loses("delete", topic_path("a")) + before("delete", topic_path("a"), topic("a", [1, 2]))
         + asks_to_delete("a")),
    ),
    ByHand(
        "Another removes a topic before its deletion completes; it is created again, and a replica counts as deleted",
        ("S7", "PartitionStateMachine.TopicChangeListener"),
        (topic("a", [1, 2]), starts(1), starts(2), hangs(2), asks_to_delete("a"),
         vanishes("a") + deletes("/admin/delete_topics/a", "/config/topics/a"), topic("a", [1, 2])),
    ),
    ByHand(
        "A topic is created whose state znode is there already: its leader is not told, and nobody is elected",
        ("PROTOCOL.md section 4", "ReplicaStateMachine.handleStateChange 0.10.2.2"),
        (topic("b", [1]), starts(1), starts(2), topic("a", [1, 2]) + creates(state_path("a-0"), says(2, 3, [2], 9))),
    ),
    ByHand(
        "A topic whose znode holds no JSON is a topic without partitions, and is deleted as such",
        ("PROTOCOL.md section 2", "ZkUtils.getReplicaAssignmentForTopics"),
        (creates(topic_path("a"), "x{"), starts(1), asks_to_delete("a")),
    ),
    ByHand(
        "A topic whose AR names a broker twice is deleted",
        ("D62", "KafkaController.removeReplicaFromIsr 0.10.2.2"),
        (topic("a", [1, 1]), starts(1), asks_to_delete("a")),
    ),
    ByHand(
        "The broker fails that an AR names twice: it stays in the ISR, which is a list, and leads no more",
        ("D62", "KafkaController.removeReplicaFromIsr 0.10.2.2"),
        (topic("a", [2, 2]), starts(1), starts(2), ends(2)),
    ),
    ByHand(
        "The parent of the notifications is deleted, and made again by the next notification",
        ("PROTOCOL.md section 2", "PROTOCOL.md section 7.7"),
        (topic("a", [1, 2]), starts(1), starts(2),
         leads("a-0", 1, 1, [1, 2]) + deletes(ISR_CHANGES) + reports("a-0")),
    ),
)  # fmt: skip
