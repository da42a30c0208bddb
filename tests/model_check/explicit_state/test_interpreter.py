"""The oracle against numbers counted by hand, and against itself the slow way."""

import pytest

from model_check.explicit_state.interpreter import Machine
from spec.language.rules import Leaf, TransitionSystem, action
from spec.language.terms import number
from spec.scopes import scope
from tests.model_check.plain_exploration import explore_plainly, successors
from tests.model_check.systems import EXPECTED, Counts, build, clerks, jugs, lamps, odometer, odometer_counts
from tests.spec.on_demand import OnDemand


@pytest.mark.parametrize(("system", "counts"), EXPECTED.values(), ids=EXPECTED)
def test_counts_are_those_counted_by_hand(system: TransitionSystem, counts: Counts) -> None:
    found = explore_plainly(system)
    assert found.complete
    assert (found.states, found.transitions, found.levels) == (counts.states, counts.transitions, counts.levels)
    assert sum(found.fired.values()) == counts.transitions
    assert sum(found.overflows.values()) == counts.overflows
    assert {name: one.count for name, one in found.violations.items()} == counts.failing
    assert {name: one.count for name, one in found.witnesses.items()} == counts.witnessed


@pytest.mark.parametrize("system", [system for system, _ in EXPECTED.values()], ids=EXPECTED)
def test_the_search_finds_what_one_gets_by_evaluating_terms_state_by_state(system: TransitionSystem) -> None:
    machine = Machine(system)
    known, frontier, fired = {machine.initial}, [machine.initial], 0
    while frontier:
        state = machine.unpack(frontier.pop())
        for _, after in successors(system, state):
            fired += 1
            if machine.pack(after) not in known:
                known.add(machine.pack(after))
                frontier.append(machine.pack(after))
    found = explore_plainly(system)
    assert known == found.reached.keys()
    assert fired == found.transitions


@pytest.mark.parametrize("system", [system for system, _ in EXPECTED.values()], ids=EXPECTED)
def test_all_guards_at_once_say_what_each_says_alone(system: TransitionSystem) -> None:
    machine, states = Machine(system), explore_plainly(system).reached
    for raw in states:
        alone = {action.name: after for action, step in machine.steps if (after := step(raw)) is not None}
        together = machine.enabled(raw)
        assert together == alone
        assert [*together] == [*alone], "in the order of the actions"


@pytest.mark.parametrize("name", ["bounce", pytest.param("move", marks=pytest.mark.slow), "leaderless_deletion"])
def test_all_guards_of_a_scope_at_once_say_what_each_says_alone(name: str) -> None:
    machine = Machine(OnDemand(scope(name)).unclaimed())
    pending, seen = [machine.initial], {machine.initial}
    while pending:
        raw = pending.pop()
        together = machine.enabled(raw)
        assert together == {one.name: after for one, step in machine.steps if (after := step(raw)) is not None}
        pending += {*together.values()} - seen
        seen.update(pending)


def test_fired_actions_are_counted_one_by_one() -> None:
    found = explore_plainly(clerks())
    # Clerk 1 reads in II0, I R0 0 and ID1, writes in R0I0, R0R0, R0D1 and R1D1; clerk 2 by symmetry.
    assert found.fired == {"read(c=1)": 3, "read(c=2)": 3, "write(c=1)": 4, "write(c=2)": 4}


def test_the_shortest_trace_to_four_measures_is_the_one_of_the_film() -> None:
    trace = explore_plainly(jugs()).violations["never_four"].trace
    assert trace.actions == ("fill(big)", "pour(big)", "empty(small)", "pour(big)", "fill(big)", "pour(big)")
    assert trace.steps[0] == (None, {"big": 0, "small": 0})
    assert trace.last == {"big": 4, "small": 3}


def test_a_trace_of_a_step_property_ends_with_the_step_that_breaks_it() -> None:
    trace = explore_plainly(lamps()).violations["stays_on"].trace
    assert len(trace) == 2
    assert trace.actions[1].startswith("blow")
    assert trace.steps[1][1]["budget.faults"] == 2
    assert trace.last["budget.faults"] == 1


def test_a_witness_that_nothing_reaches_is_not_there() -> None:
    assert explore_plainly(clerks()).witnesses.keys() == {"counted"}


def test_every_step_of_a_trace_is_a_successor() -> None:
    system = clerks()
    for finding in explore_plainly(system).violations.values():
        for (_, before), (name, after) in zip(finding.trace.steps, finding.trace.steps[1:], strict=False):
            assert (name, after) in [(one.name, state) for one, state in successors(system, before)]


def test_a_limit_stops_between_levels_and_says_so() -> None:
    counts = odometer_counts(3, 4)
    stopped = explore_plainly(odometer(3, 4), depth=3)
    assert not stopped.complete
    assert stopped.levels == counts.levels[:4]
    assert stopped.expanded == sum(counts.levels[:3])
    by_size = explore_plainly(odometer(3, 4), 20)  # 1 + 3 + 6 + 10 states make 20
    assert by_size.levels == stopped.levels
    assert not by_size.complete


def test_a_value_that_its_kind_does_not_have_is_a_mistake_of_the_specification() -> None:
    @action(actor="nobody", source="by hand")
    def overrun(s: object, _model: object) -> None:
        """A number gets larger than its kind says, though its bits have room."""
        s.level = type(s.level)(s.level.kind, s.level.term + 1)  # type: ignore[attr-defined]  # a view

    system = build("overrun", {"level": Leaf(number(2, "level"), 0)}, [(overrun, [{}])], [])
    with pytest.raises(ValueError, match=r"overrun\(\) sets level to 3, but a level is at most 2"):
        explore_plainly(system)


def test_forty_actions_are_explored_to_a_depth() -> None:
    found = explore_plainly(odometer(40, 1), depth=3)
    assert found.levels == (1, 40, 780, 9880)  # C(40, d): which wheels have turned
    assert found.expanded == 1 + 40 + 780
    assert found.transitions == 40 + 40 * 39 + 780 * 38
    assert sum(found.overflows.values()) == 40 * 1 + 780 * 2
