"""`kcheck matrix`: a table, plain in a pipe; exit codes; traces that replay."""

import signal
import tomllib
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import model_check.matrix.crash_matrix
from model_check.explicit_state.exploration import Exploration
from model_check.explicit_state.explorer import explore
from model_check.traces.itf import load
from model_check.verdicts.results import from_json
from tests.model_check.cli.conftest import Bars, Kcheck

RESIGNING = {
    "bounds": {
        "statement": "Two brokers.", "brokers": 2, "controllers": 2, "callback_capacity": 12, "controller_epochs": 7,
        "budgets": {"crashes": 2, "expiries": 1, "exceptions": 1},
    },
    "matrix": {
        "controller": 2,
        "trigger": [
            "crash(b=1)", "end_orphaned_session(b=1)", "on_controller_change(c=2)", "elect_read(c=2)",
            "elect_create(c=2)", "fail_failover(c=2)",
        ],
    },
}  # fmt: skip
PAUSED = ("matrix", "resigning", "--fault", "pause")


@pytest.fixture
def resigning(manifest: dict[str, Any]) -> dict[str, Any]:
    """A handler in the manifest: an elector that resigns after an exception."""
    entry: dict[str, Any] = {key: dict(value) for key, value in RESIGNING.items()}
    manifest["matrix_resigning"] = entry
    return entry


@pytest.mark.usefixtures("resigning")
def test_a_table_is_printed_with_a_legend_and_what_is_broken_exits_with_1(kcheck: Kcheck, bars: Bars) -> None:
    result = kcheck(*PAUSED)
    title = "matrix_resigning AS_CODED"
    assert bars.told == [([title, f"{title}: none", f"{title}: pause"], 1, 2)]
    assert result.exit_code == 1, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "kcheck matrix: VIOLATED"
    (row,) = (line for line in lines if line.startswith("  RESIGN_DELETE"))
    assert "violates a" in row
    assert row.endswith("resign(): delete /controller")
    assert any(line.startswith("  a: controller_znode_is_its_owners, first after ") for line in lines)


def test_what_is_expected_exits_with_0_and_saves_traces_that_replay(
    kcheck: Kcheck, resigning: dict[str, Any], tmp_path: Path
) -> None:
    printed = kcheck(*PAUSED, "--print-expectations").stdout
    assert 'RESIGN_DELETE = "violates controller_znode_is_its_owners' in printed
    resigning["matrix"]["expect"] = tomllib.loads(printed)["scope"]["matrix_resigning"]["matrix"]["expect"]
    result = kcheck(*PAUSED, "--json", "--save", str(tmp_path))
    assert result.exit_code == 0, result.stderr
    (run,) = from_json(result.stdout, "stdout").runs
    assert all(one.is_met for one in run.comparisons)
    name = "matrix_resigning-AS_CODED-pause-before-RESIGN_DELETE-controller_znode_is_its_owners.itf.json"
    assert load(tmp_path / name).system == "matrix_resigning AS_CODED"
    assert (tmp_path / "matrix.json").exists()
    assert "RESIGN_DELETE" in (tmp_path / "matrix_resigning-AS_CODED.txt").read_text(encoding="utf-8")
    replayed = kcheck("replay", str(tmp_path / name))
    assert replayed.exit_code == 1
    assert "controller_znode_is_its_owners" in replayed.stdout


@pytest.mark.usefixtures("resigning")
def test_ctrl_c_leaves_incomplete_with_the_faults_that_were_tried(
    kcheck: Kcheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = count(1)

    def pressed_at_the_third(*arguments: Any, **options: Any) -> Exploration:
        if next(asked) == 3:
            signal.raise_signal(signal.SIGINT)
        return explore(*arguments, **options)

    monkeypatch.setattr(model_check.matrix.crash_matrix, "explore", pressed_at_the_third)
    result = kcheck(
        "matrix", "resigning", "resigning", "--with", "FENCED_RESIGN", "--fault", "pause", "--fault", "crash"
    )
    assert result.exit_code == 3, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "kcheck matrix: INCOMPLETE"
    assert lines[2].endswith("(crash matrix): INCOMPLETE: interrupted")
    assert lines[3].split()[2:4] == ["pause", "what"]  # the crash is not there
    assert lines[-1].endswith("(crash matrix): INCOMPLETE: interrupted before it began")


@pytest.mark.usefixtures("resigning")
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("nobody",), "no handler is called 'nobody'"),
        (("resigning", "--fault", "fire"), "no fault is called 'fire'"),
        (("resigning", "--with", "LUCK"), "no switch is called 'LUCK'"),
    ],
)
def test_what_is_unknown_is_refused(kcheck: Kcheck, arguments: tuple[str, ...], complaint: str) -> None:
    result = kcheck("matrix", *arguments)
    assert result.exit_code == 2
    assert complaint in result.stderr
