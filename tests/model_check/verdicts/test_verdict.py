"""Verdicts and exit codes: the table that a gate relies on."""

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from model_check.verdicts.verdict import BAD_USAGE, EXIT_CODES, Verdict, worst


def test_the_exit_codes_are_the_documented_ones() -> None:
    assert {str(verdict): code for verdict, code in EXIT_CODES.items()} == {
        "HOLDS": 0, "VIOLATED": 1, "INCOMPLETE": 3, "ERROR": 4,
    }  # fmt: skip
    assert BAD_USAGE == 2


def test_only_a_pass_among_passes_is_a_pass() -> None:
    for verdicts in permutations(Verdict, 2):
        assert worst(verdicts) is not Verdict.HOLDS
    assert worst([Verdict.HOLDS, Verdict.HOLDS]) is Verdict.HOLDS


@given(st.lists(st.sampled_from(Verdict), min_size=1))
def test_a_violation_stands_whatever_else_there_is_and_an_error_is_no_mere_incompleteness(found: list[Verdict]) -> None:
    order = (Verdict.VIOLATED, Verdict.ERROR, Verdict.INCOMPLETE, Verdict.HOLDS)
    assert worst(found) is next(verdict for verdict in order if verdict in found)


def test_nothing_at_all_holds() -> None:
    assert worst([]) is Verdict.HOLDS
