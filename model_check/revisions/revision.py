"""A revision of the specification as a folder with its code: a copy that is gone afterwards, or the working tree.

git is asked for the files of a commit as an archive, which changes nothing of git's: no worktree is noted down, no
index touched. The code of the revision is what runs there, in the environment of today; where it was written for other
versions of the libraries that it computes with, it gets an environment of its own.
"""

import hashlib
import os
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from shutil import copytree, ignore_patterns
from tempfile import TemporaryDirectory
from typing import Final

from model_check.inventory.checkout import is_checkout
from model_check.inventory.sources import ROOT
from model_check.kernel.cache import cache_folder
from model_check.kernel.native import KEPT_IN, LOOPS
from spec.errors import BadInput, EnvironmentFailure

WORKING_TREE: Final = "the working tree"
ARCHIVED: Final = ("spec", "reference", "model_check", "constraints.txt", "pyproject.toml")
"""What is taken of a revision; the first three are needed."""
COMPUTES_WITH: Final = ("z3-solver", "numpy", "numba", "llvmlite")
"""The libraries whose version may make a difference to what is found."""
NOT_NEEDED: Final = ("pyspark",)
"""Libraries that take long to install, and that no search in memory loads."""
OURS: Final = "model_check/revisions"
"""The folder of what is asked of a revision, here and laid over the copy."""


@dataclass(frozen=True)
class Revision:
    """A revision: as it was named, the folder that has its files, and the Python that runs them."""

    name: str
    folder: Path
    python: str = sys.executable

    @property
    def command(self) -> list[str]:
        """What starts the process that answers for it; of a copy, with the place where it should seem to be."""
        return [self.python, "-P", "-m", "model_check.revisions.inside", *([str(ROOT)] if self.is_copy else [])]

    @property
    def is_copy(self) -> bool:
        """Whether it is elsewhere than the code that runs here."""
        return self.folder != ROOT

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment of that process: the revision's code, our cache."""
        plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        found = plain | {"PYTHONPATH": str(self.folder), "KCHECK_CACHE": str(cache_folder().resolve()), "CI": "true"}
        return found | {"NUMBA_CACHE_DIR": self._loops()} if self.is_copy else found

    def _loops(self) -> str:
        """Where its compiled loops are kept: with ours, where they are of the same text."""
        if KEPT_IN and _text_of_loops(self.folder) == _text_of_loops(ROOT):
            return str(Path(KEPT_IN).resolve())
        named = hashlib.blake2b(_text_of_loops(self.folder), digest_size=8).hexdigest()
        return str(cache_folder().resolve() / f"loops-{named}")


def _text_of_loops(folder: Path) -> bytes:
    files = [folder / "model_check" / f"{name}.py" for name in LOOPS]
    return b"".join(file.read_bytes() for file in files if file.is_file())


def commit_of(name: str, root: Path = ROOT) -> str:
    """The commit that a name means; BadInput where there is none, or no git."""
    if not name or name.startswith("-") or not name.isprintable():
        raise BadInput(f"{name!r} is no revision; name a commit, a branch or a tag")
    found = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if not is_checkout(root):
        raise BadInput(f"a diff is of a checkout of this repository, which {root} is not; run it in one")
    if found.returncode:
        told = found.stderr.decode(errors="replace").strip()
        raise BadInput(f"{told.splitlines()[0] if told else f'git knows no revision {name!r}'}; `git log` lists them")
    return found.stdout.decode().strip()


@contextmanager
def laid_out(name: str | None, root: Path = ROOT) -> Iterator[Revision]:
    """The files of a revision as long as the block lasts; without a name, the working tree where it is."""
    if name is None:
        yield Revision(WORKING_TREE, root)
        return
    commit = commit_of(name, root)
    with TemporaryDirectory(prefix="kcheck-diff-", ignore_cleanup_errors=True) as made:
        folder = Path(made).resolve() / "tree"
        _extract(name, commit, root, folder)
        shown = name if commit.startswith(name) else f"{name} ({commit[:8]})"
        yield Revision(shown, folder, _python_for(name, folder, Path(made)))


def _extract(name: str, commit: str, root: Path, folder: Path) -> None:
    """Write the files of a commit, and lay over them what we ask."""
    there = _git(root, "ls-tree", "--name-only", "-z", commit, "--", *ARCHIVED).stdout.decode().split("\0")
    if lacking := [one for one in ARCHIVED[:3] if one not in there]:
        raise BadInput(f"{name} has no folder {lacking[0]}, so it has no specification to compare; name a later one")
    archive = _git(root, "archive", "--format=tar", commit, "--", *filter(None, there))
    if archive.returncode:
        raise EnvironmentFailure(
            f"git archive fails: {archive.stderr.decode(errors='replace').strip()}",
            "look at the repository with git fsck",
        )
    with TemporaryDirectory(dir=folder.parent) as made:
        packed = Path(made) / "archive.tar"
        packed.write_bytes(archive.stdout)
        with tarfile.open(packed) as opened:
            opened.extractall(folder, filter="data")
    here = Path(__file__).parent
    copytree(here, folder / OURS, dirs_exist_ok=True, ignore=ignore_patterns("__pycache__", "*.md"))


def _git(root: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=False)
    except FileNotFoundError:
        raise BadInput("kcheck diff asks git, and there is none on the PATH; install it") from None


# ------------------------------------------------------------------------------------------------------- environments


def pins(constraints: str) -> dict[str, str]:
    """The versions that a file of constraints pins, by library."""
    lines = (line.partition("#")[0].strip() for line in constraints.splitlines())
    return {name.strip(): number.strip() for name, equals, number in (one.partition("==") for one in lines) if equals}


def other_pins(constraints: str) -> list[str]:
    """The libraries to compute with that are installed here in another version than is pinned there."""
    return [f"{name}=={number}" for name, number in pins(constraints).items() if number != _installed(name, number)]


def _installed(name: str, pinned: str) -> str:
    """The version of a library that is here; of one that makes no difference, the one that is pinned."""
    try:
        return version(name) if name in COMPUTES_WITH else pinned
    except PackageNotFoundError:
        return ""


def _python_for(name: str, folder: Path, room: Path) -> str:
    """The Python that runs a revision: ours, or one of a new environment where it computes with other versions."""
    constraints, project = folder / "constraints.txt", folder / "pyproject.toml"
    other = other_pins(constraints.read_text("utf-8")) if constraints.is_file() else []
    if not other:
        return sys.executable
    wanted: list[str] = list(COMPUTES_WITH)
    if project.is_file():
        wanted = tomllib.loads(project.read_text("utf-8"))["project"]["dependencies"]
    wanted = [one for one in wanted if not one.startswith(NOT_NEEDED)]
    python = room / "environment" / "bin" / "python"
    for command in (
        [sys.executable, "-m", "venv", str(room / "environment")],
        [str(python), "-m", "pip", "install", "--quiet", "--constraint", str(constraints), *wanted],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            told = (done.stderr.strip().splitlines() or ["it does not say why"])[-1]
            raise EnvironmentFailure(
                f"{name} wants {', '.join(other)}, and no environment can be made for it: {told}",
                "install these versions, or name a revision that wants the ones that are installed",
            )
    return str(python)
