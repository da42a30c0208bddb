"""The digests of systems' terms, kept in the cache folder, since to build a system takes most of a second.

They hold as long as the code that makes terms does the same: of the files of the specification, and of those that make
digests, without comments and docstrings. A system whose bounds changed has another name here. Each system has a file
of its own, so that several processes may keep what they found; a damaged file tells nothing. Nothing is kept once a
file was edited while the process ran, which may have loaded either text.
"""

import ast
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from typing import Final

import z3

from model_check.inventory import sources
from model_check.inventory.system_facts import SystemKey, digests_of
from model_check.kernel.cache import cache_folder, keep
from spec.language.rules import TransitionSystem
from spec.scopes import scope

WORDS: Final = "words"
"""The part of a system's digests that is of docstrings, and of nothing that an engine could notice."""

Parts = Mapping[str, str]
"""The digest of each part of a system, except its words."""


def parts_of(built: TransitionSystem) -> Parts:
    """The digests of a system's parts, without its words."""
    return {part: digest for part, digest in digests_of(built).items() if part != WORDS}


class KnownTerms:
    """What is known of systems as the code is now; syntax is read only where files changed."""

    def __init__(self) -> None:
        self.folder = cache_folder() / "terms"

    @cached_property
    def code(self) -> str:
        """The digest of the code that makes terms, itself kept under the digest of its files."""
        files, path = files_digest(), self.folder / "code.json"
        kept = _read(path)
        if kept.get("files") != files or "code" not in kept:
            kept = {"files": files, "code": code_digest()}
            keep(path, json.dumps(kept).encode())
        return kept["code"]

    def get(self, key: SystemKey) -> Parts | None:
        """The parts of a system, if they are known."""
        kept = _read(self._file(key))
        if kept.pop("code", None) != self.code or kept.pop("system", None) != _name(key):
            return None
        return kept or None

    def put(self, key: SystemKey, parts: Parts) -> None:
        """Keep the parts of a system."""
        if sources.are_as_loaded():
            keep(self._file(key), json.dumps({"system": _name(key), "code": self.code, **parts}).encode())

    def found(self, key: SystemKey, built: TransitionSystem | None = None) -> Parts:
        """The parts of a system, which is built if they are not known."""
        known = self.get(key)
        if known is None:
            known = parts_of(built or key.built())
            self.put(key, known)
        return known

    def _file(self, key: SystemKey) -> Path:
        return self.folder / f"{hashlib.blake2b(_name(key).encode(), digest_size=12).hexdigest()}.json"


def _read(path: Path) -> dict[str, str]:
    """What such a file holds; nothing if there is none, or if it is damaged."""
    try:
        return {str(name): str(value) for name, value in json.loads(path.read_bytes()).items()}
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}


def _name(key: SystemKey) -> str:
    """A system by its name and its bounds, which stand in no code."""
    one = scope(key.scope)
    return f"{key.name} {sorted(one.parts)} {replace(one, parts=frozenset())!r}"  # a set's order differs by process


def files_digest() -> str:
    """A digest of the files that make systems and their digests, as they stand."""
    return _digest(_sources())


def code_digest() -> str:
    """A digest of what those files do: of their syntax without comments and docstrings."""
    return _digest((path, _syntax(text)) for path, text in _sources())


def _digest(texts: Iterable[tuple[str, str]]) -> str:
    digest = hashlib.blake2b(f"{z3.get_full_version()} {sys.version}".encode(), digest_size=16)
    for path, text in texts:
        digest.update(f"{path}\n{text}\n".encode())
    return digest.hexdigest()


DIGESTS_BY: Final = (
    "model_check/inventory/known_terms.py", "model_check/inventory/system_digests.py",
    "model_check/inventory/system_facts.py", "model_check/kernel/native.py", "model_check/kernel/reading.py",
    "model_check/kernel/system_digest.py", "model_check/terms/straight_line.py",
)  # fmt: skip


def _sources() -> Iterator[tuple[str, str]]:
    for path, text in sorted(sources.sources().items()):
        if (path.startswith("spec/") and path.endswith(".py")) or path in DIGESTS_BY:
            yield path, text.decode()


@cache
def _syntax(text: str) -> str:
    """A digest of a module's syntax without its docstrings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [one for one in body if not _is_text(one)]  # type: ignore[attr-defined]  # it has, as seen
    return hashlib.blake2b(ast.dump(tree).encode(), digest_size=16).hexdigest()


def _is_text(one: ast.AST) -> bool:
    return isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) and isinstance(one.value.value, str)
