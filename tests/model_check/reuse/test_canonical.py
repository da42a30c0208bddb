"""What a check is asked, as text: equal where it is equal, other where anything of it is other."""

import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from model_check.checks import exploration, replay
from model_check.reuse.canonical import canonical, modules_in
from spec.expectations import plan
from spec.variants import AS_CODED, FENCED, Switch

TINY = plan("tiny")
EXPECTED = TINY.explorations[0]

DIFFERENT: list[Any] = [
    None, False, True, 0, 1, 1.0, "", "1", b"1", (), (1,), (1, 2), (2, 1), {"a": 1}, {"a": 2}, {"b": 1}, {1}, {"1"},
    Path("a"), Path("b"), Switch.FENCED_WRITES, Switch.FENCED_RESIGN, AS_CODED, FENCED, TINY, EXPECTED,
    replace(EXPECTED, states=EXPECTED.states + 1), replace(EXPECTED, violated={**EXPECTED.violated, "x": 1}),
    replace(TINY, goals=not TINY.goals), partial(replay.verified, "tiny", AS_CODED), partial(replay.verified, "tiny"),
    partial(replay.verified, "tiny", switches=AS_CODED), partial(exploration.verified, TINY, EXPECTED), replay.verified,
]  # fmt: skip


def test_what_is_different_has_different_texts() -> None:
    texts = [canonical(one) for one in DIFFERENT]
    assert len(set(texts)) == len(DIFFERENT)


def test_the_order_of_sets_and_tables_says_nothing() -> None:
    assert canonical({"b": 1, "a": {3, 1, 2}}) == canonical({"a": {2, 3, 1}, "b": 1})


@pytest.mark.slow
def test_another_process_says_the_same() -> None:
    """Strings hash differently there, so sets come in another order."""
    program = (
        "from model_check.reuse.canonical import canonical\n"
        "from spec.expectations import plan\n"
        "from spec.variants import FENCED\n"
        "print(canonical(plan('tiny')) + canonical(FENCED))"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said.strip() == canonical(TINY) + canonical(FENCED)


def test_what_nothing_spells_out_is_refused() -> None:
    for unknown in (object(), iter(()), {"a": [object()]}, len):
        with pytest.raises(TypeError, match="cannot be among what a check is asked"):
            canonical(unknown)


def test_the_modules_of_all_functions_and_records_are_named() -> None:
    asked = partial(exploration.verified, TINY, replace(EXPECTED, variant="x"))
    assert {"model_check.checks.exploration", "spec.expectations"} <= set(modules_in(asked))
    assert "spec.variants" in set(modules_in(partial(replay.verified, "tiny", FENCED)))
