"""What a line of a log holds is what its text has holes for."""

from dataclasses import FrozenInstanceError, fields, make_dataclass

import pytest

from spec.formats.kafka_types import V0102, V082, TopicPartition
from spec.logs.log_lines import Line
from spec.logs.logged_values import USUAL, VOCABULARY

TP = TopicPartition("t", 0)


class Counted(Line, text={V082: "{partition} has {count:int}", V0102: "{partition} has {count:int} of {whole:int}"}):
    shapes, usual = VOCABULARY, USUAL

    count: int


def test_the_holes_of_a_text_are_the_fields_of_its_line_in_their_order() -> None:
    assert [one.name for one in fields(Counted)] == ["version", "partition", "count", "whole"]
    line = Counted(TP, 1, 2)
    assert (line.count, str(line)) == (1, "[t,0] has 1 of 2")


def test_what_not_every_release_prints_may_be_left_out() -> None:
    assert str(Counted(TP, 1, version=V082)) == "[t,0] has 1"
    with pytest.raises(TypeError, match="count"):
        Counted(TP)


def test_a_hole_that_bears_its_usual_name_has_its_usual_shape() -> None:
    assert Counted.templates[V082].text == "{partition:[t,p]} has {count:int}"


def test_a_field_that_is_no_hole_is_refused() -> None:
    with pytest.raises(TypeError, match="Misspelt has no hole for cuont"):

        class Misspelt(Line, text="it has {count}"):
            shapes, usual = VOCABULARY, {"count": "int"}

            cuont: int


class Other(Counted):
    """Another kind with the same holes."""


def test_lines_compare_and_show_themselves_as_any_frozen_dataclass_does() -> None:
    names = [one.name for one in fields(Counted)]
    plain = make_dataclass("Counted", [(one, object) for one in names], frozen=True)
    line, twin = Counted(TP, 1, 2), plain(V0102, TP, 1, 2)
    assert repr(line) == repr(twin)
    assert hash(line) == hash(twin)
    assert line == Counted(TP, 1, 2)
    assert all(line != one for one in (Counted(TP, 1, 3), Counted(TP, 1, 2, version=V082), Other(TP, 1, 2), twin))
    with pytest.raises(FrozenInstanceError):
        line.count = 3
