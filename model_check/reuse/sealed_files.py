"""Files of the cache folder that notice when they were damaged: a checksum, and what it is of, as JSON.

A file that is damaged, or is none of these, counts as none: what it held is made again. Of each kind the latest few are
kept, so that going back to an earlier revision finds its own.
"""

import hashlib
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from model_check.kernel.cache import keep


def read_sealed(path: Path) -> Any:
    """What such a file holds; None if there is none, or none that is sound."""
    try:
        checksum, _, text = path.read_bytes().partition(b"\n")
        return json.loads(text) if checksum.decode() == _checksum(text) else None
    except (OSError, ValueError, RecursionError):
        return None


def write_sealed(path: Path, entry: Any) -> None:
    """Put such a file in place, whole or not at all; or do without."""
    text = json.dumps(entry).encode()
    keep(path, _checksum(text).encode() + b"\n" + text)


def keep_latest(folder: Path, pattern: str, count: int) -> None:
    """Delete the oldest files that match a pattern; so many are kept."""
    for path in sorted(folder.glob(pattern), key=_age)[:-count]:
        with suppress(OSError):
            path.unlink()


def short(text: str) -> str:
    """A text as part of a file's name."""
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _checksum(text: bytes) -> str:
    return hashlib.blake2b(text, digest_size=16).hexdigest()
