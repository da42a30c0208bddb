"""Python's collector of circles, and what it is spared."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from spec.collector import Frozen, freeze_for_good, without_collector


@pytest.fixture(autouse=True)
def nothing_is_frozen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """All that the tests have loaded is frozen otherwise."""
    assert gc.isenabled()
    assert Frozen.for_good == bool(gc.get_freeze_count())
    gc.unfreeze()
    monkeypatch.setattr(Frozen, "for_good", False)
    yield
    gc.enable()
    gc.freeze()


def test_inside_nobody_collects_and_outside_again_whatever_happened() -> None:
    with without_collector():
        assert not gc.isenabled()
        with without_collector():
            pass
        assert not gc.isenabled(), "the outer one goes on"
    assert gc.isenabled()
    with pytest.raises(ValueError, match="inside"), without_collector():
        raise ValueError("inside")
    assert gc.isenabled()


def test_what_is_left_is_old_and_not_walked_through_at_once() -> None:
    with without_collector():
        made = [[number] for number in range(1000)]
    young = {id(one) for generation in (0, 1) for one in gc.get_objects(generation)}
    assert all(gc.is_tracked(one) and id(one) not in young for one in made)


class Knot:
    """A circle of its own."""

    def __init__(self) -> None:
        self.itself = self


@pytest.mark.parametrize("frozen", [False, True])
def test_circles_that_were_made_inside_are_collected_at_the_end_and_no_others(*, frozen: bool) -> None:
    if frozen:
        freeze_for_good()
    before = weakref.ref(Knot())
    with without_collector(leaves_circles=True):
        inside, kept = weakref.ref(Knot()), Knot()
        assert inside() is not None
    assert inside() is None
    assert kept.itself is kept
    assert (before() is None) == frozen, "what was there before is collected only where it would be frozen for good"
    assert bool(gc.get_freeze_count()) == frozen


def test_what_was_frozen_stays_so() -> None:
    freeze_for_good()
    frozen = gc.get_freeze_count()
    with without_collector():
        pass
    assert gc.get_freeze_count() > frozen / 2, "some may go meanwhile, in another thread"
