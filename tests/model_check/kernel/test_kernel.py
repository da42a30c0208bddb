"""The compiled kernel against the oracle, and the cache that keeps it."""

import random
import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model_check.kernel import kernel, slicing, updates
from model_check.kernel.kernel import load_kernel
from model_check.kernel.slicing import BLOCK
from model_check.terms.straight_line import evaluate
from spec.language.rules import Leaf, Shape, TransitionSystem, action, choose, require, when
from spec.language.terms import FLAG
from spec.language.terms import number as number_kind
from tests.model_check.plain_exploration import successors
from tests.model_check.random_systems import systems
from tests.model_check.random_terms import states
from tests.model_check.systems import build, clerks, jugs, lamps, odometer

FEW = settings(max_examples=max(1, settings().max_examples // 5))
"""For each example a system is compiled."""
BATCHES = st.lists(states(integers=False), min_size=1, max_size=90)


@given(systems(), BATCHES)
@FEW
def test_random_systems_expand_as_the_oracle_says(system: TransitionSystem, batch: list[dict[str, int]]) -> None:
    assert_expands_as_the_oracle(system, batch)


@pytest.mark.slow
@given(systems(), BATCHES)
@FEW
def test_so_they_do_however_small_the_pieces_are_that_code_is_cut_into(
    system: TransitionSystem, batch: list[dict[str, int]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(updates, "WORTH_A_BRANCH", 1)
        patch.setattr(updates, "DEEPEST", 3)
        patch.setattr(slicing, "LONGEST", 5)
        assert_expands_as_the_oracle(system, batch)


@given(systems(), BATCHES)
@FEW
def test_so_they_do_as_tables(system: TransitionSystem, batch: list[dict[str, int]]) -> None:
    assert_expands_as_the_oracle(system, batch, tables=True)


def assert_expands_as_the_oracle(
    system: TransitionSystem, batch: list[dict[str, int]], *, tables: bool = False
) -> None:
    with TemporaryDirectory() as cache:
        loaded = load_kernel(system, cache, tables=tables)
    rows = np.array([loaded.packing.pack(state) for state in batch])
    found = loaded.expand(rows)
    numbers = {action.name: number for number, action in enumerate(system.actions)}
    expected = [
        (row, numbers[action.name], after)
        for row, state in enumerate(batch)
        for action, after in successors(system, state)
        if after != state
    ]
    got = [
        (int(parent), int(action), loaded.packing.unpack(words))
        for parent, action, words in zip(found.parents, found.actions, found.successors, strict=True)
    ]
    assert sorted(got, key=lambda one: one[:2]) == expected
    for predicate, count, first in zip(loaded.predicates, found.tally.counts, found.tally.first, strict=True):
        holding = [row for row, state in enumerate(batch) if evaluate(predicate.term, state)]
        assert (count, first) == (len(holding), holding[0] if holding else -1), predicate


def switchboard() -> TransitionSystem:
    """Twenty-four variables that all move one place on, or not, as four switches say in more than one way."""
    count = 24
    shape: Shape = {
        "switches": {number: Leaf(FLAG, False) for number in range(4)},
        "cells": {number: Leaf(number_kind(6), 0) for number in range(count)},
    }

    @action(actor="operator", source="by hand")
    def move(s: Any, _model: object) -> None:
        """The cells move."""
        p, q, r, t = (s.switches[number] for number in range(4))
        old = [s.cells[number] for number in range(count)]
        require(~t | (old[0] != old[1]))
        with when(p):
            for number in range(count):
                s.cells[number] = old[(number + 1) % count]
        with when(q & ~r):
            for number in range(0, count, 2):
                s.cells[number] = number % 7
        with when(r | t):
            for number in range(1, count, 2):
                s.cells[number] = choose(p & t, 5, choose(old[number] == 3, old[(number + 5) % count], 2))
        s.switches[0] = ~q

    return build("switchboard", shape, [(move, [{}])], [])


def test_updates_that_many_questions_decide_are_those_of_the_oracle() -> None:
    system, chance = switchboard(), random.Random(1)
    batch = [
        {one.name: number >> place & 1 if place < 4 else chance.choice((3, chance.randrange(7)))
         for place, one in enumerate(system.variables)}
        for number in range(64)
    ]  # fmt: skip
    jumps = kernel.kernel_ir(system).count("br i1 %t")
    assert jumps >= 3
    assert_expands_as_the_oracle(system, batch)


def test_a_batch_of_many_blocks_is_the_sum_of_its_states(tmp_path: Path) -> None:
    loaded = load_kernel(odometer(3, 9), tmp_path)
    readings = [{f"wheels[{w}]": number // 10 ** (3 - w) % 10 for w in (1, 2, 3)} for number in range(1000)]
    rows = np.array([loaded.packing.pack(reading) for reading in readings * 3])
    assert len(rows) > 5 * BLOCK
    found = loaded.expand(rows)
    # Every wheel turns in nine of ten readings.
    assert len(found.successors) == 3 * 3 * 900
    sums = rows_total(loaded, found.successors) - rows_total(loaded, rows[found.parents])
    assert (sums == 1).all()


def rows_total(loaded: kernel.Kernel, rows: np.ndarray) -> np.ndarray:
    return np.array([sum(loaded.packing.unpack(row).values()) for row in rows])


def test_no_states_have_no_successors(tmp_path: Path) -> None:
    loaded = load_kernel(clerks(), tmp_path)
    found = loaded.expand(np.empty((0, loaded.words), dtype=np.uint64))
    assert found.successors.shape == (0, loaded.words)
    assert not found.tally.counts.any()


def test_threads_do_not_disturb_each_other(tmp_path: Path) -> None:
    loaded = load_kernel(lamps(6, 3), tmp_path)
    batches = [np.full((4000, 1), word, dtype=np.uint64) for word in range(16)]
    alone = [loaded.expand(batch).successors for batch in batches]
    together: list[np.ndarray | None] = [None] * len(batches)

    def work(number: int) -> None:
        for _ in range(5):
            together[number] = loaded.expand(batches[number]).successors

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(batches))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(one, other) for one, other in zip(alone, together, strict=True) if other is not None)
    assert all(one is not None for one in together)


# ---------------------------------------------------------------------------------------------------------------- cache


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The systems compiled during a test."""
    done: list[str] = []
    compile_object = kernel.compile_object

    def counted(system: TransitionSystem, *, tables: bool) -> bytes:
        done.append(system.name)
        return compile_object(system, tables=tables)

    monkeypatch.setattr(kernel, "compile_object", counted)
    return done


def test_a_system_is_compiled_once(tmp_path: Path, compilations: list[str]) -> None:
    for _ in range(3):
        load_kernel(clerks(), tmp_path)
    assert compilations == ["clerks"]
    load_kernel(jugs(), tmp_path)
    assert compilations == ["clerks", "jugs"]
    assert len(list(tmp_path.iterdir())) == 2


def test_tables_are_not_taken_for_a_compiled_kernel(tmp_path: Path, compilations: list[str]) -> None:
    for tables in (True, False, True):
        load_kernel(clerks(), tmp_path, tables=tables)
    assert compilations == ["clerks", "clerks"]


@pytest.mark.parametrize("damage", [lambda content: content[:-7], lambda content: content[:40] + b"x" + content[41:]])
def test_a_damaged_object_is_not_run_but_made_anew(tmp_path: Path, compilations: list[str], damage: object) -> None:
    load_kernel(clerks(), tmp_path)
    (path,) = tmp_path.iterdir()
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]  # a function of bytes
    again = load_kernel(clerks(), tmp_path)
    assert len(again.expand(again.packing.initial).successors) == 2
    assert compilations == ["clerks", "clerks"]


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder", encoding="utf-8")
    loaded = load_kernel(clerks(), blocked / "kernels")
    assert len(loaded.expand(loaded.packing.initial).successors) == 2
