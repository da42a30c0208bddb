"""Logs that the reference made up: all faults that are planted are found, by file and line, and none else."""

from pathlib import Path

import pytest

from model_check.logs.answers import CLAIMS
from model_check.logs.judging import judge_logs
from tests.model_check.logs.generated import FAULTS, Fault, grow
from tests.model_check.logs.telling import broken, told


def found(folder: Path) -> tuple[set[tuple[str, str]], list[str]]:
    """The breaks in some logs, each with its place, and all notes."""
    (run,) = judge_logs([folder], whole=True)
    breaks = {(one.property, text.split(": ")[0]) for one in broken(run) for text in told(run, one.property)}
    return breaks, list(run.notes)


@pytest.mark.takes("It runs the reference for some hundred steps.")
@pytest.mark.parametrize("fault", FAULTS, ids=lambda one: one.__name__)
def test_a_planted_fault_is_found_and_nothing_else(tmp_path: Path, fault: Fault) -> None:
    grown = grow(tmp_path / "logs", 1, [fault], seeds=2, steps=600)
    breaks, notes = found(grown.folder)
    assert breaks == grown.planted
    counted = f"{grown.failed_elections} elections failed:"
    assert not grown.failed_elections or any(one.startswith(counted) for one in notes)


def test_every_claim_but_for_those_of_refusals_and_of_server_log_is_planted() -> None:
    assert len(FAULTS) == 7
    assert len(CLAIMS) == 10


@pytest.mark.slow
def test_in_a_long_run_all_of_them_are_found(tmp_path: Path) -> None:
    grown = grow(tmp_path / "logs", 64 << 20)
    breaks, _ = found(grown.folder)
    assert breaks == grown.planted
