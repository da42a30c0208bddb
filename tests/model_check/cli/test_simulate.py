"""`kcheck simulate`: how many runs and how long, what was covered, and a disagreement as a story."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from model_check.checks import simulation
from model_check.verdicts.results import from_json
from reference.memory import steps as memory_steps
from reference.memory.cluster import MemoryCluster
from tests.model_check.cli.conftest import Kcheck


def test_runs_are_counted_and_so_are_the_rules(kcheck: Kcheck) -> None:
    result = kcheck("simulate", "pair", "--runs", "5", "--steps", "40", "--seed", "4", "--json")
    assert result.exit_code == 0, result.stdout
    (run,) = from_json(result.stdout, "stdout").runs
    assert [(one.about, one.expected, one.found) for one in run.comparisons] == [("runs of 40 steps", "5", "5")]
    assert run.notes[0].endswith(" 40.0 a run on average")
    assert "seed 4" in run.notes
    counts = {note.split()[0]: int(note.split()[1]) for note in run.notes if note.startswith("  ")}
    assert sum(counts.values()) == 200
    assert result.stderr == ""


def test_a_disagreement_is_told_as_a_story(kcheck: Kcheck, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash that takes the session along at once shows in its first step; no step before it is needed."""

    def crash(cluster: MemoryCluster, *, b: int) -> None:
        memory_steps.forget(cluster, b)

    monkeypatch.setattr(memory_steps, "crash", crash)
    result = kcheck("simulate", "pair", "--seed", "4")
    lines = result.stdout.splitlines()
    assert result.exit_code == 1
    assert lines[2].endswith("(simulation): VIOLATED: specification and reference disagree after 1 step")
    assert ".orphan is yes in the specification, no in the reference" in result.stdout
    assert [line.rpartition("[")[2][:6] for line in lines if line.startswith("   1. ")] == ["crash("]


def test_ctrl_c_leaves_incomplete_with_what_was_run(kcheck: Kcheck, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def pressing(*_: object) -> Iterator[Callable[[int], None]]:
        yield lambda begun: signal.raise_signal(signal.SIGINT) if begun == 3 else None

    monkeypatch.setattr(simulation, "bar", pressing)
    result = kcheck("simulate", "pair", "--runs", "9", "--steps", "20", "--seed", "4", "--json")
    assert result.exit_code == 3, result.stderr
    (run,) = from_json(result.stdout, "stdout").runs
    assert (run.verdict, run.reason) == ("INCOMPLETE", "interrupted")
    assert run.notes[0].startswith("3 runs begun, 40 steps, ")
    assert [(one.expected, one.found) for one in run.comparisons] == [("9", "2")]


@pytest.mark.parametrize("option", ["--runs", "--steps"])
def test_nothing_to_do_is_bad_usage(kcheck: Kcheck, option: str) -> None:
    assert kcheck("simulate", "pair", option, "0").exit_code == 2
