"""Replay: a trace is believed only step by step."""

import enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_check.traces.replay import ReplayError, replay
from model_check.traces.trace import State, Trace
from spec.language.rules import FLAG, Leaf, TransitionSystem, action, either, require
from spec.language.terms import choose, enumeration, number
from tests.model_check.plain_exploration import explore_plainly, successors
from tests.model_check.systems import EXPECTED, build, clerks, lamps, odometer


def start(system: TransitionSystem) -> State:
    return {variable.name: variable.initial for variable in system.variables}


@pytest.mark.parametrize("system", [system for system, _ in EXPECTED.values()], ids=EXPECTED)
def test_every_trace_of_the_oracle_replays(system: TransitionSystem) -> None:
    found = explore_plainly(system)
    for finding in [*found.violations.values(), *found.witnesses.values()]:
        replay(system, finding.trace)


@given(st.data())
def test_a_random_walk_replays_until_one_of_its_values_is_changed(data: st.DataObject) -> None:
    system = lamps()
    steps: list[tuple[str | None, State]] = [(None, start(system))]
    for _ in range(data.draw(st.integers(1, 6))):
        action, after = data.draw(st.sampled_from(successors(system, steps[-1][1])))
        steps.append((action.name, after))
    replay(system, Trace(tuple(steps)))
    place = data.draw(st.integers(0, len(steps) - 1))
    name, state = steps[place]
    steps[place] = (name, {**state, "on[1]": 1 - state["on[1]"]})
    with pytest.raises(ReplayError) as caught:
        replay(system, Trace(tuple(steps)))
    assert caught.value.step == place
    assert caught.value.differences


def test_the_false_conjuncts_of_a_guard_are_told_with_their_values() -> None:
    begin = start(clerks())
    with pytest.raises(ReplayError) as caught:
        replay(clerks(), Trace(((None, begin), ("write(c=1)", begin))))
    assert (caught.value.step, caught.value.action) == (1, "write(c=1)")
    (conjunct,) = caught.value.false_conjuncts
    assert conjunct == "clerks[1].at == READ  where clerks[1].at = IDLE"
    assert caught.value.enabled == ("read(c=1)", "read(c=2)")
    assert "step 1 (write(c=1)) does not replay: the action is not enabled" in str(caught.value)


def test_only_the_false_conjuncts_are_told() -> None:
    spent = {**start(lamps(1, 1)), "budget.faults": 0, "on[1]": 1}
    steps: list[tuple[str | None, State]] = [(None, start(lamps(1, 1)))]
    for name in ("light(lamp=1)", "blow(lamp=1)", "light(lamp=1)"):
        after = next(state for action, state in successors(lamps(1, 1), steps[-1][1]) if action.name == name)
        steps.append((name, after))
    assert steps[-1][1] == spent
    with pytest.raises(ReplayError) as caught:
        replay(lamps(1, 1), Trace((*steps, ("blow(lamp=1)", spent))))
    (conjunct,) = caught.value.false_conjuncts  # the lamp burns, as it must; only the budget is spent
    assert conjunct.endswith("where budget.faults = 0")
    assert caught.value.enabled == ()


def test_a_denied_choice_is_taken_apart_into_what_should_not_be() -> None:
    @action(actor="caretaker", source="by hand")
    def rest(s: Any, _model: object) -> None:
        """The caretaker rests when neither lamp burns."""
        require(~either(s.on[1], s.on[2]))

    shape = {"on": {1: Leaf(FLAG, False), 2: Leaf(FLAG, True)}}
    system = build("resting", shape, [(rest, [{}])], [])
    with pytest.raises(ReplayError) as caught:
        replay(system, Trace(((None, start(system)), ("rest()", start(system)))))
    assert caught.value.false_conjuncts == ("Not(on[2])  where on[2] = yes",)


def test_what_a_variable_is_compared_with_is_called_by_its_name() -> None:
    class Mood(enum.Enum):
        CALM = 1
        GRIM = 2

    @action(actor="caretaker", source="by hand")
    def rest(s: Any, _model: object) -> None:
        """The caretaker rests in a mood that hangs on a lamp; a number stays a number."""
        require(s.mood == choose(s.lit, kind.constant(Mood.CALM), kind.constant(Mood.GRIM)), s.count == 1)

    kind = enumeration(Mood)
    shape = {"mood": Leaf(kind, Mood.CALM), "lit": Leaf(FLAG, False), "count": Leaf(number(3), 0)}
    system = build("resting", shape, [(rest, [{}])], [])
    with pytest.raises(ReplayError) as caught:
        replay(system, Trace(((None, start(system)), ("rest()", start(system)))))
    mood, count = caught.value.false_conjuncts
    assert mood == "mood == If(lit, CALM, GRIM)  where lit = no, mood = CALM"
    assert count == "count == 1  where count = 0"


def test_a_step_that_only_a_bound_stops_is_told_as_such() -> None:
    system = odometer(1, 1)
    zero, one = {"wheels[1]": 0}, {"wheels[1]": 1}
    with pytest.raises(ReplayError, match="only a bound of the scope stops it"):
        replay(system, Trace(((None, zero), ("turn(w=1)", one), ("turn(w=1)", one))))


def test_a_wrong_state_after_a_step_is_told_variable_by_variable() -> None:
    with pytest.raises(ReplayError) as caught:
        replay(clerks(), Trace(((None, start(clerks())), ("read(c=1)", start(clerks())))))
    assert caught.value.differences == ("clerks[1].at is READ, the trace says IDLE",)


def test_a_trace_that_starts_elsewhere_is_refused() -> None:
    with pytest.raises(ReplayError, match=r"step 0 .*starts otherwise(.|\n)*counter is 0, the trace says 1"):
        replay(clerks(), Trace(((None, {**start(clerks()), "counter": 1}),)))


def test_variables_that_are_missing_or_unknown_are_told() -> None:
    with pytest.raises(ReplayError) as caught:
        replay(clerks(), Trace(((None, {**start(clerks()), "owner": 1}),)))
    assert caught.value.differences == ("owner is not a variable of clerks",)
    begin = start(clerks())
    with pytest.raises(ReplayError) as caught:
        replay(clerks(), Trace(((None, begin), ("read(c=1)", {}))))
    assert caught.value.step == 1
    with pytest.raises(ReplayError, match="tells none of the variables of clerks"):
        replay(clerks(), Trace(((None, {}),)))
    assert sorted(caught.value.differences) == sorted(f"{name} is missing" for name in begin)


@pytest.mark.parametrize("untold", [variable.name for variable in clerks().variables])
def test_what_a_trace_does_not_tell_is_as_the_system_has_it(untold: str) -> None:
    whole = next(iter(explore_plainly(clerks()).violations.values())).trace
    steps = ((name, {key: raw for key, raw in state.items() if key != untold}) for name, state in whole.steps)
    told = Trace(tuple(steps))
    assert replay(clerks(), told) == replay(clerks(), whole) == whole


def test_an_unknown_action_is_told_with_what_is_enabled() -> None:
    begin = start(clerks())
    with pytest.raises(ReplayError, match=r"no action of that name\n  enabled here: read\(c=1\), read\(c=2\)"):
        replay(clerks(), Trace(((None, begin), ("elect()", begin))))


def test_a_trace_begins_with_a_state_and_no_action() -> None:
    for steps in ((), (("read(c=1)", start(clerks())),)):
        with pytest.raises(ReplayError, match="starts with the initial state and no action"):
            replay(clerks(), Trace(steps))
