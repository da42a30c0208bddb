"""`kcheck replay`: a saved trace is told again, or refused at the step that cannot be taken."""

from pathlib import Path

import pytest

from tests.model_check.cli.conftest import Kcheck, expectation


@pytest.fixture
def traces(kcheck: Kcheck, tmp_path: Path) -> Path:
    kcheck("explore", "pair", "--traces", str(tmp_path))
    return tmp_path


def saved(traces: Path, name: str) -> str:
    return str(traces / f"pair-AS_CODED-{name}.itf.json")


@pytest.mark.parametrize("name", ["resigned_controllers_are_inactive", "no_failover_fails_on_left_overs"])
def test_a_counterexample_replays_and_breaks_its_property_at_the_end(kcheck: Kcheck, traces: Path, name: str) -> None:
    result = kcheck("replay", saved(traces, name))
    length = expectation("pair")["violated"][name]
    assert result.exit_code == 1
    assert f"{name} broken by {length} steps" in " ".join(result.stdout.split())
    assert f"\n{length:>4}. " in result.stdout
    assert f"\n{length:>4} " in kcheck("replay", saved(traces, name), "--timeline").stdout


def test_a_witness_breaks_nothing(kcheck: Kcheck, traces: Path) -> None:
    result = kcheck("replay", saved(traces, "the_second_epoch"))
    assert result.exit_code == 0
    assert result.stdout.startswith("kcheck replay: HOLDS\n")
    assert (
        "every step can be taken, and none breaks a property; whether goals stay in reach is not asked" in result.stdout
    )
    assert "out of reach: a goal" not in result.stdout


def test_of_a_goal_it_is_told_that_no_step_breaks_it(kcheck: Kcheck, tmp_path: Path) -> None:
    kcheck("explore", "pair", "--goals", "--traces", str(tmp_path))
    goal = "eventually_one_working_controller"
    result = kcheck("replay", saved(tmp_path, goal))
    assert goal not in [line.split()[2] for line in result.stdout.splitlines() if line.startswith("  VIOLATED")]
    assert f"the way to where {goal} is out of reach: a goal (eventually), which no step breaks" in result.stdout
    assert f"kcheck explore --property {goal} judges it" in result.stdout


def test_with_the_fix_on_the_first_step_that_cannot_be_taken_is_told(kcheck: Kcheck, traces: Path) -> None:
    result = kcheck("replay", saved(traces, "resigned_controllers_are_inactive"), "--with", "RESIGN_CLEANS_UP")
    assert result.exit_code == 1
    assert "pair AS_CODED+RESIGN_CLEANS_UP (replay): VIOLATED: the trace does not replay" in result.stdout
    assert "does not replay: " in result.stdout
    assert "enabled here: " in result.stdout


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("{}", "`vars` is missing"),
        ('{"vars": ["x"], "states": []}', "`vars` lacks `action`"),
    ],
)
def test_a_file_that_is_no_trace_is_refused(kcheck: Kcheck, tmp_path: Path, content: str, complaint: str) -> None:
    path = tmp_path / "t.itf.json"
    path.write_text(content, encoding="utf-8")
    result = kcheck("replay", str(path))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"kcheck: {path}: {complaint}")


def test_a_file_that_is_not_there_is_refused(kcheck: Kcheck, tmp_path: Path) -> None:
    result = kcheck("replay", str(tmp_path / "none.json"))
    assert result.exit_code == 2
    assert "cannot be read: No such file" in result.stderr


def test_a_trace_of_an_unknown_scope_asks_for_one(kcheck: Kcheck, tmp_path: Path) -> None:
    path = tmp_path / "t.itf.json"
    path.write_text(
        '{"vars": ["action"], "states": [{"action": "init"}], "#meta": {"system": "moon"}}', encoding="utf-8"
    )
    result = kcheck("replay", str(path))
    assert result.exit_code == 2
    assert "no scope is called 'moon'" in result.stderr
    assert "say --scope" in result.stderr
