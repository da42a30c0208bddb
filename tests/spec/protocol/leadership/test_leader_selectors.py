"""The selectors as terms equal the selectors as plain functions, on everything that they read, exhaustively.

Up to four brokers there are 2, 5, 16 and 65 duplicate-free ordered lists, and 2 to the power of the brokers sets.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import NamedTuple

import pytest

from reference.leadership import leader_selectors as plain
from spec.language.broker_lists import Brokers
from spec.language.terms import Kind, Value
from spec.protocol.leadership import leader_selectors as terms
from tests.compiled_terms import function_of

Answer = tuple[int, int, int, int]
"""Possible or not; and where it is: leader, ISR and receivers as raw values."""

REFUSED = (0, 0, 0, 0)


class Selector(NamedTuple):
    """A selector twice, and what it reads, in the order of both: L for a list, S for a set, B for a broker or none."""

    reads: str
    term: Callable[..., terms.ElectionTerms]
    function: Callable[..., plain.Election]
    asked: tuple[int, int, int, int]


def offline(unclean: bool) -> Selector:
    """The offline selector where unclean election is on, or off."""
    return Selector(
        "LLS",
        lambda m, ar, isr, live: terms.elect_offline(m, ar, isr, live, unclean=unclean),
        lambda ar, isr, live: plain.elect_offline(ar, isr, live, unclean_enabled=unclean),
        (8, 100, 2048, 67_600),
    )


def controlled_shutdown(by_isr: bool) -> Selector:
    """The selector of a controlled shutdown, as it is or as it was before 0.10.0.0."""
    return Selector(
        "LLSS",
        partial(terms.elect_controlled_shutdown, by_isr=by_isr),
        partial(plain.elect_on_controlled_shutdown, by_isr=by_isr),
        (16, 400, 16_384, 1_081_600),
    )


def no_op(ar: tuple[int, ...], isr: tuple[int, ...], leader: int) -> plain.Election:
    """The no-op selector, its arguments in the order of the terms'."""
    return plain.elect_no_op(ar, leader, isr)


def preferred(ar: tuple[int, ...], isr: tuple[int, ...], live: frozenset[int], cached: int) -> plain.Election:
    """The preferred selector; a partition without a leader is cached as led by -1."""
    return plain.elect_preferred(ar, isr, live, cached_leader=cached or -1)


SELECTORS = {
    "offline, unclean election off": offline(unclean=False),
    "offline, unclean election on": offline(unclean=True),
    "reassigned": Selector("LLS", terms.elect_reassigned, plain.elect_reassigned, (8, 100, 2048, 67_600)),
    "preferred": Selector("LLSB", terms.elect_preferred, preferred, (16, 300, 8192, 338_000)),
    "controlled shutdown": controlled_shutdown(by_isr=False),
    "controlled shutdown before 0.10": controlled_shutdown(by_isr=True),
    "no-op": Selector("LLB", terms.elect_noop, no_op, (8, 75, 1024, 21_125)),
}
"""`asked` is how many inputs there are with 1, 2, 3 and 4 brokers: lists x lists x sets ..."""


def readable(brokers: Brokers, letter: str) -> list[object]:
    """What each raw value of a thing that is read stands for."""
    if letter == "L":
        return list(brokers.lists)
    if letter == "B":
        return [0, *brokers.ids]
    return [frozenset(b for b in brokers.ids if raw >> (b - 1) & 1) for raw in range(1 << brokers.count)]


def kind_of(brokers: Brokers, letter: str) -> Kind:
    """The kind of a thing that is read."""
    return {"L": brokers.list_kind, "B": brokers.id_kind, "S": brokers.set_kind}[letter]


def parts(election: terms.ElectionTerms) -> list[Value]:
    """An election's four terms, the last three nothing where it is refused, as REFUSED has it."""
    return [election.possible, election.leader, election.isr, election.receivers]


def answers(brokers: Brokers, selector: Selector) -> Iterator[tuple[object, Answer, Answer]]:
    """Every input with what the terms say and what the function says."""
    places = range(len(selector.reads))
    kinds = {f"read {place}": kind_of(brokers, selector.reads[place]) for place in places}
    of_terms = function_of(kinds, lambda **read: parts(selector.term(brokers, *read.values())))
    indices = {one: raw for raw, one in enumerate(brokers.lists)}
    things = [list(enumerate(readable(brokers, letter))) for letter in selector.reads]
    for chosen in product(*things):
        possible, leader, isr, receivers = of_terms(*(raw for raw, _ in chosen))
        given = tuple(one for _, one in chosen)
        try:
            one = selector.function(*given)
        except plain.ElectionRefused:
            expected = REFUSED
        else:
            told = sum(1 << (b - 1) for b in one.receivers)
            expected = (1, one.leader, indices[one.isr], told)
        yield given, (possible, leader, isr, receivers) if possible else REFUSED, expected


@pytest.mark.parametrize("most", [3, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", SELECTORS)
def test_terms_and_function_agree_on_every_input_of_up_to_so_many_brokers(name: str, most: int) -> None:
    asked = elected = 0
    for count in range(1, most + 1):
        for given, said, expected in answers(Brokers(count), SELECTORS[name]):
            asked += 1
            elected += expected[0]
            assert said == expected, f"{name} of {given}"
    assert asked == sum(SELECTORS[name].asked[:most])
    assert 0 < elected < asked or (name == "no-op" and elected == asked)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_creation_elects_the_first_live_replica_with_all_live_ones_in_sync(count: int) -> None:
    """Creation asks no selector; in the terms it is a filter, its first member and its members."""
    brokers = Brokers(count)
    kinds = {"ar": brokers.list_kind, "live": brokers.set_kind}
    of_terms = function_of(
        kinds, lambda ar, live: [brokers.filtered(ar, live), brokers.first(brokers.filtered(ar, live))]
    )
    for (raw, ar), (mask, live) in product(enumerate(brokers.lists), enumerate(readable(brokers, "S"))):
        isr, leader = of_terms(raw, mask)
        try:
            one = plain.elect_on_creation(ar, live)  # type: ignore[arg-type]  # a set, which "S" reads
        except plain.StateChangeFailed:
            assert brokers.lists[isr] == ()
        else:
            assert (leader, brokers.lists[isr]) == (one.leader, one.isr)
