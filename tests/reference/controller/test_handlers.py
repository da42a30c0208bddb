"""The controller's handlers, driven by hand: what they ask for, and what they make of the answers.

Nothing runs here but the generators themselves: no ZooKeeper, no scheduler. Expected effects and decisions are those of
PROTOCOL.md sections 3, 4 and 6.
"""

from typing import Any

import pytest

from reference.controller.context import Activity
from reference.controller.effects import (
    ElectCreate,
    ElectRead,
    ElectReread,
    EpochZnode,
    IncrementEpoch,
    OnBrokerChange,
    OnControllerChange,
    OnNewSession,
    ReadBrokers,
    ReadEpoch,
    ResignDelete,
    Subscribe,
)
from reference.elections.requested import FinishFailover
from reference.failover.election import elect, on_controller_change, on_new_session
from reference.journal import Milestone, Reached, RequestSent, StateChange
from reference.leadership.effects import (
    CreateState,
    ReadForElection,
    ReadForRemoval,
    ReadUnclean,
    WriteElectedLeader,
    WriteRemoval,
)
from reference.procedures import Effect, FencedOff, MissingDeletionThread, UnexpectedFailure, snake_case
from reference.threads import on_callback
from spec.errors import MalformedInput
from spec.formats.request_schemas import LeaderAndIsrRequest, StopReplicaRequest, UpdateMetadataRequest
from spec.state.enumerations import Callback, DeletionThread
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState
from spec.variants import Switch
from tests.leaderships import led
from tests.reference.hands import TP, Hand, controller, failed_over, milestones, registered, requests, working, znode

# ------------------------------------------------------------------------------------------------------------ election


def test_who_finds_a_controller_remembers_it_and_stops() -> None:
    one, _ = controller()
    hand = Hand(elect(one))
    hand.expect(ElectRead, 3)
    assert hand.ended
    assert one.leader_id == 3


def test_who_loses_the_race_reads_who_won() -> None:
    one, _ = controller()
    hand = Hand(elect(one))
    hand.expect(ElectRead, -1)
    hand.expect(ElectCreate, False)
    hand.expect(ElectReread, 2)
    assert hand.ended
    assert (one.leader_id, one.is_active) == (2, False)


def test_a_failover_makes_the_controller_active_and_tells_every_broker() -> None:
    one, journal = controller()
    hand = failed_over(one, (1, 2))
    hand.expect(FinishFailover, None)
    assert hand.ended
    assert (one.context.epoch, one.context.epoch_zk_version, one.is_active) == (5, 4, True)
    assert one.deletion is DeletionThread.RUNNING
    assert [broker for broker, _ in requests(journal, UpdateMetadataRequest)] == [1, 2]
    assert milestones(journal) == [Milestone.READY]


def test_a_lost_increment_is_swallowed_and_the_epoch_read_is_acted_in() -> None:
    """D1: the failover goes on with the un-incremented epoch."""
    one, journal = controller()
    hand = Hand(elect(one))
    hand.expect(ElectRead, -1)
    hand.expect(ElectCreate, True)
    hand.expect(ReadEpoch, EpochZnode(4, 3))
    assert hand.expect(IncrementEpoch, -1) == IncrementEpoch(5, 3)
    hand.expect(Subscribe, None)
    assert one.context.epoch == 4
    assert milestones(journal) == [Milestone.EPOCH_CONFLICT]


def test_the_fix_of_a_lost_increment_resigns() -> None:
    one, _ = controller(Switch.RESIGN_ON_EPOCH_CONFLICT)
    hand = Hand(elect(one))
    hand.expect(ElectRead, -1)
    hand.expect(ElectCreate, True)
    hand.expect(ReadEpoch, EpochZnode(4, 3))
    hand.expect(IncrementEpoch, -1)
    assert hand.expect(ResignDelete, None) == ResignDelete(only_own=False)
    assert hand.ended
    assert one.leader_id == -1


@pytest.mark.parametrize("before", [0, 1, 2, 3])
def test_any_exception_in_a_failover_deletes_the_znode_and_leaves_the_rest(before: int) -> None:
    """D4: `resign()` runs no resignation; what was subscribed stays subscribed."""
    one, journal = controller()
    hand = Hand(elect(one))
    hand.expect(ElectRead, -1)
    hand.expect(ElectCreate, True)
    answers: list[tuple[type[Effect[Any]], object]] = [
        (ReadEpoch, EpochZnode(4, 3)), (IncrementEpoch, 4), (Subscribe, None), (ReadBrokers, registered(1)),
    ]  # fmt: skip
    for kind, result in answers[:before]:
        hand.expect(kind, result)
    hand.fail(answers[before][0], UnexpectedFailure())
    hand.expect(ResignDelete, None)
    assert hand.ended
    assert (one.leader_id, bool(one.listeners), one.context.epoch > 0) == (-1, before > 2, before > 0)
    assert milestones(journal) == [Milestone.FAILOVER_FAILED]


@pytest.mark.parametrize("error", [OSError("no space left"), KeyError("a mistake of ours")])
def test_what_is_no_failure_of_the_controllers_is_not_caught(error: Exception) -> None:
    """Kafka's catches are of what goes wrong in Kafka; a recording must not show a resignation for a full disk."""
    one, _ = controller()
    with pytest.raises(type(error)):
        failed_over(one, (1, 2)).fail(FinishFailover, error)
    two, _ = working((1, 2, 3), znode(1, (1, 2, 3)))
    changed = Hand(on_callback(two, Callback.BROKERS))
    changed.expect(OnBrokerChange, registered(2, 3))
    with pytest.raises(type(error)):
        changed.fail(ReadForElection, error)


def test_a_half_finished_controller_cannot_resign() -> None:
    """D56: a deletion manager without a thread makes the resignation raise, state machines and channels stay up."""
    one, _ = controller()
    hand = failed_over(one, (1, 2))
    hand.fail(FinishFailover, UnexpectedFailure())
    hand.expect(ResignDelete, None)
    assert one.is_active
    again = Hand(on_new_session(one))
    with pytest.raises(MissingDeletionThread):
        again.expect(OnNewSession, -1)
    assert (one.is_active, one.context.epoch) == (True, 5)


def test_a_failover_that_a_refused_write_ends_is_about_nothing_any_more() -> None:
    one, _ = controller(Switch.FENCED_WRITES)
    hand = failed_over(one, [1, 2])
    one.is_about(asked=frozenset({TP}))
    hand.fail(FinishFailover, FencedOff("refused"))
    assert hand.ended
    assert one.activity == Activity()


def test_a_left_over_channel_ends_the_next_failover() -> None:
    """D56: the channels that a failed failover left behind are in the way of the next, before anything is told."""
    one, journal = controller()
    failed_over(one, (1, 2)).fail(FinishFailover, UnexpectedFailure())
    journal.clear()
    hand = failed_over(one, (2, 3))
    hand.expect(ResignDelete, None)
    assert milestones(journal) == [Milestone.LEFT_OVER_CHANNELS]
    assert requests(journal, UpdateMetadataRequest) == []


def test_only_the_controller_itself_resigns_when_another_takes_over() -> None:
    one, journal = controller()
    failed_over(one, (1, 2)).expect(FinishFailover, None)
    hand = Hand(on_controller_change(one))
    hand.expect(OnControllerChange, 2)
    assert hand.ended
    assert (one.is_active, one.context.epoch, one.listeners) == (False, 0, frozenset())
    assert milestones(journal)[-1] is Milestone.RESIGNED
    bystander, told = controller()
    Hand(on_controller_change(bystander)).expect(OnControllerChange, 2)
    assert milestones(told) == []


def test_a_new_session_that_finds_itself_controller_does_nothing() -> None:
    one, journal = controller()
    failed_over(one, (1, 2)).expect(FinishFailover, None)
    hand = Hand(on_new_session(one))
    hand.expect(OnNewSession, 1)
    assert hand.ended
    assert Milestone.RESIGNED not in milestones(journal)


# ------------------------------------------------------------------------------------------- partitions and replicas


def test_a_new_partition_is_led_by_its_first_live_replica() -> None:
    one, journal = controller()
    hand = failed_over(one, (2, 3), [None])
    create = hand.expect(CreateState, None)
    assert isinstance(create, CreateState)
    assert create.leadership == led(2, 0, (2, 3), 5, 0)
    hand.expect(FinishFailover, None)
    ordered = requests(journal, LeaderAndIsrRequest)
    assert [broker for broker, _ in ordered] == [2, 3]
    assert {request.partition_states[0].replicas for _, request in ordered} == {(1, 2, 3)}
    assert one.partition_machine.states[TP] is PartitionState.ONLINE


def test_somebody_elses_state_znode_leaves_the_partition_new() -> None:
    one, journal = controller()
    hand = failed_over(one, (1, 2, 3), [None])
    hand.expect(CreateState, znode(3, (3,)))
    hand.expect(FinishFailover, None)
    assert one.partition_machine.states[TP] is PartitionState.NEW
    assert TP not in one.context.partition_leadership_info
    assert requests(journal, LeaderAndIsrRequest) == []
    texts = [str(entry.line) for entry in journal if isinstance(entry, StateChange)]
    assert any("path already exists with value" in text for text in texts)


def test_an_election_is_tried_again_on_fresh_data_until_the_write_holds() -> None:
    one, _ = controller()
    hand = failed_over(one, (2, 3), [znode(1, (1, 2, 3))])
    hand.expect(ReadForElection, znode(1, (1, 2, 3)))
    first = hand.expect(WriteElectedLeader, None)
    hand.expect(ReadForElection, znode(1, (3, 1), leader_epoch=0, version=1))
    second = hand.expect(WriteElectedLeader, 2)
    assert isinstance(first, WriteElectedLeader)
    assert isinstance(second, WriteElectedLeader)
    assert (first.leadership.leader, first.leadership.isr, first.leadership.zk_version) == (2, (2, 3), 0)
    assert (second.leadership.leader, second.leadership.isr, second.leadership.zk_version) == (3, (3,), 1)
    assert one.context.partition_leadership_info[TP] == led(3, 1, (3,), 5, 2)


def test_a_newer_controllers_state_znode_is_left_alone() -> None:
    one, _ = controller()
    hand = failed_over(one, (2, 3), [znode(1, (1, 2, 3))])
    hand.expect(ReadForElection, znode(1, (1, 2, 3), epoch=6))
    hand.expect(FinishFailover, None)
    assert one.partition_machine.states[TP] is PartitionState.OFFLINE


def test_the_death_of_a_follower_takes_it_out_of_the_isr() -> None:
    """PROTOCOL.md 7.1: no election; ISR minus 3, leader epoch + 1, the other replicas are told."""
    one, journal = working((1, 2, 3), znode(1, (1, 2, 3)))
    hand = Hand(on_callback(one, Callback.BROKERS))
    hand.expect(OnBrokerChange, registered(1, 2))
    hand.expect(ReadForRemoval, znode(1, (1, 2, 3)))
    write = hand.expect(WriteRemoval, 1)
    assert isinstance(write, WriteRemoval)
    assert hand.ended
    assert write.leadership == led(1, 1, (1, 2), 5, 0)
    assert [broker for broker, _ in requests(journal, LeaderAndIsrRequest)] == [1, 2]
    assert one.replica_machine.states[TP, 3] is ReplicaState.OFFLINE
    dropped = [entry for entry in journal if isinstance(entry, RequestSent) and not entry.queued]
    assert [(entry.broker, type(entry.request.request)) for entry in dropped] == [(3, StopReplicaRequest)]


def test_the_death_of_a_leader_elects_and_then_finds_nothing_to_remove() -> None:
    """PROTOCOL.md 7.1, the worked example: leader 2, ISR [2, 3], e+1; broker 1 is not in the ISR any more."""
    one, journal = working((1, 2, 3), znode(1, (1, 2, 3)))
    hand = Hand(on_callback(one, Callback.BROKERS))
    hand.expect(OnBrokerChange, registered(2, 3))
    hand.expect(ReadForElection, znode(1, (1, 2, 3)))
    hand.expect(WriteElectedLeader, 1)
    hand.expect(ReadForRemoval, znode(2, (2, 3), leader_epoch=1, epoch=5, version=1))
    assert hand.ended
    told = [request.partition_states[0].leadership for _, request in requests(journal, LeaderAndIsrRequest)]
    epochs = [known.leader_epoch for known in told]
    assert epochs == [1, 1, 1, 1]


@pytest.mark.parametrize(("unclean", "isr"), [(False, (1,)), (True, ())])
def test_the_last_member_of_an_isr_stays_only_where_unclean_election_is_off(
    *, unclean: bool, isr: tuple[int, ...]
) -> None:
    """PROTOCOL.md 7.1: leader -1 in either case; D29 empties the ISR where unclean election is on.

    The topic's configuration is read each time.
    """
    one, _ = working((1,), znode(1, (1,)))
    hand = Hand(on_callback(one, Callback.BROKERS))
    hand.expect(OnBrokerChange, {})
    hand.expect(ReadForElection, znode(1, (1,)))
    hand.expect(ReadUnclean, False)
    hand.expect(ReadForRemoval, znode(1, (1,)))
    hand.expect(ReadUnclean, unclean)
    write = hand.expect(WriteRemoval, 1)
    assert isinstance(write, WriteRemoval)
    assert (write.leadership.leader, write.leadership.isr) == (-1, isr)


def test_a_configuration_that_cannot_be_read_ends_the_election_and_the_removal() -> None:
    one, _ = working((1,), znode(1, (1,)))
    hand = Hand(on_callback(one, Callback.BROKERS))
    hand.expect(OnBrokerChange, {})
    hand.expect(ReadForElection, znode(1, (1,)))
    hand.fail(ReadUnclean, MalformedInput("/config/topics/t", "version", "is not 1"))
    hand.expect(ReadForRemoval, znode(1, (1,)))
    hand.fail(ReadUnclean, MalformedInput("/config/topics/t", "version", "is not 1"))
    assert hand.ended
    assert one.partition_machine.states[TP] is PartitionState.OFFLINE
    assert one.replica_machine.states[TP, 1] is ReplicaState.ONLINE


@pytest.mark.parametrize("callback", [Callback.CONTROLLER, Callback.SESSION])
def test_a_controller_znode_that_cannot_be_read_ends_the_callback_and_nothing_else(callback: Callback) -> None:
    """`parseControllerId` raises KafkaException, which the event thread logs."""
    one, journal = working((1, 2, 3), znode(1, (1, 2, 3)))
    hand = Hand(on_callback(one, callback))
    malformed = MalformedInput("/controller", "brokerid", "is missing")
    hand.fail(OnControllerChange if callback is Callback.CONTROLLER else OnNewSession, malformed)
    assert hand.ended
    assert [entry for entry in journal if isinstance(entry, Reached | StateChange | RequestSent)] == []
    assert (one.is_active, one.leader_id) == (True, 1)


def test_a_mistake_of_the_reference_is_no_failure_that_a_callback_survives() -> None:
    one, _ = controller()
    hand = Hand(on_callback(one, Callback.CONTROLLER))
    with pytest.raises(AttributeError, match="a mistake"):
        hand.fail(OnControllerChange, AttributeError("a mistake"))


def test_a_listener_does_nothing_on_a_broker_that_is_not_active() -> None:
    one, journal = controller()
    hand = Hand(on_callback(one, Callback.BROKERS))
    assert snake_case(type(hand.pending).__name__) == "skip_callback"
    hand._take((0, None))
    assert (hand.ended, journal) == (True, [])
