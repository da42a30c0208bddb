"""`kcheck enumerate`: the same answers as `kcheck explore`, from Spark's workers and out of a run folder."""

from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from model_check.verdicts.results import from_json
from tests.model_check.cli.conftest import Bars, Kcheck, expectation

pytestmark = pytest.mark.xdist_group("spark")


@pytest.mark.takes("Spark's workers begin with it.")
@pytest.mark.usefixtures("spark")
def test_a_run_that_is_cut_short_says_how_it_goes_on(kcheck: Kcheck, tmp_path: Path) -> None:
    """How a run goes on `test_spark_engine.py` shows every day, and what its tables are `test_spark_tables.py`."""
    assert_cut_short(kcheck, tmp_path, "solo", 1)


def assert_cut_short(kcheck: Kcheck, path: Path, scope: str, limit: int) -> tuple[str, ...]:
    """A run ends at the limit, without tables; the command that would go on with it."""
    command = ("enumerate", scope, "--folder", str(path / "run"), "--tables", str(path / "tables"))
    begun = kcheck(*command, "--limit", str(limit))
    assert begun.exit_code == 3, begun.stderr
    assert "the same command goes on from there" in begun.stdout
    assert not (path / "tables").exists(), "a run that is not finished has no tables"
    return command


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scope", "limit", "session"), [("solo", 5, "that of all"), ("pair", 100, "that of all"), ("pair", 100, "its own")]
)
def test_the_counts_and_verdicts_are_those_of_the_explorer_and_a_run_is_gone_on_with(
    kcheck: Kcheck, bars: Bars, tmp_path: Path, request: pytest.FixtureRequest, scope: str, limit: int, session: str
) -> None:
    """The first command may have a session of its own; the others, which start when that has ended, share one.

    `solo` breaks nothing; that what is broken is found alike is shown every day in `test_spark_engine.py`, of clerks.
    """
    if session == "that of all":
        request.getfixturevalue("spark")
    command = assert_cut_short(kcheck, tmp_path, scope, limit)
    request.getfixturevalue("spark")
    result = kcheck(*command, "--json")
    assert result.exit_code == 0, result.stderr
    (run,) = from_json(result.stdout, "stdout").runs
    assert [titles[0] for titles, _, _ in bars.told[1:]] == [f"{scope} AS_CODED", f"{scope} AS_CODED, tables"]
    wanted = expectation(scope)
    assert run.counts is not None
    assert (run.counts.states, run.counts.transitions, run.counts.digest) == (
        wanted["states"], wanted["transitions"], wanted["digest"],
    )  # fmt: skip
    lengths = {one.property: one.story.length for one in run.findings if one.verdict == "VIOLATED" and one.story}
    assert lengths == wanted["violated"]
    rows = {name: parquet.read_table(tmp_path / "tables" / name).num_rows for name in ("states", "edges")}
    assert rows == {"states": wanted["states"], "edges": wanted["transitions"]}
    assert f"{wanted['states']:,} states, {wanted['transitions']:,} edges, " in run.notes[1]
    assert run.not_asked == ("recoverable_one_working_controller", "eventually_one_working_controller")


def test_what_the_disk_cannot_hold_is_refused_before_spark_starts(
    kcheck: Kcheck, manifest: dict[str, Any], tmp_path: Path
) -> None:
    manifest["solo"]["expect"]["AS_CODED"]["states"] = 10**15
    result = kcheck("enumerate", "solo", "--folder", str(tmp_path / "run" / "a"))
    assert result.exit_code == 4
    assert "GiB of disk, and" in result.stderr
    assert not (tmp_path / "run").exists()


def test_a_folder_for_tables_that_is_not_empty_is_refused_before_spark_starts(kcheck: Kcheck, tmp_path: Path) -> None:
    tables = tmp_path / "tables"
    tables.mkdir()
    (tables / "mine").touch()
    result = kcheck("enumerate", "solo", "--folder", str(tmp_path / "run"), "--tables", str(tables))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"kcheck: {tables} is not empty; name another folder for the tables\n"
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a folder that nobody can write to, root neither")
def test_a_folder_for_tables_that_cannot_be_made_is_refused_before_spark_starts(kcheck: Kcheck, tmp_path: Path) -> None:
    result = kcheck("enumerate", "solo", "--folder", str(tmp_path / "run"), "--tables", "/proc/tables/of/mine")
    assert (result.exit_code, result.stdout) == (4, "")
    assert result.stderr.startswith("kcheck: nothing can be written to /proc/tables/of/mine: ")
    assert result.stderr.endswith("; name another folder\n")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("option", ["--folder", "--tables"])
@pytest.mark.parametrize("scheme", ["", "file://"])
def test_a_file_in_a_folders_place_is_refused_before_spark_starts(kcheck: Kcheck, option: str, scheme: str) -> None:
    result = kcheck("enumerate", "solo", option, scheme + __file__)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"kcheck: {__file__} is no folder; name another one\n"


@pytest.mark.parametrize("option", ["--folder", "--tables"])
def test_a_file_system_that_nobody_knows_is_bad_input(
    kcheck: Kcheck, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = kcheck("enumerate", "solo", option, "carrier-pigeon://loft")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("kcheck: carrier-pigeon://loft is no folder: ")
    assert result.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_run_of_another_system_is_not_gone_on_with(kcheck: Kcheck, tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    assert kcheck("enumerate", "solo", "--folder", folder).exit_code == 0
    other = kcheck("enumerate", "pair", "--folder", folder)
    assert other.exit_code == 2
    assert other.stderr.startswith("kcheck: ")
    assert other.stderr.count("\n") == 1
