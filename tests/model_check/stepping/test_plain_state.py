"""States of numbers: what a draft reads and assigns, where a scope keeps it and where not."""

from typing import Any

from model_check.stepping.plain_state import Draft, Layout, Question
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


def test_a_question_is_asked_again_where_a_value_that_it_has_read_is_another_and_only_there() -> None:
    layout = Layout({"a": {"x": Leaf(number(7), 0), "y": Leaf(number(7), 0)}, "b": {"x": Leaf(number(7), 0)}})
    question: Any = Question(layout, {"a": {"x": 5, "y": 1}})
    assert (question.a.x.raw, question.b.x.raw) == (5, 0)
    assert question.reads_the_same({"a": {"x": 5, "y": 2}})
    assert not question.reads_the_same({"a": {"x": 4, "y": 1}})
    assert not question.reads_the_same({"a": {"x": 5, "y": 1}, "b": {"x": 1}})
    assert not question.reads_the_same({}), "whether a record holds anything may have been asked"


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
