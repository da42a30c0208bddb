"""The leader selectors on everything they can be given with up to four brokers, against what they owe.

Inputs: the 65 duplicate-free ordered lists over brokers 1..4 for AR, RAR and ISR, and every set of brokers that the
selector reads. An answer is checked by what it must satisfy (the leader is eligible and nobody eligible stands before
it; a list is the right set in the right order), never by filtering lists again. How often each outcome occurs is
counted a second way: over the 16 sets instead of the 65 lists, since a set of n brokers has n! orders.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import combinations, permutations, product
from math import factorial
from typing import ParamSpec

import pytest

from reference.leadership.leader_selectors import (
    Election,
    ElectionNotNeeded,
    ElectionRefused,
    NoReplicaOnline,
    StateChangeFailed,
    UncheckedFailure,
    elect_no_op,
    elect_offline,
    elect_on_controlled_shutdown,
    elect_on_creation,
    elect_preferred,
    elect_reassigned,
    reads_unclean_config,
)
from spec.errors import SpecError

BROKERS = (1, 2, 3, 4)
LISTS = [chosen for size in range(5) for chosen in permutations(BROKERS, size)]
SETS = [frozenset(chosen) for size in range(5) for chosen in combinations(BROKERS, size)]
Ids = frozenset[int]
Inputs = ParamSpec("Inputs")

elect_before_0_10 = partial(elect_on_controlled_shutdown, by_isr=True)


def outcome(
    select: Callable[Inputs, Election], *args: Inputs.args, **kwargs: Inputs.kwargs
) -> Election | type[ElectionRefused]:
    """The election, or which refusal it was."""
    try:
        return select(*args, **kwargs)
    except ElectionRefused as refused:
        return type(refused)


@cache
def is_in_order(result: tuple[int, ...], members: Ids, order: tuple[int, ...]) -> bool:
    """Whether a list has exactly these members, in the order in which they stand in another list."""
    return len(result) == len(members) and members.issuperset(result) and sorted(result, key=order.index) == [*result]


@cache
def is_first(leader: int, eligible: Ids, order: tuple[int, ...]) -> bool:
    """Whether the leader is eligible and nobody eligible stands before it."""
    return leader in eligible and eligible.isdisjoint(order[: order.index(leader)])


def of_up_to(most: int) -> tuple[list[tuple[int, ...]], list[Ids]]:
    """The lists and the sets of the first brokers only."""
    known = frozenset(BROKERS[:most])
    return [one for one in LISTS if known.issuperset(one)], [one for one in SETS if one <= known]


up_to = pytest.mark.parametrize("most", [3, pytest.param(4, marks=pytest.mark.slow)])
"""What takes long of four brokers is given the lists and sets of three every day."""


def pairs_of_lists(sets: list[Ids] = SETS) -> Iterator[tuple[Ids, Ids, int]]:
    """Two lists as sets, with the number of pairs of lists that have these members."""
    for first, second in product(sets, repeat=2):
        yield first, second, factorial(len(first)) * factorial(len(second))


def test_there_are_65_lists_and_16_sets() -> None:
    assert (len(LISTS), len(set(LISTS)), len(SETS)) == (1 + 4 + 12 + 24 + 24, 65, 2**4)
    assert sum(weight for _, _, weight in pairs_of_lists()) == 65 * 65


@up_to
def test_offline_selector(most: int) -> None:
    seen: Counter[str] = Counter()
    lists, sets = of_up_to(most)
    for ar, isr, live in product(lists, lists, sets):
        live_ar, live_isr = live.intersection(ar), live.intersection(isr)
        assert reads_unclean_config(ar, isr, live) == (not live_isr)
        for unclean in (False, True):
            match outcome(elect_offline, ar, isr, live, unclean_enabled=unclean):
                case Election(leader, new_isr, receivers, raises, was_unclean):
                    assert raises
                    assert is_in_order(receivers, live_ar, ar)
                    if live_isr:
                        seen["clean"] += 1
                        assert is_first(leader, live_ar & live_isr, ar)
                        assert is_in_order(new_isr, live_isr, isr)
                        assert not was_unclean
                    else:
                        seen["unclean"] += 1
                        assert is_first(leader, live_ar, ar)
                        assert (new_isr, unclean, was_unclean, leader in isr) == ((leader,), True, True, False)
                case refusal:
                    seen[refusal.__name__] += 1
                    expected = UncheckedFailure if live_isr else NoReplicaOnline
                    assert refusal is expected
                    assert not (live_ar & live_isr)
                    assert live_isr or not unclean or not live_ar
    assert seen.total() == {3: 16 * 16 * 8 * 2, 4: 65 * 65 * 16 * 2}[most]
    assert seen == offline_outcomes(sets)
    # Nobody in the ISR lives: 168 = 65 + 4*16 + 6*5 + 4*2 + 1 pairs (ISR, live), times 65 lists of AR; that many are
    # refused while unclean election is off. Of three brokers 38 = 16 + 3*5 + 3*2 + 1, times 16.
    assert seen["unclean"] + seen["NoReplicaOnline"] == {3: 2 * 38 * 16, 4: 2 * 168 * 65}[most]


def offline_outcomes(sets: list[Ids]) -> Counter[str]:
    count: Counter[str] = Counter()
    for live in sets:
        for ar, isr, weight in pairs_of_lists(sets):
            if live & isr:
                count["clean" if live & isr & ar else "UncheckedFailure"] += 2 * weight
            else:
                count["NoReplicaOnline"] += weight
                count["unclean" if live & ar else "NoReplicaOnline"] += weight
    return count


def test_reassigned_selector() -> None:
    seen: Counter[str] = Counter()
    for rar, isr, live in product(LISTS, LISTS, SETS):
        eligible = live.intersection(rar).intersection(isr)
        match outcome(elect_reassigned, rar, isr, live):
            case Election(leader, new_isr, receivers, raises, was_unclean):
                seen["elected"] += 1
                assert is_first(leader, eligible, rar)
                assert (new_isr, receivers, raises, was_unclean) == (isr, rar, True, False)
            case refusal:
                seen["refused"] += 1
                assert (refusal, eligible) == (NoReplicaOnline, frozenset())
    refused = sum(weight for live in SETS for rar, isr, weight in pairs_of_lists() if not live & rar & isr)
    assert seen == {"elected": 65 * 65 * 16 - refused, "refused": refused}
    assert seen.total() == 67_600


@up_to
def test_preferred_selector(most: int) -> None:
    seen: Counter[str] = Counter()
    lists, sets = of_up_to(most)
    for ar, isr, live, cached_leader in product(lists, lists, sets, (None, -1, *BROKERS[:most])):
        match outcome(elect_preferred, ar, isr, live, cached_leader=cached_leader):
            case Election(leader, new_isr, receivers, raises, was_unclean):
                seen["elected"] += 1
                assert leader == ar[0] != cached_leader
                assert leader in live & frozenset(isr)
                assert (new_isr, receivers, raises, was_unclean) == (isr, ar, True, False)
            case refusal:
                seen[refusal.__name__] += 1
                assert refusal is preferred_refusal(ar, cached_leader)
                if refusal is StateChangeFailed:
                    assert ar[0] not in live & frozenset(isr)
    # 64 lists have a first member. Half of the 16 sets have it live, and 49 of the 65 ISRs contain it (16 lists are
    # made of the three others); of the 6 cached leaders one is it and one is unknown, so 4 lead to the last question.
    # Of three brokers: 15 of 16 lists, 4 of 8 sets, 11 of 16 ISRs (5 are made of the two others), and 3 of 5 leaders.
    isrs, lives, with_it = {3: (16, 8, 11), 4: (65, 16, 49)}[most]
    assert seen == {
        "UncheckedFailure": isrs * lives * (most + 2 + isrs - 1),
        "ElectionNotNeeded": (isrs - 1) * isrs * lives,
        "elected": (isrs - 1) * most * lives // 2 * with_it,
        "StateChangeFailed": (isrs - 1) * most * (lives * isrs - lives // 2 * with_it),
    }
    assert seen.total() == {3: 16 * 16 * 8 * 5, 4: 65 * 65 * 16 * 6}[most]


def preferred_refusal(ar: tuple[int, ...], cached_leader: int | None) -> type[ElectionRefused]:
    if not ar or cached_leader is None:
        return UncheckedFailure
    return ElectionNotNeeded if cached_leader == ar[0] else StateChangeFailed


@up_to
def test_controlled_shutdown_selector(most: int) -> None:
    seen: Counter[str] = Counter()
    lists, sets = of_up_to(most)
    for ar, isr in product(lists, lists):
        for registered, leaving in product(sets, sets):
            remaining = frozenset(isr) - leaving
            eligible = remaining & registered.intersection(ar)
            match outcome(elect_on_controlled_shutdown, ar, isr, registered, leaving):
                case Election(leader, new_isr, receivers, raises, was_unclean):
                    seen["elected"] += 1
                    assert is_first(leader, eligible, ar)
                    assert is_in_order(new_isr, remaining, isr)
                    assert is_in_order(receivers, registered.intersection(ar), ar)
                    assert (raises, was_unclean) == (True, False)
                case refusal:
                    seen["refused"] += 1
                    assert (refusal, eligible) == (StateChangeFailed, frozenset())
    assert seen.total() == {3: 16 * 16 * 8 * 8, 4: 65 * 65 * 16 * 16}[most]
    # A broker of AR and ISR is eligible if it is registered and does not leave: 1 of 4 ways, so n common ones all
    # fail in 3^n of 4^n ways, and the others do not matter.
    refused = sum(weight * 3 ** len(ar & isr) * 4 ** (most - len(ar & isr)) for ar, isr, weight in pairs_of_lists(sets))
    assert seen["refused"] == refused


@up_to
def test_controlled_shutdown_selector_before_0_10(most: int) -> None:
    """ISR order instead of AR order, and neither registration nor assignment matters to who is elected."""
    seen: Counter[str] = Counter()
    lists, sets = of_up_to(most)
    for isr, leaving in product(lists, sets):
        remaining = frozenset(isr) - leaving
        for ar, registered in product(lists, sets):
            match outcome(elect_before_0_10, ar, isr, registered, leaving):
                case Election(leader, new_isr, receivers):
                    seen["elected"] += 1
                    assert is_first(leader, remaining, isr)
                    assert is_in_order(new_isr, remaining, isr)
                    assert is_in_order(receivers, registered.intersection(ar), ar)
                case refusal:
                    seen["refused"] += 1
                    assert (refusal, remaining) == (StateChangeFailed, frozenset())
    # The ISR lies within the leaving brokers: 65 + 4*16 + 6*5 + 4*2 + 1 = 168 pairs, for each AR and registered set;
    # of three brokers 16 + 3*5 + 3*2 + 1 = 38.
    pairs, nobody_left = {3: (16 * 8, 38), 4: (65 * 16, 168)}[most]
    assert seen == {"elected": (pairs - nobody_left) * pairs, "refused": nobody_left * pairs}


def test_no_op_selector() -> None:
    for ar, isr, leader in product(LISTS, LISTS, (-1, *BROKERS)):
        assert elect_no_op(ar, leader, isr) == Election(leader, isr, ar, raises_leader_epoch=False)


def test_election_at_creation() -> None:
    seen: Counter[str] = Counter()
    for ar, live in product(LISTS, SETS):
        match outcome(elect_on_creation, ar, live):
            case Election(leader, isr, receivers, raises):
                seen["elected"] += 1
                assert is_first(leader, live.intersection(ar), ar)
                assert is_in_order(isr, live.intersection(ar), ar)
                assert (receivers, raises) == (isr, False)
            case refusal:
                seen["refused"] += 1
                assert (refusal, live.intersection(ar)) == (StateChangeFailed, frozenset())
    assert seen == {"elected": 65 * 16 - 168, "refused": 168}


@pytest.mark.parametrize(
    "choose",
    [
        lambda: elect_reassigned(None, [1], {1}),
        lambda: elect_preferred(None, [1], {1}, cached_leader=2),
        lambda: elect_on_controlled_shutdown(None, [1], {1}, set()),
        lambda: elect_no_op(None, 1, [1]),
        lambda: elect_on_creation(None, {1}),
    ],
)
def test_replicas_that_are_not_cached_are_an_unchecked_failure(choose: Callable[[], Election]) -> None:
    assert outcome(choose) is UncheckedFailure


def test_only_the_offline_selector_foresees_missing_replicas() -> None:
    with pytest.raises(NoReplicaOnline, match="no replicas assigned"):
        elect_offline(None, [1], {1}, unclean_enabled=False)
    assert not reads_unclean_config(None, [], set())


def test_the_failure_of_the_leader_of_three() -> None:
    """AR [1,2,3], ISR [1,2,3], leader 1 dies: leader 2, ISR [2,3]; with the last ISR member gone, nobody or anybody."""
    assert elect_offline([1, 2, 3], [1, 2, 3], {2, 3}, unclean_enabled=False) == Election(2, (2, 3), (2, 3))
    with pytest.raises(NoReplicaOnline, match=r"no broker in ISR \[1\] is alive; live are \[2, 3\]"):
        elect_offline([1, 2, 3], [1], {2, 3}, unclean_enabled=False)
    assert elect_offline([1, 3, 2], [1], {2, 3}, unclean_enabled=True) == Election(3, (3,), (3, 2), unclean=True)


def test_three_brokers_shut_down_one_after_the_other() -> None:
    """Kafka's own admin test: 2 and 1 may go and the leader stays 0; 0 may not, nobody is left to lead."""
    registered = {0, 1, 2}
    first = elect_on_controlled_shutdown([0, 1, 2], [0, 1, 2], registered, {2})
    second = elect_on_controlled_shutdown([0, 1, 2], first.isr, registered, {1, 2})
    assert (first, second) == (Election(0, (0, 1), (0, 1, 2)), Election(0, (0,), (0, 1, 2)))
    with pytest.raises(StateChangeFailed, match=r"ISR \[0\] besides shutting down brokers \[0, 1, 2\]"):
        elect_on_controlled_shutdown([0, 1, 2], second.isr, registered, {0, 1, 2})


def test_where_the_versions_of_controlled_shutdown_differ() -> None:
    """The old selector follows the ISR's order and may elect a broker that is gone; the new one does neither."""
    assert elect_before_0_10([1, 2, 3], [3, 2, 1], {1, 2, 3}, {1}).leader == 3
    assert elect_on_controlled_shutdown([1, 2, 3], [3, 2, 1], {1, 2, 3}, {1}).leader == 2
    assert elect_before_0_10([1, 2], [1, 2], {1}, {1}).leader == 2
    with pytest.raises(StateChangeFailed):
        elect_on_controlled_shutdown([1, 2], [1, 2], {1}, {1})


def test_refusals_form_the_tree_that_is_drawn() -> None:
    assert [kind.__mro__[1] for kind in (ElectionNotNeeded, NoReplicaOnline, StateChangeFailed, UncheckedFailure)] == [
        ElectionRefused,
        ElectionRefused,
        ElectionRefused,
        StateChangeFailed,
    ]
    assert issubclass(ElectionRefused, SpecError)
