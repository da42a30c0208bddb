"""Specification and reference side by side: the same start, and an abstraction that says all and remembers rightly."""

from __future__ import annotations

from functools import cache

import pytest

from model_check.abstraction import Abstraction
from model_check.sides import Disagreement, Pair, Sides
from reference.memory_scheduler import choices
from spec.errors import BadInput
from spec.model import Model
from spec.scopes import scope
from spec.system import system
from spec.variants import AS_CODED, VARIANTS


@cache
def sides(name: str, variant: str = "AS_CODED") -> Sides:
    return Sides(scope(name), VARIANTS[variant])


@pytest.mark.parametrize(
    ("name", "variant"),
    [("bounce", "FENCED"), ("cold", "AS_CODED"), ("topics", "AS_CODED")],
)
def test_both_start_in_the_same_state(name: str, variant: str) -> None:
    both = sides(name, variant)
    assert both.initial().raw == both.machine.initial


def test_each_start_is_a_new_one() -> None:
    both = sides("bounce")
    one, other = both.initial(), both.initial()
    both.follow(one, next(iter(choices(one.cluster))))
    assert both.abstract(other.cluster, other.history) == both.machine.initial


def states(both: Sides, pair: Pair, depth: int) -> list[Pair]:
    """Every pair that is reached by so many steps or fewer, by every way."""
    found = [pair]
    for choice in choices(pair.cluster) if depth else ():
        found += states(both, both.follow(pair.fork(), choice), depth - 1)
    return found


def test_what_is_remembered_of_a_process_is_what_would_be_read_again() -> None:
    """A fresh abstraction has read nothing yet."""
    both = sides("notifications")
    reached = states(both, both.initial(), 5)
    kinds = {variable.name: variable.kind for variable in both.system.variables}
    fresh = Abstraction(Model(both.scope, both.switches), kinds)
    assert len(reached) > 100
    for pair in reached:
        for process in pair.cluster.processes.values():
            process.remembered.pop(fresh, None)
        assert fresh(pair.cluster, pair.history) == pair.raw
        assert all(0 <= raw <= kind.maximum for raw, kind in zip(pair.raw, kinds.values(), strict=True))


def test_a_variable_that_the_abstraction_does_not_know_is_named() -> None:
    one = scope("bounce")
    kinds = {variable.name: variable.kind for variable in system(one).variables}
    pair = sides("bounce").initial()
    with pytest.raises(KeyError, match="says nothing of the_weather"):
        Abstraction(Model(one, AS_CODED), {**kinds, "the_weather": kinds["zookeeper.controller"]})(
            pair.cluster, pair.history
        )
    del kinds["zookeeper.controller"]
    with pytest.raises(KeyError, match=r"zookeeper\.controller"):
        Abstraction(Model(one, AS_CODED), kinds)(pair.cluster, pair.history)


def test_steps_by_name_lead_where_each_side_goes() -> None:
    both, steps = sides("bounce"), ("crash(b=2)", "end_orphaned_session(b=2)", "on_broker_change(c=1)")
    pair = both.after(steps)
    assert both.machine.unpack(pair.raw) == both.story(steps).last
    assert both.story(steps).actions == steps
    with pytest.raises(Disagreement) as found:
        both.after((*steps, "crash(b=2)"))
    assert found.value.steps == steps


def test_a_story_ends_where_the_specification_cannot_go_on() -> None:
    assert sides("bounce").story(("crash(b=2)", "crash(b=2)", "no_such_step(c=1)")).actions == ("crash(b=2)",)


def test_a_part_that_the_reference_does_not_have_is_refused_and_what_to_do_is_said() -> None:
    with pytest.raises(BadInput, match=r"the reference cluster has no .*kcheck explore purgatory_alone"):
        Sides(scope("purgatory_alone"))
