"""Specification and reference side by side on random walks: in every scope of the manifest, and in random ones.

Nothing is built, so a walk costs its steps; `test_simulate.py` goes on for longer in few scopes, with a system. A scope
of the manifest is walked with its own budgets and with wide ones, as coded, with every fix, and in some of the other
variants, which take turns.
"""

from collections.abc import Iterable
from random import Random

import pytest

from model_check.refinement.simulate import widened
from reference.memory.cluster import lacking
from spec.formats.kafka_types import KafkaVersion
from spec.scopes import Scope, scope, scopes
from spec.variants import AS_CODED, DOCUMENTED, FENCED, Switch, Switches, as_of, show_switches
from tests.model_check.random_scopes import random_scope
from tests.model_check.side_by_side import SideBySide

STEPS = 80
BY_SWITCH = [base ^ {one} for base in (AS_CODED, FENCED) for one in Switch]
"""What one switch makes of Kafka's code, and of that with every fix."""
OTHERS = [DOCUMENTED, *map(as_of, KafkaVersion), *BY_SWITCH]
A_FEW = 4
"""Of the others, for each scope."""
NAMES = [one.name for one in scopes().values() if not lacking(one)]
MANY = 200
"""Random scopes."""


def variants(place: int) -> list[Switches]:
    """Those that the scope of this number is walked in."""
    return [AS_CODED, FENCED, *(OTHERS[(A_FEW * place + number) % len(OTHERS)] for number in range(A_FEW))]


def walk(every: Iterable[tuple[Scope, Switches]], place: int) -> int:
    """Walk each, as far as there is room; gives how many steps were taken. What fails says where."""
    taken = 0
    for bounds, switches in every:
        both = SideBySide(bounds, switches)
        try:
            list(both.walk(Random(place), STEPS))
        except Exception as failed:
            failed.add_note(f"{show_switches(switches)}, {bounds}")
            raise
        taken += len(both.way)
    return taken


@pytest.mark.slow
@pytest.mark.parametrize(("place", "name"), [pytest.param(*one, id=one[1]) for one in enumerate(NAMES)])
def test_both_go_the_same_ways_in_every_scope(place: int, name: str) -> None:
    for bounds in (scope(name), widened(scope(name))):
        assert walk(((bounds, switches) for switches in variants(place)), place)


def test_each_variant_has_its_turn() -> None:
    assert {*OTHERS} <= {one for place in range(len(NAMES)) for one in variants(place)}


@pytest.mark.parametrize(("few", "idle"), [(2, 0), pytest.param(MANY, 7, marks=pytest.mark.slow)])
def test_both_go_the_same_ways_in_random_scopes(few: int, idle: int) -> None:
    """Some have no step at all: none of their faults can be the first thing that happens."""
    taken = [
        walk([(random_scope(Random(place)), switches) for switches in variants(place)[:3]], place)
        for place in range(few)
    ]
    assert taken.count(0) == idle
