"""States of numbers: what a draft reads and assigns, where a scope keeps it and where not."""

from typing import Any

from model_check.stepping.plain_state import Draft, Layout
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
