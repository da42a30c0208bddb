"""Templates: what is printed is what is read, and a text that departs is told where."""

import re
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.errors import MalformedInput, Where
from spec.formats.scala_collections import SET
from spec.formats.shapes import BOOLEAN, BRACKETED, COMMAS, DASHED, ID, INT, JAVA_LIST, ONE_ID, SEQUENCE, TOPIC
from spec.formats.templates import Shape, Template, record
from tests import strategies

id_lists = st.lists(strategies.int32s, max_size=4).map(tuple)
SHAPES: list[tuple[Shape[Any], st.SearchStrategy[Any]]] = [
    (INT, strategies.int32s),
    (ID, strategies.broker_ids),
    (ONE_ID, strategies.broker_ids.map(lambda broker: (broker,))),
    (TOPIC, strategies.topics),
    (BRACKETED, strategies.topic_partitions),
    (DASHED, strategies.topic_partitions),
    (COMMAS, id_lists),
    (JAVA_LIST, id_lists),
    (SET, id_lists),
    (SEQUENCE, st.integers(0, 2**31 - 1)),
    (BOOLEAN, st.booleans()),
]


@given(st.data())
def test_each_shape_reads_what_it_writes(data: st.DataObject) -> None:
    shape, values = data.draw(st.sampled_from(SHAPES))
    value = data.draw(values)
    assert shape.accepts(value)
    assert shape.read(shape.write(value)) == value


@dataclass(frozen=True)
class Pair:
    left: int
    right: tuple[int, ...]

    @property
    def count(self) -> int:
        return len(self.right)


PAIR = record("pair", Pair, Template("<{left:int}|{count:id}:{right:ids}>", {"int": INT, "id": ID, "ids": COMMAS}))
NAMED = Template("a {pair} b", {"pair": PAIR})


def test_templates_nest_and_derived_values_are_printed_and_checked() -> None:
    values = NAMED.read("a <-1|2:3,4> b", Where("x"))
    assert values == {"pair": Pair(-1, (3, 4))}
    assert PAIR.write(Pair(-1, (3, 4))) == "<-1|2:3,4>"
    with pytest.raises(MalformedInput, match="x: pair: count is 3, but 2 by the rest of the text"):
        NAMED.read("a <-1|3:3,4> b", Where("x"))


def test_another_text_is_none_and_a_number_out_of_range_is_refused_by_name() -> None:
    template = Template("n {number} end", {"number": INT})
    for text in ("n 01 end", "n  end", "n 1 end.", "n 1 En", "n -0 end", "n \u0661 end"):
        assert template.read(text, Where("x")) is None
    with pytest.raises(MalformedInput, match="x: number: 2147483648 does not fit 32 bits"):
        template.read("n 2147483648 end", Where("x"))


def test_a_text_that_departs_is_told_where_and_what_was_expected() -> None:
    template = Template("n {number} end", {"number": INT})
    assert template.how_far("n x end") == (2, "number (number)")
    assert template.how_far("n 12 and") == (5, "'end'")
    assert template.how_far("m 12 end") == (0, "'n '")
    assert template.how_far("n 12 end!") == (8, "the end")


@given(
    st.sampled_from(["a {x} b {y} c", "{x}{x} and {y}", "{y}, {x}, {y}"]), st.text(alphabet="ab c,1-and", max_size=20)
)
def test_how_far_a_text_fits_is_as_far_as_its_longest_prefix_does(template: str, text: str) -> None:
    """The prefix is found by trying all of them, the longest first."""
    one = Template(template, {"x": INT, "y": COMMAS})
    fits = [re.match(one._prefix(count), text) for count in range(len(one.parts), -1, -1)]
    longest = next(found for found in fits if found)
    assert one.how_far(text)[0] >= longest.end()
    if fits[0]:
        assert one.how_far(text) == (longest.end(), "the end")
    elif not isinstance(one.parts[len(one.parts) - fits.index(longest)], str):
        assert one.how_far(text)[0] == longest.end()
