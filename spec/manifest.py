"""The manifest: manifest.toml as it stands, a table for each scope, read when somebody asks for that scope.

The file is long and most of it is about other scopes than the one in question; to read all of it takes longer than many
verbs have to do otherwise. So it is cut before the heads of its tables, and what a scope has is read by itself. A text
in which that might make a difference, or a table that turns out not to be sound, is read as a whole: what a manifest
says, and what is refused, is the same in both ways.
"""

import re
import tomllib
from collections import UserDict
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from spec.errors import Where

SOURCE: Final = "manifest.toml"

HEAD: Final = re.compile(r"^\[scope\.([\w-]+)[.\]]", re.MULTILINE | re.ASCII)
"""How the head of a table begins that is of a scope."""
LIKE_A_HEAD: Final = re.compile(r"^\s*\[", re.MULTILINE)
LONG_TEXTS: Final = ('"""', "'''")
"""What may have anything in it, also what looks like a head."""


@cache
def manifest() -> Mapping[str, Any]:
    """The manifest as it stands; MalformedInput says what is wrong with it, or with a scope that is asked for."""
    return manifest_in(files("spec").joinpath(SOURCE).read_bytes())


def manifest_in(content: bytes) -> Mapping[str, Any]:
    """The manifest that a file holds: tables of scopes, each with its bounds, and nothing else."""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        Where(SOURCE).refuse(f"is no TOML: {error}")
    heads = [*HEAD.finditer(text)]
    if not heads or len(heads) != len(LIKE_A_HEAD.findall(text)) or any(one in text for one in LONG_TEXTS):
        return read_whole(text)
    if _read(text[: heads[0].start()]) != {}:
        return read_whole(text)
    tables = _Tables(text)
    for head, end in zip(heads, [*(one.start() for one in heads[1:]), len(text)], strict=True):
        tables.data[head[1]] = tables.data.get(head[1], "") + text[head.start() : end]
    return {"scope": tables}


def read_whole(text: str) -> Mapping[str, Any]:
    """The same, all of it read at once."""
    top = Where(SOURCE)
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        top.refuse(f"is no TOML: {error}")
    for key in given:
        if key != "scope":
            top.key(key).refuse("is no table of the manifest; all are of a scope: scope.NAME")
    entries = given.get("scope")
    if not isinstance(entries, Mapping) or not entries:
        top.key("scope").refuse("is missing, or no table of scopes")
    for name, entry in entries.items():
        if not _has_bounds(entry):
            top.key("scope").key(name).key("bounds").refuse("is missing, or no table")
    return given


class _Tables(UserDict[str, Any]):
    """What the manifest has of each scope, by name; of those that nobody has asked for, the text."""

    def __init__(self, whole: str) -> None:
        super().__init__()
        self.whole = whole

    def __getitem__(self, name: str) -> Any:
        found = self.data[name]
        if isinstance(found, str):
            given = _read(found) or {}
            entries = given.get("scope", {})
            is_sound = given.keys() == {"scope"} and entries.keys() == {name} and _has_bounds(entries[name])
            found = self.data[name] = entries[name] if is_sound else read_whole(self.whole)["scope"][name]
        return found


def _read(text: str) -> dict[str, Any] | None:
    """What a piece of the file says by itself, None if it is no TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _has_bounds(entry: object) -> bool:
    return isinstance(entry, Mapping) and isinstance(entry.get("bounds"), Mapping)
