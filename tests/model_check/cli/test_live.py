"""`kcheck live`: what it prints, what it keeps, and how it ends when something is in the way."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from model_check.cli import live
from model_check.cli.verbs import app
from model_check.live.fetch_kafka import TESTED
from model_check.live.kafka_jars import is_cached
from model_check.live.live_run import Task
from model_check.live.live_setup import Setup
from model_check.verdicts.results import Run, from_json
from model_check.verdicts.verdict import Verdict
from spec.errors import EnvironmentFailure
from tests.model_check.cli.conftest import Bars


def kcheck(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


@pytest.mark.slow
@pytest.mark.takes("A broker and a ZooKeeper server are started, recorded and judged, twice.")
def test_a_run_without_faults_is_kept_where_asked(tmp_path: Path, bars: Bars) -> None:
    folder = tmp_path / "new/recording"
    result = kcheck(
        "live", "--broker-count", "1", "--faults", "0", "--topics", "1", "--seed", "9", "--save", str(folder)
    )
    assert result.exit_code == 0, result.stderr
    first, _, claims, *lines = result.stdout.splitlines()
    assert first == "kcheck live: HOLDS"
    assert claims == "seed-9 AS_CODED (claims): HOLDS"
    assert f"  recorded in {folder}, with --seed 9" in lines
    searched = lines.index("seed-9 AS_CODED (live): HOLDS")
    assert any(" observations explained by " in line for line in lines[searched:])
    assert bars.told == [(["seed-9", "seed-9: start", "seed-9: judging"], 0, 0)]
    again = kcheck("judge", str(folder), "--json")
    assert [run.verdict for run in from_json(again.stdout, "stdout").runs] == [Verdict.HOLDS, Verdict.HOLDS]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--only", "dance"), "kcheck: no kind of fault is called 'dance' (known:\n  kill-broker, kill-controller, "),
        (("--variant", "FENCED"), "kcheck: a live run cannot have ATOMIC_ELECTION, FENCED_RESIGN, FENCED_WRITES: "),
        (("--play", "1000000000", "--only", "dance"), "Invalid value for '--play'"),
        (("--broker-count", "0"), "Invalid value for '--broker-count'"),
    ],
)
def test_bad_usage_is_told(arguments: tuple[str, ...], complaint: str) -> None:
    result = kcheck("live", *arguments)
    assert result.exit_code == 2
    assert complaint in result.stderr


def test_a_folder_that_is_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine", encoding="utf-8")
    result = kcheck("live", "--save", str(tmp_path))
    assert result.exit_code == 2
    assert result.stderr == f"kcheck: {tmp_path} exists already; name a new folder for the recording\n"
    assert (tmp_path / "mine").read_text(encoding="utf-8") == "mine"


def test_a_port_that_is_taken_is_an_error_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        result = kcheck("live", "--port", port, "--save", str(tmp_path / "r"))
    assert result.exit_code == 4
    assert list(tmp_path.rglob("*")) == [tmp_path / "r"]  # empty, so that it may be named again
    assert result.stderr.startswith(f"kcheck: port {port} of 127.0.0.1 is taken: ")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("where", "complaint", "code"),
    [
        ("/proc/recording", "nothing can be written to {}: No such file or directory; name another folder", 4),
        ("FILE/recording", "{} is no folder; name another one", 2),
        ("LOOP", "{} is no folder; name another one", 2),
    ],
)
def test_a_folder_that_cannot_be_written_is_told_before_anything_starts(
    where: str, complaint: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")  # no java
    (tmp_path / "FILE").write_text("mine", encoding="utf-8")
    (tmp_path / "LOOP").symlink_to("LOOP")
    result = kcheck("live", "--save", str(tmp_path / where))
    assert (result.exit_code, result.stderr) == (code, f"kcheck: {complaint.format(tmp_path / where)}\n")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["FILE", "LOOP"]


def test_without_java_it_is_an_error_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    result = kcheck("live", "--save", str(tmp_path / "r"))
    assert result.exit_code == 4
    assert result.stderr.startswith("kcheck: no 'java' on the PATH: ")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(("error", "is_told"), [(EnvironmentFailure("no", "fix it"), False), (RuntimeError(), True)])
def test_a_run_that_breaks_off_leaves_nothing_that_is_not_told(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, is_told: bool
) -> None:
    folders: list[Path] = []

    def run(_task: Task, folder: Path, **_options: object) -> tuple[Run, ...]:
        folders.append(folder)
        raise error

    monkeypatch.setattr(live, "recorded_and_judged", run)
    with pytest.raises(type(error)):
        live.recorded(Task(Setup(1, seed=9)), None, lambda: False, lambda _number, _what: None)
    assert folders[0].exists() == is_told
    told = f"what was recorded is in {folders[0]}, with --seed 9\n"
    assert capsys.readouterr().err == (told if is_told else "")


@pytest.mark.slow
def test_ctrl_c_leaves_incomplete_the_recording_and_no_process(tmp_path: Path) -> None:
    folder = tmp_path / "recording"
    command = [sys.executable, "-c", "from model_check.cli import main; main()", "live", "--broker-count", "2"]
    arguments = ["--seed", "3", "--save", str(folder), "--only", "lag"]
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, text=True, env=env) as process:
        log = folder / "actions.jsonl"
        deadline = time.monotonic() + 60
        while not (log.exists() and '"lag: ' in log.read_text(encoding="utf-8")):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert all(any(kind in one for one in _running(tmp_path)) for kind in ("broker_process", "ZooKeeperServerMain"))
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=30)
    assert process.returncode == 3
    assert said.startswith("kcheck live: INCOMPLETE\n")
    assert (folder / "zookeeper.jsonl").exists()
    _await_the_end_of_all_below(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "members"),
    [
        ((), "broker_process"),
        pytest.param(
            ("--kafka", TESTED),
            "kafka.Kafka",
            marks=pytest.mark.skipif(not is_cached(TESTED), reason=f"Kafka {TESTED} is not there: `make kafka`"),
        ),
    ],
)
def test_killed_it_leaves_no_process_and_no_folder(options: tuple[str, ...], members: str, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-c",
        "from model_check.cli import main; main()",
        "live",
        "--broker-count",
        "2",
        *options,
    ]
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env) as process:
        deadline = time.monotonic() + 60
        while sum(members in one for one in _running(tmp_path)) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.wait()
    deadline = time.monotonic() + 20
    while _running(tmp_path) or any(tmp_path.iterdir()):
        assert time.monotonic() < deadline, (_running(tmp_path), list(tmp_path.iterdir()))
        time.sleep(0.05)


def _await_the_end_of_all_below(folder: Path) -> None:
    """The shell that watches over the server looks ten times a second whether that has ended."""
    deadline = time.monotonic() + 5
    while running := _running(folder):
        assert time.monotonic() < deadline, running
        time.sleep(0.05)


def _running(folder: Path) -> list[str]:
    """The command lines of the processes that work below a folder, but for the command itself."""
    lines = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            lines.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return [one for one in lines if str(folder) in one and " live " not in one]
