"""`kcheck diff`: what it prints and writes of two revisions, and what it leaves behind: nothing."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from model_check.cli import diff as verb
from model_check.inventory.sources import ROOT
from model_check.verdicts.results import from_json
from model_check.verdicts.verdict import EXIT_CODES, Verdict
from tests.model_check.cli.conftest import Kcheck
from tests.model_check.revisions.repository import FENCE, HANDLING, committed, content, copied, edited, needs_git

pytestmark = needs_git
CHILDREN = Path("/proc/self/task", str(os.getpid()), "children")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`base`, and `relaxed`, in which a fence lets pass what is equal."""
    folder = copied(tmp_path_factory.mktemp("repository"))
    edited(folder, HANDLING, *FENCE)
    return committed(folder, "relaxed")


@pytest.fixture(autouse=True)
def here(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verb, "ROOT", repository)


def test_what_is_no_revision_is_bad_usage(kcheck: Kcheck) -> None:
    for names in (["nothing"], ["base", "nothing"]):
        result = kcheck("diff", *names)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr == "kcheck: git knows no revision 'nothing'; `git log` lists them\n"


@pytest.mark.slow
def test_what_changed_is_told_with_the_stories_and_in_reports(kcheck: Kcheck, tmp_path: Path) -> None:
    formats = {"json": tmp_path / "a.json", "html": tmp_path / "a.html", "markdown": tmp_path / "a.md"}
    wanted = [word for name, file in formats.items() for word in ("--report", f"{name}={file}")]
    result = kcheck("diff", "base", "relaxed", "--scope", "tiny", *wanted)
    assert result.exit_code == 1, result.stderr
    told = "newly possible: deliver_request: "
    assert f"\n  {told}" in result.stdout
    assert "\nkcheck diff: VIOLATED: from base (" in result.stdout
    assert "become follower partition=0" in result.stdout
    assert "; [a,0] leader " in result.stdout, "a story begins with who leads"
    document = from_json(formats["json"].read_text("utf-8"), "a.json")
    assert document.exit_code == 1
    assert json.loads(formats["json"].read_text("utf-8"))["verb"] == "diff"
    for name in ("html", "markdown"):
        text = formats[name].read_text("utf-8").replace("\\_", "_")
        assert told in text
        assert "become follower" in text


@pytest.mark.slow
@pytest.mark.skipif(not CHILDREN.exists(), reason="only Linux lists the children of a process in /proc")
def test_a_signal_ends_it_and_nothing_is_left(repository: Path, tmp_path: Path) -> None:
    """Neither files nor processes; and the repository is as it was."""
    before, room = content(repository), tmp_path / "room"
    room.mkdir()
    here = f"diff.ROOT = __import__('pathlib').Path({str(repository)!r})"
    program = f"from model_check.cli import diff, main; {here}; main()"
    started = subprocess.Popen(
        [sys.executable, "-c", program, "diff", "base", "--scope", "small"], cwd=ROOT,
        env=os.environ | {"TMPDIR": str(room)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    children = _awaited_children(started.pid)
    assert any(room.iterdir())
    started.send_signal(signal.SIGTERM)
    out, _ = started.communicate(timeout=60)
    assert started.returncode == EXIT_CODES[Verdict.INCOMPLETE]
    assert b"INCOMPLETE: interrupted before all was compared" in out
    assert list(room.iterdir()) == []
    assert [one for one in children if _runs(one)] == []
    assert content(repository) == before


def _awaited_children(program: int) -> list[int]:
    """The processes that a program has started, as soon as both answer: git has ended by then."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        listed = Path(f"/proc/{program}/task/{program}/children").read_text().split()
        asked = [int(one) for one in listed if b"model_check.revisions.inside" in _command(int(one))]
        if len(asked) == 2:
            return asked
        time.sleep(0.1)
    raise AssertionError("no processes were started")


def _command(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def _runs(process: int) -> bool:
    return bool(_command(process))
