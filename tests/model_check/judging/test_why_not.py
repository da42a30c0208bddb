"""What else could have happened in a recording: at the steps that break a claim, and where its explanation ends."""

from dataclasses import replace

import pytest

from model_check.judging import why_not
from model_check.judging.judgement_report import in_brief, run_of
from model_check.judging.why_not import with_choices
from model_check.verdicts.rendering import text
from model_check.verdicts.results import Run, plain_document
from spec.variants import AS_CODED
from tests.model_check.unpacking import RECORDINGS, judged_before, recorded

pytestmark = [RECORDINGS, pytest.mark.takes("It judges a recording.")]

NAME = "12-D1-epoch-write-delayed"


def told(run: Run) -> Run:
    recording = recorded(NAME)
    return with_choices(run, recording, judged_before(recording, AS_CODED))


def plain() -> Run:
    recording = recorded(NAME)
    return run_of(recording, judged_before(recording, AS_CODED), "AS_CODED", whole_story=True)


def test_in_place_of_each_step_that_breaks_a_claim_it_is_told_what_could_have_happened() -> None:
    """D1: who lost the race for the epoch goes on as controller, while the other one acts, too."""
    run = told(plain())
    assert run.story is not None
    breaking = [step for step in run.story.steps if step.breaks]
    assert breaking
    assert [(one.step, one.taken) for one in run.choices] == [(step.number, step.action) for step in breaking]
    for one in run.choices:
        names = [each.action for each in one.possible]
        assert names[0] == one.taken
        assert len({*names}) == len(names)
        assert not one.refused
    assert run.notes[-1].startswith("what else was possible is said for each step that breaks a claim; why the rest")
    assert replace(run, choices=(), notes=run.notes[:-1]) == plain(), "all else is as it was"
    assert "Possible as step" in text(plain_document("judge", run))
    assert in_brief(run) == in_brief(plain())


def test_what_is_left_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    run = plain()
    assert run.story is not None
    steps = tuple(replace(step, breaks=("a_claim",)) for step in run.story.steps)
    monkeypatch.setattr(why_not, "MOST_BREAKS", 2)
    many = told(replace(run, story=replace(run.story, steps=steps)))
    assert [one.step for one in many.choices] == [1, 2]
    assert f"is said for the first 2 of {len(steps)} steps that break a claim;" in many.notes[-1]

    monkeypatch.setattr(why_not, "FEW", 2)
    large = told(run)
    assert (large.choices, large.notes) == ((), (*run.notes, "what else was possible is said for at most 2 brokers"))


def test_where_nothing_is_broken_and_all_is_explained_nothing_is_added() -> None:
    run = plain()
    assert run.story is not None
    kept = replace(run, story=replace(run.story, steps=tuple(replace(one, breaks=()) for one in run.story.steps)))
    assert told(kept) == kept
