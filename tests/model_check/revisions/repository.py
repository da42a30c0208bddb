"""A small repository of the project with an edited rule, for what compares two revisions."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not on the PATH (apt-get install git)")

HANDLING = "spec/protocol/requests/handling.py"
FENCE = (
    "    newer = flag(state.leader_epoch > known.leader_epoch)",
    "    newer = flag(state.leader_epoch >= known.leader_epoch)",
)
"""The brokers' fence, as it is and relaxed: the edit of the README's "engineer's loop"."""

ISR_CHANGES = "spec/protocol/brokers/isr_changes.py"


def git(folder: Path, *arguments: str) -> str:
    """What git says in a repository that has no settings but its own."""
    plain = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", *plain, *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


def copied(folder: Path) -> Path:
    """A repository with one commit, `base`: the specification as it stands here, and the code that runs it."""
    for name in ("spec", "reference", "model_check"):
        ignored = shutil.ignore_patterns("__pycache__", "shipped", "*.png", "*.md")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for name in ("constraints.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, folder / name)
    git(folder, "init", "--quiet", "--initial-branch=main")
    return committed(folder, "base")


def edited(folder: Path, path: str, was: str, becomes: str) -> None:
    """Edit a line that stands in a file once."""
    text = (folder / path).read_text("utf-8")
    assert text.count(was) == 1
    (folder / path).write_text(text.replace(was, becomes), "utf-8")


def committed(folder: Path, tag: str) -> Path:
    """All that there is as a commit, under a tag."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", tag)
    git(folder, "tag", tag)
    return folder


def content(folder: Path) -> Mapping[str, bytes]:
    """Every file of a folder, git's own included."""
    files = (one for one in folder.rglob("*") if one.is_file() and "__pycache__" not in one.parts)
    return {one.relative_to(folder).as_posix(): one.read_bytes() for one in files}
