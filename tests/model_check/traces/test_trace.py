"""Stories: the words of each step, what was seen of it, and only what it changed."""

from typing import Any

import pytest

from model_check.explicit_state.findings import story_of
from model_check.traces.trace import Trace, TraceError, continued, shown, tell
from model_check.verdicts.rendering import steps_in_lines
from model_check.verdicts.results import Story
from spec.language.rules import FLAG, Leaf, TransitionSystem, action, observe, successor, when
from spec.language.terms import epoch
from tests.model_check.plain_exploration import explore_plainly
from tests.model_check.systems import build, clerks, lamps

LOST_UPDATE = """\
   0. The initial state.
   1. clerk 1: The clerk reads the counter.  [read(c=1)]
        clerks[1].at: IDLE -> READ
   2. clerk 2: The clerk reads the counter.  [read(c=2)]
        clerks[2].at: IDLE -> READ
   3. clerk 1: The clerk writes what was read, plus one.  [write(c=1)]
        seen: clerk 1 wrote counter=1
        clerks[1].at: READ -> DONE
        counter: 0 -> 1
   4. clerk 2: The clerk writes what was read, plus one.  [write(c=2)]
        seen: clerk 2 wrote counter=1
        clerks[2].at: READ -> DONE
"""


def lost_update() -> Trace:
    return explore_plainly(clerks()).violations["no_lost_update"].trace


def story(system: TransitionSystem, trace: Trace) -> str:
    """The whole trace as text."""
    return "".join(f"{line}\n" for line in steps_in_lines(story_of(system, trace)))


def test_a_trace_reads_like_a_story() -> None:
    assert story(clerks(), lost_update()) == LOST_UPDATE


def test_a_step_says_only_what_changed() -> None:
    third = tell(clerks(), lost_update())[2]
    assert third.changes == ("clerks[1].at: READ -> DONE", "counter: 0 -> 1")
    assert (third.number, third.actor, third.source) == (3, "clerk 1", "by hand")


@action(actor="bell", source="by hand")
def swing(s: Any, _model: object) -> None:
    """The bell swings, and is heard if its clapper is in."""
    with when(s.clapper):
        observe("neighbour", "heard", stroke=s.strokes)
    s.strokes = successor(s.strokes)


@pytest.mark.parametrize(("clapper", "heard"), [(1, ("neighbour heard stroke=2",)), (0, ())])
def test_an_observation_is_told_only_where_its_condition_holds(clapper: int, heard: tuple[str, ...]) -> None:
    shape = {"clapper": Leaf(FLAG, True), "strokes": Leaf(epoch(5), 0)}
    states = [{"clapper": clapper, "strokes": strokes} for strokes in (2, 3)]
    (step,) = tell(build("bell", shape, [(swing, [{}])], []), Trace(((None, states[0]), ("swing()", states[1]))))
    assert step.observed == heard


def test_a_step_that_changes_nothing_says_so() -> None:
    state = {"on[1]": 1, "on[2]": 0, "on[3]": 0, "budget.faults": 2}
    steps = tell(lamps(), Trace(((None, state), ("light(lamp=1)", state))))
    assert list(steps_in_lines(Story(1, steps)))[-1].strip() == "(nothing changes)"


def test_flags_print_as_words() -> None:
    trace = explore_plainly(lamps()).violations["stays_on"].trace
    assert "on[1]: no -> yes" in story(lamps(), trace)


def test_a_value_outside_its_kind_is_not_hidden() -> None:
    budget = lamps(faults=2).variables[-1]
    assert shown(budget, 2) == "2"
    assert shown(budget, 3) == "3 (not a budget)"


def test_an_unknown_action_is_refused() -> None:
    begin = lost_update().steps[0]
    with pytest.raises(TraceError, match=r"step 1 takes elect\(\), but clerks has no action of that name"):
        story(clerks(), Trace((begin, ("elect()", begin[1]))))


def test_a_state_without_a_variable_is_refused() -> None:
    begin = lost_update().steps[0]
    with pytest.raises(TraceError, match="the states around step 1 lack counter"):
        story(clerks(), Trace((begin, ("read(c=1)", {k: v for k, v in begin[1].items() if k != "counter"}))))


def test_the_length_of_a_trace_is_its_number_of_steps() -> None:
    trace = lost_update()
    assert len(trace) == len(trace.actions) == 4
    assert trace.last["counter"] == 1


def test_a_trace_goes_on_as_the_oracle_has_it_and_not_where_it_cannot() -> None:
    system = clerks()
    actions = {one.name: one for one in system.actions}
    trace = explore_plainly(system).violations["no_lost_update"].trace
    way = [actions[name] for name in trace.actions]
    assert continued(Trace(trace.steps[:1]), way) == trace
    with pytest.raises(ValueError, match=r"step 2: read\(c=1\) is not enabled"):
        continued(Trace(trace.steps[:1]), [way[0], way[0]])
