"""Compiled modules, kept in the cache folder: most verbs would take longer to compile their modules than to run them.

Python keeps what it compiles beside the sources, but not where it is told to write nothing there, as in containers
(PYTHONDONTWRITEBYTECODE). What is compiled otherwise than it is written (`stepping/plain_modules.py`), it keeps
nowhere. Both go to our own folder, which every verb writes to anyway.

What is kept counts only for the very text that it was made of and the Python that made it, and as long as its checksum
holds; otherwise it is made anew.
"""

import gc
import hashlib
import marshal
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import MAGIC_NUMBER
from types import CodeType, ModuleType
from typing import Any, Final

from model_check.kernel.cache import cache_folder, keep

OURS: Final = ("spec", "reference", "model_check")
CHECKSUM: Final = 16


def kept_code(name: str, made_of: bytes, make: Callable[[], CodeType]) -> CodeType:
    """The code that `make` gives, from the folder if it is there under this name and was made of just that."""
    path = cache_folder() / "code" / name
    try:
        content = path.read_bytes()
    except OSError:
        content = b""
    checksum, kept = content[:CHECKSUM], content[CHECKSUM:]
    if checksum == _checksum(made_of, kept):
        code: CodeType = marshal.loads(kept)  # noqa: S302 - our own, from our own folder, as its checksum says
        return code
    code = make()
    kept = marshal.dumps(code)
    keep(path, _checksum(made_of, kept) + kept)
    return code


def _checksum(made_of: bytes, kept: bytes) -> bytes:
    """A checksum of code, and of all that it depends on."""
    checksum = hashlib.blake2b(MAGIC_NUMBER + bytes([sys.flags.optimize]), digest_size=CHECKSUM)
    for part in (made_of, kept):
        checksum.update(len(part).to_bytes(8) + part)
    return checksum.digest()


def start_quickly() -> None:
    """What a process of ours begins with, before it loads what it needs: our own modules are kept, if Python does not.

    And rubbish is looked for less often: modules and terms are many and stay.
    """
    gc.set_threshold(10_000, 20, 20)
    if sys.dont_write_bytecode and _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)


class _Loader(SourceFileLoader):
    """Loads a module, compiled earlier if its text and its place are the same."""

    def get_code(self, fullname: str) -> CodeType:
        """The module's code."""
        path = self.get_filename(fullname)
        text = self.get_data(path)
        return kept_code(fullname, f"{path}\n".encode() + text, lambda: self.source_to_code(text, path))


class _Finder(PathFinder):
    """Finds the modules in our own packages where Python does; all others are Python's alone."""

    @classmethod
    def find_spec(cls, fullname: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The specification of a module; None if it is not ours, or the package itself."""
        top, _, inside = fullname.partition(".")
        found = super().find_spec(fullname, path, target) if inside and top in OURS else None
        if found is not None and type(found.loader) is SourceFileLoader:
            found.loader = _Loader(found.loader.name, found.loader.path)
        return found
