"""A result's stories are taken again, and of each step of a counterexample it is told what else was possible."""

from dataclasses import replace

import pytest

from model_check.checks import possibilities
from model_check.checks.possibilities import MOST_STEPS, with_possibilities
from model_check.explicit_state.findings import ENGINE, story_of
from model_check.traces.trace import Trace
from model_check.verdicts.possibilities import Possibilities
from model_check.verdicts.results import Finding, Run, Story, plain_document
from model_check.verdicts.verdict import Verdict
from tests.model_check.systems import odometer

DIGITS = 150
WHEELS = odometer(2, DIGITS)


class Key:
    """A stand-in for the key of any system: it is that of the wheels."""

    def __init__(self, *_: object) -> None:
        pass

    built = staticmethod(lambda: WHEELS)


@pytest.fixture(autouse=True)
def wheels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(possibilities, "SystemKey", Key)
    monkeypatch.setattr(possibilities, "scopes", lambda: {"wheels": None})


def turned(times: int) -> Story:
    """The first wheel turned so often."""
    states = [{"wheels[1]": digit, "wheels[2]": 0} for digit in range(times + 1)]
    return story_of(WHEELS, Trace(tuple(("turn(w=1)" if one else None, state) for one, state in enumerate(states))))


def broken(story: Story | None, verdict: Verdict = Verdict.VIOLATED) -> Finding:
    return Finding("p", "always", "It holds.", "by hand", verdict, story=story)


def told(*findings: Finding, engine: str = ENGINE, story: Story | None = None, scope: str = "wheels") -> Run:
    document = plain_document(
        "explore", Run(engine, scope, "AS_CODED", Verdict.VIOLATED, findings=findings, story=story)
    )
    (run,) = with_possibilities(document).runs
    assert replace(run, story=story, findings=findings) == document.runs[0], "all else is as it was"
    return run


def of(story: Story | None) -> Possibilities | None:
    return story.possibilities if story else None


def test_at_each_step_of_a_counterexample_it_is_told_what_else_was_possible() -> None:
    found = of(told(broken(turned(3))).findings[0].story)
    assert found is not None
    assert (found.first, found.last) == (1, 3)
    assert [[one.action for one in found.others(step, "turn(w=1)")] for step in (1, 2, 3)] == [["turn(w=2)"]] * 3


@pytest.mark.parametrize("engine", [ENGINE, "D2, explorer", "Spark", "replay"])
def test_it_is_asked_of_traces_and_violations_and_of_nothing_else(engine: str) -> None:
    witness, untold = broken(turned(2), Verdict.HOLDS), broken(Story(2))
    run = told(broken(turned(2)), witness, untold, engine=engine, story=turned(1))
    assert [of(one.story) is not None for one in run.findings] == [True, False, False]
    assert of(run.story) is not None


@pytest.mark.parametrize(("engine", "scope"), [("crash matrix", "wheels"), ("judge", "wheels"), (ENGINE, "recorded")])
def test_stories_of_other_systems_are_left_as_they_are(engine: str, scope: str) -> None:
    assert of(told(broken(turned(2)), engine=engine, scope=scope).findings[0].story) is None


def test_of_a_long_story_the_last_steps_are_asked_and_the_first_stories_of_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(possibilities, "MOST_OF_ALL", MOST_STEPS + 1)
    run = told(broken(turned(MOST_STEPS + 20)), broken(turned(5)), broken(turned(2)))
    found = [of(one.story) for one in run.findings]
    assert [one and (one.first, one.last, one.steps) for one in found] == [
        (21, MOST_STEPS + 20, MOST_STEPS),
        (1, 5, 5),
        (3, 2, 0),
    ]


@pytest.mark.parametrize("action", ["turn(w=3)", "turn(w=1)"])
def test_a_story_that_the_system_does_not_take_is_not_asked(action: str) -> None:
    """No such wheel; or one turn more than there are digits."""
    story = turned(DIGITS)
    more = replace(story, steps=(*story.steps, replace(story.steps[-1], number=DIGITS + 1, action=action)))
    assert of(told(broken(more)).findings[0].story) is None
