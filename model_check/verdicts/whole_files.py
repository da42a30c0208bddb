"""Files that are written whole, or not at all, together."""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from spec.errors import BadInput, EnvironmentFailure


def refuse_unless_writable(path: Path) -> None:
    """BadInput where a file cannot be written, which is better found before long work than behind it."""
    if path.exists() and not path.is_file():
        raise BadInput(f"{path}: cannot be written: it is {'a folder' if path.is_dir() else 'no regular file'}")
    if not path.parent.is_dir():
        raise BadInput(f"{path}: cannot be written: there is no folder {path.parent}")
    if not os.access(path.resolve().parent, os.W_OK):
        raise BadInput(f"{path}: cannot be written: nothing can be written into {path.parent}")


def write_files(texts: Mapping[Path, str]) -> None:
    """Write each text to its file, which is only replaced once all are on the disk; EnvironmentFailure: why not.

    Where a file is a link, that to which it leads is replaced. Whoever could read or write a file still can.
    """
    with ExitStack() as beside:
        written = {path: beside.enter_context(_beside(path, text)) for path, text in texts.items()}
        for path, new in written.items():
            with _told(path):
                new.replace(path.resolve())


@contextmanager
def _beside(path: Path, text: str) -> Iterator[Path]:
    """A new file beside another one, with a text in it; it is gone at the end unless it was moved away."""
    there = path.resolve()
    new = there.with_name(f".{there.name}.{uuid4().hex}")
    try:
        with _told(path):
            refuse_unless_writable(path)
            with new.open("x", encoding="utf-8") as file:
                file.write(text)
            if there.exists():
                shutil.copymode(there, new)
        yield new
    finally:
        with suppress(OSError):
            new.unlink()


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except BadInput as error:
        raise EnvironmentFailure(str(error), "name another file") from error
    except OSError as error:
        raise EnvironmentFailure(f"{path}: cannot be written: {error.strerror}", "name another file") from error
