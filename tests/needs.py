"""What a test file needs, read off what it imports and what that imports; nothing is executed for it.

A *unit* needs nothing that costs more than the test itself: no other process, no JVM, no compiler, no system of terms,
no recording judged. `pytest --units` runs those alone, and does not even load the others.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from model_check.mutation.importers import imported_names

ROOT = Path(__file__).resolve().parents[1]

COSTLY: Mapping[str, str] = {
    "pyspark": "a JVM",
    "kazoo": "a ZooKeeper server, which is a JVM",
    "subprocess": "another process",
    "selenium": "a browser",
    "multiprocessing": "another process",
    "numba": "compiled loops",
    "spec.system.system": "a system of terms",
    "model_check.judging.judge": "a recording judged",
    "model_check.stepping.plain_rules": "the rules read once more, as plain Python",
}
"""Modules, and functions by the module that they are imported from, with what comes of importing them."""


def needs(path: Path) -> set[str]:
    """What is costly of all that a file imports, directly or by way of another file of ours."""
    seen, waiting = set[str](), list(imported(path))
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            source = source_of(name)
            waiting += imported(source) if source else ()
    return {what for name, what in COSTLY.items() if any(one == name or one.startswith(f"{name}.") for one in seen)}


@cache
def source_of(module: str) -> Path | None:
    """Our file of a module; None if it is not ours, or no module."""
    place = ROOT.joinpath(*module.split("."))
    return next((one for one in (place.with_suffix(".py"), place / "__init__.py") if one.is_file()), None)


@cache
def imported(path: Path) -> tuple[str, ...]:
    """The modules that a file imports, and by their dotted names also what it takes of them."""
    return tuple(imported_names(path.read_text(encoding="utf-8")))
