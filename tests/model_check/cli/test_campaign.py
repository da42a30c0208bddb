"""`kcheck campaign`: what it prints, how it goes on, and that nothing of it is left however it ends."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NoReturn

import pytest
from typer.testing import CliRunner, Result

from model_check.campaigns.campaign import Campaign
from model_check.campaigns.plan import Plan
from model_check.cli import campaign
from model_check.cli.verbs import app
from model_check.live.live_run import Task, Tell
from model_check.verdicts.results import from_json
from model_check.verdicts.verdict import Verdict
from spec.errors import BadInput
from tests.model_check.cli.conftest import Bars
from tests.model_check.unpacking import unpacked

SHORT = "34-D55-config-lost"
SMALL = ("campaign", "--broker-count", "1", "--topics", "1", "--faults", "0", "--seed", "9")


def kcheck(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def recorded_before(_task: Task, folder: Path, _stop: Callable[[], bool], tell: Tell) -> str:
    """In the place of a cluster: what one has left, of which there is least to judge."""
    tell(0, "start")
    unpacked(SHORT, folder.parent).rename(folder)
    tell(0, "judging")
    return ""


@pytest.mark.slow
@pytest.mark.parametrize("live", [False, True], ids=["recorded before", "live"])
def test_runs_are_told_in_a_table(tmp_path: Path, bars: Bars, monkeypatch: pytest.MonkeyPatch, live: bool) -> None:
    if not live:
        monkeypatch.setattr(campaign, "Campaign", partial(Campaign, record=recorded_before))
    folder = str(tmp_path / "runs/c")
    result = kcheck(*SMALL, "--runs", "1", "--save", folder)
    assert result.exit_code == 0, result.stderr
    first, _, head, row, _, totals = result.stdout.splitlines()
    assert first == "kcheck campaign: HOLDS"
    assert head == "  run     faults  observations  explained  verdict  record s  judge s  positions  best at"
    assert re.fullmatch(r"  seed-9  0       (\d+) +\1 +HOLDS    \d+\.\d +\d+\.\d +\d+ +\d+", row)
    assert (
        totals
        == "1 run: 1 explained, 0 not explained, 0 not searched, 0 with a broken claim, 0 not recorded or not read"
    )
    assert sorted(one.name for one in Path(folder).iterdir()) == ["campaign.json", "seed-9.json"]
    assert bars.told == [(["campaign", "campaign: seed-9: start", "campaign: seed-9: judging"], 0, 1)]


@pytest.mark.slow
def test_the_same_command_goes_on(tmp_path: Path) -> None:
    folder = str(tmp_path / "runs/c")
    assert kcheck(*SMALL, "--runs", "1", "--save", folder).exit_code == 0
    again = kcheck(*SMALL, "--runs", "2", "--save", folder, "--json", "--keep")
    document = from_json(again.stdout, "stdout")
    assert [(one.scope, one.verdict) for one in document.runs] == [
        (seed, Verdict.HOLDS) for seed in ("seed-9", "seed-9", "seed-10", "seed-10")
    ]
    assert [one.engine for one in document.runs] == ["claims", "live"] * 2
    assert document.runs[2].notes[0] == f"to judge it again: kcheck judge {folder}/seed-10"
    assert kcheck("judge", f"{folder}/seed-10").exit_code == 0


def test_the_command_that_goes_on_has_all_that_was_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plans: list[Plan] = []

    def seen(_path: Path, plan: Plan) -> NoReturn:
        plans.append(plan)
        raise BadInput("seen")

    monkeypatch.setattr(campaign, "opened", seen)
    monkeypatch.chdir(tmp_path)
    beside = ["--save", "my runs", "--keep", "--no-shrink", "--shrink-minutes", "2.5"]
    kcheck(*SMALL, "--runs", "2", *beside)
    kcheck(*SMALL)
    given, usual = (one.command_again for one in plans)
    assert shlex.split(given) == ["kcheck", *SMALL, "--runs", "2", *beside]
    assert shlex.split(usual) == ["kcheck", *SMALL, "--runs", "10"]


def test_other_options_on_the_same_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "campaign.json").write_text(json.dumps({"command": "kcheck campaign --seed 9"}), encoding="utf-8")
    result = kcheck(*SMALL, "--save", str(tmp_path))
    assert result.exit_code == 2
    said = f"kcheck: {tmp_path} is the folder of `kcheck campaign --seed 9`; name another one with --save\n"
    assert result.stderr == said
    assert [one.name for one in tmp_path.iterdir()] == ["campaign.json"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--faults", "1", "--minutes", "1"), "kcheck: --faults counts the faults of a run, and --minutes lets them"),
        (("--runs", "0"), "Invalid value for '--runs'"),
        (("--only", "dance"), "kcheck: no kind of fault is called 'dance'"),
        (("--kafka", "0.10.2.2", "--brokers", "reference"), "kcheck: --kafka chooses every controller and broker"),
    ],
)
def test_bad_usage_leaves_no_folder(arguments: tuple[str, ...], complaint: str, tmp_path: Path) -> None:
    result = kcheck("campaign", *arguments, "--save", str(tmp_path / "c"))
    assert result.exit_code == 2
    assert complaint in result.stderr
    assert not (tmp_path / "c").exists()


def test_where_nothing_can_be_run_it_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # no java
    result = kcheck(*SMALL, "--runs", "2", "--save", str(tmp_path / "c"))
    assert result.exit_code == 4
    assert "not recorded or not read: seed-9, seed-10: no 'java' on the PATH: " in result.stdout


def wait_until(holds: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def descendants(pid: int) -> set[int]:
    """The processes that a process has started, and they in turn; those that have left it are not found."""
    parents: dict[int, int] = {}
    for told in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(told.parent.name)] = int(told.read_text("utf-8").rpartition(")")[2].split()[1])
        except OSError:
            continue
    found: set[int] = set()
    while more := {one for one, parent in parents.items() if parent in {pid, *found}} - found:
        found |= more
    return found


def is_there(pid: int) -> bool:
    """Whether a process runs: one that has ended, and that nobody has asked after, does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def commands(pids: set[int]) -> str:
    """Their command lines."""
    said = []
    for pid in pids:
        try:
            said.append(Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return "\n".join(said)


@contextmanager
def running(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A campaign of runs without an end as a process of its own, all of whose files are below a folder."""
    (folder / "tmp").mkdir()
    program = [sys.executable, "-c", "from model_check.cli import main; main()"]
    save = ["--runs", "9", "--save", str(folder / "c"), *arguments]
    env = {**os.environ, "TMPDIR": str(folder / "tmp")}
    with subprocess.Popen([*program, *SMALL, *save], stdout=subprocess.PIPE, text=True, env=env) as process:
        try:
            yield process
        finally:
            process.kill()


def is_recording(folder: Path, pid: int) -> bool:
    """Whether a broker of the first run is up."""
    return any(folder.glob("c/under-way-*/seed-9/broker-1/*")) and "ZooKeeperServerMain" in commands(descendants(pid))


def is_judging(folder: Path, pid: int) -> bool:
    """Whether the second process is there, and the second run is being recorded."""
    return "spawn_main" in commands(descendants(pid)) and any(folder.glob("c/under-way-*/seed-10/*"))


@pytest.mark.slow
@pytest.mark.parametrize("moment", [is_recording, is_judging])
def test_killed_at_any_moment_it_leaves_no_process_and_only_what_is_finished(
    moment: Callable[[Path, int], bool], tmp_path: Path
) -> None:
    with running(tmp_path) as process:
        wait_until(lambda: moment(tmp_path, process.pid))
        started = descendants(process.pid)
        assert len(started) >= 3, commands(started)
        process.send_signal(signal.SIGKILL)
        process.wait()
    wait_until(lambda: not any(map(is_there, started)), 20)
    wait_until(lambda: not any(tmp_path.glob("c/under-way-*")), 20)
    assert list((tmp_path / "tmp").iterdir()) == []
    assert {one.name for one in (tmp_path / "c").iterdir()} <= {"campaign.json", "seed-9.json"}
    again = kcheck(*SMALL, "--runs", "2", "--save", str(tmp_path / "c"))
    assert again.exit_code == 0, again.stdout


@pytest.mark.slow
def test_ctrl_c_ends_it_in_order_with_what_was_found(tmp_path: Path) -> None:
    with running(tmp_path) as process:
        wait_until((tmp_path / "c/seed-9.json").exists)
        started = descendants(process.pid)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=30)
    assert process.returncode == 3
    assert said.startswith("kcheck campaign: INCOMPLETE\n")
    assert "  seed-9 " in said
    left = [line for line in said.splitlines() if line.startswith("INCOMPLETE: ")]
    assert len(left) == 1
    assert re.match(r"INCOMPLETE: interrupted; [12] of 9 runs were made; the same command goes on: kcheck cam", left[0])
    wait_until(lambda: not any(map(is_there, started)), 10)  # the janitor is the last, and sees us go
    assert list((tmp_path / "tmp").iterdir()) == []
    assert not any(tmp_path.glob("c/under-way-*"))
