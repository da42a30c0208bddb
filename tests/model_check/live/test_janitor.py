"""What a run has started and made does not outlive it, even if it is killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from model_check.live.janitor import watched_process
from model_check.live.marks import NAME, kill_marked, marked

SCRIPT = """
import subprocess, sys, time
from pathlib import Path
from model_check.live.janitor import janitor, short_lived
kept, gone = Path(sys.argv[1]), Path(sys.argv[2])
child = subprocess.Popen(["sh", "-c", "sleep 78 & sleep 78"], start_new_session=True)
janitor().watch(child.pid)
with short_lived(kept):
    pass
janitor().watch(gone)
print(child.pid, flush=True)
time.sleep(60)
"""


def group_of(pid: int) -> list[Path]:
    """The processes of a group that are not dead."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            state, _parent, group = (process / "stat").read_text("utf-8").rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(group) == pid and state != "Z":
            found.append(process)
    return found


def until(holds: Callable[[], bool]) -> None:
    """Waits for what comes about soon, on a busy machine too."""
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_who_is_killed_leaves_neither_processes_nor_folders(tmp_path: Path) -> None:
    kept, gone = tmp_path / "kept", tmp_path / "gone"
    for folder in (kept, gone):
        (folder / "below").mkdir(parents=True)
        (folder / "below/file").write_text("content", encoding="utf-8")
    command = [sys.executable, "-c", SCRIPT, str(kept), str(gone)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        group = int(process.stdout.readline())
        until(lambda: len(group_of(group)) >= 2)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    until(lambda: not group_of(group) and not gone.exists())
    assert (kept / "below/file").read_text("utf-8") == "content"


BEGINNING = """
import os, signal, sys
from model_check.live.janitor import Janitor, watched_process
if sys.argv[2] == "killed":
    Janitor.watch = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
watched_process(["touch", sys.argv[1]]).wait()
"""


@pytest.mark.parametrize(("how", "exit_code"), [("killed", -signal.SIGKILL), ("left alone", 0)])
def test_a_process_is_not_begun_before_it_is_watched(how: str, exit_code: int, tmp_path: Path) -> None:
    """It would outlive the janitor, too, and write into folders that are removed by then."""
    written = tmp_path / "written"
    command = [sys.executable, "-c", BEGINNING, str(written), how]
    done = subprocess.run(command, capture_output=True, check=False)  # until all that have its output are gone
    assert (done.returncode, written.exists()) == (exit_code, how == "left alone")


AWAY = """
import os, signal, sys, time
from model_check.live.janitor import watched_process
child = watched_process(["sh", "-c", "setsid sh -c 'echo $$ > $0; exec sleep 78' $0 & wait", sys.argv[1]])
while not (os.path.exists(sys.argv[1]) and open(sys.argv[1]).read().endswith("\\n")):
    time.sleep(0.01)
if sys.argv[2] == "ended":
    child.end()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("how", ["ended", "left"])
def test_who_is_in_a_session_of_its_own_is_ended_too(how: str, tmp_path: Path) -> None:
    told = tmp_path / "pid"
    subprocess.run([sys.executable, "-c", AWAY, str(told), how], check=False)
    until(lambda: not group_of(int(told.read_text("utf-8"))))


def test_who_starts_another_kcheck_ends_what_that_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has its mark; one that has no mark of ours is let live."""
    monkeypatch.setenv(NAME, "outer-1.")
    inner, other = watched_process(["sleep", "78"]), subprocess.Popen(["sleep", "78"], env={NAME: "outer-11."})
    try:
        until(lambda: inner.pid in marked("outer-1.") and inner.pid in marked(inner.mark))
        assert other.pid not in marked("outer-1.")
        kill_marked("outer-1.")
        assert (inner.wait(), other.poll()) == (-signal.SIGKILL, None)
    finally:
        inner.end()
        other.kill()
        other.wait()
        for pipe in filter(None, (inner.stdin,)):
            pipe.close()
