"""What is asked of a mutant, the cheapest first, until something notices it.

    loads           its module can be imported
    facts           the specification only: it says what the inventory says, term by term; where it does not, the gate
                    notices, but a check that knows what is right is asked first for a better answer
    tests           the test files that mirror its module
    systems         the same of the systems that are explored every day, where the facts did not differ
    explorations    of what has other terms: scopes have the counts and verdicts that the manifest expects
    nearby tests    those that reach its module by few imports
    vectors         of the reference, and of what it reads and writes: it conforms
    refinement      of the reference: all its steps in a small scope are the specification's

What is not asked is said of each survivor: the test files that are farther, and what of the gate takes minutes.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from model_check.mutation.importers import Importers

NEAR: Final = (4, 8)
"""How many of the nearby test files are asked together, one group after the other."""
PYTHON: Final = (sys.executable, "-W", "error")
PYTEST: Final = (sys.executable, "-m", "pytest", "-q", "-x", "--tb=no", "--no-header", "-p", "no:randomly")
KCHECK: Final = (sys.executable, "-c", "from model_check.cli import main; main()")
PROBES: Final = (sys.executable, "-m", "model_check.mutation.probes")

LOADS, FACTS, SYSTEMS, EXPLORATIONS = "loads", "facts", "systems", "explorations"
"""Questions whose answers mean more than that something noticed."""
EXPLORED_SECONDS: Final = 60
SOME_SYSTEMS, ALL_SYSTEMS = "12", "1000"
"""Twelve have about all features of a model, under Kafka's code and with its fixes."""
SAYING: Final = ("spec/protocol/", "spec/claims/", "spec/state/", "spec/language/", "spec/model.py", "spec/system.py")
"""Where terms are made."""

CAUGHT: Final = 10
"""The exit code of a probe where something is not as it was."""
DIFFERS: Final = "differs: "
"""What stands before the name of each fact that differs."""


@dataclass(frozen=True)
class Question:
    """A command that ends with 0 if the mutant is not noticed; `tests` are the files that it runs, if it runs any."""

    name: str
    command: tuple[str, ...]
    tests: tuple[str, ...] = ()


def questions(file: str, importers: Importers) -> Iterator[Question]:
    """What is asked of the mutants of a file."""
    module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    yield Question(LOADS, (*PYTHON, "-c", f"import {module}"))
    if file.startswith("spec/"):
        yield Question(FACTS, (*PROBES, "facts"))
    if file.startswith("spec/lemmas/"):
        yield Question(FACTS, (*PROBES, "lemmas"))
    yield from _tests("mirroring tests", importers.mirroring(file))
    if file.startswith(SAYING):
        yield Question(SYSTEMS, (*PROBES, "systems", SOME_SYSTEMS))
    if file.startswith("spec/"):
        yield Question(EXPLORATIONS, (*PROBES, "explorations", str(EXPLORED_SECONDS)))
    near, (first, second) = importers.near(file), NEAR
    yield from _tests("nearby tests", near[:first])
    if file.startswith(("reference/", "spec/formats/", "spec/logs/", "spec/tables/")):
        for level in ("bytes", "functions", "controller"):
            yield Question(f"vectors of {level}", (*PROBES, "vectors", level))
    if file.startswith("reference/"):
        yield Question("refinement of tiny", (*KCHECK, "refine", "tiny"))
    yield from _tests("farther tests", near[first : first + second])
    if file.startswith(SAYING):
        yield Question(SYSTEMS, (*PROBES, "systems", ALL_SYSTEMS))


def _tests(name: str, files: list[str]) -> Iterator[Question]:
    if files:
        yield Question(name, (*PYTEST, *files), tuple(files))


def not_asked(file: str, importers: Importers) -> str:
    """What else of the tests and the gate might notice a mutant of a file."""
    left = len(importers.near(file)) - sum(NEAR)
    told = [f"{left} test files that are farther"] if left > 0 else []
    started = importers.with_jvm(file)
    told += [f"{started} that start a JVM"] if started else []
    gate = "recordings judged" if file.startswith("model_check/") else "proofs, crash matrices and larger scopes"
    return ", ".join([*told, gate])
