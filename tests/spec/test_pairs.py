"""Every pair of what users do, and of that and a fault, has a scope, or stands among those that have none with why."""

from itertools import combinations

import pytest

from spec.pairs import FAULTS, OPERATIONS, WITHOUT, Pair, pairs
from spec.scopes import BUDGETS, scopes


def test_all_pairs_are_there_once() -> None:
    named = [frozenset({pair.one, pair.other}) for pair in pairs()]
    mixed = len(OPERATIONS) * len(FAULTS)
    assert len(named) == len(set(named)) == len(list(combinations(OPERATIONS, 2))) + mixed
    assert all(len(one) == 2 and one & OPERATIONS.keys() for one in named)


def test_every_budget_is_an_operation_or_a_fault() -> None:
    """But for a purgatory's updates, of a system of its own, and for when ZkClient reads, which is neither."""
    known = frozenset().union(*OPERATIONS.values(), *FAULTS.values())
    assert set(BUDGETS) - known == {"updates", "early_reads"}


@pytest.mark.parametrize("pair", [*pairs()], ids=lambda pair: f"{pair.one} and {pair.other}")
def test_a_pair_has_a_scope_or_a_reason(pair: Pair) -> None:
    assert (pair.scope is None) == (pair.reason is not None)


def test_the_scope_of_a_pair_has_both() -> None:
    (pair,) = (one for one in pairs() if (one.one, one.other) == ("controlled shutdown", "crash"))
    assert pair.scope is not None
    assert {"shutdowns", "crashes"} <= scopes()[pair.scope.scope].features


def test_reasons_are_of_pairs_and_each_says_something() -> None:
    named = {(pair.one, pair.other) for pair in pairs()}
    for ones, others, reason in WITHOUT:
        assert reason
        assert named & {(one, other) for one in ones for other in others}
        assert ones <= OPERATIONS.keys()
        assert others <= OPERATIONS.keys() | FAULTS.keys()
