"""The accepted facts as a text file, `inventory.txt`: a line for each, `name = what is so`, sorted by name."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

from spec.errors import Where

FILE: Final = Path(__file__).with_name("inventory.txt")
HEAD: Final = "# What is checked, as it was accepted: written by `kcheck accept`, compared by `kcheck verify`.\n"


def accepted() -> Mapping[str, str]:
    """The facts of the file; none if there is no file yet. MalformedInput names a line that is no fact."""
    return facts_in(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}


@lru_cache(maxsize=1)
def facts_in(text: str) -> Mapping[str, str]:
    """The facts that a text holds; MalformedInput names a line that is not one, or whose name came before.

    Those of the last text are kept, since each check of a system asks for the accepted ones.
    """
    facts: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("#"):
            continue
        name, divider, told = line.partition(" = ")
        where = Where(FILE.name, f"line {number}")
        if not divider:
            where.refuse("is no fact, `name = what is so`")
        if name in facts:
            where.refuse(f"tells of {name} a second time")
        facts[name] = told
    return facts


def text_of_facts(facts: Mapping[str, str]) -> str:
    """The text that holds these facts."""
    return HEAD + "".join(f"{name} = {facts[name]}\n" for name in sorted(facts))


def accept(facts: Mapping[str, str]) -> None:
    """Write these facts as the accepted ones, whole or not at all."""
    beside = FILE.with_suffix(".new")
    beside.write_text(text_of_facts(facts), encoding="utf-8")
    beside.replace(FILE)
