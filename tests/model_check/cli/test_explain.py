"""`kcheck explain`: what else was possible at a step of a story, of a saved trace, or where a recording is stuck."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from model_check.cli.verbs import app
from model_check.reports.wanted import FORMATS
from model_check.verdicts.results import Run, from_json
from tests.model_check.unpacking import RECORDINGS, recording

pytestmark = [RECORDINGS, pytest.mark.takes("It explores a scope, or judges a recording.")]

GOAL = "recoverable_live_replicas_are_informed"


def kcheck(*arguments: str) -> Result:
    """A command line on the shipped manifest."""
    return CliRunner().invoke(app, list(arguments))


def answer(stdout: str) -> Run:
    """The one run of a document."""
    (run,) = from_json(stdout, "stdout").runs
    return run


def test_a_step_of_a_scopes_story_is_told_with_what_else_was_possible() -> None:
    """D12: broker 2 died and is starting; it registers, while the controller has yet to hear that it was gone."""
    result = kcheck("explain", "bounce", "--property", GOAL, "--step", "4")
    assert result.exit_code == 0, result.stderr
    lines = [line.strip() for line in result.stdout.splitlines()]
    assert lines[2] == f"bounce AS_CODED (explain): the shortest story of {GOAL}, of 4 steps"
    assert lines[3].startswith("after 3. broker 2: A broker process starts")
    possible = lines.index("Possible as step 4 (2):")
    assert lines[possible + 1].endswith("[register_broker(b=2)]  <- the story takes it")
    assert lines[possible + 2].endswith("[on_broker_change(c=1)]")
    crash = next(number for number, line in enumerate(lines) if line.endswith("[crash(b=1)]"))
    assert lines[crash + 1] == "because what is left of crashes (0) is not > 0"


def test_why_not_asks_of_all_actions_of_a_rule_or_of_one() -> None:
    named = "explain", "bounce", "--property", GOAL, "--step", "4", "--json", "--why-not"
    (every,) = answer(kcheck(*named, "crash").stdout).choices
    (one,) = answer(kcheck(*named, "crash(b=2)").stdout).choices
    assert [each.action for each in every.refused] == ["crash(b=1)", "crash(b=2)"]
    assert [each.action for each in one.refused] == ["crash(b=2)"]
    assert every.possible == one.possible


def test_behind_the_end_it_is_asked_what_can_follow() -> None:
    run = answer(kcheck("explain", "bounce", "--property", GOAL, "--step", "5", "--json").stdout)
    (choices,) = run.choices
    assert (choices.step, choices.taken) == (5, "")
    assert run.story is not None
    assert len(run.story.steps) == 4


def test_a_saved_trace_is_explained_by_the_system_that_it_names(tmp_path: Path) -> None:
    kcheck("explore", "left_overs", "--traces", str(tmp_path))
    trace = str(tmp_path / "left_overs-AS_CODED-resigned_controllers_are_inactive.itf.json")
    run = answer(kcheck("explain", trace, "--json").stdout)
    assert (run.scope, run.variant) == ("left_overs", "AS_CODED")
    (choices,) = run.choices
    assert choices.taken in {one.action for one in choices.possible}
    fixed = kcheck("explain", trace, "--with", "RESIGN_CLEANS_UP")
    assert fixed.exit_code == 2
    assert "does not replay" in fixed.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("bounce", "--property", GOAL, "--step", "6"), "the story has 4 steps; say 1 to 5"),
        (("bounce",), "no claim about states or steps is broken in bounce; name recoverable_live_replicas_are"),
        (("tiny",), "name a claim that has one with --property"),
        (("tiny", "--budget", "7"), "--budget is for recordings"),
        (("bounce", "--why-not", "crsh"), "no action of this scope is called 'crsh'; did you mean crash?"),
        (("bounce", "--property", "no_such"), "no property of this scope is called 'no_such'"),
        (("bounce", "--scope", "tiny"), "--scope tiny is for traces"),
        (("bunce",), "bunce is no scope, file or folder"),
        ((__file__, "--property", GOAL), "is a trace, which is of one property"),
        ((__file__,), "not JSON"),
        ((str(Path(__file__).parent), "--step", "3"), "leave --step and --property out"),
    ],
)
def test_what_cannot_be_answered_is_bad_usage(arguments: tuple[str, ...], complaint: str) -> None:
    result = kcheck("explain", *arguments)
    assert result.exit_code == 2
    assert complaint in " ".join(result.stderr.split())


@pytest.mark.slow
def test_of_a_recording_it_is_told_why_what_was_observed_next_is_no_step() -> None:
    """With the fix on, who loses the race for the epoch resigns; the recorded controller went on."""
    folder = str(recording("12-D1-epoch-write-delayed"))
    result = kcheck("explain", folder, "--with", "RESIGN_ON_EPOCH_CONFLICT", "--json")
    assert result.exit_code == 0, result.stderr
    (choices,) = answer(result.stdout).choices
    assert "resign_delete(c=3)" in {one.action for one in choices.possible}
    (registration,) = choices.refused
    assert registration.action == "register_broker(b=3)"
    assert registration.because[0] == "broker 3's registration to do (NOTHING) is not AT_START"
    asked = kcheck("explain", folder, "--with", "RESIGN_ON_EPOCH_CONFLICT", "--json", "--why-not", "crash")
    (every,) = answer(asked.stdout).choices
    assert {one.action for one in every.refused} == {"crash(b=1)"}, "broker 1 is dead"
    assert "all of it is explained" in kcheck("explain", folder).stdout


def test_a_budget_that_is_used_up_is_told_with_what_there_is_to_tell() -> None:
    result = kcheck("explain", str(recording("12-D1-epoch-write-delayed")), "--budget", "10")
    assert result.exit_code == 0
    assert "no explanation found among 11 positions; --budget allows more" in result.stdout
    assert "Not possible, and why" in result.stdout


def test_reports_are_written_of_it(tmp_path: Path) -> None:
    files = [f"--report={name}={tmp_path / name}" for name in FORMATS]
    assert kcheck("explain", "bounce", "--property", GOAL, *files).exit_code == 0
    for name in ("html", "markdown"):
        assert "what is left of crashes (0) is not" in (tmp_path / name).read_text("utf-8"), name
