"""Views: a state is read and assigned by path, and what is not there is refused by its path."""

from typing import Any

import pytest

from spec.language.records import Leaf, Shape
from spec.language.terms import FLAG, NO, YES, both, number, same
from spec.language.views import Frame, Narrowing, View, leaves

SMALL = number(3)
SHAPE: Shape = {
    "top": Leaf(SMALL, 2),
    "records": {1: {"a": Leaf(SMALL, 0), "b": Leaf(FLAG, True)}, 2: {"a": Leaf(SMALL, 3), "b": Leaf(FLAG, False)}},
}


def view(frame: Frame | None = None) -> Any:
    """A view of the whole."""
    return View(SHAPE, frame)


def test_variables_are_named_by_their_path_in_the_order_of_the_shape() -> None:
    assert [(one.name, one.initial) for one in leaves(SHAPE)] == [
        ("top", 2), ("records[1].a", 0), ("records[1].b", 1), ("records[2].a", 3), ("records[2].b", 0),
    ]  # fmt: skip


def test_a_variable_has_its_kinds_sort_and_text() -> None:
    first, _, second, *_ = leaves(SHAPE)
    assert first.sort == SMALL.sort
    assert second.sort == FLAG.sort
    assert (first.show(3), second.show(1)) == ("3", "yes")


def test_a_leaf_reads_as_the_variable_of_its_path() -> None:
    assert same(view().records[2].a.term, SMALL.variable("records[2].a").term)
    assert same(view()["records"][2]["a"].term, view().records[2].a.term)


def test_what_was_assigned_is_read_back_in_this_frame_only() -> None:
    frame = Frame()
    one = view(frame)
    one.records[1].a = 3
    assert one.records[1].a.raw == 3
    assert not view(Frame()).records[1].a.is_known
    assert set(frame.values) == {"records[1].a"}


def test_what_a_frame_has_already_is_read() -> None:
    frame = Frame()
    frame.values["records[1].a"] = SMALL.constant(2)
    assert view(frame).records[1].a.raw == 2


def test_conditions_hold_together_inside_and_no_more_outside() -> None:
    frame, a, b = Frame(), FLAG.variable("a"), FLAG.variable("b")
    with Narrowing(frame, a):
        with Narrowing(frame, b):
            assert same(frame.condition.term, both(a, b).term)
        with Narrowing(frame, NO):
            assert frame.condition is NO
        assert same(frame.condition.term, a.term)
    assert frame.condition is YES
    assert frame.conditions == []


def test_a_record_is_copied_from_one_of_the_same_shape() -> None:
    frame = Frame()
    one = view(frame)
    one.records[1] = one.records[2]
    assert same(one.records[1].a.term, SMALL.variable("records[2].a").term)
    assert set(frame.values) == {"records[1].a", "records[1].b"}


def test_a_view_without_a_frame_is_read_only() -> None:
    with pytest.raises(TypeError, match=r"records\[1\]\.a: this view of the state is read-only"):
        view().records[1].a = 1


@pytest.mark.parametrize(
    ("read", "path"),
    [
        (lambda s: s.bottom, "bottom"),
        (lambda s: s.records[3], r"records\[3\]"),
        (lambda s: s.records[1].c, r"records\[1\]\.c"),
    ],
)
def test_what_is_not_in_the_state_is_refused_by_its_path(read: Any, path: str) -> None:
    with pytest.raises(AttributeError, match=f"the state has no {path}$"):
        read(view())


def test_what_is_not_in_the_state_cannot_be_assigned() -> None:
    frame = Frame()
    with pytest.raises((AttributeError, KeyError)):
        view(frame).bottom = 1
    assert frame.values == {}


def test_a_value_that_does_not_fit_its_variable_is_refused() -> None:
    frame = Frame()
    with pytest.raises(ValueError, match="4 is not a number"):
        view(frame).top = 4
    assert frame.values == {}


def test_membership_is_asked_of_records_and_arrays() -> None:
    assert "top" in view()
    assert 2 in view().records
    assert 3 not in view().records
    assert "c" not in view().records[1]


def test_a_record_is_untouched_until_something_is_assigned_below_it() -> None:
    assert not view().is_untouched(), "of a state that no step has led to, nobody knows"
    one = view(Frame())
    assert one.is_untouched()
    assert one.records.is_untouched()
    assert one.records[1].is_untouched()
    one.records[1].a = 3
    assert not one.is_untouched()
    assert not one.records.is_untouched()
    assert not one.records[1].is_untouched()
    assert one.records[2].is_untouched()
