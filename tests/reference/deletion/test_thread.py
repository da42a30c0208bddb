"""Topic deletion by PROTOCOL.md section 7.4 and the recordings of it: handlers led by the hand."""

from dataclasses import replace

import pytest

from reference.controller.controller import KafkaController
from reference.controller.controller_batch import send_update_metadata
from reference.controller.effects import JoinThread, OnBrokerChange
from reference.deletion.requests import DropRequest, OnDeletionChange
from reference.deletion.thread import DeleteQueuedTopic, is_due, on_replica_deleted
from reference.elections.requested import FinishFailover
from reference.failover.election import on_controller_resignation
from reference.threads import on_callback, on_deletion_thread
from spec.formats.error_codes import ErrorCode
from spec.formats.kafka_types import TopicPartition
from spec.formats.request_schemas import (
    LeaderAndIsrRequest,
    PartitionsResponse,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from spec.state.enumerations import Callback, DeletionThread
from spec.tables.replica_states import ReplicaState
from spec.variants import Switch
from tests.leaderships import led
from tests.reference.deletions import INELIGIBLE, P0, P1, REPLICAS, STARTED, SUCCESSFUL, Cluster, said
from tests.reference.hands import Hand, controller, failed_over, registered, requests, znode

# ------------------------------------------------------------------------------------------------- requests and queue


def test_a_known_topic_is_queued_and_an_unknown_one_only_loses_its_request() -> None:
    cluster = Cluster()
    hand = Hand(on_callback(cluster.one, Callback.DELETIONS))
    hand.expect(OnDeletionChange, frozenset({"a", "x"}))
    drop = hand.expect(DropRequest, None)
    assert (getattr(drop, "topic"), hand.ended) == ("x", True)  # noqa: B009 - an effect's own field
    assert cluster.one.deleting.queued == {"a"}
    assert cluster.one.deleting.partitions == {P0, P1}
    assert is_due(cluster.one)
    assert said(cluster.journal) == ["DeletionRequested", "UnknownTopicsIgnored", "DeletionQueued"]


@pytest.mark.parametrize("fixes", [(), (Switch.MARK_WHAT_IS_QUEUED,)])
def test_a_topic_with_an_election_is_marked_before_it_is_queued_which_does_nothing(fixes: tuple[Switch, ...]) -> None:
    """D44."""
    cluster = Cluster(*fixes)
    cluster.one.context.partitions_undergoing_election = frozenset({P1})
    cluster.queue()
    assert cluster.one.deleting.queued == {"a"}
    assert cluster.one.deleting.ineligible == ({"a"} if fixes else set())


def test_a_new_controller_queues_what_is_asked_for_and_holds_back_what_has_a_dead_replica() -> None:
    """Known or not; the topic of the failover has AR [1, 2, 3]."""
    for live, held_back in (((1, 2, 3), frozenset[str]()), ((1, 2), frozenset({"t"}))):
        one, journal = controller()
        hand = failed_over(one, live, [znode(1, (1, 2, 3), epoch=4)], deletions=frozenset({"t", "x"}))
        assert one.deletion is DeletionThread.MANAGER_ONLY
        assert not is_due(one)
        hand.expect(FinishFailover, None)
        assert (one.deleting.queued, one.deleting.ineligible) == (frozenset({"t", "x"}), held_back)
        assert one.deleting.partitions == {TopicPartition("t", 0)}
        assert is_due(one)
        lines = said(journal)
        assert lines.index("TopicsToBeDeleted") < lines.index("IneligibleTopics") < lines.index("ActiveBrokers")


def test_a_new_controller_holds_back_what_its_earlier_term_left_busy_known_or_not() -> None:
    """D13: what is being reassigned outlasts a resignation; `initializeTopicDeletion` does not ask for AR."""
    one, _ = controller()
    one.context.partitions_being_reassigned = {TopicPartition("x", 0): (1,)}
    failed_over(one, (1, 2, 3), [znode(1, (1, 2, 3), epoch=4)], deletions=frozenset({"t", "x"}))
    assert one.deleting.ineligible == {"x"}


def test_a_thread_with_nothing_to_do_waits() -> None:
    one, journal = controller()
    failed_over(one, (1, 2)).expect(FinishFailover, None)
    assert one.deletion is DeletionThread.RUNNING
    assert not is_due(one)
    assert said(journal)[-1] == "WaitingForSignal"


# ---------------------------------------------------------------------------------------------------------- the start


def test_the_isr_is_emptied_as_a_real_controller_did_it() -> None:
    """Recording 08-delete, zk 51 to 55: the same replicas in the same order, and the same lines in controller.log."""
    cluster = Cluster()
    cluster.queue()
    cluster.journal.clear()
    hand = Hand(on_deletion_thread(cluster.one))
    hand.expect(DeleteQueuedTopic, None)
    assert [cluster.remove(hand, *key) for key in ((P1, 2), (P1, 3), (P0, 3), (P0, 2), (P0, 1))] == [
        (-1, (3,), 1),
        (-1, (3,), 2),
        (1, (1, 2), 1),
        (1, (1,), 2),
        (-1, (1,), 3),
    ]
    assert hand.ended
    assert cluster.replica_states() == {STARTED}
    assert said(cluster.journal) == [
        "HandlingDeletion", "DeletionBegun", "TopicDeletionStarted", "PartitionDeletionStarted",
        "ReplicasInvoked", "RemovingFromIsr", "IsrShrunk", "RemovingFromIsr", "LastIsrRetained", "IsrShrunk",
        "RemovingFromIsr", "IsrShrunk", "RemovingFromIsr", "IsrShrunk",
        "RemovingFromIsr", "LastIsrRetained", "IsrShrunk", *["StopReplicaSending"] * 6,
        "ReplicaDeletionStarted", "ReplicasInvoked", *["StopReplicaSending"] * 6,
        "WaitingForSignal",
    ]  # fmt: skip


def test_everybody_is_told_that_the_topic_goes_and_nobody_of_a_new_leader() -> None:
    """Leader -2, leader_epoch 0, zkVersion 0; the ISR and the controller epoch are the cache's."""
    cluster = Cluster()
    cluster.queue()
    cluster.start()
    told = requests(cluster.journal, UpdateMetadataRequest)
    assert [broker for broker, _ in told] == [1, 2, 3]
    led_by = {one.partition: one.leadership for one in told[0][1].partition_states}
    states = {(p, one.leader, one.leader_epoch, one.zk_version) for p, one in led_by.items()}
    assert states == {(0, -2, 0, 0), (1, -2, 0, 0)}
    assert {(one.isr, one.controller_epoch) for one in led_by.values()} == {((1, 2, 3), 5), ((2, 3), 5)}
    assert requests(cluster.journal, LeaderAndIsrRequest) == []
    assert [(broker, one.delete_partitions, set(one.partitions)) for broker, one in requests(
        cluster.journal, StopReplicaRequest
    )] == [
        (1, False, {P0}), (2, False, {P0, P1}), (3, False, {P0, P1}),
        (1, False, set()), (1, True, {P0}), (2, False, set()), (2, True, {P0}), (2, True, {P1}),
        (3, False, set()), (3, True, {P0}), (3, True, {P1}),
    ]  # fmt: skip


def test_other_topics_are_told_of_as_always_and_the_doomed_one_as_such() -> None:
    """UpdateMetadata with all partitions, while a topic is queued."""
    cluster = Cluster()
    other = TopicPartition("b", 0)
    cluster.one.context.partition_replica_assignment[other] = (1,)
    cluster.one.context.partition_leadership_info[other] = led(1, 7, (1,), 5, 8)
    cluster.queue()
    assert Hand(send_update_metadata(cluster.one)).ended
    states = requests(cluster.journal, UpdateMetadataRequest)[0][1].partition_states
    led_by = {(one.topic, one.partition): one.leadership for one in states}
    assert {(*p, one.leader, one.leader_epoch) for p, one in led_by.items()} == {
        ("a", 0, -2, 0), ("a", 1, -2, 0), ("b", 0, 1, 7),
    }  # fmt: skip


def test_a_dead_replica_halts_the_deletion_until_its_broker_starts() -> None:
    """It stays in its state, since the table refuses ReplicaDeletionIneligible (D15), but the topic is marked."""
    cluster = Cluster(live=(1, 2))
    cluster.queue()
    cluster.start()
    assert cluster.one.deleting.ineligible == {"a"}
    assert {cluster.one.replica_machine.states[tp, 3] for tp in (P0, P1)} == {ReplicaState.OFFLINE}
    assert said(cluster.journal)[-3:] == ["DeadReplicasFound", "DeletionHalted", "WaitingForSignal"]
    for key in REPLICAS:
        if key[1] != 3:
            cluster.answer(*key)
    hand = Hand(on_deletion_thread(cluster.one))
    hand.expect(DeleteQueuedTopic, None)
    assert hand.ended
    assert said(cluster.journal)[-2:] == ["DeletionIneligible", "WaitingForSignal"]
    Hand(on_callback(cluster.one, Callback.BROKERS)).expect(OnBrokerChange, registered(1, 2, 3))
    assert cluster.one.deleting.ineligible == set()
    assert is_due(cluster.one)


@pytest.mark.parametrize(
    ("fixes", "state"), [((), ReplicaState.ONLINE), ((Switch.OFFLINE_WITHOUT_LEADERSHIP,), STARTED)]
)
def test_a_topic_without_leadership_is_never_deleted(fixes: tuple[Switch, ...], state: ReplicaState) -> None:
    """D16: every replica is told to stop, and none goes Offline; where it is being deleted, that is no failure."""
    cluster = Cluster(*fixes, led=False)
    cluster.queue()
    cluster.start()
    assert cluster.replica_states() == {state}
    stopped = requests(cluster.journal, StopReplicaRequest)
    assert {broker for broker, one in stopped if not one.delete_partitions} == {1, 2, 3}
    assert any(one.delete_partitions for _, one in stopped) == bool(fixes)


# --------------------------------------------------------------------------------------------------------- the answer


def test_an_answer_without_error_is_remembered_and_wakes_the_thread() -> None:
    cluster = Cluster()
    cluster.queue()
    cluster.start()
    cluster.journal.clear()
    cluster.answer(P1, 2)
    assert cluster.one.replica_machine.states[P1, 2] is SUCCESSFUL
    assert is_due(cluster.one)
    assert said(cluster.journal) == ["DeletionAnswered", "ReplicasDeleted", "ReplicasInvoked"]
    hand = Hand(on_deletion_thread(cluster.one))
    hand.expect(DeleteQueuedTopic, None)
    assert said(cluster.journal)[-3:] == ["HandlingDeletion", "DeletionInProgress", "WaitingForSignal"]


def test_an_answer_with_an_error_halts_the_deletion_and_the_replica_is_retried() -> None:
    cluster = Cluster()
    cluster.queue()
    cluster.start()
    for key in REPLICAS:
        cluster.answer(*key, code=ErrorCode.UNKNOWN if key == (P1, 2) else ErrorCode.NONE)
    assert cluster.one.replica_machine.states[P1, 2] is INELIGIBLE
    assert cluster.one.deleting.ineligible == {"a"}
    cluster.journal.clear()
    hand = Hand(on_deletion_thread(cluster.one))
    hand.expect(DeleteQueuedTopic, None)
    cluster.remove(hand, P1, 2)
    assert hand.ended
    assert cluster.one.replica_machine.states[P1, 2] is ReplicaState.OFFLINE
    assert [broker for broker, _ in requests(cluster.journal, StopReplicaRequest)] == [2]
    assert said(cluster.journal) == [
        "HandlingDeletion",
        "DeletionRetried",
        "ReplicasInvoked",
        "RemovingFromIsr",
        "NotInIsr",  # its first removal took it out
        *["StopReplicaSending"] * 2,
        "DeletionIneligible",
        "WaitingForSignal",
    ]


@pytest.mark.parametrize(("fixes", "state"), [((), STARTED), ((Switch.REFUSED_DELETIONS_FAIL,), INELIGIBLE)])
def test_an_answer_that_names_no_partition_changes_nothing(fixes: tuple[Switch, ...], state: ReplicaState) -> None:
    """D46: the request's controller epoch was stale."""
    cluster = Cluster(*fixes)
    cluster.queue()
    cluster.start()
    request = StopReplicaRequest(1, 5, True, (P1,))
    on_replica_deleted(cluster.one, 2, request, PartitionsResponse(ErrorCode.STALE_CONTROLLER_EPOCH))
    assert cluster.one.replica_machine.states[P1, 2] is state
    assert is_due(cluster.one) == bool(fixes)


def test_a_broker_that_dies_fails_its_deletions_and_nobody_is_elected() -> None:
    """7.1: no election, no removal from the ISR; the replicas are ineligible, and so is the topic."""
    cluster = Cluster()
    cluster.queue()
    cluster.start()
    hand = Hand(on_callback(cluster.one, Callback.BROKERS))
    hand.expect(OnBrokerChange, registered(1, 2))
    assert hand.ended
    assert {cluster.one.replica_machine.states[tp, 3] for tp in (P0, P1)} == {INELIGIBLE}
    assert cluster.one.deleting.ineligible == {"a"}
    assert is_due(cluster.one)


# ----------------------------------------------------------------------------------------------------------- deadlock


@pytest.mark.parametrize("fixes", [(), (Switch.CALLBACK_WITHOUT_LOCK,)])
@pytest.mark.parametrize("dead", [2, 3])
def test_who_closes_a_channel_whose_sender_calls_back_waits_for_ever(fixes: tuple[Switch, ...], dead: int) -> None:
    """D50: the callback waits for the lock that its controller has; broker 2 has answered, broker 3 has not."""
    cluster = Cluster(*fixes)
    cluster.queue()
    cluster.start()
    calling_back(cluster.one, 2)
    hand = Hand(on_callback(cluster.one, Callback.BROKERS))
    hand.expect(OnBrokerChange, registered(*({1, 2, 3} - {dead})))
    assert isinstance(hand.pending, JoinThread) == (dead == 2 and not fixes)
    if not fixes and dead == 3:
        assert isinstance(Hand(on_controller_resignation(cluster.one)).pending, JoinThread)


def calling_back(one: KafkaController, broker: int) -> None:
    """The sender to a broker has an answer, and waits for the lock."""
    queue = one.queue_to(broker)
    place = next(i for i, queued in enumerate(queue) if queued.calls_back)
    queue[:] = [replace(queue[place], answer=PartitionsResponse(ErrorCode.NONE))]
