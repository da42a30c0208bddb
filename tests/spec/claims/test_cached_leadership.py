"""Whose ISR the dead are not to be in: of what a controller at rest has, and nobody deletes."""

from typing import Any

from model_check.stepping.open_system import open_system
from spec.claims.cached_leadership import the_dead_are_not_in_sync
from spec.state.enumerations import At

OPENED = open_system(3, ((1, 2, 3),), (0,), controller_epochs=3, parts=frozenset({"deletion"}))
BROKERS = OPENED.model.brokers


def holds(isr: tuple[int, ...], live: tuple[int, ...], **other: Any) -> bool:
    """Whether the claim is true of a controller that rests with this partition, unless `other` says something else."""
    controller = {
        "active": 1,
        "leader_id": 2,
        "at": list(At).index(At.IDLE),
        "topics": {0: 1},
        "live": BROKERS.set_kind.constant(live).raw,
        "partitions": {0: {"isr": BROKERS.lists.index(isr)}},
    }
    value = the_dead_are_not_in_sync.function(OPENED.view({"controllers": {2: {**controller, **other}}}), OPENED.model)
    assert value is not None
    return bool(value.raw)


def test_a_dead_member_is_out_unless_it_is_the_last() -> None:
    assert not holds((2, 3, 1), (2, 3))
    assert not holds((3, 1), (2,))
    assert holds((2, 3), (2, 3))
    assert holds((1,), (2, 3))
    assert holds((), (2, 3))


def test_who_works_or_is_no_controller_is_not_asked() -> None:
    assert holds((2, 3, 1), (2, 3), at=list(At).index(At.REMOVE_READ))
    assert holds((2, 3, 1), (2, 3), active=0)


def test_who_gave_up_and_stays_active_is_no_controller() -> None:
    """What its failover read, and did not come to handle, stays in its memory (D4)."""
    assert holds((2, 3, 1), (2, 3), leader_id=0)
    assert holds((2, 3, 1), (2, 3), leader_id=1)


def test_the_leadership_of_a_topic_that_vanished_is_none_of_its_partitions() -> None:
    assert holds((2, 3, 1), (2, 3), topics={})


def test_from_a_topic_that_is_queued_for_deletion_nobody_takes_the_dead_out() -> None:
    assert holds((2, 3, 1), (2, 3), queued={0: 1})
