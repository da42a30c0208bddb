"""What could be done along a story: each action from where something changes, each reason by its number."""

import pytest

from model_check.verdicts.possibilities import Span
from tests.model_check.reports.stories import INSTEAD

LIVE, EPOCH = INSTEAD.reasons


def test_a_reason_stands_until_something_else_is_so() -> None:
    assert [[*INSTEAD.spans(one)] for one in INSTEAD.actions] == [
        [Span(2, 8, "")],
        [Span(2, 3, ""), Span(4, 6, EPOCH), Span(7, 8, LIVE)],
        [Span(2, 7, LIVE), Span(8, 8, "")],
    ]


@pytest.mark.parametrize(
    ("step", "names"),
    [(1, []), (2, ["crash(b=1)", "crash(b=2)"]), (3, ["crash(b=1)", "crash(b=2)"]), (4, ["crash(b=1)"]),
     (7, ["crash(b=1)"]), (8, ["crash(b=1)", "read(c=1)"]), (9, [])],
)  # fmt: skip
def test_what_is_not_forbidden_at_a_step_is_possible_there(step: int, names: list[str]) -> None:
    assert [one.action for one in INSTEAD.others(step, "rest(w=1)")] == names
    assert [one.action for one in INSTEAD.others(step, "crash(b=1)")] == names[1:]


def test_an_action_does_what_its_rule_says() -> None:
    assert [INSTEAD.statement(one) for one in INSTEAD.actions] == ["A <process> dies.", "A <process> dies.", ""]
    assert INSTEAD.steps == 7
