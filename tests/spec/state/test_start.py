"""The settled start is no invention: a cluster that starts from nothing gets there, and then rests."""

from dataclasses import replace

import pytest

from model_check.explicit_state.interpreter import Machine
from spec.language.rules import TransitionSystem
from spec.model import Model
from spec.scopes import scope
from spec.state.start import running
from spec.variants import AS_CODED, FENCED, Switches
from tests.spec.on_demand import OnDemand
from tests.spec.stepping import Run

#: Scopes that differ in parts, partitions, topics and controllers; under FENCED there are more variables.
STARTS = [
    ("election", AS_CODED), ("epochs", FENCED), ("bounce", AS_CODED), ("metadata", AS_CODED), ("partitions", AS_CODED),
    ("topics", AS_CODED), ("creation", FENCED), ("notifications", AS_CODED),
]  # fmt: skip


def settled(name: str, switches: Switches) -> TransitionSystem:
    """A scope without faults, settled."""
    return OnDemand(replace(scope(name), budgets=()), switches).unclaimed()


def everything_reachable(cold: TransitionSystem) -> set[tuple[int, ...]]:
    """Every state of a system."""
    machine = Machine(cold)
    reached, frontier = {machine.initial}, [machine.initial]
    while frontier:
        after = [step(state) for state in frontier for _, step in machine.steps]
        frontier = list({state for state in after if state is not None} - reached)
        reached.update(frontier)
    return reached


DAILY = ("epochs", "bounce")
"""With every fix and as coded; of the others each has two systems to build, too, and more states."""


@pytest.mark.parametrize(
    ("name", "switches"),
    [pytest.param(name, of, id=name, marks=[pytest.mark.slow] * (name not in DAILY)) for name, of in STARTS],
)
def test_the_settled_start_is_reached_from_nothing_running(name: str, switches: Switches) -> None:
    warm = settled(name, switches)
    cold = OnDemand(replace(scope(name), budgets=(), cold=True), switches).unclaimed()
    initial = {one.name: one.initial for one in warm.variables}
    only_cold = {one.name for one in cold.variables} - initial.keys()
    assert all("epoch_version" in name or name == "history.acted[0]" for name in only_cold)
    assert [one.name for one in cold.variables if one.name not in only_cold] == list(initial)
    start = tuple(initial.get(one.name, 0) for one in cold.variables)
    assert start != tuple(one.initial for one in cold.variables)
    assert start in everything_reachable(cold)


@pytest.mark.parametrize(("name", "switches"), [("metadata", AS_CODED), ("notifications", FENCED)])
def test_a_settled_cluster_rests_until_something_goes_wrong(name: str, switches: Switches) -> None:
    assert Run(scope(name), switches).enabled() == []


def test_a_start_that_names_a_variable_that_is_not_there_is_refused() -> None:
    m = Model(scope("bounce"), AS_CODED)
    with pytest.raises(KeyError, match=r"do not exist: .*zookeeper\.epoch"):
        running(m, {})
