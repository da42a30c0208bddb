"""The benchmarks measure what they say; how much is not a test's business."""

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import pytest

from model_check.benchmarks import __main__ as command
from model_check.benchmarks import explorer, starts
from model_check.benchmarks.explorer import Comparison, native_run, rows, whole_rows
from model_check.benchmarks.marginal import Mark, marginal
from model_check.benchmarks.parts import parts
from model_check.benchmarks.spark import fixed_seconds, rate
from model_check.explicit_state.promela import SpinResult
from spec.scopes import scope
from tests.model_check.plain_exploration import explore_plainly
from tests.model_check.systems import odometer
from tests.spec.on_demand import OnDemand

MILLION = 1_000_000


def steady(cost_ns: float, until: int) -> list[Mark]:
    """A search in which each expanded state finds two new ones, and that computes half of its time."""
    seconds = cost_ns / 1e9
    return [Mark(at, at // 2, at // 2 * seconds, at // 4 * seconds) for at in range(0, until, 100_000)]


def test_the_marginal_cost_is_the_slope_around_a_size() -> None:
    marks = steady(300, 2 * MILLION)
    late = marks[-1]
    slower = [Mark(late.states + one.states, late.expanded + one.expanded, late.wall + 3 * one.wall, late.user)
              for one in steady(300, 4 * MILLION)]  # fmt: skip
    assert marginal(marks + slower, MILLION) == pytest.approx((300, 150))
    assert marginal(marks + slower, 3_800_000) == pytest.approx((900, 0))


def test_a_search_that_did_not_get_there_has_no_marginal_cost_there() -> None:
    assert marginal(steady(300, 2 * MILLION), 30 * MILLION) is None


@pytest.mark.slow
@pytest.mark.parametrize("expected", [pytest.param(100, id="by tables"), pytest.param(0, id="compiled")])
def test_a_run_of_its_own_counts_what_the_oracle_counts(
    expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KCHECK_CACHE", str(tmp_path))
    found = native_run("bounce", "AS_CODED", expected, graph=True)
    oracle = explore_plainly(OnDemand(scope("bounce")).unclaimed())
    assert (found["states"], found["transitions"]) == (oracle.states, oracle.transitions)
    assert found["expanded"] == found["states"]
    assert found["peak_bytes"] >= found["bare_bytes"] > found["memory_bytes"]
    of_states, of_edges = (4 + 2) * oracle.states, 4 * oracle.transitions  # a mark and a degree; a target
    assert of_states < found["edge_bytes"] <= of_states + of_edges


@pytest.mark.slow
def test_a_whole_search_is_one_of_a_run_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCHECK_CACHE", str(tmp_path))
    oracle = explore_plainly(OnDemand(scope("bounce")).unclaimed())
    table = {name: number for name, number, _ in whole_rows("bounce", "AS_CODED")}
    assert table["states, transitions"] == f"{oracle.states:,}, {oracle.transitions:,}"


RUN = {"seconds": 2.0, "user": 1.5, "expanded": 10 * MILLION, "states": 10 * MILLION, "actions": 100,
       "words": 2, "transitions": 1, "stored_bytes_per_state": 39.0,
       "peak_bytes": 2**30, "bare_bytes": 2**27, "memory_bytes": 2**29}  # fmt: skip


def test_of_a_whole_search_its_size_is_told_unless_the_memory_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explorer, "native_run", lambda *_, **__: RUN)
    table = {name: number for name, number, _ in whole_rows("one", "AS_CODED")}
    assert table["states, transitions"] == "10,000,000, 1"
    monkeypatch.setattr(explorer, "native_run", lambda *_, **__: {**RUN, "expanded": 9})
    with pytest.raises(ValueError, match="one does not fit: the memory ended after 10,000,000 states"):
        list(whole_rows("one", "AS_CODED"))


def test_the_table_tells_medians_and_ratios() -> None:
    native = [RUN, {**RUN, "seconds": 1.0}, {**RUN, "seconds": 9.0}]
    spin = [SpinResult(1, 1, seconds, 1, 6.0, 84, 7) for seconds in (16.0, 18.0, 40.0)]
    free, graph = [{**RUN, "seconds": 1.5}], {**RUN, "edge_bytes": 45 * MILLION}
    measured = [*rows(Comparison(native, free, spin, graph))]
    table = {name: number for name, number, _ in measured}
    targets = {name: target for name, _, target in measured}
    assert (table["stored for a state"], targets["stored for a state"]) == ("39.0 bytes", "40 at most")
    assert (table["peak of the process"], targets["peak of the process"]) == ("1,024 MiB", "496 at most")
    assert table["edges, where goals are judged"] == "4.5 bytes a state"
    assert table["for a state and action"] == "2.0 ns"
    assert table["faster than SPIN"] == "9.0 times"
    assert table["faster, with a core for memory"] == "12.0 times"
    assert table["faster in computing alone"] == "4.0 times"


@pytest.mark.slow
def test_parts_add_up_to_something() -> None:
    """Its loops are compiled for nobody else; no gate reads what it measures."""
    found = dict(parts(odometer(4, 9), sample=5000))
    assert len(found) == 4
    assert sum(found.values()) > 0


def test_the_costs_of_a_level_and_of_a_state_are_told_apart() -> None:
    levels = (1, 10, 100, 1_000, 100_000, MILLION, 3 * MILLION, 500)
    seconds = [9.0, 5.0, *(0.25 + size / MILLION for size in levels[2:])]
    assert fixed_seconds(levels, seconds) == pytest.approx(0.2505, abs=0.0006)
    assert rate(levels, seconds, 0.25) == pytest.approx(MILLION)
    with pytest.raises(ValueError, match="take another scope"):
        fixed_seconds((1, 10, 5_000), (1.0, 1.0, 1.0))


def test_an_unknown_scope_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["benchmarks", "nowhere"])
    with pytest.raises(SystemExit) as refusal:
        command.main()
    assert refusal.value.code == 2
    assert "nowhere" in capsys.readouterr().err


def test_of_starts_the_median_is_told_once_all_is_warm(monkeypatch: pytest.MonkeyPatch) -> None:
    spent = iter([9.0, 0.3, 0.2, 0.1])
    asked: list[Sequence[str]] = []

    def seconds(words: Sequence[str]) -> float:
        asked.append(words)
        return next(spent)

    monkeypatch.setattr(starts, "STARTS", {"a verb": starts.Start("judge {recordings}/one", 2)})
    monkeypatch.setattr(starts, "unpacked", lambda: nullcontext(Path("here")))
    monkeypatch.setattr(starts, "_seconds", seconds)
    assert list(starts.start_rows(3)) == [("a verb", "0.20 s", "2 at most")]
    assert asked == [["judge", "here/one"]] * 4


def test_a_verb_that_fails_has_no_start() -> None:
    assert starts._seconds(["--help"]) > 0
    with pytest.raises(ValueError, match=r"(?s)kcheck shwo ends with exit code 2: .*Did you mean 'show'"):
        starts._seconds(["shwo"])


@pytest.mark.parametrize(
    "arguments",
    [
        ("--whole",),
        ("--gates", "tiny"),
        ("--starts", "tiny"),
        ("--judging", "tiny"),
        ("tiny", "--beside", "HEAD"),
        ("--spark", "--marginal", "tiny"),
    ],
)
def test_what_cannot_be_measured_so_is_refused(
    arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["benchmarks", *arguments])
    with pytest.raises(SystemExit) as refusal:
        command.main()
    assert refusal.value.code == 2
    assert "error: " in capsys.readouterr().err


@pytest.mark.slow
def test_a_scope_that_is_too_small_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["benchmarks", "tiny", "--marginal"])
    with pytest.raises(SystemExit, match=r"^benchmarks: tiny has not 48,000,000 states: take another scope$"):
        command.main()
