"""Files as they are on disk, packed ones among them: those of gzip are read like others, other packers' are named.

Whoever rotates logs packs the old ones with gzip. Such a file is read from its beginning, so a place far within it is
reached by unpacking all before it; nothing of it is kept.
"""

import gzip
import zlib
from pathlib import Path
from typing import IO, Final, cast

GZIP: Final = b"\x1f\x8b"
OTHERS: Final = (b"PK\x03\x04", b"BZh", b"\xfd7zXZ", b"(\xb5/\xfd")
"""How files of zip, bzip2, xz and zstd begin."""
TAR: Final = (257, b"ustar")
"""What an archive of tar has at which byte; in it files of several logs come one after the other."""
DAMAGE: Final = (gzip.BadGzipFile, EOFError, zlib.error)
"""What is raised where a file is not what its first bytes promise."""
BLOCK: Final = 1 << 20


def opened(path: Path) -> IO[bytes]:
    """A file, to be read as if it were not packed."""
    return cast("IO[bytes]", gzip.open(path)) if is_gzip(path) else path.open("rb")


def is_gzip(path: Path) -> bool:
    """Whether a file is packed with gzip."""
    with path.open("rb") as raw:
        return raw.read(len(GZIP)) == GZIP


def still_packed(begin: bytes) -> str:
    """How a file is packed that begins so where it is opened; empty where it is not."""
    at, mark = TAR
    if begin.startswith(mark, at):
        return "an archive of tar"
    if begin.startswith(GZIP):
        return "compressed twice"
    return "compressed otherwise than with gzip" if begin.startswith(OTHERS) else ""


def end_of(path: Path, length: int) -> tuple[bytes, int]:
    """So many bytes of a file's end, and its size; one of DAMAGE where it cannot be unpacked so far."""
    if not is_gzip(path):
        size = path.stat().st_size
        with path.open("rb") as file:
            file.seek(max(0, size - length))
            return file.read(length), size
    end, size = b"", 0
    with gzip.open(path) as unpacked:
        while block := unpacked.read(BLOCK):
            end, size = (end + block)[-length:], size + len(block)
    return end, size
