"""Which systems have other terms than the accepted ones, found as fast as that can be.

To build a system takes most of a second, and the manifest has hundreds. What was found of them is kept in the cache
folder under a digest of the code that makes them, docstrings and comments aside: as long as that stays, only a
system whose bounds changed is built again. After an edit of the code all are, the ones of fewest states first, so that
the first answer is there at once, and by as many processes as there are processors.
"""

import ast
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

import z3

from model_check.inventory.system_digests import digests
from model_check.inventory.system_facts import SystemKey, of_each
from model_check.kernel.cache import cache_folder, keep
from spec.scopes import scope

TERMS: Final = ("variables", "actions", "claims", "rows")
"""The parts of a system's digests that an exploration depends on."""


def changed_terms(keys: Iterable[SystemKey], accepted: Mapping[str, str]) -> Iterator[tuple[SystemKey, bool]]:
    """Every system in the order given, and whether its terms are others than those of its accepted fact."""
    named, kept = [(one, _name(one)) for one in keys], _Kept()
    unknown = {name: key for key, name in named if name not in kept.facts}
    made = of_each(terms_of_system, list(unknown.values()))
    try:
        for key, name in named:
            if name not in kept.facts:
                kept.facts[name], kept.is_new = next(made), True
            yield key, kept.facts[name] != terms_of_fact(accepted.get(key.name, ""))
    finally:
        kept.save()
        made.close()


def terms_of_fact(fact: str) -> dict[str, str]:
    """The digests of a system's terms, from the fact that the inventory has of it."""
    parts = [one.split(" ") for one in fact.partition(": ")[2].split(", ")]
    return {part: digest for part, digest in (one for one in parts if len(one) == 2) if part in TERMS}


def terms_of_system(key: SystemKey) -> dict[str, str]:
    """The digests of a system's terms."""
    found = digests(key.built())
    return {part: found[part] for part in TERMS}


class _Kept:
    """What is known of systems as the code is now, in the cache folder; syntax is read only where files changed."""

    def __init__(self) -> None:
        self.path = cache_folder() / "terms.json"
        files, code, facts = _read(self.path)
        self.files = files_digest()
        self.code = code if files == self.files else code_digest()
        self.facts = facts if code == self.code else {}
        self.is_new = self.files != files

    def save(self) -> None:
        """Write the file, if anything in it is new."""
        if self.is_new:
            content = {"files": self.files, "code": self.code, "facts": self.facts}
            keep(self.path, json.dumps(content, indent=1).encode())


def _read(path: Path) -> tuple[str, str, dict[str, dict[str, str]]]:
    """What such a file holds, files, code and facts; nothing if there is none, or if it is damaged."""
    try:
        given = json.loads(path.read_bytes())
        facts = {str(name): dict(found) for name, found in given["facts"].items()}
        return given["files"], given["code"], facts
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return "", "", {}


def _name(key: SystemKey) -> str:
    """A system by its name and its bounds, which stand in no code."""
    one = scope(key.scope)
    bounds = f"{sorted(one.parts)} {replace(one, parts=frozenset())!r}"  # a set's order is another in every process
    return f"{key.name} {hashlib.blake2b(bounds.encode(), digest_size=8).hexdigest()}"


def files_digest() -> str:
    """A digest of the files that make systems and their digests, as they stand."""
    return _digest(_sources())


def code_digest() -> str:
    """A digest of what those files do: of their syntax without comments and docstrings."""
    return _digest((path, _without_docstrings(text)) for path, text in _sources())


def _digest(texts: Iterable[tuple[str, str]]) -> str:
    digest = hashlib.blake2b(z3.get_version_string().encode(), digest_size=16)
    for path, text in texts:
        digest.update(f"{path}\n{text}\n".encode())
    return digest.hexdigest()


def _sources() -> Iterator[tuple[str, str]]:
    root = Path(__file__).parents[2]
    digests_by = [root / "model_check" / name for name in ("kernel/system_digest.py", "inventory/system_digests.py")]
    for path in (*sorted((root / "spec").rglob("*.py")), *digests_by):
        yield str(path.relative_to(root)), path.read_text(encoding="utf-8")


def _without_docstrings(text: str) -> str:
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [one for one in body if not _is_text(one)]  # type: ignore[attr-defined]  # it has, as seen
    return ast.dump(tree)


def _is_text(one: ast.AST) -> bool:
    return isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) and isinstance(one.value.value, str)
