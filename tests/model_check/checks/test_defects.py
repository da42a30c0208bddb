"""A defect's monitor finds the shortest trace that takes the defining steps, and the rows are judged by it."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from model_check.checks.defects import MONITOR, Half, check, halves, is_covered, watched
from model_check.explicit_state.exploration import Exploration
from model_check.explicit_state.explorer import explore
from model_check.explicit_state.interpreter import Machine
from model_check.inventory.system_facts import SystemKey
from model_check.terms.straight_line import evaluate
from model_check.traces.replay import replay
from model_check.traces.trace import State
from model_check.verdicts.verdict import Verdict
from spec.defects import Defect
from spec.expectations import plans
from spec.language.rules import Action, TransitionSystem
from spec.language.terms import flag
from spec.language.views import Observation
from spec.variants import AS_CODED, Switch
from tests.model_check.systems import clerks, lamps, odometer


def row(breaks: str, *defining: str, depth: int = 1) -> Defect:
    return Defect("D0", "by hand", breaks, "tiny", depth, frozenset({Switch.FENCED_WRITES}), AS_CODED, defining)


def explored(system: TransitionSystem) -> Exploration:
    return explore(system, expected=100_000, memory_bytes=1 << 28)


def telling() -> TransitionSystem:
    """The clerks, of whom one is seen to overwrite what the other has written."""
    built = clerks()
    values = {one.name: one.kind.variable(one.name) for one in built.variables}

    def told(action: Action) -> Action:
        if action.rule != "write":
            return action
        lost = ~flag(values[f"clerks[{action.parameters['c']}].seen"] == values["counter"])
        return replace(action, events=(*action.events, Observation(action.actor, "overwrote", {}, lost.term)))

    return replace(built, actions=tuple(told(action) for action in built.actions))


def names(action: Action, before: State) -> set[str]:
    """What a step may be called in a row: its rule, the very action, and what is seen in it."""
    return {action.rule, action.name} | {event.kind for event in action.events if evaluate(event.condition, before)}


def takes(steps: Sequence[set[str]], defining: Sequence[str]) -> bool:
    """Whether the steps contain the defining ones in their order."""
    left = iter(steps)
    return all(any(one in step for step in left) for one in defining)


def shortest(system: TransitionSystem, breaks: str, defining: Sequence[str], most: int = 9) -> int | None:
    """The length of the shortest run that breaks a property and takes the defining steps: by trying all runs."""
    claim, machine = system.property_named(breaks), Machine(system)
    runs: list[tuple[State, tuple[set[str], ...]]] = [(machine.unpack(machine.initial), ())]
    for length in range(1, most + 1):
        longer = []
        for state, steps in runs:
            for action in system.actions:
                if not evaluate(action.guard, state):
                    continue
                after = {**state, **{name: evaluate(term, state) for name, term in action.updates.items()}}
                taken = (*steps, names(action, state))
                if takes(taken, defining) and is_broken(system, claim.name, action, state, after):
                    return length
                longer.append((after, taken))
        runs = longer
    return None


def is_broken(system: TransitionSystem, name: str, action: Action, before: State, after: State) -> bool:
    claim = system.property_named(name)
    if claim.term is not None:
        return not evaluate(claim.term, after)
    return action.name in claim.terms and not evaluate(claim.terms[action.name], before)


CASES = [
    (clerks(), "no_lost_update", ()),
    (clerks(), "no_lost_update", ("read", "write")),
    (clerks(), "no_lost_update", ("read", "read", "write", "write")),
    (clerks(), "no_lost_update", ("read", "write", "read")),
    (clerks(), "no_lost_update", ("read(c=2)", "write(c=1)")),
    (clerks(), "last_write_counts", ("read(c=1)", "read(c=1)")),
    (telling(), "no_lost_update", ("overwrote",)),
    (telling(), "no_lost_update", ("overwrote", "write")),
    (telling(), "last_write_counts", ("wrote", "overwrote")),
    (clerks(), "last_write_counts", ("read", "read")),
    (clerks(), "last_write_counts", ("write", "write")),
    (clerks(), "last_write_counts", ("write", "write", "write")),
    (lamps(2), "stays_on", ("blow",)),
    (lamps(2), "stays_on", ("blow", "light", "blow")),
    (lamps(2), "stays_on", ("light", "light", "blow", "light")),
    (lamps(2), "stays_on", ("blow", "blow", "blow")),
]


@pytest.mark.parametrize(("system", "breaks", "defining"), CASES)
def test_the_trace_is_the_shortest_that_takes_the_defining_steps(
    system: TransitionSystem, breaks: str, defining: tuple[str, ...]
) -> None:
    monitored = watched(system, row(breaks, *defining))
    trace = explored(monitored).violated.get(breaks)
    assert (trace and len(trace)) == shortest(system, breaks, defining)
    if trace:
        replay(monitored, trace)
        actions = {action.name: action for action in system.actions}
        befores = [trace.steps[0][1], *(after for _, after in trace.steps[1:-1])]
        assert takes(
            [names(actions[name], state) for name, state in zip(trace.actions, befores, strict=True)], defining
        )


def test_a_monitor_prevents_nothing() -> None:
    system = lamps(2)
    with_monitor = explored(watched(system, row("stays_on", "blow", "light")))
    states = with_monitor.visited
    seen = {
        tuple(value for name, value in with_monitor.retracer.state(number).items() if name != MONITOR)
        for number in range(len(states))
    }
    assert len(seen) == explored(system).states


def judged(
    monkeypatch: pytest.MonkeyPatch, depth: int, *, fixed: bool, defining: tuple[str, ...] = ()
) -> list[Verdict]:
    """The verdicts on the two runs of a row about the lamps, whose fix takes the faults away or does not."""

    def built(key: SystemKey) -> TransitionSystem:
        return lamps(2, 0) if fixed and key.switches else lamps(2)

    monkeypatch.setattr(SystemKey, "built", built)
    one = row("stays_on", *defining, depth=depth)
    return [check(half, lambda _scope, _switches, built: explored(built)).verdict for half in halves(one)]


def test_a_defect_is_shown_at_its_depth_and_gone_when_fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert judged(monkeypatch, 2, fixed=True) == [Verdict.HOLDS, Verdict.HOLDS]
    assert judged(monkeypatch, 4, fixed=True, defining=("blow", "light", "blow")) == [Verdict.HOLDS, Verdict.HOLDS]


@pytest.mark.parametrize("fixed", [False, True])
def test_both_halves_say_after_which_steps_the_property_is_looked_at(
    monkeypatch: pytest.MonkeyPatch, *, fixed: bool
) -> None:
    monkeypatch.setattr(SystemKey, "built", lambda _: lamps(2))

    def notes(*defining: str) -> tuple[str, ...]:
        half = Half(row("stays_on", *defining, depth=2), fixed=fixed)
        return check(half, lambda _scope, _switches, built: explored(built)).notes

    assert notes() == ()
    (said,) = notes("blow", "light", "blow")
    assert said == "the property is looked at only after these steps, in this order: blow, light, blow"


def test_a_defect_at_another_depth_is_not_the_one_of_the_row(monkeypatch: pytest.MonkeyPatch) -> None:
    assert judged(monkeypatch, 3, fixed=True) == [Verdict.VIOLATED, Verdict.HOLDS]


def test_a_fix_that_fixes_nothing_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    assert judged(monkeypatch, 2, fixed=False) == [Verdict.HOLDS, Verdict.VIOLATED]


def test_an_open_question_shows_no_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wheels may be turned back only beyond the bound: that is INCOMPLETE, with a trace, and no violation."""
    monkeypatch.setattr(SystemKey, "built", lambda _: odometer(1, 2))
    half = Half(row("can_return", depth=1), fixed=False)
    run = check(half, lambda _scope, _switches, built: explore(built, memory_bytes=1 << 28, graph=True))
    assert run.findings[0].story is not None
    assert run.findings[0].story.length == 1
    assert run.verdict is Verdict.INCOMPLETE


COUNTS = {"states": 1, "transitions": 0, "depth": 0, "digest": "1-0"}


@pytest.mark.parametrize(
    ("variant", "expected", "covered"),
    [
        ("AS_CODED", {"violated": {"only_the_latest_term_writes": 9}}, (True, False)),
        ("AS_CODED", {"violated": {"only_the_latest_term_writes": 8}}, (False, False)),
        ("AS_CODED", {}, (False, False)),
        ("AS_CODED+FENCED_WRITES", {}, (False, True)),
        ("AS_CODED+FENCED_WRITES", {"violated": {"only_the_latest_term_writes": 9}}, (False, False)),
        ("AS_CODED+FENCED_WRITES", {"incomplete": {"only_the_latest_term_writes": "why"}}, (False, False)),
        ("FENCED", {}, (False, False)),
    ],
)
def test_what_the_expectations_say_anyway_need_not_be_explored_again(
    variant: str, expected: dict[str, object], covered: tuple[bool, bool]
) -> None:
    plan = plans({"scope": {"tiny": {"expect": {variant: {**COUNTS, **expected}}}}})["tiny"]
    one = row("only_the_latest_term_writes", depth=9)
    assert tuple(is_covered(half, plan) for half in halves(one)) == covered
    with_a_pattern = replace(one, defining=("crash",))
    assert tuple(is_covered(half, plan) for half in halves(with_a_pattern)) == (False, covered[1])
