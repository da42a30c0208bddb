"""From an exploration to verdicts, on systems whose numbers were counted by hand."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest
import z3

from model_check.explicit_state.exploration import Exploration
from model_check.explicit_state.explorer import explore
from model_check.explicit_state.findings import broken_along, run_of, story_of, with_stories
from model_check.traces.replay import replay
from model_check.traces.trace import Trace
from model_check.verdicts.results import Finding, Run, Story
from model_check.verdicts.verdict import Verdict
from spec.language.rules import Property, TransitionSystem
from tests.model_check.systems import clerks, jugs, lamps, odometer

SYSTEMS: dict[str, Callable[[], TransitionSystem]] = {
    "clerks": clerks, "lamps": lamps, "odometer": odometer, "jugs": jugs,
}  # fmt: skip


@cache
def explored(name: str) -> tuple[TransitionSystem, Exploration]:
    system = SYSTEMS[name]()
    return system, explore(system, graph=True, memory_bytes=1 << 28)


def run(name: str) -> Run:
    system, found = explored(name)
    return run_of(system, found, scope=name, variant="")


def found(one: Run) -> dict[str, Finding]:
    return {finding.property: finding for finding in one.findings}


def test_the_clerks_lose_an_update_in_four_steps_and_are_never_done_with_nothing() -> None:
    findings = found(run("clerks"))
    lost = findings["no_lost_update"]
    assert (lost.verdict, lost.story and lost.story.length) == (Verdict.VIOLATED, 4)
    last = findings["last_write_counts"]
    assert (last.verdict, last.story and last.story.length) == (Verdict.VIOLATED, 4)
    assert findings["counted"].verdict is Verdict.HOLDS
    never = findings["both_read_nothing"]
    assert (never.verdict, never.story, never.reason) == (Verdict.INCOMPLETE, None, "no state of this scope shows it")


def test_a_goal_is_violated_incomplete_or_holds_as_the_graph_says() -> None:
    clerks_run, lamps_run, odometer_run = run("clerks"), run("lamps"), run("odometer")
    # Once both have read nothing, both will write one: that is R0R0, DR0, R0D and DD1. A lamp can always be lit.
    # A wheel at the top is at the bound.
    assert found(clerks_run)["can_be_right"].verdict is Verdict.VIOLATED
    assert found(clerks_run)["can_be_right"].reason == "not so from 4 states"
    assert found(clerks_run)["all_done"].verdict is Verdict.HOLDS
    assert found(lamps_run)["relit"].verdict is Verdict.HOLDS
    assert found(lamps_run)["all_lit"].verdict is Verdict.HOLDS
    assert found(odometer_run)["can_return"].verdict is Verdict.INCOMPLETE


def test_a_goal_that_every_state_has_holds_for_want_of_occasion() -> None:
    assert found(run("lamps"))["all_lit"].reason == ""
    always = Property("is", "eventually", "It is.", "by hand", z3.BoolVal(val=True))
    system = replace(odometer(), properties=(always,))
    one = run_of(system, explore(system, graph=True, memory_bytes=1 << 28), scope="odometer", variant="")
    assert (found(one)["is"].verdict, found(one)["is"].reason) == (
        Verdict.HOLDS, "for want of occasion: every state has it",
    )  # fmt: skip


def test_without_a_graph_goals_are_named_and_not_judged() -> None:
    system = clerks()
    one = run_of(system, explore(system, memory_bytes=1 << 28), scope="clerks", variant="")
    assert one.not_asked == ("all_done", "can_be_right")
    assert not {"all_done", "can_be_right"} & found(one).keys()


@pytest.mark.parametrize(("name", "verdict"), [("clerks", "VIOLATED"), ("lamps", "VIOLATED"), ("jugs", "VIOLATED")])
def test_a_run_is_as_bad_as_its_worst_claim(name: str, verdict: str) -> None:
    assert run(name).verdict == verdict


def test_a_witness_that_is_missing_makes_no_run_worse_but_is_told_where_it_leaves_a_claim_without_occasion() -> None:
    system, exploration = explored("clerks")
    kept = [one for one in system.properties if one.name in ("both_read_nothing", "last_write_counts")]
    unwitnessed = replace(kept[1], witness="both_read_nothing")
    harmless = replace(system, properties=(kept[0], unwitnessed))
    nothing_violated = replace(exploration, violated={})
    one = run_of(harmless, nothing_violated, scope="clerks", variant="")
    assert one.verdict is Verdict.HOLDS
    assert found(one)["last_write_counts"].reason == "for want of occasion: both_read_nothing has no witness here"


def test_what_was_not_exhausted_is_incomplete_with_how_far_it_got() -> None:
    system = odometer()
    one = run_of(system, explore(system, limit=5, memory_bytes=1 << 28), scope="odometer", variant="")
    assert one.verdict is Verdict.INCOMPLETE
    # Levels 0 and 1 have 1 + 3 states; with the 6 of level 2 there are more than 5, and no further level is begun.
    assert one.reason == (
        "not exhausted: the limit of states was reached after 4 of 10 known states were expanded, "
        "complete to a depth of 1"
    )
    assert found(one)["first_below_top"].verdict is Verdict.INCOMPLETE
    assert found(one)["first_below_top"].reason == "no counterexample of 1 steps or fewer"


def test_what_was_not_begun_says_so() -> None:
    system = odometer()
    one = run_of(system, explore(system, limit=0, memory_bytes=1 << 28), scope="odometer", variant="")
    assert one.reason == "not exhausted: the limit of states was reached after 0 of 1 known states were expanded"
    assert found(one)["first_below_top"].reason == "the initial state was not expanded"


def test_transitions_are_counted_by_rule() -> None:
    one = run("odometer")
    assert one.counts is not None
    assert one.fired is not None
    assert sum(one.fired.values()) == one.counts.transitions


def test_what_a_bound_stops_is_counted_by_rule() -> None:
    assert run("odometer").bounds_hit == {"turn": 75}
    assert run("lamps").bounds_hit == {}


def test_a_rule_that_never_fires_is_told_apart_from_an_idle_instance() -> None:
    system, exploration = explored("lamps")
    fired = {name: 0 if name == "light(lamp=2)" or "blow" in name else n for name, n in exploration.fired.items()}
    one = run_of(system, replace(exploration, fired=fired), scope="lamps", variant="")
    assert one.never_fired == ("blow",)
    assert one.idle_instances == ("light(lamp=2)",)


def test_only_the_chosen_properties_are_judged() -> None:
    system, exploration = explored("clerks")
    one = run_of(system, exploration, scope="clerks", variant="", chosen=["counted"])
    assert [finding.property for finding in one.findings] == ["counted"]
    assert one.verdict is Verdict.HOLDS


def test_a_story_tells_every_step_of_the_trace_and_the_trace_replays() -> None:
    system, exploration = explored("clerks")
    trace = exploration.violated["no_lost_update"]
    replay(system, trace)
    story = story_of(system, trace)
    assert [step.action for step in story.steps] == list(trace.actions)
    # The last write changes nothing but its clerk, which of the two it is being left open.
    assert [change.partition("].")[2] for change in story.steps[-1].changes] == ["at: READ -> DONE"]


def test_of_a_run_only_the_stories_asked_for_have_words() -> None:
    system, exploration = explored("clerks")
    plain = run("clerks")
    assert {one.property for one in plain.findings if one.story and one.story.is_told} == set()
    told = with_stories(plain, system, exploration, ["no_lost_update", "both_read_nothing"])
    (lost,) = [one for one in told.findings if one.story and one.story.is_told]
    assert lost.story == story_of(system, exploration.violated["no_lost_update"], system.property_named(lost.property))
    assert str(lost.story.because) == "clerks[1].at is DONE; clerks[2].at is DONE; counter (1) is not 2"
    unsaid = [replace(one, story=one.story and Story(one.story.length)) for one in told.findings]
    assert unsaid == [*plain.findings], "nothing else is another, and no length"


def test_what_a_trace_breaks_is_found_at_the_first_place() -> None:
    system, exploration = explored("clerks")
    trace = exploration.violated["no_lost_update"]
    assert {one.property: one.story and one.story.length for one in broken_along(system, trace)} == {
        "no_lost_update": 4,
        "last_write_counts": 4,
    }
    assert list(broken_along(system, Trace(trace.steps[:-1]))) == []
