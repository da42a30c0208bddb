"""The broker's side: what it accepts, what it answers, what it logs, and how a leader writes its ISR.

The fences are checked against PROTOCOL.md section 10 over every order of the epochs that matter.
"""

import re
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from reference.brokers.broker import Broker, Partition
from reference.brokers.isr import maybe_expand_isr, maybe_shrink_isr
from reference.journal import Entry, StateChange
from reference.leadership.effects import ExpandIsr, ShrinkIsr
from reference.procedures import Procedure
from spec.formats.error_codes import ErrorCode
from spec.formats.kafka_types import TopicPartition
from spec.formats.request_schemas import (
    LeaderAndIsrRequest,
    LiveBroker,
    PartitionError,
    PartitionLeadership,
    PartitionsResponse,
    StopReplicaRequest,
    UpdateMetadataRequest,
    UpdateMetadataResponse,
)
from spec.logs.state_change_lines import STATE_CHANGE_LOG
from tests.leaderships import led

TP = TopicPartition("t", 0)
AR = (1, 2, 3)


def state(leader: int, leader_epoch: int, *, replicas: tuple[int, ...] = AR) -> PartitionLeadership:
    return PartitionLeadership("t", 0, led(leader, leader_epoch, replicas, 7, 4), replicas)


def leader_and_isr(epoch: int, *states: PartitionLeadership) -> LeaderAndIsrRequest:
    return LeaderAndIsrRequest(9, epoch, states, ())


def metadata(epoch: int, *alive: int) -> UpdateMetadataRequest:
    return UpdateMetadataRequest(9, epoch, (), tuple(LiveBroker(b) for b in alive))


def stop_replica(epoch: int, *, delete: bool) -> StopReplicaRequest:
    return StopReplicaRequest(9, epoch, delete, (TP,))


def broker(controller_epoch: int = 0, known: Partition | None = None, *alive: int) -> tuple[Broker, list[Entry]]:
    journal: list[Entry] = []
    partitions = {} if known is None else {TP: known}
    return Broker(1, frozenset(alive or AR), journal.append, controller_epoch, partitions), journal


def texts(journal: list[Entry]) -> list[str]:
    return [str(entry.line) for entry in journal if isinstance(entry, StateChange)]


@pytest.mark.parametrize(("known", "sent"), list(product(range(3), range(3))))
def test_a_request_of_an_older_controller_epoch_is_refused_whole(known: int, sent: int) -> None:
    one, _ = broker(known)
    answers = one.handle(leader_and_isr(sent, state(1, 0)), 5), one.handle(metadata(sent, 1), 6)
    refused = (
        PartitionsResponse(ErrorCode.STALE_CONTROLLER_EPOCH),
        UpdateMetadataResponse(ErrorCode.STALE_CONTROLLER_EPOCH),
    )
    assert (answers == refused) == (sent < known)
    assert one.controller_epoch == max(known, sent)
    assert one.partition(TP).leadership.leader_epoch == (-1 if sent < known else 0)
    assert (one.alive == frozenset({1})) == (sent >= known)


@pytest.mark.parametrize(("known", "sent", "leader"), list(product(range(-1, 3), range(3), (1, 2))))
def test_a_leader_epoch_must_be_strictly_higher(known: int, sent: int, leader: int) -> None:
    one, _ = broker(1, Partition(led(2, known, (), 1, 3), AR))
    answer = one.handle(leader_and_isr(1, state(leader, sent)), 5)
    assert isinstance(answer, PartitionsResponse)
    code = answer.partitions[0].error_code
    assert code is (ErrorCode.NONE if sent > known else ErrorCode.STALE_CONTROLLER_EPOCH)
    accepted = Partition(led(leader, sent, AR if leader == 1 else (), 7, 4), AR)
    assert one.partition(TP) == (accepted if sent > known else Partition(led(2, known, (), 1, 3), AR))


def test_a_restarted_broker_takes_anything_once() -> None:
    one, _ = broker()
    request = leader_and_isr(1, state(1, 0))
    codes = [one.handle(request, n) for n in range(2)]
    assert [answer.partitions[0].error_code for answer in codes if isinstance(answer, PartitionsResponse)] == [
        ErrorCode.NONE, ErrorCode.STALE_CONTROLLER_EPOCH,
    ]  # fmt: skip


def test_who_is_no_replica_is_told_so() -> None:
    one, _ = broker()
    answer = one.handle(leader_and_isr(1, state(2, 0, replicas=(2, 3))), 5)
    assert isinstance(answer, PartitionsResponse)
    assert answer.partitions[0].error_code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert TP not in one.partitions


@pytest.mark.parametrize("leader", [2, -1])
def test_a_leader_that_is_not_known_to_live_is_not_followed_and_the_answer_is_no_error(leader: int) -> None:
    """D11: the leader epoch is not stored, so that a repetition would be accepted."""
    one, journal = broker(0, None, 1, 3)
    answer = one.handle(leader_and_isr(1, state(leader, 0)), 5)
    assert isinstance(answer, PartitionsResponse)
    assert answer.partitions[0].error_code is ErrorCode.NONE
    assert one.partition(TP) == Partition()
    assert any("cannot become follower since the new leader" in text for text in texts(journal))


@pytest.mark.parametrize("delete", [False, True])
@pytest.mark.parametrize(("known", "sent"), list(product(range(3), range(3))))
def test_a_stop_replica_is_fenced_by_the_controller_epoch_alone(known: int, sent: int, *, delete: bool) -> None:
    """D22: whatever the leader epoch that is known here, a StopReplica that comes late is obeyed."""
    following = Partition(led(2, 9, (), 7, 4), AR)
    one, _ = broker(known, following)
    one.logs = frozenset({TP})
    answer = one.handle(stop_replica(sent, delete=delete), 5)
    assert one.controller_epoch == max(known, sent)
    if sent < known:
        assert answer == PartitionsResponse(ErrorCode.STALE_CONTROLLER_EPOCH)
        assert one.partition(TP) == following
        assert one.logs == {TP}
    else:
        assert answer == PartitionsResponse(ErrorCode.NONE, (PartitionError("t", 0, ErrorCode.NONE),))
        assert one.partition(TP) == (Partition() if delete else replace(following, is_idle=True))
        assert one.logs == (frozenset() if delete else {TP})


def test_a_leader_leads_on_until_its_replica_is_deleted() -> None:
    """D47."""
    leading = Partition(led(1, 2, AR, 7, 4), AR)
    one, _ = broker(7, leading)
    one.handle(stop_replica(7, delete=False), 5)
    assert one.partition(TP) == leading
    one.handle(stop_replica(7, delete=True), 6)
    assert one.partition(TP) == Partition()


@pytest.mark.parametrize("leader", [1, 2, 3])
def test_an_idle_follower_fetches_again_only_from_another_leader(leader: int) -> None:
    one, _ = broker(7, Partition(led(2, 2, (), 7, 4), AR))
    one.handle(stop_replica(7, delete=False), 5)
    one.handle(leader_and_isr(7, state(leader, 3)), 6)
    assert one.partition(TP).leadership.leader_epoch == 3
    assert one.partition(TP).is_idle == (leader == 2)


def test_a_replica_that_was_deleted_is_made_again_by_any_leader_epoch() -> None:
    """D23: of the leader epoch nothing is left; nor does a deletion of what is not there do any harm."""
    one, _ = broker(7, Partition(led(2, 5, (), 7, 4), AR))
    for number in range(2):
        one.handle(stop_replica(7, delete=True), number)
    one.handle(leader_and_isr(7, state(2, 0)), 6)
    assert one.partition(TP).leadership.leader_epoch == 0
    assert one.logs == {TP}


def test_every_line_is_one_of_kafkas() -> None:
    one, journal = broker(2)
    for request in (
        leader_and_isr(1, state(1, 0)), leader_and_isr(2, state(1, 0)), leader_and_isr(2, state(1, 0)), metadata(1, 1),
        leader_and_isr(3, state(2, 1)), leader_and_isr(3, state(2, 2, replicas=(2,))), metadata(3, 1, 2, 3),
        stop_replica(3, delete=True), stop_replica(3, delete=False), stop_replica(2, delete=True),
    ):  # fmt: skip
        one.handle(request, 5)
    lines = texts(journal)
    assert [str(STATE_CHANGE_LOG.parse(text)) for text in lines] == lines
    assert len({type(entry.line) for entry in journal if isinstance(entry, StateChange)}) == 14


def test_partitions_become_leader_or_follower_step_by_step_together() -> None:
    """The order of `recordings/12-D1-epoch-write-delayed`, broker 3; that a leader stays is a line of its own."""
    one, journal = broker()
    first = [replace(state(leader, 0), partition=p) for p, leader in enumerate((1, 2, 3))]
    second = [replace(one, leadership=replace(one.leadership, leader_epoch=1)) for one in first]
    shapes = []
    for states in (first, second):
        one.handle(leader_and_isr(7, *states), 5)
        texts_of_it = [text for text in texts(journal) if " received " not in text]
        journal.clear()
        shapes.append(
            [re.sub(r"Broker 1 (handling|skipped|\w+ \w+ to|\w+).*-(\d)\b.*", r"\1 \2", t) for t in texts_of_it]
        )
    assert shapes == [
        ["handling 0", "stopped 0", "completed 0", "handling 1", "handling 2", "stopped 1", "stopped 2", "truncated 1",
         "truncated 2", "started fetcher to 1", "started fetcher to 2", "completed 1", "completed 2"],
        ["handling 0", "skipped 0", "completed 0", "handling 1", "handling 2", "skipped 1", "skipped 2", "completed 1",
         "completed 2"],
    ]  # fmt: skip


def finished(procedure: Procedure[Any], version: int | None) -> tuple[object, object]:
    """The effect that a procedure asks for, and its result once that was answered."""
    effect = next(procedure).effects[0]
    try:
        procedure.send((0, version))
    except StopIteration as end:
        return effect, end.value
    raise AssertionError("an ISR change has one effect")


def test_a_leader_writes_its_isr_on_the_version_it_cached_and_remembers_it_only_if_it_could() -> None:
    before = Partition(led(1, 2, (1, 2), 7, 4), AR)
    wanted = led(1, 2, (1, 2, 3), 7, 4)
    one, _ = broker(7, before)
    assert finished(maybe_expand_isr(one, TP, 3), None) == (ExpandIsr(TP, wanted, (3,)), False)
    assert (one.partition(TP), one.isr_changes) == (before, frozenset())
    assert finished(maybe_expand_isr(one, TP, 3), 5) == (ExpandIsr(TP, wanted, (3,)), True)
    assert one.partition(TP) == Partition(led(1, 2, (1, 2, 3), 7, 5), AR)
    assert one.isr_changes == {TP}
    shrunk = led(1, 2, (1, 3), 7, 5)
    assert finished(maybe_shrink_isr(one, TP, 2), 6) == (ShrinkIsr(TP, shrunk, (2,)), True)


def test_a_partition_whose_topic_is_being_deleted_leaves_the_metadata_cache() -> None:
    """Leader -2; recording 08-delete, broker-2/state-change.log."""
    one, journal = broker(5)
    request = UpdateMetadataRequest(9, 5, (state(-2, 0), replace(state(2, 3), partition=1)), (LiveBroker(1),))
    assert one.handle(request, 17) == UpdateMetadataResponse(ErrorCode.NONE)
    deleted, cached = texts(journal)
    assert "deleted partition t-0 from metadata cache in response to UpdateMetadata" in deleted
    assert "cached leader info" in cached


@pytest.mark.parametrize(("fixed", "cached"), [(False, 2), (True, 3)])
def test_an_older_leadership_replaces_a_newer_one_in_the_cache_unless_that_is_fixed(fixed: bool, cached: int) -> None:
    """D43."""
    one, journal = broker()
    one.compares_epochs = fixed
    for leader_epoch in (3, 2):
        one.handle(UpdateMetadataRequest(9, 7, (state(1, leader_epoch),), (LiveBroker(1),)), 5)
    assert one.cached_epochs == {TP: cached}
    assert len(texts(journal)) == (1 if fixed else 2)


@pytest.mark.parametrize(("whole", "cached"), [(False, {TP: 3, TopicPartition("u", 0): 1}), (True, {TP: 3})])
def test_what_is_not_named_stays_cached_unless_all_that_there_is_is_named(
    whole: bool, cached: dict[TopicPartition, int]
) -> None:
    """S10: in the era no UpdateMetadata says that it is of all partitions."""
    one, _ = broker()
    one.cached_epochs = {TP: 2, TopicPartition("u", 0): 1}
    one.handle(UpdateMetadataRequest(9, 7, (state(1, 3),), (LiveBroker(1),)), 5, whole=whole)
    assert one.cached_epochs == cached


@pytest.mark.parametrize(("sent", "deleted"), [(None, True), (4, True), (3, False), (2, False)])
def test_a_deletion_of_no_higher_leader_epoch_is_refused_where_it_has_one(sent: int | None, deleted: bool) -> None:
    """D22: StopReplica has none in the era, and obeys whatever comes late."""
    one, _ = broker(7, Partition(led(2, 3, (), 7, 4), AR))
    one.logs = frozenset({TP})
    answer = one.handle(stop_replica(7, delete=True), 5, sent)
    code = ErrorCode.NONE if deleted else ErrorCode.STALE_CONTROLLER_EPOCH
    assert answer == PartitionsResponse(ErrorCode.NONE, (PartitionError("t", 0, code),))
    assert (TP in one.logs, TP in one.partitions) == (not deleted, not deleted)


@pytest.mark.parametrize("is_shutting_down", [False, True])
def test_who_is_shutting_down_follows_no_other_leader(is_shutting_down: bool) -> None:
    """As in recording 09: the fetcher of the old leader stops, the log is truncated, and none of the new one starts."""
    one, journal = broker(1, Partition(led(2, 0, (), 0)))
    one.is_shutting_down = is_shutting_down
    one.handle(leader_and_isr(1, state(3, 1)), 5)
    assert one.partition(TP).is_idle is is_shutting_down
    skipped = "skipped the adding-fetcher step of the become-follower state change with correlation id 5"
    assert sum(skipped in text for text in texts(journal)) == is_shutting_down
    assert sum("started fetcher to new leader" in text for text in texts(journal)) == (not is_shutting_down)
    one.handle(leader_and_isr(1, state(3, 2)), 6)
    assert one.partition(TP).is_idle is is_shutting_down, "the leader is the same, so its fetcher is not asked for"
