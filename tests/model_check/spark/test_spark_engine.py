"""The Spark engine on two cores of this machine: equal to the native explorer, whatever is killed meanwhile."""

import errno
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

import pytest
from pyspark import SparkContext

from model_check.explicit_state.exploration import Exploration, Progress
from model_check.explicit_state.explorer import explore
from model_check.spark import spark_session as spark_session_module
from model_check.spark.run_folder import RunFolder
from model_check.spark.spark_engine import enumerate_states
from model_check.spark.spark_session import TRIES, given_up, spark_session, with_tries
from model_check.traces.replay import replay
from spec.errors import BadInput, EnvironmentFailure
from spec.expectations import plan
from spec.language.rules import GOALS, TransitionSystem
from spec.manifest import manifest
from spec.scopes import PARTS, scope
from spec.system import system
from spec.variants import AS_CODED
from tests.model_check.conftest import MASTER
from tests.model_check.systems import EXPECTED, clerks, jugs, lamps, lamps_counts, odometer, odometer_counts
from tests.needs import ROOT

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.usefixtures("spark")]

LONG = pytest.mark.parametrize("most", [7, pytest.param(15, marks=pytest.mark.slow)])
"""The highest digit of two wheels: 64 states in 15 levels, or 256 in 31, so that a run takes some seconds."""


@cache
def explored(name: str) -> tuple[TransitionSystem, Exploration]:
    made = EXPECTED[name][0] if name in EXPECTED else system(scope(name), AS_CODED)
    return made, explore(made, expected=100_000)


def wait_until(path: Path, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 120
    while not path.exists():
        assert process.poll() is None, "the run ended early"
        assert time.monotonic() < deadline, f"{path} does not appear"
        time.sleep(0.02)


# ------------------------------------------------------------------------------------------------ the same answers


@pytest.mark.parametrize(
    "shards", [2, pytest.param(1, marks=pytest.mark.slow), pytest.param(5, marks=pytest.mark.slow)]
)
def test_counts_levels_and_digest_are_those_of_the_native_explorer(shards: int, tmp_path: Path) -> None:
    one = lamps(7, 2)
    found, native = enumerate_states(one, run_folder=tmp_path, shards=shards, master=MASTER), explore(one)
    assert found.levels == native.levels == lamps_counts(7, 2).levels
    assert (found.digest, found.fired, found.overflows) == (native.digest, native.fired, native.overflows)
    assert (found.occurrences, found.first_depths) == (native.occurrences, native.first_depths)
    assert (found.exhausted, found.shards) == (True, shards)


@pytest.mark.parametrize(
    ("name", "shards"),
    [
        ("clerks", 2),
        *(pytest.param(*one, marks=pytest.mark.slow) for one in (("bounce", 2), ("tiny", 2), ("tiny", 1), ("tiny", 5))),
    ],
)
def test_what_is_broken_and_what_is_witnessed_are_found_alike(name: str, shards: int, tmp_path: Path) -> None:
    """Every day a small system, which breaks something, too; `test_enumerate.py` has one of the protocol at night."""
    made, native = explored(name)
    found = enumerate_states(made, run_folder=tmp_path, shards=shards, master=MASTER)
    assert found.levels == native.levels
    assert (found.digest, found.fired, found.overflows) == (native.digest, native.fired, native.overflows)
    assert (found.occurrences, found.first_depths) == (native.occurrences, native.first_depths)
    assert {name: len(one) for name, one in found.violated.items()} == {
        name: len(one) for name, one in native.violated.items()
    }
    assert {name: len(one) for name, one in found.witnessed.items()} == {
        name: len(one) for name, one in native.witnessed.items()
    }
    for trace in (*found.violated.values(), *found.witnessed.values()):
        replay(made, trace)


def smallest_scopes() -> set[str]:
    """For each part of the protocol the scope with the fewest states that has it."""
    entries = {name: one for name, one in manifest()["scope"].items() if "AS_CODED" in one.get("expect", {})}
    states = {name: one["expect"]["AS_CODED"]["states"] for name, one in entries.items()}
    having = [[name for name, one in entries.items() if part in one["bounds"].get("parts", ())] for part in PARTS]
    return {min(names, key=states.__getitem__) for names in having}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(smallest_scopes()))
def test_every_part_of_the_protocol_is_enumerated_as_the_manifest_says(name: str, tmp_path: Path) -> None:
    made, expected = system(scope(name), AS_CODED), plan(name).exploration("AS_CODED")
    assert expected is not None
    found = enumerate_states(made, run_folder=tmp_path, shards=2, master=MASTER)
    assert (found.states, found.transitions, found.depth, found.digest) == (
        expected.states, expected.transitions, expected.depth, expected.digest,
    )  # fmt: skip
    kinds = {one.name: one.kind for one in made.properties}
    broken = {name: steps for name, steps in expected.violated.items() if kinds[name] not in GOALS}
    assert {name: len(one) for name, one in found.violated.items()} == broken
    unseen = {name for name, kind in kinds.items() if kind == "sometimes"} - found.witnessed.keys()
    assert unseen == expected.unwitnessed
    taken = {one.rule for one in made.actions if found.fired[one.name]}
    assert {one.rule for one in made.actions} - taken == expected.never_fired


def test_without_being_told_there_is_a_shard_for_each_core(tmp_path: Path) -> None:
    assert enumerate_states(clerks(), run_folder=tmp_path, master=MASTER).shards == 2


# ------------------------------------------------------------------------------------------------ what is killed


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_and_ends_with_the_same_digest(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """And what Spark had for itself is removed, though nobody lives who would."""
    temporary = tmp_path_factory.mktemp("temporary")
    code = (
        "import sys; from model_check.spark.spark_engine import enumerate_states\n"
        "from tests.model_check.systems import odometer\n"
        "enumerate_states(odometer(2, 15), run_folder=sys.argv[1], shards=2)"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    env = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, env=env) as process:
        wait_until(tmp_path / "levels" / "000008.json", process)
        assert len(list(temporary.iterdir())) == 1
        process.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 60
    while any(temporary.iterdir()):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    left = RunFolder(tmp_path).levels()
    assert 9 < len(left) < 31
    done, wheels = list[int](), odometer(2, 15)
    found = enumerate_states(wheels, run_folder=tmp_path, progress=lambda one: done.append(one.depth), master=MASTER)
    assert done[0] == len(left) - 1, "what was complete is not done again"
    assert (found.levels, found.digest) == (odometer_counts(2, 15).levels, explore(wheels).digest)


def python_workers(shard: int) -> list[int]:
    """The processes that hold a shard for this one: its descendants, forked from a daemon started for that shard."""
    parents, holders = {}, set()
    for folder in Path("/proc").iterdir():
        try:
            number = int(folder.name)
            parents[number] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if f"KCHECK_SHARD={shard}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                holders.add(number)
        except (OSError, ValueError):
            continue

    def is_ours(process: int) -> bool:
        while process > 1 and process != os.getpid():
            process = parents.get(process, 0)
        return process == os.getpid()

    return [process for process in holders if parents[process] in holders and is_ours(process)]


@pytest.mark.slow
@LONG
@pytest.mark.takes("A worker is killed, and another one starts.")
def test_a_killed_worker_is_replaced_by_one_that_reads_the_level_files(most: int, tmp_path: Path) -> None:
    killed, wheels = list[int](), odometer(2, most)

    def kill_at_five(one: Progress) -> None:
        if one.depth == 5:
            for process in python_workers(1):
                os.kill(process, signal.SIGKILL)
                killed.append(process)

    found = enumerate_states(wheels, run_folder=tmp_path, shards=2, progress=kill_at_five, master=MASTER)
    assert killed
    assert (found.levels, found.digest) == (odometer_counts(2, most).levels, explore(wheels).digest)


@pytest.mark.slow
def test_a_worker_that_dies_again_and_again_is_one_clear_line(spark: SparkContext) -> None:
    with pytest.raises(Exception, match="exit") as failure:
        spark.parallelize([1], 1).foreach(lambda _: os._exit(7))
    expected = "Spark gave up: Python worker exited unexpectedly (crashed); see to it and start again"
    assert str(given_up(failure.value)).startswith(expected)


def test_an_error_in_a_worker_is_one_clear_line(spark: SparkContext) -> None:
    with pytest.raises(Exception, match="division") as failure:
        spark.parallelize([0], 1).map(lambda one: 1 // one).collect()
    assert str(given_up(failure.value)).startswith("Spark gave up: ZeroDivisionError: ")


def test_a_failure_of_ours_in_a_worker_says_once_what_to_do() -> None:
    trace = "Traceback (most recent call last):\nspec.errors.EnvironmentFailure: cannot write a in /b: full; make room"
    assert str(given_up(RuntimeError(trace))) == "Spark gave up: cannot write a in /b: full; make room"


@LONG
def test_a_run_can_be_stopped_and_gone_on_with(most: int, tmp_path: Path) -> None:
    seen, wheels = list[Progress](), odometer(2, most)
    one = enumerate_states(wheels, run_folder=tmp_path, shards=2, progress=seen.append, stop=lambda: len(seen) > 3)
    assert (one.exhausted, one.stopped) == (False, "stop")
    assert one.states == seen[-1].states < odometer_counts(2, most).states
    assert enumerate_states(wheels, run_folder=tmp_path).levels == odometer_counts(2, most).levels


def test_a_run_that_is_stopped_at_once_knows_nothing(tmp_path: Path) -> None:
    found = enumerate_states(jugs(), run_folder=tmp_path, shards=2, stop=lambda: True)
    assert (found.states, found.levels, found.exhausted, found.stopped) == (0, (), False, "stop")
    assert set(found.fired.values()) == {0}


# ------------------------------------------------------------------------------------------------ what is refused


def test_two_systems_never_share_a_run_folder(tmp_path: Path) -> None:
    enumerate_states(jugs(), run_folder=tmp_path, shards=1, limit=2)
    with pytest.raises(BadInput, match="another system"):
        enumerate_states(clerks(), run_folder=tmp_path)


def test_what_a_worker_cannot_write_is_one_clear_line_and_is_not_tried_again(tmp_path: Path) -> None:
    enumerate_states(jugs(), run_folder=tmp_path, shards=2, limit=2)
    for path in (tmp_path / "states").iterdir():
        path.rename(tmp_path / path.name)
    (tmp_path / "states").rmdir()
    (tmp_path / "states").write_text("in the way")
    with pytest.raises(EnvironmentFailure, match=f"in {tmp_path}: ") as failure:
        enumerate_states(jugs(), run_folder=tmp_path)
    assert "\n" not in str(failure.value)


def test_only_one_master_at_a_time() -> None:
    with pytest.raises(BadInput, match=r"a Spark session on local\[2\] is open"), spark_session("local[1]"):
        pass


def test_a_full_disk_is_told_before_spark_starts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def full(path: Path, _content: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(spark_session_module, "_open", {})
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(Path, "write_bytes", full)
    told = f"^Spark does not start: No space left on device in {tmp_path}, for 4 MiB; make room there, or name "
    with pytest.raises(EnvironmentFailure, match=told), spark_session("local[2]"):
        pass
    assert not list(tmp_path.iterdir())


def test_java_missing_is_one_clear_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("model_check.spark.spark_session._open", {})
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(EnvironmentFailure, match="Spark needs Java and none was found; install Java 17"):
        enumerate_states(jugs(), run_folder=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("master", "told"),
    [
        ("nonsense", "Spark does not start on nonsense: .*Master must either be"),
        ("spark://127.0.0.1:1", "Spark does not start on spark://127.0.0.1:1: All masters are unresponsive"),
    ],
)
def test_a_master_that_is_none_is_one_clear_line(master: str, told: str, tmp_path: Path) -> None:
    code = (
        "import sys; from model_check.spark.spark_engine import enumerate_states\n"
        "from spec.errors import EnvironmentFailure; from tests.model_check.systems import jugs\n"
        "try: enumerate_states(jugs(), run_folder=sys.argv[1], master=sys.argv[2])\n"
        "except EnvironmentFailure as failure: print(failure)"
    )
    command = [sys.executable, "-W", "error", "-c", code, str(tmp_path), master]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    (line,) = done.stdout.splitlines()
    assert re.match(told, line)


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ("local", f"local[1,{TRIES}]"),
        ("local[2]", f"local[2,{TRIES}]"),
        ("local[*]", f"local[*,{TRIES}]"),
        ("local[2,9]", "local[2,9]"),
        ("spark://somewhere:7077", "spark://somewhere:7077"),
        ("yarn", "yarn"),
    ],
)
def test_a_local_master_tries_lost_tasks_again(named: str, told: str) -> None:
    assert with_tries(named) == told


# ------------------------------------------------------------------------------------------------ what it costs


@pytest.mark.slow
def test_a_level_costs_at_most_three_tenths_of_a_second_however_little_is_in_it(tmp_path: Path) -> None:
    """One wheel of 128 positions: 128 levels of one state."""
    found = enumerate_states(odometer(1, 127), run_folder=tmp_path, shards=2, master=MASTER)
    assert found.levels == (1,) * 128
    assert statistics.median(found.level_seconds) <= 0.3


@pytest.mark.slow
@pytest.mark.takes("Spark starts.")
def test_a_machine_whose_name_nobody_resolves_enumerates(tmp_path: Path) -> None:
    """As many a container."""
    kcheck = str(Path(sys.executable).with_name("kcheck"))
    entered = ["unshare", "--uts", "sh", "-c", 'hostname nowhere-at-all && exec "$@"', "sh"]
    if (
        shutil.which("unshare") is None
        or subprocess.run([*entered, "true"], capture_output=True, check=False).returncode
    ):
        pytest.skip("gives its own processes another host name: unshare (util-linux) lets only root do that")
    untold = {name: value for name, value in os.environ.items() if name != "SPARK_LOCAL_HOSTNAME"}
    asked = [*entered, kcheck, "enumerate", "bounce", "--folder", str(tmp_path / "run")]
    result = subprocess.run(asked, capture_output=True, text=True, check=False, env=untold)
    assert result.returncode == 0, result.stderr
