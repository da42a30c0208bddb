"""Digests of terms: the same for the same text, whoever made it, and others for all else."""

import z3
from hypothesis import given

from model_check.revisions.inside.term_digests import TermDigests, digests_of
from tests.model_check.random_terms import terms
from tests.model_check.systems import lamps, odometer


@given(terms(), terms())
def test_terms_have_the_same_digest_just_if_they_are_the_same(one: z3.ExprRef, other: z3.ExprRef) -> None:
    apart = TermDigests().of([one]), TermDigests().of([other])
    assert (apart[0] == apart[1]) == one.eq(other)


def test_numbers_and_places_of_bits_count() -> None:
    x = z3.BitVec("x", 8)
    various = [x, z3.Extract(3, 0, x), z3.Extract(4, 1, x), x + 1, x + 2, z3.BitVec("x", 9), z3.BitVec("y", 8)]
    digests = TermDigests()
    assert len({digests.of([one]) for one in various}) == len(various)


def test_a_system_is_digested_part_by_part() -> None:
    small, large = digests_of(lamps(2)), digests_of(lamps(3))
    assert digests_of(lamps(2)) == small
    assert small["variables"].items() < large["variables"].items()
    assert small["actions"].keys() == large["actions"].keys() == {"light", "blow"}
    assert all(small["actions"][rule] != large["actions"][rule] for rule in ("light", "blow"))
    assert digests_of(odometer(2, 3))["variables"] != digests_of(odometer(2, 4))["variables"]
