"""Mutants of the reference are caught by the vectors alone, and of those that are not, the list says why."""

import json
import signal
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any, get_args

import pytest

from model_check.conformance.vector import Verb
from model_check.mutation.mutants import Name
from tests.model_check.conformance.mutant_process import in_child
from tests.model_check.conformance.mutant_subjects import SUBJECTS
from tests.model_check.conformance.mutants import chosen, mutants_of
from tests.needs import ROOT

MUTANTS, SEED = 200, "vectors"
KINDS = {"equivalent", "unseen", "missed"}
"""Of survivors: no outcome of any vector can differ; what differs is none of what the format page names; the rest."""


def survivors() -> dict[Name, dict[str, str]]:
    """The mutants that no vector catches, by name, as the list has them."""
    told = tomllib.loads(Path(__file__).with_name("surviving_mutants.toml").read_text("utf-8"))["survivor"]
    return {(one["file"], one["function"], one["line"], one["change"], one.get("number", 0)): one for one in told}


def asked(verbs: list[str], number: int, known: list[Name]) -> tuple[dict[str, Any], dict[Name, str]]:
    """What there was to mutate, and what became of each mutant."""
    task = {"verbs": verbs, "number": number, "seed": SEED, "known": known}
    command = [sys.executable, "-m", "tests.model_check.conformance.mutant_process"]
    done = subprocess.run(command, input=json.dumps(task), capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    first, *others = map(json.loads, done.stdout.splitlines())
    return first, {tuple(one["name"]): one["fate"] for one in others}


def shares(asked: int, kinds: Counter[str]) -> tuple[int, int, int]:
    """How many mutants are caught, of how many that are not equivalent, and of how many that a vector could catch."""
    differing = asked - kinds["equivalent"]
    return asked - kinds.total(), differing, differing - kinds["unseen"]


@pytest.mark.slow
@pytest.mark.takes("It loads the reference anew for each of 200 mutants, and asks the vectors of it.")
def test_the_vectors_catch_the_mutants_of_what_they_ask_about() -> None:
    listed = survivors()
    first, fates = asked([*SUBJECTS], MUTANTS, [*listed])
    assert first["unchanged"] == ""
    assert {name for name, fate in fates.items() if not fate} == set(listed)
    kinds = Counter(one["kind"] for one in listed.values())
    caught, differing, seen = shares(len(fates), kinds)
    print(f"{first['mutants']} mutants of {first['lines']} lines; {len(fates)} asked, {dict(kinds)}")  # noqa: T201 - the figures
    print(f"caught {caught}: {caught / differing:.1%} of {differing}, {caught / seen:.1%} of {seen}")  # noqa: T201 - the shares
    assert caught >= 0.95 * seen


@pytest.mark.slow
def test_some_mutants_are_caught_every_day() -> None:
    first, fates = asked(["delay"], 3, [])
    assert (first["unchanged"], len(fates)) == ("", 3)
    assert not {name for name, fate in fates.items() if not fate} - set(survivors())


def changes(source: str) -> set[str]:
    """What the mutants of a module change."""
    return {one.change for one in mutants_of("a.py", source.encode())}


def test_a_child_that_hangs_or_fails_is_told_of_and_ends_nothing_else() -> None:
    def hang() -> None:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.1)
        while True:
            pass

    assert in_child(hang) == f"dies: {int(signal.SIGVTALRM)}"
    assert in_child(lambda: 1 // 0) == f"dies: {1 << 8}"
    assert in_child(lambda: "a result") == "a result"


def test_mutants_are_those_of_what_a_function_runs() -> None:
    assert changes("LIMIT = 1\ndef f(a: int = 2) -> bool:\n    return a < LIMIT and not done\n") == {
        "return a < LIMIT and not done -> return None",
        "a < LIMIT and not done -> a < LIMIT or not done",
        "a < LIMIT and not done -> not done",
        "a < LIMIT and not done -> a < LIMIT",
        "a < LIMIT -> a >= LIMIT",
        "a < LIMIT -> a <= LIMIT",
        "not done -> done",
    }
    assert changes(
        "def f(a, b):\n    if a:\n        g(a, b[0] + 1)\n    report(a + 1)\n    raise ValueError(f'{a + 1}')\n"
    ) == {
        "a -> not a",
        "g(a, b[0] + 1) -> pass",
        "g(a, b[0] + 1) -> g(b[0] + 1, a)",
        "b[0] + 1 -> b[0] - 1",
        "b[0] + 1 -> b[0]",
        "b[0] -> b[-1]",
        "0 -> 1",
        "1 -> 2",
        "raise ValueError(f'{a + 1}') -> pass",
    }


def test_a_mutant_is_its_module_with_one_change_and_keeps_its_name_when_lines_come_before() -> None:
    source = b"def f(a):\n    return {'\xc3\xa4': a | {1}}['\xc3\xa4']\n"
    before, after = mutants_of("a.py", source), mutants_of("a.py", b"import os\n\n" + source)
    assert [one.name for one in before] == [one.name for one in after]
    (union,) = [one for one in before if one.change == "a | {1} -> a & {1}"]
    assert union.of(source) == source.replace(b"a | {1}", b"(a & {1})")


def test_mutants_are_chosen_by_lot_and_no_function_has_two_before_each_has_one() -> None:
    made = mutants_of("a.py", b"def f(a):\n    return a < 1 and a > 2\ndef g(a):\n    return a + 1\n")
    first = chosen(made, 2, "a seed")
    assert {one.function for one in first} == {"f", "g"}
    assert chosen(made, 2, "a seed") == first == chosen(reversed(made), 2, "a seed")
    assert chosen(made, 1000, "a seed") != made
    assert {*chosen(made, 1000, "a seed")} == {*made}


def test_each_verb_says_which_files_it_asks_about() -> None:
    assert set(SUBJECTS) == set(get_args(Verb))
    assert all((ROOT / file).is_file() for files in SUBJECTS.values() for file in files)


def test_the_page_has_the_figures() -> None:
    kinds = Counter(one["kind"] for one in survivors().values())
    told = " ".join((ROOT / "model_check" / "conformance" / "README.md").read_text("utf-8").split())
    assert f"in one of {MUTANTS} functions" in told
    caught, differing, seen = shares(MUTANTS, kinds)
    assert f"catch {caught} of these mutants; {kinds['equivalent']} are equivalent" in told
    assert f"and {kinds['unseen']} differ in nothing" in told
    assert f"{kinds['missed']} are missed" in told
    assert f"{caught} of {differing} are caught, {caught / differing:.0%}".replace("%", " %") in told
    assert f"{caught} of {seen}, {caught / seen:.0%}".replace("%", " %") in told


def test_survivors_have_a_kind_and_a_reason() -> None:
    assert all(one["kind"] in KINDS and one["reason"].endswith(".") for one in survivors().values())
