"""Sieving lemmas: what stays can be told beforehand, and so can who stops the rest."""

import pytest
import z3

from model_check.explicit_state.interpreter import Machine, explore_plainly
from model_check.proofs.houdini import falsified, needed, orders, strengthen
from model_check.traces.trace import State
from spec.language.terms import FLAG, Value
from tests.model_check.elections import always, below_version, elections

ELECTIONS = elections()
CANDIDATES = list(orders(ELECTIONS))

# What was read and what is served in do not exceed the version. Any other order fails in some reachable state: each of
# a candidate's epochs is zero at times while the other candidate's, or the version, is not.
INDUCTIVE = {f"candidates[{c}].{field} <= version" for c in (1, 2) for field in ("seen", "epoch")}


def samples() -> list[State]:
    """All states of the same system with small epochs."""
    bounded = elections(top=3)
    unpack = Machine(bounded).unpack
    return [unpack(raw) for raw in explore_plainly(bounded).reached]


def test_there_is_a_candidate_for_each_ordered_pair_of_epochs() -> None:
    assert len(CANDIDATES) == 5 * 4
    assert CANDIDATES[0].statement == "candidates[1].seen is at most candidates[1].epoch."


def test_samples_stop_what_is_false_and_leave_nothing_to_the_solver() -> None:
    found = strengthen(ELECTIONS, CANDIDATES, samples=samples)
    assert {one.name for one in found.kept} == INDUCTIVE
    assert set(found.falsified) == {one.name for one in CANDIDATES} - INDUCTIVE
    assert found.dropped == {}
    state = found.falsified["version <= candidates[1].epoch"]
    assert state["version"] > state["candidates[1].epoch"]


def test_without_samples_the_solver_finds_the_same() -> None:
    found = strengthen(ELECTIONS, CANDIDATES)
    assert {one.name for one in found.kept} == INDUCTIVE
    assert found.falsified == {}
    assert set(found.dropped) == {one.name for one in CANDIDATES} - INDUCTIVE
    assert all("not inductive" in reason for reason in found.dropped.values())


def test_the_first_state_that_stops_a_candidate_is_kept() -> None:
    small = always("small", Value(FLAG, z3.Int("version") < 2))
    states = [{"version": version, "unrelated": 0} for version in range(5)]
    assert falsified([small], states) == {"small": {"version": 2, "unrelated": 0}}
    assert falsified([small], []) == {}


def test_lemmas_that_can_be_spared_are_taken_away() -> None:
    lemmas = [below_version(ELECTIONS, field) for field in ("seen", "epoch")]
    one_per_epoch = ELECTIONS.property_named("one_per_epoch")
    assert [one.name for one in needed(ELECTIONS, [one_per_epoch], lemmas)] == ["epoch_below_version"]
    assert needed(ELECTIONS, [ELECTIONS.property_named("version_grows")], lemmas) == ()
    with pytest.raises(ValueError, match="one_per_epoch: not all proved"):
        needed(ELECTIONS, [one_per_epoch], lemmas[:1])
