"""States of numbers: what a draft reads and assigns, where a scope keeps it and where not."""

from typing import Any
from weakref import ref

from model_check.stepping.plain_state import Draft, Layout
from spec.collector import without_collector
from spec.language.records import Leaf
from spec.language.terms import number


def test_what_is_not_kept_reads_as_it_is_at_first_whatever_is_assigned() -> None:
    small, left_out = number(7), {"x": Leaf(number(7), 2, kept=False)}
    layout = Layout({"a": {"x": Leaf(small, 0)}, "b": left_out})
    draft: Any = Draft(layout, {"a": {"x": 5}})
    draft.b.x = 9  # which the kind does not have
    draft.b = draft.a
    assert draft.b.x.raw == 2
    assert "b" not in draft
    assert draft.finished() == {"a": {"x": 5}}


def test_every_variable_has_a_cell_of_its_own() -> None:
    """Those who note what a rule has read (the refinement does) know a variable by its cell, also in an array."""
    entry, flag = {"x": Leaf(number(7), 0)}, Leaf(number(7), 0)
    layout = Layout({"a": {1: entry, 2: entry}, "b": {1: flag, 2: flag}})
    assert [name for name, *_ in layout.names] == ["a[1].x", "a[2].x", "b[1]", "b[2]"]
    assert len({id(cell) for *_, cell in layout.names}) == 4


def test_what_is_below_a_draft_is_of_its_class() -> None:
    """One that notes what is read would miss it below otherwise."""

    class Noting(Draft):
        __slots__ = ()

    draft: Any = Noting(Layout({"a": {1: {"x": Leaf(number(7), 0)}}}), {})
    assert type(draft.a[1]) is Noting


def test_a_draft_reads_what_was_written_also_where_a_record_took_over_another() -> None:
    layout = Layout({"a": {"x": Leaf(number(7), 0)}, "b": {"x": Leaf(number(7), 0)}})
    draft: Any = Draft(layout, {"a": {"x": 5}})
    kept = draft.b
    assert (draft.a.x.raw, kept.x.raw) == (5, 0)
    draft.b = draft.a
    assert kept.x.raw == 5
    draft.a.x = 3
    draft.b.forget()
    assert (draft.a.x.raw, kept.x.raw) == (3, 0)
    assert draft.finished() == {"a": {"x": 3}}


def test_a_draft_that_nobody_holds_is_gone_at_once() -> None:
    """Long judgements run without Python's collector of circles."""
    with without_collector():
        draft: Any = Draft(Layout({"a": {1: {"x": Leaf(number(7), 0)}}}), {})
        draft.a[1].x = 3
        gone, kept = ref(draft.a[1]), draft.finished()
        del draft
        assert gone() is None
    assert kept == {"a": {1: {"x": 3}}}
