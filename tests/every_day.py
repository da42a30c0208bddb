"""Which tests run every day: each function by its name, as was accepted in `every_day.txt`.

    tests/spec/test_topics.py
      each_topic_has_partitions
      names_are_checked 12

A function that is tried with several values has a count. One that is marked slow, skipped, deselected, ignored or
deleted is missing from a whole run, or tries fewer values, and the run fails, whatever was added beside it. Whoever
means it says so: `pytest --accept-tests` writes what there is now.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

ACCEPTED: Final = Path(__file__).with_name("every_day.txt")
HEAD: Final = "# Which tests of each file run every day, with how many values at least: by `pytest --accept-tests`.\n"
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


def function_of(item: pytest.Item) -> str:
    """The function of a test, whatever values it is tried with: `tests/spec/test_topics.py names_are_checked`."""
    file, _, test = item.location
    return f"{file} {test.partition('[')[0].removeprefix('test_')}"


def counted(items: Iterable[pytest.Item]) -> Counter[str]:
    """How many tests of each function run every day, on every machine."""
    return Counter(function_of(one) for one in items if runs_anywhere(one) and one.location[0] not in DOCUMENTS)


def accepted() -> Mapping[str, int]:
    """The accepted numbers by function."""
    return read(ACCEPTED.read_text(encoding="utf-8"))


def read(text: str) -> dict[str, int]:
    """The numbers by function in a text as `written` makes it."""
    file, numbers = "", dict[str, int]()
    for line in text.splitlines():
        name, *number = line.split()
        if line.startswith(" "):
            numbers[f"{file} {name}"] = int(number[0]) if number else 1
        else:
            file = name
    return numbers


def written(numbers: Mapping[str, int]) -> str:
    """The functions below their files, each with its number unless that is 1."""
    text, above = HEAD, ""
    for function, number in sorted(numbers.items()):
        file, name = function.split()
        text += "" if file == above else f"{file}\n"
        text += f"  {name}\n" if number == 1 else f"  {name} {number}\n"
        above = file
    return text


def accept(items: Iterable[pytest.Item]) -> None:
    """Write which tests there are; all of them must have been collected."""
    ACCEPTED.write_text(written(counted(items)), encoding="utf-8")


def fewer(found: Mapping[str, int], known: Mapping[str, int]) -> Iterator[str]:
    """The functions of which fewer tests run than were accepted."""
    for function, number in known.items():
        file, name = function.split()
        if (left := found.get(function, 0)) < number:
            yield f"{file}: {left} tests of test_{name} run every day, {number} were accepted"


def is_whole(config: pytest.Config) -> bool:
    """Whether all tests were asked for that run every day, and not some chosen ones."""
    return config.args == config.getini("testpaths") and not any(getattr(config.option, one, None) for one in SOME)


def ran_too_few(passed: int, known: Mapping[str, int]) -> str:
    """What is wrong with so many passed tests; nothing, if they are enough."""
    least = sum(known.values())
    return f"{passed:,} tests passed, and at least {least:,} must ({ACCEPTED.name})" if passed < least else ""
