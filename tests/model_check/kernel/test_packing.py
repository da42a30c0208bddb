"""Packing states into words and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_check.kernel.packing import WORD, Packing
from spec.language.rules import TransitionSystem, Variable
from spec.language.terms import Kind, epoch


def system(widths: list[int]) -> TransitionSystem:
    variables = [
        Variable(f"v{number}", Kind("number", width, (1 << width) - 1, str, int), 0)
        for number, width in enumerate(widths)
    ]
    return TransitionSystem("widths", tuple(variables), (), ())


@st.composite
def layouts(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    widths = draw(st.lists(st.integers(1, WORD), min_size=1, max_size=40))
    return widths, [draw(st.integers(0, (1 << width) - 1)) for width in widths]


@given(layouts())
def test_unpacking_gives_back_what_was_packed(layout: tuple[list[int], list[int]]) -> None:
    widths, values = layout
    state = {f"v{number}": value for number, value in enumerate(values)}
    packing = Packing(system(widths))
    assert packing.unpack(packing.pack(state)) == state


@given(layouts())
def test_no_two_variables_share_a_bit_and_none_straddles_a_word(layout: tuple[list[int], list[int]]) -> None:
    packing = Packing(system(layout[0]))
    bits = [
        (place.word, bit) for place in packing.places.values() for bit in range(place.shift, place.shift + place.width)
    ]
    assert len(bits) == len(set(bits)) == sum(layout[0]) == packing.bits
    assert all(0 <= word < packing.words and bit < WORD for word, bit in bits)


def test_small_variables_fill_the_gap_that_a_large_one_left() -> None:
    # 40 + 40 bits need two words; the 20 bits that come later fit behind the first.
    assert Packing(system([40, 40, 20])).words == 2


def test_an_unbounded_variable_is_refused_by_name() -> None:
    unbounded = TransitionSystem("proof", (Variable("epoch", epoch(5, unbounded=True), 0),), (), ())
    with pytest.raises(ValueError, match="epoch has no bound"):
        Packing(unbounded)


def test_a_value_that_does_not_fit_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="v0 cannot be 4: it has 2 bits"):
        Packing(system([2])).pack({"v0": 4})
