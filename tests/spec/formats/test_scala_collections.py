"""Collections of Scala: which class held one is remembered, and is no part of the value."""

import copy
import pickle
import re
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.formats.scala_collections import ARRAY_BUFFER, LIST, SET, Held, filtered_from, map_of, set_to_seq
from spec.formats.shapes import ID, paired
from tests import strategies
from tests.scala_classes import class_names, held_in, in_classes

NESTED = map_of("lists by number by number", paired("", ID, map_of("", paired("", ID, LIST))))
maps = st.dictionaries(strategies.broker_ids, strategies.broker_lists, max_size=3).map(lambda one: tuple(one.items()))
nested = st.dictionaries(strategies.broker_ids, maps, max_size=3).map(lambda one: tuple(one.items()))


@given(nested, st.data())
def test_whatever_holds_a_collection_it_reads_as_the_same_and_is_written_as_it_stood(
    value: tuple[Any, ...], data: st.DataObject
) -> None:
    text = NESTED.write(value)
    count = text.count("(")
    text = in_classes(text, data.draw(class_names(count)))
    assert re.fullmatch(NESTED.pattern, text)
    assert NESTED.read(text) == value
    assert NESTED.write(NESTED.read(text)) == text


def test_what_is_held_as_usual_is_a_plain_tuple() -> None:
    for shape, usual in ((LIST, "List"), (SET, "Set"), (ARRAY_BUFFER, "ArrayBuffer")):
        assert type(shape.read(f"{usual}(1, 2)")) is tuple
        assert shape.write((1, 2)) == f"{usual}(1, 2)"
        assert shape.write(shape.read("Vector(1, 2)")) == "Vector(1, 2)"


@pytest.mark.parametrize("text", ["list(1)", "List(1,2)", "List 1, 2", "List(1, 2", "Stream(1, ?)", "(1, 2)", "[1, 2]"])
def test_what_is_no_collection_is_refused(text: str) -> None:
    assert not re.fullmatch(LIST.pattern, text)


def test_copies_remember_the_class_too() -> None:
    held = Held((1, 2), "Vector")
    for twin in (copy.copy(held), copy.deepcopy(held), pickle.loads(pickle.dumps(held))):  # noqa: S301 - our own bytes
        assert (twin, LIST.write(twin)) == ((1, 2), "Vector(1, 2)")
    assert hash(held) == hash((1, 2))


def test_a_set_made_a_sequence_is_a_buffer_and_so_is_what_is_left_of_it() -> None:
    """`SetLike.toSeq` of Scala 2.11 is `toBuffer`; up to four members keep the order in which they came."""
    for order in permutations((1, 2, 3, 4)):
        assert LIST.write(set_to_seq(order)) == f"ArrayBuffer({', '.join(map(str, order))})"
    assert LIST.write(set_to_seq((1, 2, 3, 4, 5, 6))) == "ArrayBuffer(5, 1, 6, 2, 3, 4)"
    assert LIST.write(filtered_from(set_to_seq((3, 2)), (2,))) == "ArrayBuffer(2)"
    assert LIST.write(filtered_from((3, 2), (2,))) == "List(2)"


def test_what_is_held_unusually_is_found_at_any_depth() -> None:
    assert held_in(NESTED.read("Map(1 -> HashMap(2 -> List(3)), 4 -> Map(5 -> Vector(6)))")) == ["HashMap", "Vector"]
