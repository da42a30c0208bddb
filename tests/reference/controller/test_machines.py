"""The charts agree with the tables on every pair of states, and a refusal leaves everything as it was."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import pytest
from statemachine.exceptions import TransitionNotAllowed

from reference.controller.machines import InvalidTransition, PartitionChart, ReplicaChart, check_transition, event_to
from spec.errors import IllegalTransition, UnknownName
from spec.tables.partition_states import PARTITION_TRANSITIONS, PartitionState
from spec.tables.replica_states import REPLICA_TRANSITIONS, ReplicaState
from spec.tables.table import find


def test_the_partition_chart_and_the_table_agree_on_all_16_pairs() -> None:
    verdicts = {}
    for previous, target in product(PartitionState, repeat=2):
        try:
            check_transition("partition", "[t,0]", previous, target)
            verdicts[previous, target] = True
        except InvalidTransition:
            verdicts[previous, target] = False
    assert verdicts == {pair: find(PARTITION_TRANSITIONS, *pair) is not None for pair in verdicts}
    assert (len(verdicts), sum(verdicts.values())) == (16, 8)


def test_the_replica_chart_and_the_table_agree_on_all_49_pairs() -> None:
    verdicts = {}
    for previous, target in product(ReplicaState, repeat=2):
        try:
            check_transition("replica", "1 of [t,0]", previous, target)
            verdicts[previous, target] = True
        except InvalidTransition:
            verdicts[previous, target] = False
    assert verdicts == {pair: find(REPLICA_TRANSITIONS, *pair) is not None for pair in verdicts}
    assert (len(verdicts), sum(verdicts.values())) == (49, 13)


@pytest.mark.parametrize(("previous", "target"), list(product(ReplicaState, repeat=2)))
def test_a_permitted_event_moves_the_chart_and_a_refused_one_does_not(
    previous: ReplicaState, target: ReplicaState
) -> None:
    chart = ReplicaChart()
    chart.current_state_value = previous
    if target in REPLICA_TRANSITIONS[previous]:
        chart.send(event_to(target))
        assert chart.current_state_value is target
    else:
        with pytest.raises(TransitionNotAllowed):
            chart.send(event_to(target))
        assert chart.current_state_value is previous


def test_an_untouched_entry_starts_as_non_existent() -> None:
    assert PartitionChart().current_state_value is PartitionState.NON_EXISTENT
    assert ReplicaChart().current_state_value is ReplicaState.NON_EXISTENT


def test_a_refusal_says_who_from_where_and_what_would_do() -> None:
    with pytest.raises(InvalidTransition) as refused:
        check_transition("replica", "3 of [t,0]", ReplicaState.ONLINE, ReplicaState.DELETION_STARTED)
    refusal = refused.value
    assert isinstance(refusal, IllegalTransition)
    assert (refusal.source, refusal.event, refusal.target) == (
        "OnlineReplica",
        "to_deletion_started",
        "ReplicaDeletionStarted",
    )
    assert str(refusal) == (
        "replica 3 of [t,0]: ReplicaDeletionStarted may follow only OfflineReplica; it is still OnlineReplica"
    )


def test_a_refusal_comes_back_from_another_process_as_it_was() -> None:
    refusal = InvalidTransition("partition", "[t,0]", PartitionState.NEW, PartitionState.NEW)
    copy = pickle.loads(pickle.dumps(refusal))  # noqa: S301 - our own bytes
    assert (type(copy), str(copy)) == (InvalidTransition, str(refusal))
    assert (copy.kind, copy.subject, copy.source, copy.event, copy.target) == (
        "partition",
        "[t,0]",
        "NewPartition",
        "to_new",
        "NewPartition",
    )


def test_a_refusal_does_not_disturb_the_next_question() -> None:
    with pytest.raises(InvalidTransition):
        check_transition("partition", "[t,0]", PartitionState.NEW, PartitionState.NEW)
    check_transition("partition", "[t,1]", PartitionState.OFFLINE, PartitionState.NON_EXISTENT)


def test_a_state_of_the_other_kind_is_refused() -> None:
    """Both kinds have a New, and by the name of its event alone one would pass for the other."""
    with pytest.raises(UnknownName, match=r"is called 'NewReplica' \(known: NonExistentPartition, "):
        check_transition("partition", "[t,0]", PartitionState.NON_EXISTENT, ReplicaState.NEW)  # type: ignore[call-overload]


def test_threads_do_not_share_a_chart() -> None:
    """Two threads with opposite questions, asked often enough that a shared chart would mix their previous states."""

    def ask(previous: PartitionState, target: PartitionState) -> int:
        for _ in range(500):
            check_transition("partition", "[t,0]", previous, target)
        return 500

    with ThreadPoolExecutor(2) as threads:
        birth = threads.submit(ask, PartitionState.NON_EXISTENT, PartitionState.NEW)
        death = threads.submit(ask, PartitionState.OFFLINE, PartitionState.NON_EXISTENT)
        assert (birth.result(), death.result()) == (500, 500)


def test_a_chart_class_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(PartitionChart)) is PartitionChart  # noqa: S301 - our own bytes
