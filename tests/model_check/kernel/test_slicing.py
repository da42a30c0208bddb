"""How a network is cut into functions, and that the machine's width changes no answer."""

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from model_check.kernel import kernel, slicing
from model_check.kernel.gates import network_of
from model_check.kernel.kernel import Kernel, load_kernel
from model_check.kernel.predicates import Kind
from model_check.kernel.slicing import BLOCK, GROUPS, cut, inputs_of, lanes_of
from tests.model_check.random_terms import BIT_VECTORS, BOOL, FLAGS, terms
from tests.model_check.systems import odometer

WIDTHS = dict.fromkeys(FLAGS, 1) | BIT_VECTORS


@given(st.lists(terms(BOOL, 5, integers=False), max_size=9), st.integers(1, 9))
@settings(max_examples=max(1, settings().max_examples // 5))
def test_every_gate_is_computed_once_before_it_is_read_in_functions_that_are_not_long(
    conditions: list[z3.BoolRef], longest: int
) -> None:
    first = {name: sum(list(WIDTHS.values())[:place]) for place, name in enumerate(WIDTHS)}
    network, found = network_of(
        conditions, sum(WIDTHS.values()), lambda name: range(first[name], first[name] + WIDTHS[name])
    )
    literals = [literal for (literal,) in found]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slicing, "LONGEST", longest)
        pieces = cut(network, literals)
    computed = set(range(network.first))
    stored: list[int] = []
    for piece in pieces:
        assert len(piece.gates) <= 2 * longest
        for gate in piece.gates:
            assert gate not in computed
            assert set(inputs_of(network, gate)) <= computed
            computed.add(gate)
        for number, literal in piece.outputs:
            assert literal == literals[number]
            assert literal >> 1 in computed
            stored.append(number)
    assert stored == list(range(len(literals)))


@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_vectors_of_any_width_give_the_same_answers(
    lanes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "lanes_of", lambda _: lanes)
    monkeypatch.setattr(slicing, "LONGEST", 20)
    wheels, top, chance = 12, 4095, random.Random(lanes)
    loaded = load_kernel(odometer(wheels, top), tmp_path)
    assert loaded.words > 2  # where a vector has two lanes, a row has more words than that
    readings = [[chance.choice((0, 1000, top)) for _ in range(wheels)] for _ in range(BLOCK)]
    found = loaded.expand(np.array([row(loaded, reading) for reading in readings]))
    turned = {
        (number, wheel, tuple(row(loaded, [*reading[:wheel], digit + 1, *reading[wheel + 1 :]])))
        for number, reading in enumerate(readings)
        for wheel, digit in enumerate(reading)
        if digit < top
    }
    steps = zip(found.parents.tolist(), found.actions.tolist(), found.successors.tolist(), strict=True)
    assert {(parent, wheel, tuple(words)) for parent, wheel, words in steps} == turned
    assert len(found.parents) == len(turned)
    overflows = [
        count
        for predicate, count in zip(loaded.predicates, found.tally.counts, strict=True)
        if predicate.kind is Kind.OVERFLOW
    ]
    assert overflows == [sum(reading[wheel] == top for reading in readings) for wheel in range(wheels)]


def row(loaded: Kernel, reading: Sequence[int]) -> list[int]:
    state = {f"wheels[{wheel}]": digit for wheel, digit in enumerate(reading, 1)}
    return [int(word) for word in loaded.packing.pack(state)]


def test_a_vector_is_as_wide_as_the_registers_and_at_most_a_row_of_planes() -> None:
    assert lanes_of({}) == lanes_of({"avx2": False, "avx512f": False}) == 2
    assert lanes_of({"avx2": True}) == 4
    assert lanes_of({"avx2": True, "avx512f": True}) == 8 == GROUPS
