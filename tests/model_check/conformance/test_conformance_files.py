"""What is left behind for others: nothing that an adapter says changes how it is read."""

from model_check.conformance.conformance_files import badge, junit, markdown
from model_check.conformance.conforming import Conformance, Outcome, Result
from model_check.conformance.format_page import rule_of
from model_check.conformance.protocol import VERBS, Hello
from tests.model_check.conformance.all_vectors import VECTORS

VECTOR = VECTORS[0]


def found(told: str, name: str = "mine") -> Conformance:
    """A run in which one vector ended as an error, of which this is told."""
    hello = Hello(name, "Go", "documented", frozenset({"transition"}))
    return Conformance(hello, (Result(VECTOR, Outcome.ERROR, told),), 1)


def test_what_is_told_ends_no_block_of_markdown() -> None:
    """Four backticks would, and what follows would be read as Markdown."""
    lines = markdown(found("````"), ["--self"]).splitlines()
    assert [one for one in lines if one.startswith("`")] == ["`````text", "`````"]
    assert lines[lines.index("`````text") + 2] == "  ````"


def test_a_name_is_no_markup() -> None:
    assert markdown(found("why", name="<b>*|"), ["--self"]).startswith(
        "### INCOMPLETE: \\<b\\>\\*\\| (Go), documented: "
    )
    assert "&lt;b&gt;" in junit(found("<b>", name="<b>"), ["--self"])


def test_a_badge_of_nothing_that_passed_is_grey() -> None:
    assert '"message": "0 of 1", "color": "lightgrey"' in badge(found("why"), [])


def test_a_badge_counts_what_is_skipped_but_not_what_is_of_another_dialect() -> None:
    here = VECTOR
    elsewhere = next(one for one in VECTORS if "documented" not in one.dialects)
    results = (Result(here, Outcome.PASS), Result(here, Outcome.SKIP, "why"), Result(elsewhere, Outcome.SKIP, "why"))
    assert '"message": "1 of 2"' in badge(Conformance(found("why").adapter, results, 3), [])


def test_a_failure_says_where_its_rule_stands_in_words() -> None:
    assert rule_of("encode_request") == "FORMAT.md, encode_request, decode_request: the bytes of a request"
    assert all(verb in rule_of(verb) for verb in VERBS)
    assert "rule      FORMAT.md, transition: may a partition, or a replica, go" in markdown(found("why"), ["--self"])
