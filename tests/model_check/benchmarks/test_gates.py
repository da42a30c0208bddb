"""The gates, timed: each in turn with another revision, cold and again; one that fails ends the measurement."""

import subprocess
import time
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from model_check.benchmarks import gates
from model_check.benchmarks.gates import GATES, ROOT, checkout_of, gate_rows

Called = list[tuple[str, str, str]]


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> Called:
    """What is run: where, what, and with an empty or a used cache folder; each run is a second longer than the last."""
    made: Called = []

    def run(command: list[str], cwd: Path, env: dict[str, str], **_: object) -> CompletedProcess[str]:
        place = "here" if cwd == ROOT else "there"
        cache = env.get("KCHECK_CACHE", "")
        is_used = bool(cache) and (Path(cache) / "used").exists()
        if command[0] == "make":
            made.append((place, " ".join(command[1:]), "used" if is_used else ""))
        if cache and command[1:] == ["verify"]:
            (Path(cache) / "used").touch()
        return CompletedProcess(command, 0, "", "")

    monkeypatch.setattr("subprocess.run", run)
    seconds = iter(range(1000))
    monkeypatch.setattr(time, "perf_counter", lambda: float(sum(range(next(seconds)))))
    monkeypatch.setattr(gates, "_processor_seconds", lambda: float(next(seconds)))
    return made


def test_each_gate_is_run_cold_and_again_with_a_cache_of_its_own(called: Called) -> None:
    once = [("here", "verify", ""), ("here", "verify", "used"), ("here", "test", "")]
    names = [name for name, _, _ in gate_rows(2, None)]
    assert names == [f"make {name}" for name in GATES]
    assert called == [("here", "setup", ""), *once, *once]


def test_another_revision_is_run_in_turn_and_the_ratio_is_told(called: Called) -> None:
    rows = list(gate_rows(1, "HEAD~1"))
    assert [place for place, *_ in called] == ["here", "there", *["here"] * 3, *["there"] * 3]
    assert [name for name, _, _ in rows] == [
        one for name in GATES for one in (f"make {name}", "  HEAD~1", "  ratio")
    ]  # fmt: skip
    assert all(limit.endswith("of 18b34710") for name, _, limit in rows if name == "  ratio")


def test_the_ratio_is_that_of_the_medians(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = iter([gates.Spent(1, 2), gates.Spent(4, 8), gates.Spent(2, 4)])

    def once(tree: Path) -> list[tuple[str, gates.Spent]]:
        spent = next(runs) if tree == ROOT else gates.Spent(8, 8)
        return [(name, spent) for name in GATES]

    monkeypatch.setattr(gates, "_once", once)
    monkeypatch.setattr(gates, "_make", lambda *_: gates.Spent(0, 0))
    monkeypatch.setattr(gates, "_run", lambda *_: gates.Spent(0, 0))
    ratios = [number for name, number, _ in gate_rows(3, "HEAD") if name == "  ratio"]
    assert ratios == ["0.25, 0.50 of processors"] * len(GATES)


def test_a_gate_that_fails_ends_the_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subprocess.run", lambda command, **_: CompletedProcess(command, 1, "it is broken", ""))
    with pytest.raises(ValueError, match="make setup failed with exit code 1: it is broken"):
        list(gate_rows(1, None))


def test_a_checkout_of_a_revision_is_one_and_goes_again() -> None:
    with checkout_of("HEAD") as tree:
        assert tree is not None
        assert (tree / "Makefile").exists()
    assert not tree.exists()
    assert (
        str(tree)
        not in subprocess.run(["git", "worktree", "list"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    )
    with pytest.raises(ValueError, match="git worktree add"), checkout_of("no-such-revision"):
        pass
