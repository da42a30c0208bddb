"""The cache folder: what would take long to make again. Nothing is lost without it except time."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def cache_folder() -> Path:
    """`KCHECK_CACHE` if it is set, else `.kcheck` in the working directory."""
    return Path(os.environ.get("KCHECK_CACHE") or ".kcheck")


lacking: set[str] = set()
"""What is made anew each time, since no place was found where it could be kept; a verb says so as it ends."""


def can_keep(folder: Path) -> bool:
    """Whether files can be written to a folder, which is made if it is not there."""
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    return False


def keep(path: Path, content: bytes) -> None:
    """Put a file in place whole or not at all, whoever else writes it at the same time; or do without."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            try:
                file.write(content)
                file.flush()
                Path(file.name).replace(path)
            except OSError:
                Path(file.name).unlink()
