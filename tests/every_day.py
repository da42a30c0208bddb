"""Which tests run every day: how many of each file at least, as was accepted in `every_day.txt`.

A test that is marked slow, skipped, deselected, ignored or deleted leaves its file with fewer than that, and a whole
run fails. Whoever means it says so: `pytest --accept-tests` writes what there is now.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

ACCEPTED: Final = Path(__file__).with_name("every_day.txt")
HEAD: Final = "# How many tests of each file run every day, at least: written by `pytest --accept-tests`.\n"
DOCUMENTS: Final = ("tests/test_architecture.py", "tests/test_readme.py", "tests/spec/test_protocol_document.py")
"""Run before all others, by themselves (`make documents`)."""
SOME: Final = (
    "keyword", "markexpr", "units", "shard", "lf", "failedfirst", "newfirst", "stepwise", "maxfail", "deselect",
)  # fmt: skip
"""Options with which not all tests are run, or not to the end."""


def is_slow(item: pytest.Item) -> bool:
    """Whether a test runs only with --deep."""
    return item.get_closest_marker("slow") is not None


def runs_anywhere(item: pytest.Item) -> bool:
    """Whether a test runs every day, and needs nothing that not every machine has: a release of Kafka, a compiler."""
    return not is_slow(item) and item.get_closest_marker("skipif") is None


def counted(items: Iterable[pytest.Item]) -> Counter[str]:
    """How many tests of each file run every day, on every machine."""
    return Counter(one.location[0] for one in items if runs_anywhere(one) and one.location[0] not in DOCUMENTS)


def accepted() -> Mapping[str, int]:
    """The accepted numbers by file."""
    lines = (line.split() for line in ACCEPTED.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return {name: int(number) for name, number in lines}


def accept(items: Iterable[pytest.Item]) -> None:
    """Write how many tests there are; all of them must have been collected."""
    lines = (f"{name} {number}\n" for name, number in sorted(counted(items).items()))
    ACCEPTED.write_text(HEAD + "".join(lines), encoding="utf-8")


def fewer(found: Mapping[str, int], known: Mapping[str, int]) -> Iterator[str]:
    """The files of which fewer tests run than were accepted."""
    for name, number in known.items():
        if found.get(name, 0) < number:
            yield f"{name}: {found.get(name, 0)} tests run every day, {number} were accepted"


def is_whole(config: pytest.Config) -> bool:
    """Whether all tests were asked for that run every day, and not some chosen ones."""
    return config.args == config.getini("testpaths") and not any(getattr(config.option, one, None) for one in SOME)


def ran_too_few(passed: int, known: Mapping[str, int]) -> str:
    """What is wrong with so many passed tests; nothing, if they are enough."""
    least = sum(known.values())
    return f"{passed:,} tests passed, and at least {least:,} must ({ACCEPTED.name})" if passed < least else ""
