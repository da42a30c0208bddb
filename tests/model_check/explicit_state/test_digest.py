"""The digest of a set of states: the native one equals the definition, and only the set matters."""

import random
from collections.abc import Iterable, Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_check.explicit_state.digest import SetDigest, digest_of
from model_check.kernel.packing import Packing
from spec.language.rules import TransitionSystem, Variable
from spec.language.terms import FLAG, Kind, epoch, number
from tests.model_check.plain_digest import add_plainly, avalanche, mixed
from tests.model_check.systems import clerks

VARIABLES = (
    Variable("flag", FLAG, 0),
    Variable("epoch", epoch(5, offset=-1), 0),
    Variable("wide", number(1000), 0),
    *(Variable(f"n{position}", number(6), 0) for position in range(30)),
)
SYSTEM = TransitionSystem("many", VARIABLES, (), ())


def plainly(variables: tuple[Variable, ...], states: Iterable[Mapping[str, int]]) -> SetDigest:
    total = SetDigest()
    for state in states:
        total = add_plainly(total, variables, state)
    return total


STATES = st.fixed_dictionaries({one.name: st.integers(0, one.kind.maximum) for one in VARIABLES})


@given(st.lists(STATES, max_size=8))
def test_the_native_digest_is_the_plain_one(states: list[dict[str, int]]) -> None:
    packing = Packing(SYSTEM)
    rows = np.array([packing.pack(state) for state in states], dtype=np.uint64).reshape(-1, packing.words)
    assert digest_of(packing, rows) == plainly(VARIABLES, states)


def test_order_of_states_and_of_variables_does_not_matter_and_parts_add_up() -> None:
    chance = random.Random(7)
    states = [{one.name: chance.randint(0, one.kind.maximum) for one in VARIABLES} for _ in range(50)]
    shuffled = chance.sample(VARIABLES, len(VARIABLES))
    other = Packing(TransitionSystem("shuffled", tuple(shuffled), (), ()))
    whole = plainly(VARIABLES, states)
    parts = [digest_of(other, np.array([other.pack(state) for state in part])) for part in (states[:20], states[20:])]
    assert sum(reversed(parts), SetDigest()) == whole


def test_names_of_variables_and_of_values_matter() -> None:
    def of(variable: Variable) -> SetDigest:
        return plainly((variable,), [{variable.name: 1}])

    plain = Variable("x", number(3), 0)
    shown = Variable("x", Kind("number", 2, 3, lambda raw: str(raw + 1), int), 0)
    assert len({of(plain), of(Variable("y", number(3), 0)), of(shown)}) == 3


def test_sets_with_the_same_values_in_other_combinations_differ() -> None:
    variables = (Variable("x", FLAG, 0), Variable("y", FLAG, 0))
    diagonal = plainly(variables, [{"x": 0, "y": 0}, {"x": 1, "y": 1}])
    assert diagonal != plainly(variables, [{"x": 0, "y": 1}, {"x": 1, "y": 0}])


@given(st.integers(0, (1 << 64) - 1), st.integers(0, (1 << 64) - 1), st.integers(0, 127))
def test_one_bit_of_a_sum_changes_about_half_of_its_mix(low: int, high: int, bit: int) -> None:
    before = mixed(low, high)
    after = mixed(low ^ (1 << bit if bit < 64 else 0), high ^ (1 << bit - 64 if bit >= 64 else 0))
    flipped = sum((one ^ other).bit_count() for one, other in zip(before, after, strict=True))
    # Of 128 fair coins, fewer than 20 heads happen once in 10**15 throws; a bit of `high` may leave no lane out.
    assert flipped >= 20
    assert avalanche(low) != avalanche(low ^ 1)


def test_it_prints_the_count_first() -> None:
    assert str(SetDigest(255, 1, 2)) == "ff-00000000000000020000000000000001"


def test_a_variable_with_too_many_values_is_refused_by_name() -> None:
    wide = Variable("serial", number((1 << 20) - 1), 0)
    with pytest.raises(ValueError, match="serial has too many values"):
        plainly((wide,), [{"serial": 1}])


def test_a_packing_is_digested_by_value_not_by_place() -> None:
    packing = Packing(clerks())
    assert digest_of(packing, packing.initial.reshape(1, -1)) == plainly(
        clerks().variables, [{one.name: one.initial for one in clerks().variables}]
    )
