"""Partition addition by PROTOCOL.md section 7.3: the listener of a topic's own znode, led by the hand."""

import pytest

from reference.controller.controller import KafkaController
from reference.controller.effects import SkipCallback
from reference.elections.requested import FinishFailover
from reference.journal import Entry, Report, StateChange
from reference.leadership.effects import CreateState, ReadForNewReplica
from reference.scripts import state_path
from reference.threads import on_callback, subscribed
from reference.topics.addition import OnPartitionModifications
from reference.zookeeper.api import NodeData, Stat
from spec.errors import MalformedInput
from spec.formats.kafka_types import TopicPartition
from spec.formats.request_schemas import LeaderAndIsrRequest
from spec.formats.znodes import TopicPayload
from spec.logs.log_lines import Line
from spec.logs.state_change_lines import ReplicaChangeFailed
from spec.state.enumerations import Callback
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState
from tests.reference.deletions import said
from tests.reference.hands import TP, Hand, controller, failed_over, requests, znode
from tests.reference.test_lenient_reads import NO_JSON, RAISES

ADDED = TopicPartition("t", 1)
GROWN = {0: (1, 2, 3), 1: (2, 3)}
"""The topic's znode with a partition more."""
LISTENER = "[AddPartitionsListener on Controller 1]"


def working() -> tuple[KafkaController, list[Entry]]:
    """A controller of three brokers that knows partition 0 of t, which is on all of them."""
    one, journal = controller()
    failed_over(one, (1, 2, 3), [znode(1, (1, 2, 3), epoch=4)]).expect(FinishFailover, None)
    journal.clear()
    return one, journal


def held(data: bytes | None) -> NodeData:
    """What the topic's own znode holds."""
    return NodeData(data, Stat(1, 2, 1, 1, 0, 0, len(data or b""), 0))


def payload(assignment: dict[int, tuple[int, ...]]) -> bytes | None:
    """The data of an assignment."""
    return TopicPayload(partitions=assignment).encode()


def printed(journal: list[Entry], kind: type[Report | StateChange]) -> list[Line]:
    return [entry.line for entry in journal if isinstance(entry, kind)]


def test_a_failover_listens_to_every_topic_and_an_expiry_calls_that_listener_before_the_one_of_the_controller() -> None:
    one, _ = working()
    assert list(subscribed(one))[-3:] == ["t", Callback.CONTROLLER, Callback.ELECTIONS]


def test_a_partition_that_was_added_goes_the_way_of_a_new_topics() -> None:
    one, journal = working()
    hand = Hand(on_callback(one, "t"))
    hand.expect(OnPartitionModifications, held(payload(GROWN)))
    for replica in (2, 3):
        hand.expect(ReadForNewReplica, None, replica=replica)
    hand.expect(CreateState, None)
    assert hand.ended
    assert one.context.partition_replica_assignment == {TP: (1, 2, 3), ADDED: (2, 3)}
    assert one.partition_machine.states[ADDED] is PartitionState.ONLINE
    assert [one.replica_machine.states[ADDED, r] for r in (2, 3)] == [ReplicaState.ONLINE] * 2
    told = [(broker, [state.partition for state in one.partition_states])
            for broker, one in requests(journal, LeaderAndIsrRequest)]  # fmt: skip
    assert sorted(told) == [(2, [1]), (3, [1])]


def test_the_lines_of_an_addition_are_those_of_a_real_controller() -> None:
    """Recording 01, broker-1/controller.log:93 to 97."""
    one, journal = working()
    text = '{"version":1,"partitions":{"0":[1],"1":[2],"2":[3],"3":[2]}}'
    one.context.partition_replica_assignment = {TopicPartition("rf1", number): (number + 1,) for number in range(3)}
    hand = Hand(on_callback(one, "rf1"))
    hand.expect(OnPartitionModifications, held(text.encode()))
    added = "[Topic=rf1,Partition=3,Replica=2]"
    assert [str(line) for line in printed(journal, Report)] == [
        f"{LISTENER}: Partition modification triggered {text} for path /brokers/topics/rf1",
        f"{LISTENER}: New partitions to be added Map([rf1,3] -> List(2))",
        "[Controller 1]: New partition creation callback for [rf1,3]",
        "[Partition state machine on Controller 1]: Invoking state change to NewPartition for partitions [rf1,3]",
        f"[Replica state machine on controller 1]: Invoking state change to NewReplica for replicas {added}",
    ]


@pytest.mark.parametrize("assignment", [{0: (1, 2, 3)}, {0: (3, 2, 1)}])
def test_a_change_of_what_is_known_is_noticed_and_nothing_is_done(assignment: dict[int, tuple[int, ...]]) -> None:
    one, journal = working()
    hand = Hand(on_callback(one, "t"))
    hand.expect(OnPartitionModifications, held(payload(assignment)))
    assert hand.ended
    assert said(journal) == ["TopicModified"]
    assert one.context.partition_replica_assignment == {TP: (1, 2, 3)}


def test_nothing_is_added_to_a_topic_that_is_queued_for_deletion() -> None:
    one, journal = working()
    one.deleting.queued = frozenset({"t"})
    hand = Hand(on_callback(one, "t"))
    hand.expect(OnPartitionModifications, held(payload(GROWN)))
    assert hand.ended
    assert said(journal) == ["TopicModified", "PartitionsSkipped"]
    assert ADDED not in one.context.partition_replica_assignment


def test_a_topic_that_is_gone_is_nobodys_business() -> None:
    one, journal = working()
    hand = Hand(on_callback(one, "t"))
    hand.expect(OnPartitionModifications, None)
    assert (hand.ended, journal) == (True, [])


@pytest.mark.parametrize(
    ("data", "told"), [*((data, []) for data in NO_JSON), *((data, ["PartitionsError"]) for data in RAISES)]
)
def test_what_cannot_be_read_is_told_behind_what_it_is(data: bytes | None, told: list[str]) -> None:
    """What is no JSON names no partition."""
    one, journal = working()
    hand = Hand(on_callback(one, "t"))
    hand.expect(OnPartitionModifications, held(data))
    assert hand.ended
    assert said(journal) == ["TopicModified", *told]
    (modified, *_) = printed(journal, Report)
    assert f"triggered {'null' if data is None else data.decode()} for" in str(modified)


def test_what_is_raised_for_a_replica_ends_its_transition_only() -> None:
    """`ReplicaStateMachine.handleStateChange`; its partition is led by it all the same, for nobody asks its state."""
    one, journal = working()
    hand = Hand(on_callback(one, "t"))
    hand.expect(OnPartitionModifications, held(payload(GROWN)))
    hand.fail(ReadForNewReplica, MalformedInput(state_path(ADDED), "isr", "missing"))
    hand.expect(ReadForNewReplica, None, replica=3)
    hand.expect(CreateState, None)
    assert hand.ended
    states = [one.replica_machine.states.get((ADDED, r)) for r in (2, 3)]
    assert states == [None, ReplicaState.ONLINE]
    assert one.context.partition_leadership_info[ADDED].leader == 2
    failed = [line for line in printed(journal, StateChange) if isinstance(line, ReplicaChangeFailed)]
    assert [(line.replica, line.target) for line in failed] == [(2, ReplicaState.NEW), (2, ReplicaState.ONLINE)]


def test_who_is_not_active_only_reads() -> None:
    one, _ = controller()
    hand = Hand(on_callback(one, "t"))
    hand.expect(SkipCallback, None)
    assert hand.ended
