"""What else was possible, told: what holds stands behind a because, and what can never be is not told as possible."""

from dataclasses import replace

from model_check.reports.html import report
from model_check.verdicts.choices_text import text, why_not
from model_check.verdicts.possibilities import Choice, Choices
from model_check.verdicts.results import plain_document
from tests.model_check.documents import run

TURN = Choice("turn(w=1)", "wheel 1", "It turns.", "wheel 1")
NEVER = replace(TURN, action="stop(w=1)", statement="It stops.")
STUCK = replace(NEVER, because=("wheel 1's digit (0) is not 1", "its brake: on"), more=2)
BOUND = replace(NEVER, bounded=True)
TOLD = {
    NEVER: "it is never possible",
    STUCK: "wheel 1's digit (0) is not 1; its brake: on (and 2 more of its conditions)",
    BOUND: "only a bound of the scope stops it",
}


def test_each_refused_choice_is_told_with_what_is_so() -> None:
    for one, told in TOLD.items():
        document = plain_document("explain", replace(run(), choices=(Choices(1, "", (TURN,), (one,)),)))
        assert why_not(one) == told
        assert f"        because {told}\n" in text(document)
        page = report(document)
        assert (page.count("<b>possible</b>"), page.count(told.replace("'", "&#39;"))) == (1, 1)
