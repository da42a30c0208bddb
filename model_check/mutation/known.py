"""The mutants of which something is known, with a reason each (`known_mutants.toml`).

An `equivalent` one behaves the same in whatever anybody could ask: it is not asked about. An `open` one is a hole that
is named: it survives, and is expected to. They are named by what stands in the code, as mutants are.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model_check.mutation.mutants import Name
from spec.errors import Where

FILE: Final = Path(__file__).with_name("known_mutants.toml")
EQUIVALENT, OPEN = "equivalent", "open"


@dataclass(frozen=True)
class Known:
    """What is known of a mutant."""

    name: Name
    kind: str
    reason: str


def known_mutants(text: str, source: str = FILE.name) -> Mapping[Name, Known]:
    """The mutants of a list, by name; MalformedInput says what of it cannot be read."""
    where = Where(source)
    try:
        entries = tomllib.loads(text).get("mutant", [])
    except tomllib.TOMLDecodeError as error:
        where.refuse(f"not TOML: {error}")
    found = [_known(one, where.key("mutant").item(number)) for number, one in enumerate(entries)]
    return {one.name: one for one in found}


def _known(given: Mapping[str, object], where: Where) -> Known:
    words = [given.get(key) for key in ("file", "function", "line", "change", "kind", "reason")]
    number = given.get("number", 0)
    if not all(isinstance(one, str) for one in words) or not isinstance(number, int):
        where.refuse("has file, function, line, change, kind and reason, which are texts, and perhaps a number")
    file, function, line, change, kind, reason = map(str, words)
    if kind not in {EQUIVALENT, OPEN}:
        where.key("kind").refuse(f"is neither {EQUIVALENT} nor {OPEN}")
    return Known((file, function, line, change, int(number)), kind, reason)


def gone(known: Iterable[Known], names: Iterable[Name]) -> list[Known]:
    """What is known of mutants that no longer exist."""
    there = set(names)
    return [one for one in known if one.name not in there]
