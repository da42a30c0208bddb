"""Copies of the checkout, in which mutants are tried: the working tree itself is never touched.

A copy has the files that git tracks, and those that it would, as they stand. A mutant is put in place of its module
for as long as it is asked about. Copies go when the block ends; should we be killed, the janitor removes them.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model_check.live.janitor import short_lived
from spec.errors import BadInput

ROOT: Final = Path(__file__).resolve().parents[2]


def checkout_files(root: Path = ROOT) -> list[str]:
    """The files of the checkout, by their paths below it; BadInput where there is none, or git is not."""
    asked = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        done = subprocess.run(asked, cwd=root, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise BadInput("mutants are made of a checkout, and git says what belongs to it: there is no git") from None
    found = [one for one in done.stdout.split("\0") if one and (root / one).is_file()]
    if done.returncode or "tests/conftest.py" not in found:
        raise BadInput(f"{root}: mutants need a checkout with its tests, which this is not; clone the repository")
    return sorted(found)


@dataclass(frozen=True)
class Copy:
    """A copy of the checkout."""

    folder: Path

    @contextmanager
    def changed(self, file: str, source: bytes) -> Iterator[None]:
        """Inside, a file has another text."""
        path = self.folder / file
        before = path.read_bytes()
        self._put(path, source)
        try:
            yield
        finally:
            self._put(path, before)

    def _put(self, path: Path, source: bytes) -> None:
        """Python would take a text of the same second and length for the one that it has compiled: it forgets that."""
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            compiled.unlink()
        path.write_bytes(source)


@contextmanager
def copied(files: list[str], root: Path = ROOT) -> Iterator[Copy]:
    """A copy of some files of the checkout, as long as the block runs."""
    folder = Path(tempfile.mkdtemp(prefix="kcheck-mutate-"))
    with short_lived(folder):
        try:
            for file in files:
                target = folder / file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(root / file, target)
                shutil.copymode(root / file, target)
            yield Copy(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
