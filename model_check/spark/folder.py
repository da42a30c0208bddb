"""A folder on any file system that pyarrow opens: a path, or a URI such as hdfs:// or s3://.

Few things are asked of a file system, since few are common to all: whole files are written once, read whole or in part,
listed and deleted. A file that must be there whole or not at all is written aside and moved into place where files can
be moved; an object store has no such move, but shows an object only once it is whole.

Left out on purpose: flushing to the platter. What a process has written outlives its death, though not a power cut.
"""

import errno
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from pyarrow import fs

from spec.errors import BadInput, EnvironmentFailure

OBJECT_STORES = frozenset({"s3", "gcs", "abfs"})
"""File systems where a file appears whole, when it is closed, and cannot be renamed."""

LONGEST = 300
"""Characters of an error that are printed."""


class Folder:
    """A folder by URI or path; it can be pickled, and opens its file system when it is first needed.

    Every method raises EnvironmentFailure, in one line, if the file system fails, BadInput if there is no such file.
    """

    def __init__(self, place: str | Path) -> None:
        text = str(place)
        self.uri = text if "://" in text else str(Path(text).expanduser().resolve())

    def __reduce__(self) -> "tuple[type[Folder], tuple[str]]":
        return type(self), (self.uri,)

    @cached_property
    def _opened(self) -> tuple[Any, str]:
        try:
            system, path = fs.FileSystem.from_uri(self.uri)
        except ValueError as error:
            known = "name a path, or a URI that pyarrow.fs opens, such as hdfs:// or s3://"
            raise BadInput(f"{self.uri} is no folder: {_line(error)}; {known}") from error
        except OSError as error:
            raise EnvironmentFailure(
                f"the folder {self.uri} cannot be opened: {_line(error)}", "see to its file system and start again"
            ) from error
        return system, path.rstrip("/")

    @property
    def system(self) -> Any:
        """The pyarrow file system."""
        return self._opened[0]

    def path(self, name: str) -> str:
        """A name in the folder as a path of its file system."""
        return f"{self._opened[1]}/{name}"

    def exists(self, name: str) -> bool:
        """Whether there is such a file."""
        with self._guarded("look for", name):
            return bool(self.system.get_file_info(self.path(name)).type == fs.FileType.File)

    def names(self, folder: str = "") -> list[str]:
        """The names of everything in a subfolder (or the folder itself), sorted; none if it is not there."""
        with self._guarded("list", folder):
            selector = fs.FileSelector(self.path(folder).rstrip("/"), allow_not_found=True)
            return sorted(info.base_name for info in self.system.get_file_info(selector))

    def read_at(self, name: str, offset: int, size: int) -> Any:
        """A part of a file, as a buffer; it is short if the file is."""
        with self._guarded("read", name), self.system.open_input_file(self.path(name)) as file:
            return file.read_at(size, offset)

    def read(self, name: str) -> bytes:
        """A whole file."""
        with self._guarded("read", name), self.system.open_input_file(self.path(name)) as file:
            return bytes(file.read())

    @contextmanager
    def writer(self, name: str) -> Iterator[Any]:
        """A stream for a new file."""
        path = self.path(name)
        with self._guarded("write", name):
            self.system.create_dir(path.rpartition("/")[0], recursive=True)
            with self.system.open_output_stream(path) as stream:
                yield stream

    def write(self, name: str, content: bytes) -> None:
        """Put a small file in place, whole or not at all."""
        if self.system.type_name in OBJECT_STORES:
            with self.writer(name) as stream:
                stream.write(content)
            return
        aside = f"{name}.{attempt()}.part"
        with self.writer(aside) as stream:
            stream.write(content)
        with self._guarded("write", name):
            self.system.move(self.path(aside), self.path(name))

    def delete(self, name: str) -> None:
        """Delete a subfolder with everything in it, if it is there."""
        with self._guarded("delete", name), suppress(FileNotFoundError):
            self.system.delete_dir(self.path(name))

    def forget(self, *names: str) -> None:
        """Delete files that nobody needs any more; what cannot be deleted stays."""
        for name in names:
            with suppress(OSError):
                self.system.delete_file(self.path(name))

    @contextmanager
    def _guarded(self, verb: str, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT) or "No space left" in str(error)
            reason = "the disk is full" if full else _line(error)
            raise EnvironmentFailure(
                f"cannot {verb} {name or 'the folder'} in {self.uri}: {reason}",
                "make room and start again; the run goes on where it was" if full else "see to it and start again",
            ) from error


def attempt() -> str:
    """A name for one try, which no other has."""
    return uuid.uuid4().hex[:12]


def _line(error: Exception) -> str:
    """What an error says, as the beginning of a line: where libhdfs looked for Java takes pages."""
    said = " ".join(str(error).split()) or type(error).__name__
    return said if len(said) <= LONGEST else f"{said[:LONGEST]} ..."
