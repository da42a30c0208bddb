"""What is claimed of requests on their way: each claim is kept by what Kafka does, and broken by what it does not."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from model_check.stepping.open_system import Taken, open_system
from spec.claims.request_batch import (
    an_answer_ends_the_first_request,
    metadata_goes_to_all_registered_brokers,
    nothing_is_left_in_a_batch,
    requests_are_of_the_present_term,
    requests_of_a_batch_go_in_order,
    requests_stay_until_they_are_answered,
    requests_wait_where_there_is_a_channel,
)
from spec.language.rules import Claim
from spec.model import Model
from spec.state.brokers import Stage
from spec.state.enumerations import At
from spec.variants import AS_CODED, Switch, Switches

OPENED = open_system(2, ((1, 2), (2, 1)), (0, 0), controller_epochs=3, parts=frozenset({"deletion"}))
"""Brokers 1, 2 and two partitions; broker 1 is the controller."""
BOTH = OPENED.model.brokers.set_kind.encode((1, 2))
FIRST = OPENED.model.brokers.set_kind.encode((1,))
CONTROLLER = {"active": 1, "epoch": 2, "live": BOTH, "channels": BOTH}

ORDER, TELL, STOP, DELETE, ANSWERED = (
    list(Stage).index(one)
    for one in (Stage.LEADER_AND_ISR, Stage.UPDATE_METADATA, Stage.STOP_REPLICA, Stage.DELETE_REPLICA, Stage.ANSWERED)
)
Place = Mapping[str, Any]
Queue = tuple[Place, ...]


def batch(stage: int, *, orders: bool = False, tells: bool = False, stops: str = "", deletes: str = "") -> Place:
    """A place in a queue; `stops` and `deletes` are partitions."""
    named = {"stop": {int(p): 1 for p in stops}, "delete": {int(p): 1 for p in deletes}}
    ordered = {0: {"ordered": 1, "leader_epoch": 4}} if orders else {}
    return {"stage": stage, "epoch": 2, "partitions": ordered, "metadata": int(tells), **named}


FULL = batch(ORDER, orders=True, tells=True, stops="0", deletes="01")
TOLD = batch(TELL, tells=True, stops="0", deletes="01")
STOPPED = batch(STOP, stops="0", deletes="01")
DELETED = batch(DELETE, deletes="01")
LAST = batch(DELETE, deletes="1")
NEWS = batch(TELL, tells=True)


def model(switches: Switches = AS_CODED) -> Model:
    """The open model with queues of three places."""
    return Model(replace(OPENED.model.scope, connection_capacity=3), switches)


def view(queues: Mapping[int, Queue], controller: Mapping[str, Any]) -> Any:
    """A state in which controller 1 has these queues."""
    places = {b: dict(enumerate(queue)) for b, queue in queues.items()}
    return OPENED.view({"controllers": {1: controller}, "connections": {1: places}})


def holds(claim: Claim, *queue: Place, **controller: Any) -> bool:
    """Whether a claim holds of a state in which controller 1 has this queue to broker 2; of an empty one any may."""
    value = claim.function(view({2: queue}, {**CONTROLLER, **controller}), model())
    assert value is not None or not queue
    return value is None or bool(value.raw)


def keeps(claim: Claim, rule: str, before: Queue, after: Queue, **parameters: int) -> bool:
    """Whether a step that makes one queue to broker 2 of another keeps a claim."""
    taken = Taken(rule, {"c": 1, "b": 2, **parameters})
    value = claim.function(view({2: before}, CONTROLLER), view({2: after}, CONTROLLER), model(), taken)
    return value is None or bool(value.raw)


# ---------------------------------------------------------------------------------------------------------- the queues


def test_a_queue_is_of_an_open_channel() -> None:
    claim = requests_wait_where_there_is_a_channel
    assert holds(claim, NEWS)
    assert holds(claim, NEWS, channels=FIRST, stranded=BOTH - FIRST)
    assert holds(claim, channels=FIRST)
    assert not holds(claim, NEWS, channels=FIRST)


def test_a_queue_does_not_outlast_its_term() -> None:
    claim = requests_are_of_the_present_term
    assert holds(claim, NEWS, FULL)
    assert not holds(claim, NEWS, epoch=3)
    assert not holds(claim, NEWS, {**FULL, "epoch": 1})
    assert not holds(claim, NEWS, active=0)


def test_a_state_machine_leaves_nothing_in_its_batch() -> None:
    claim, left = nothing_is_left_in_a_batch, {1: {"batched": BOTH}}
    assert holds(claim, partitions=left, at=list(At).index(At.REMOVE_READ))
    assert not holds(claim, partitions=left)
    assert not holds(claim, partitions=left, at=list(At).index(At.FINISH))


# ----------------------------------------------------------------------------------------------------------- the order


@pytest.mark.parametrize("due", [FULL, TOLD, STOPPED, DELETED, LAST, NEWS, batch(STOP, deletes="1")])
def test_what_is_due_is_the_first_of_its_batch(due: Place) -> None:
    assert holds(requests_of_a_batch_go_in_order, NEWS, due)
    named: dict[str, Any] = {"orders": bool(due["partitions"]), "tells": bool(due["metadata"])}
    named |= {kind: "".join(map(str, due[kind.rstrip("s")])) for kind in ("stops", "deletes")}
    wrong = [stage for stage in (0, ORDER, TELL, STOP, DELETE, ANSWERED) if stage != due["stage"]]
    held = [stage for stage in wrong if holds(requests_of_a_batch_go_in_order, NEWS, batch(stage, **named))]
    only_deletes = not (named["orders"] or named["tells"] or named["stops"])
    assert held == ([one for one in (STOP, DELETE, ANSWERED) if one != due["stage"]] if only_deletes else [])


ANSWER = "deliver_request"


@pytest.mark.parametrize(("due", "left"), [(FULL, TOLD), (TOLD, STOPPED), (STOPPED, DELETED)])
def test_an_answer_ends_one_request_and_no_other(due: Place, left: Place) -> None:
    claim = an_answer_ends_the_first_request
    assert keeps(claim, ANSWER, (due, NEWS), (left, NEWS))
    for wrong in [
        (due, NEWS),
        (NEWS,),
        (left,),
        (left, NEWS, NEWS),
        (NEWS, left),
        (DELETED if due is FULL else LAST, NEWS),
    ]:
        assert not keeps(claim, ANSWER, (due, NEWS), wrong)


def test_behind_the_last_request_of_a_batch_the_next_batch_is_due() -> None:
    claim = an_answer_ends_the_first_request
    assert keeps(claim, ANSWER, (NEWS, FULL, LAST), (FULL, LAST))
    assert keeps(claim, ANSWER, (NEWS,), ())
    for wrong in [(LAST, FULL), (FULL,), (FULL, LAST, LAST), (NEWS, FULL, LAST), (TOLD, LAST)]:
        assert not keeps(claim, ANSWER, (NEWS, FULL, LAST), wrong)


def test_deletions_are_a_request_each_and_a_callback_may_have_to_wait() -> None:
    claim = an_answer_ends_the_first_request
    awaited = {**DELETED, "stage": ANSWERED, "answered": 1}
    assert keeps(claim, "deliver_deletion", (DELETED, NEWS), (awaited, NEWS), p=1)
    assert not keeps(claim, "deliver_deletion", (DELETED, NEWS), (DELETED, NEWS), p=1)
    assert keeps(claim, "on_replica_deleted", (awaited, NEWS), (batch(DELETE, deletes="0"), NEWS), p=1)
    assert not keeps(claim, "on_replica_deleted", (awaited, NEWS), (NEWS,), p=1)
    assert not keeps(claim, "on_replica_deleted", (awaited, NEWS), (awaited, NEWS), p=1)
    assert keeps(claim, "on_replica_deleted", (LAST, NEWS), (NEWS,), p=1)
    for due in (FULL, NEWS):
        assert not keeps(claim, ANSWER, (due, NEWS), ({**due, "stage": ANSWERED, "answered": 1}, NEWS))


@pytest.mark.parametrize("rule", ["deliver_request_unanswered", "create_state", "crash"])
def test_nothing_but_an_answer_takes_a_request_and_what_comes_later_stands_behind(rule: str) -> None:
    claim = requests_stay_until_they_are_answered
    assert keeps(claim, rule, (FULL,), (FULL,))
    assert keeps(claim, rule, (FULL,), (FULL, NEWS, NEWS))
    for wrong in [(), (TOLD,), (NEWS, FULL), ({**FULL, "epoch": 1},)]:
        assert not keeps(claim, rule, (FULL,), wrong)


def test_a_channel_takes_its_queue_along() -> None:
    claim, taken = requests_stay_until_they_are_answered, Taken("on_broker_change", {"c": 1})
    closed = {**CONTROLLER, "channels": FIRST}
    emptied = claim.function(view({2: (FULL,)}, CONTROLLER), view({}, closed), model(), taken)
    assert emptied is not None
    assert emptied.raw


RENEWED = (0, 1)
"""What a controller that has it alive knows of broker 2's registration, before and after a step: it is found anew."""


@pytest.mark.parametrize(
    ("rule", "seen", "live", "kept"),
    [
        ("on_broker_change", RENEWED, BOTH, True),
        ("read_broker_data", RENEWED, BOTH, True),
        ("on_broker_change", RENEWED, FIRST, False),  # it is new, its channel open: that stays as it is
        ("on_broker_change", (0, 0), BOTH, False),
        ("on_broker_change", (1, 1), BOTH, False),
        ("create_state", RENEWED, BOTH, False),
        ("create_state", (0, 0), BOTH, False),
        ("expand_isr", (0, 0), BOTH, False),
        ("deliver_request_unanswered", (0, 0), BOTH, False),
    ],
)
def test_a_broker_that_is_found_to_have_registered_anew_has_a_new_queue(
    rule: str, seen: tuple[int, int], live: int, *, kept: bool
) -> None:
    switches = AS_CODED | {Switch.BROKER_EPOCHS}
    opened = open_system(2, ((1, 2),), (0,), controller_epochs=3, switches=switches)
    before, after = (
        opened.view(
            {"controllers": {1: {**CONTROLLER, "live": live, "seen": {2: one}}}, "connections": {1: {2: queue}}}
        )
        for one, queue in zip(seen, ({0: batch(ORDER, orders=True)}, {0: NEWS}), strict=True)
    )
    small = Model(replace(opened.model.scope, connection_capacity=2), switches)
    value = requests_stay_until_they_are_answered.function(before, after, small, Taken(rule, {"c": 1, "b": 2}))
    assert value is not None
    assert bool(value.raw) == kept


# --------------------------------------------------------------------------------------------------------- who is told


def tells(
    *told: int, ordered: tuple[int, ...] = (), live: int = BOTH, cached: int = 5, switches: Switches = AS_CODED
) -> bool:
    """Whether it is kept where these brokers are sent UpdateMetadata, and these LeaderAndIsr, behind what waits, of a
    partition that is cached with this raw leader epoch (0: not at all).
    """
    before: dict[int, Queue] = dict.fromkeys((1, 2), (NEWS,))
    after = dict(before)
    for b in (1, 2):
        if b in {*told, *ordered}:
            sent = batch(ORDER if b in ordered else TELL, orders=b in ordered, tells=b in told)
            after[b] = (NEWS, sent)
    controller = {**CONTROLLER, "live": live, "partitions": {0: {"leader_epoch": cached}}}
    value = metadata_goes_to_all_registered_brokers.function(
        view(before, controller), view(after, controller), model(switches), Taken("create_state", {"c": 1, "p": 0})
    )
    assert value is not None
    return bool(value.raw)


def test_what_some_are_ordered_everybody_is_told() -> None:
    assert tells()
    assert tells(1, 2)
    assert tells(1, 2, ordered=(1,))
    assert tells(1, live=FIRST)
    assert not tells(1)
    assert not tells(1, ordered=(1, 2))
    assert not tells(ordered=(2,))


def test_before_0_10_2_nobody_is_told_of_what_is_not_cached() -> None:
    """A zombie that creates a partition reads the state that its successor made, and has it not in its cache."""
    older = frozenset({Switch.RUN_WHEN_NOT_ACTIVE})
    assert tells(ordered=(2,), cached=0, switches=older)
    assert not tells(1, ordered=(2,), cached=0, switches=older)
    assert not tells(ordered=(2,), switches=older)
    assert not tells(ordered=(2,), cached=0)
    assert tells(1, 2, ordered=(2,), cached=0)
