"""Controlled shutdown by PROTOCOL.md section 7.2 and the recording of it; its log, line by line."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from reference.broker_events.broker_changes import on_broker_failure
from reference.broker_events.controlled_shutdown import Departure, answer_shutdown, begin_shutdown, move_partition
from reference.controller.context import Shutdown
from reference.controller.effects import EpochZnode, ResignDelete
from reference.controller.resignation import take_down
from reference.elections.requested import FinishFailover
from reference.journal import Report, ShutdownAnswered, StateChange
from reference.leadership.effects import ReadForRemoval, StateWrite, WriteRemoval
from reference.procedures import FencedOff
from spec.errors import MalformedInput
from spec.formats.error_codes import ErrorCode
from spec.formats.kafka_types import NO_LEADER, TopicPartition
from spec.formats.request_schemas import ControlledShutdownResponse, LeaderAndIsrRequest, StopReplicaRequest
from spec.logs.controller_log.broker_changes import (
    AllLeaders,
    AllShuttingDown,
    LiveBrokers,
    RemovingFromIsr,
    ShuttingDownBroker,
)
from spec.logs.controller_log.channels import StopReplicaNotSent
from spec.logs.controller_log.failover import ForcedToResign
from spec.logs.controller_log.lines import CONTROLLER_LOG
from spec.logs.controller_request_lines import (
    ControllerLine,
    LeaderAndIsrSending,
    ResponseReceived,
    UpdateMetadataSending,
)
from spec.logs.log_entries import LogEntry, read_entries
from spec.logs.log_lines import Line
from spec.logs.state_change_lines import STATE_CHANGE_LOG, LeaderElectionStarted, ReplicaChanged
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState
from spec.variants import Switch
from tests.model_check.unpacking import recording
from tests.reference.hands import TP, Hand, controller, failed_over, registered, requests, znode

SECOND = TopicPartition(TP.topic, 1)
Assigned = Mapping[TopicPartition, tuple[int, ...]]
DONE, MOVED = ControlledShutdownResponse(ErrorCode.NONE), ControlledShutdownResponse(ErrorCode.STALE_CONTROLLER_EPOCH)


class Cluster:
    """Controller 1 at work on brokers 1, 2 and 3; its partitions' state znodes have the first replica as leader."""

    def __init__(self, assigned: Assigned, *switches: Switch, epoch: int = 5) -> None:
        self.one, self.journal = controller(*switches)
        failed_over(self.one, (1, 2, 3)).expect(FinishFailover, None)
        self.states = {tp: znode(ar[0], ar, epoch=epoch) for tp, ar in assigned.items()}
        context = self.one.context
        context.epoch = epoch
        context.partition_replica_assignment = dict(assigned)
        context.partition_leadership_info = dict(self.states)
        self.one.replica_machine.states = {(tp, r): ReplicaState.ONLINE for tp, ar in assigned.items() for r in ar}
        self.one.partition_machine.states = dict.fromkeys(assigned, PartitionState.ONLINE)
        self.journal.clear()

    def move(self, partition: TopicPartition) -> None:
        """Treat one partition; what is written, is in its znode."""
        hand = Hand(move_partition(self.one, partition))
        while not hand.ended:
            effect: Any = hand.pending
            found = self.states[partition]
            if isinstance(effect, StateWrite):
                self.states[partition] = replace(effect.leadership, zk_version=found.zk_version + 1)
                hand.expect(type(effect), found.zk_version + 1)
            else:
                hand.expect(type(effect), found)

    def shut_down(self, b: int) -> ControlledShutdownResponse:
        """The whole shutdown of a broker."""
        assert begin_shutdown(self.one, b) is ErrorCode.NONE
        assert self.one.shutdown is not None
        for partition in sorted(self.one.shutdown.to_move):
            self.move(partition)
        return answer_shutdown(self.one, None)

    def leadership(self, partition: TopicPartition = TP) -> tuple[int, tuple[int, ...], int]:
        known = self.states[partition]
        return known.leader, known.isr, known.leader_epoch


def test_the_example_of_the_admin_test() -> None:
    """Its brokers 0, 1, 2 are 1, 2, 3 here."""
    cluster = Cluster({TP: (1, 2, 3)})
    assert cluster.shut_down(3) == DONE
    assert cluster.leadership() == (1, (1, 2), 1)
    assert [broker for broker, _ in requests(cluster.journal, StopReplicaRequest)] == [3, 3], "once alone, and again"
    assert cluster.shut_down(2) == DONE
    assert cluster.leadership() == (1, (1,), 2)
    assert cluster.shut_down(1).partitions_remaining == (TP,), "nobody else is in sync"
    assert cluster.leadership() == (1, (1,), 2)


def test_a_leader_hands_over_to_the_first_of_ar_and_is_told_to_follow() -> None:
    cluster = Cluster({TP: (1, 2, 3)})
    assert cluster.shut_down(1) == DONE
    assert cluster.leadership() == (2, (2, 3), 1)
    assert [broker for broker, _ in requests(cluster.journal, LeaderAndIsrRequest)] == [1, 2, 3]
    assert not requests(cluster.journal, StopReplicaRequest)
    assert cluster.one.replica_machine.states[TP, 1] is ReplicaState.ONLINE, "the replica's state is not touched"


@pytest.mark.parametrize(("broker", "remaining"), [(1, (TP,)), (3, ())])
def test_a_state_znode_that_cannot_be_read_leaves_its_own_partition_only(
    broker: int, remaining: tuple[TopicPartition, ...]
) -> None:
    """`handleStateChanges` raises nothing: the shutdown goes on, and the leader is told what it still leads."""
    cluster = Cluster({TP: (1, 2, 3), SECOND: (1, 2, 3)})
    begin_shutdown(cluster.one, broker)
    hand = Hand(move_partition(cluster.one, TP))
    effect: Any = hand.pending
    hand.fail(type(effect), MalformedInput("/brokers/topics/t/partitions/0/state", "", "not JSON"))
    assert hand.ended
    assert cluster.one.shutdown == Shutdown(broker, frozenset({SECOND}))
    cluster.move(SECOND)
    assert cluster.leadership(SECOND)[0] != broker
    assert answer_shutdown(cluster.one, None) == ControlledShutdownResponse(ErrorCode.NONE, remaining)


@pytest.mark.parametrize(("fixes", "leader"), [((), 2), ((Switch.DYING_TOPICS_GET_NO_LEADERSHIP,), 1)])
def test_a_topic_that_is_being_deleted_is_not_exempt_unless_fixed(fixes: Sequence[Switch], leader: int) -> None:
    cluster = Cluster({TP: (1, 2, 3)}, *fixes)
    cluster.one.deleting.queued = frozenset({TP.topic})
    assert cluster.shut_down(1).partitions_remaining == ((TP,) if fixes else ())
    assert cluster.leadership()[0] == leader
    assert bool(requests(cluster.journal, LeaderAndIsrRequest)) == (not fixes)


def test_a_partition_with_one_replica_is_neither_moved_nor_reported() -> None:
    cluster = Cluster({TP: (3,)})
    assert cluster.shut_down(3) == DONE
    assert cluster.leadership() == (3, (3,), 0)


def test_a_partition_without_leadership_is_left_alone() -> None:
    cluster = Cluster({TP: (1, 2, 3)})
    cluster.one.context.partition_leadership_info.clear()
    assert cluster.shut_down(3) == DONE
    assert not requests(cluster.journal, StopReplicaRequest)


@pytest.mark.parametrize(
    ("switches", "active", "broker", "code"),
    [((), False, 3, ErrorCode.STALE_CONTROLLER_EPOCH), ((), True, 4, ErrorCode.BROKER_NOT_AVAILABLE)],
)
def test_who_is_not_active_or_does_not_know_the_broker_refuses(
    switches: tuple[Switch, ...], active: bool, broker: int, code: ErrorCode
) -> None:
    cluster = Cluster({TP: (1, 2, 3)}, *switches)
    if not active:
        cluster.one.context.controller_channel_manager = None
    assert begin_shutdown(cluster.one, broker) is code
    refused = ShutdownAnswered(1, broker, ControlledShutdownResponse(code))
    assert [entry for entry in cluster.journal if isinstance(entry, ShutdownAnswered)] == [refused]
    assert cluster.one.shutdown is None
    assert cluster.one.live == {1, 2, 3}


def test_who_is_shutting_down_gets_requests_and_may_not_lead_until_its_failure_is_handled() -> None:
    cluster = Cluster({TP: (1, 2, 3)})
    cluster.shut_down(3)
    context = cluster.one.context
    assert context.live_broker_ids == {1, 2}
    assert context.live_or_shutting_down_broker_ids == {1, 2, 3}
    context.live_brokers = registered(1, 2)
    Hand(on_broker_failure(cluster.one, frozenset({3})))
    context.live_brokers = registered(1, 2, 3)
    assert context.live_broker_ids == {1, 2, 3}


def test_a_new_term_knows_of_no_shutdown() -> None:
    cluster = Cluster({TP: (1, 2, 3)})
    cluster.shut_down(3)
    cluster.one.context.controller_channel_manager = None
    cluster.one.metrics.clear()
    failed_over(cluster.one, (1, 2, 3))
    assert cluster.one.live == {1, 2, 3}


# ------------------------------------------------------------------------------------------------- a controller no more


@pytest.mark.parametrize(
    ("fixes", "answer"),
    [
        ((Switch.FENCED_WRITES,), ControlledShutdownResponse(ErrorCode.UNKNOWN)),
        ((Switch.FENCED_WRITES, Switch.SHUTDOWN_ENDS_WITH_TERM), MOVED),
    ],
)
def test_a_write_that_is_fenced_off_takes_the_controller_down(
    fixes: Sequence[Switch], answer: ControlledShutdownResponse
) -> None:
    cluster = Cluster({TP: (1, 2, 3), SECOND: (2, 3)}, *fixes)
    begin_shutdown(cluster.one, 3)
    hand = Hand(move_partition(cluster.one, TP))
    hand.expect(ReadForRemoval, cluster.states[TP])
    hand.fail(WriteRemoval, FencedOff("moved"))
    assert hand.ended
    assert (cluster.one.is_active, cluster.one.leader_id) == (False, NO_LEADER)
    assert cluster.one.shutdown is None or not cluster.one.shutdown.to_move
    assert answer_shutdown(cluster.one, None) == answer


def test_a_read_that_is_fenced_off_is_no_removal_from_the_isr() -> None:
    """Who is refused may read no leadership for the cache, and says nothing of a removal; other failures end one."""
    said = []
    for error in (FencedOff("moved"), MalformedInput("/state", "", "no object")):
        cluster = Cluster({TP: (1, 2, 3), SECOND: (2, 3)}, Switch.FENCED_WRITES, Switch.FENCED_READS)
        begin_shutdown(cluster.one, 3)
        Hand(move_partition(cluster.one, TP)).fail(ReadForRemoval, error)
        lines = [type(entry.line) for entry in cluster.journal if isinstance(entry, Report)]
        said.append((RemovingFromIsr in lines, cluster.one.is_active))
    assert said == [(False, False), (True, True)]


# ----------------------------------------------------------------------------------------------------- the term is over


def test_who_has_resigned_cannot_send_and_resigns_again() -> None:
    """Its successor's /controller is deleted then (D3), and the broker's answer is an error."""
    cluster = Cluster({TP: (1, 2, 3), SECOND: (2, 3)})
    begin_shutdown(cluster.one, 3)
    take_down(cluster.one)
    cluster.journal.clear()
    hand = Hand(move_partition(cluster.one, TP))
    hand.expect(ResignDelete, None)
    assert hand.ended
    assert cluster.one.leader_id == NO_LEADER
    assert cluster.one.shutdown == Shutdown(3, frozenset(), failed=True)
    lines = [entry.line for entry in cluster.journal if isinstance(entry, Report)]
    stops = f"StopReplicaRequestInfo([Topic={TP.topic},Partition={TP.partition},Replica=3],false,null)"
    assert lines[2:] == [
        StopReplicaNotSent(f"Map(3 -> List({stops}))", "java.lang.NullPointerException"), ForcedToResign(1),
    ]  # fmt: skip
    assert answer_shutdown(cluster.one, None) == ControlledShutdownResponse(ErrorCode.UNKNOWN)
    assert not cluster.one.context.partition_leadership_info


def test_who_has_resigned_elects_nobody_and_answers_what_it_had_cached() -> None:
    cluster = Cluster({TP: (1, 2, 3)})
    begin_shutdown(cluster.one, 1)
    take_down(cluster.one)
    cluster.move(TP)
    assert cluster.leadership() == (1, (1, 2, 3), 0)
    assert answer_shutdown(cluster.one, None) == ControlledShutdownResponse(ErrorCode.NONE, (TP,))


def test_who_has_resigned_finds_nothing_cached_where_that_is_emptied_and_lets_the_leader_go() -> None:
    cluster = Cluster({TP: (1, 2, 3)}, Switch.CLEAR_CONTEXT)
    begin_shutdown(cluster.one, 1)
    take_down(cluster.one)
    cluster.move(TP)
    assert answer_shutdown(cluster.one, None) == DONE


def test_where_that_is_fixed_a_shutdown_ends_with_its_term() -> None:
    cluster = Cluster({TP: (1, 2, 3)}, Switch.SHUTDOWN_ENDS_WITH_TERM)
    begin_shutdown(cluster.one, 3)
    take_down(cluster.one)
    assert cluster.one.shutdown is None
    assert answer_shutdown(cluster.one, None) == MOVED


@pytest.mark.parametrize(("switches", "found", "answered"), [
    ((), None, DONE), ((Switch.FENCED_ANSWERS,), EpochZnode(5, 4), DONE),
    ((Switch.FENCED_ANSWERS,), EpochZnode(6, 5), MOVED), ((Switch.FENCED_ANSWERS,), None, MOVED),
])  # fmt: skip
def test_where_that_is_fixed_only_the_latest_controller_answers(
    switches: tuple[Switch, ...], found: EpochZnode | None, answered: ControlledShutdownResponse
) -> None:
    cluster = Cluster({TP: (1, 2, 3)}, *switches)
    begin_shutdown(cluster.one, 3)
    cluster.move(TP)
    assert answer_shutdown(cluster.one, found) == answered
    assert cluster.one.is_active == (answered == DONE)


def test_a_resignation_in_the_middle_drops_the_rest() -> None:
    cluster = Cluster({TP: (1, 2, 3)})
    begin_shutdown(cluster.one, 3)
    cluster.one.shutdown = None
    assert Hand(move_partition(cluster.one, TP)).ended
    assert answer_shutdown(cluster.one, None) == MOVED


# ----------------------------------------------------------------------------------------------------------- the broker


def test_a_broker_asks_while_it_has_tries_left_and_goes_when_it_leads_nothing() -> None:
    first = Departure(tries=2).asking(1)
    assert not first.has_ended, "it waits for an answer"
    for bad in (None, MOVED, ControlledShutdownResponse(ErrorCode.NONE, (TP,))):
        again = first.answered(bad)
        assert (again.tries, again.asked, again.may_go, again.has_ended) == (1, None, False, False)
        last = again.asking(2)
        assert (last.tries, last.has_ended) == (0, False)
        assert (last.answered(bad).has_ended, last.answered(bad).may_go) == (True, False), "its tries are used up"
    assert (first.answered(DONE).has_ended, first.answered(DONE).may_go) == (True, True)


# -------------------------------------------------------------------------------------------------------- the recording

RF1, RF2, RF3 = (
    {TopicPartition(topic, p): replicas for p, replicas in enumerate(assigned)}
    for topic, assigned in {
        "rf1": ((1,), (2,), (3,)),
        "rf2": ((1, 2), (2, 3), (3, 1)),
        "rf3": ((1, 2, 3), (2, 3, 1), (3, 1, 2)),
    }.items()
)
SENDS = (LeaderAndIsrSending, UpdateMetadataSending)
SHUTDOWN_LINES = (ShuttingDownBroker, AllShuttingDown, LiveBrokers, AllLeaders)


def entries(log: str) -> list[LogEntry]:
    """A log of the real broker 1."""
    text = (recording("09-controlled-shutdown") / "broker-1" / log).read_text().splitlines()
    return [entry for entry in read_entries(text, log) if isinstance(entry, LogEntry)]


def recorded() -> tuple[Sequence[Line], Sequence[ControllerLine]]:
    """What the real controller 1 wrote during the first shutdown, of broker 3: of the shutdown, and of states.

    What its send threads wrote meanwhile is left out.
    """
    reports = entries("controller.log")
    begin, end = (
        next(place for place, entry in enumerate(reports) if words in entry.message)
        for words in ("Shutting down broker 3", "[Controller 1]: All leaders")
    )
    told = [CONTROLLER_LOG.parse(entry.message) for entry in reports[begin : end + 1]]
    times = reports[begin].time, reports[end].time
    lines = [
        STATE_CHANGE_LOG.parse(entry.message)
        for entry in entries("state-change.log")
        if times[0] <= entry.time <= times[1]
    ]
    states = [line for line in lines if isinstance(line, ControllerLine) and not isinstance(line, ResponseReceived)]
    return [line for line in told if isinstance(line, SHUTDOWN_LINES)], states


def without_hashes(lines: Sequence[Line]) -> list[object]:
    """Lines in their order, but for those whose order is left to a hash: who is told first, who leads what."""
    sent = sorted(str(line) for line in lines if isinstance(line, SENDS))
    rest = [line for line in lines if not isinstance(line, SENDS)]
    return [*(set(line.leaders) if isinstance(line, AllLeaders) else line for line in rest), sent]


def test_the_logs_of_a_shutdown_are_what_a_real_controller_wrote() -> None:
    """Which partition is next is left to a hash, too: the order is the recording's."""
    told, states = recorded()
    begins = [line for line in states if isinstance(line, LeaderElectionStarted | ReplicaChanged)]
    cluster = Cluster({**RF1, **RF2, **RF3}, epoch=1)
    assert begin_shutdown(cluster.one, 3) is ErrorCode.NONE
    assert cluster.one.shutdown is not None
    assert cluster.one.shutdown.to_move == {line.partition for line in begins}
    for line in begins:
        cluster.move(line.partition)
    assert answer_shutdown(cluster.one, None) == DONE
    ours = [entry.line for entry in cluster.journal if isinstance(entry, Report)]
    assert without_hashes([line for line in ours if isinstance(line, SHUTDOWN_LINES)]) == without_hashes(told)
    ours = [entry.line for entry in cluster.journal if isinstance(entry, StateChange)]
    assert without_hashes(ours) == without_hashes(states)
    assert (len(told), len(states)) == (4, 24)
