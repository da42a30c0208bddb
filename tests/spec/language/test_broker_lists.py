"""Sets and lists of brokers: every operation, on every set and list of one to four brokers, against plain Python."""

from collections.abc import Callable, Iterable
from itertools import product

import pytest

from spec.language.broker_lists import NOBODY, Brokers, as_listed, as_written
from spec.language.terms import FLAG, Value
from tests.compiled_terms import function_of

COUNTS = (1, 2, 3, 4)
every_count = pytest.mark.parametrize("brokers", [Brokers(count) for count in COUNTS], ids=lambda one: str(one.count))


def sets(brokers: Brokers) -> list[frozenset[int]]:
    """The set that each raw value stands for, the raw values in order."""
    return [frozenset(b for b in brokers.ids if raw >> (b - 1) & 1) for raw in range(1 << brokers.count)]


@every_count
def test_there_are_as_many_lists_as_mathematics_says(brokers: Brokers) -> None:
    assert len(brokers.lists) == {1: 2, 2: 5, 3: 16, 4: 65}[brokers.count]
    assert len(set(brokers.lists)) == len(brokers.lists)
    assert all(len(set(one)) == len(one) for one in brokers.lists)
    assert [len(one) for one in brokers.lists] == sorted(len(one) for one in brokers.lists)


SET_OPERATIONS: dict[str, tuple[Callable[..., Value], Callable[..., object]]] = {
    "union": (Brokers.union, lambda a, b, _: a | b),
    "intersection": (Brokers.intersection, lambda a, b, _: a & b),
    "difference": (Brokers.difference, lambda a, b, _: a - b),
    "is_subset": (Brokers.is_subset, lambda a, b, _: a <= b),
    "disjoint": (Brokers.disjoint, lambda a, b, _: not a & b),
    "complement": (lambda m, a, _: m.complement(a), lambda a, _, all_ids: all_ids - a),
    "is_empty": (lambda m, a, _: m.is_empty(a), lambda a, *_: not a),
}


@every_count
@pytest.mark.parametrize("name", SET_OPERATIONS)
def test_sets_are_sets(brokers: Brokers, name: str) -> None:
    operation, expected = SET_OPERATIONS[name]
    kind, members = brokers.set_kind, sets(brokers)
    of_terms = function_of({"a": kind, "b": kind}, lambda a, b: [operation(brokers, a, b)])
    for a, b in product(range(len(members)), repeat=2):
        answer = expected(members[a], members[b], frozenset(brokers.ids))
        raw = int(answer) if isinstance(answer, bool) else members.index(answer)  # type: ignore[arg-type]  # a set
        assert of_terms(a, b) == (raw,)
        assert operation(brokers, Value(kind, a), Value(kind, b)).raw == raw


@every_count
def test_membership_is_asked_with_numbers_and_with_terms(brokers: Brokers) -> None:
    kinds = {"who": brokers.id_kind, "where": brokers.set_kind}
    of_terms = function_of(
        kinds, lambda who, where: [brokers.in_set(who, where), *(brokers.in_set(b, where) for b in brokers.ids)]
    )
    for (raw, members), who in product(enumerate(sets(brokers)), (0, *brokers.ids)):
        assert of_terms(who, raw) == (int(who in members), *(int(b in members) for b in brokers.ids))


@every_count
def test_a_set_is_made_of_flags(brokers: Brokers) -> None:
    names = {f"has{b}": FLAG for b in brokers.ids}
    of_terms = function_of(names, lambda **has: [brokers.set_from({b: has[f"has{b}"] for b in brokers.ids})])
    for flags in product((0, 1), repeat=brokers.count):
        assert of_terms(*flags) == (sum(one << place for place, one in enumerate(flags)),)


def only(replicas: Iterable[int], keep: Iterable[int]) -> tuple[int, ...]:
    """The replicas that are to be kept, in their order."""
    return tuple(replica for replica in replicas if replica in keep)


@every_count
def test_a_list_keeps_its_order_whatever_is_done_to_it(brokers: Brokers) -> None:
    of_terms = function_of(
        {"one": brokers.list_kind},
        lambda one: [
            brokers.members(one),
            brokers.first(one),
            *(part for b in brokers.ids for part in _by_broker(brokers, one, b)),
        ],
    )
    for raw, one in enumerate(brokers.lists):
        expected = [sets(brokers).index(frozenset(one)), one[0] if one else 0]
        for b in brokers.ids:
            longer = one if b in one else (*one, b)
            expected += [int(b in one), brokers.lists.index(only(one, {*one} - {b})), brokers.lists.index(longer)]
        assert of_terms(raw) == tuple(expected)


def _by_broker(brokers: Brokers, one: Value, b: int) -> list[Value]:
    return [brokers.contains(one, b), brokers.without(one, b), brokers.appended(one, b)]


@every_count
def test_filtering_keeps_members_and_order(brokers: Brokers) -> None:
    kinds = {"one": brokers.list_kind, "keep": brokers.set_kind}
    of_terms = function_of(kinds, lambda one, keep: [brokers.filtered(one, keep)])
    for (raw, one), (mask, keep) in product(enumerate(brokers.lists), enumerate(sets(brokers))):
        expected = brokers.lists.index(only(one, keep))
        assert of_terms(raw, mask) == (expected,)
        assert brokers.filtered(Value(brokers.list_kind, raw), Value(brokers.set_kind, mask)).raw == expected


@every_count
def test_a_broker_by_itself_and_a_list_that_contains_it(brokers: Brokers) -> None:
    kinds = {"who": brokers.id_kind, "one": brokers.list_kind}
    of_terms = function_of(kinds, lambda who, one: [brokers.single(who), brokers.contains(one, who)])
    for who, (raw, one) in product((0, *brokers.ids), enumerate(brokers.lists)):
        assert of_terms(who, raw) == (brokers.lists.index((who,) if who else ()), int(who in one))


def test_values_print_as_kafka_and_mathematics_write_them() -> None:
    brokers = Brokers(3)
    assert brokers.id_kind.show(0) == "-1"
    assert brokers.id_kind.show(3) == "3"
    assert brokers.set_kind.show(0b101) == "{1,3}"
    assert brokers.list_kind.show(brokers.list_kind.constant((3, 1)).raw) == "[3, 1]"


@pytest.mark.parametrize("wrong", [(1, 1), (4,), (1, 2, 3, 4)])
def test_a_list_that_the_scope_does_not_have_is_refused(wrong: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="not in"):
        Brokers(3).list_kind.constant(wrong)


def test_a_set_may_be_given_as_members_or_as_its_bits() -> None:
    kind = Brokers(3).set_kind
    assert kind.constant((3, 1, 3)).raw == kind.constant(0b101).raw == 0b101


def test_of_many_brokers_the_lists_that_come_up_are_as_those_of_few() -> None:
    """Each operation, on lists of five brokers out of twelve, against the same on those of five."""
    few, many, other = Brokers(5), Brokers(12), Brokers(12)
    for one in ((), (3,), (2, 5, 1), (4, 1, 5, 2, 3)):
        answers = []
        for brokers in (few, many):
            first, second = brokers.list_kind.constant(one), brokers.list_kind.constant((5, 2))
            keep = brokers.set_kind.constant((1, 2, 3))
            found = [brokers.merged(first, second), brokers.filtered(first, keep), brokers.without(first, 5)]
            found += [brokers.members(first), brokers.first(first), brokers.single(brokers.first(first))]
            found += [brokers.appended(first, 3), brokers.contains(first, 1), brokers.at(first, 2)]
            answers.append([value.kind.show(value.raw) for value in found])
        assert answers[0] == answers[1]
        assert other.list_kind.constant(one).raw == many.list_kind.constant(one).raw, "one numbering for every model"
    assert many.list_kind.show(many.list_kind.constant((12, 3)).raw) == "[12, 3]"


ODD = (NOBODY, (2, 2), (2, 1, 2, 3), (-1,), (1, -2))


@pytest.mark.parametrize("count", [3, 12], ids=["few", "many"])
@pytest.mark.parametrize("one", ODD, ids=str)
def test_an_odd_list_has_the_members_that_are_numbers_each_once(count: int, one: tuple[int, ...]) -> None:
    """Whatever is made of it is a list of distinct brokers; only as it stands it tells what somebody wrote."""
    brokers = Brokers(count, ODD)
    kind, members = brokers.list_kind, sorted({b for b in one if b > 0})
    odd, listed = kind.constant(one), tuple(dict.fromkeys(b for b in one if b > 0))
    assert brokers.members(odd).raw == brokers.set_kind.encode(members)
    assert brokers.is_odd(odd).raw == 1
    assert brokers.has_text(odd).raw == (one in {(-1,), (1, -2)})
    assert brokers.first(odd).raw == (listed[0] if listed else 0)
    for b in brokers.ids[:3]:
        assert brokers.without(odd, b).raw == kind.encode(only(listed, {*listed} - {b}))
        assert brokers.appended(odd, b).raw == kind.encode(listed if b in listed else (*listed, b))
        keep = brokers.set_kind.constant((b,))
        assert brokers.filtered(odd, keep).raw == kind.encode(only(listed, (b,)))
    union = tuple(dict.fromkeys((*listed, 3)))
    assert brokers.merged(odd, kind.constant((3,))).raw == kind.encode(union)
    assert as_listed(as_written(one)) == one
    assert kind.show(odd.raw) != kind.show(kind.encode(listed)), "it is not what it has as members"


def test_lists_of_distinct_brokers_are_not_odd_and_have_their_numbers_whatever_odd_ones_there_are() -> None:
    few, with_odd = Brokers(3), Brokers(3, ODD)
    assert with_odd.lists == (*few.lists, *ODD)
    kinds = {"one": with_odd.list_kind}
    of_terms = function_of(kinds, lambda one: [with_odd.is_odd(one), with_odd.has_text(one), with_odd.plain(one)])
    for raw, one in enumerate(with_odd.lists):
        listed = tuple(dict.fromkeys(b for b in one if b > 0))
        assert of_terms(raw) == (int(one in ODD), int(min(one, default=0) < 0), with_odd.lists.index(listed))
    assert {few.is_odd(few.list_kind.constant(one)).raw for one in few.lists} == {0}


@pytest.mark.parametrize("wrong", [(1, 1), (13,), (0,)])
def test_a_list_of_many_brokers_has_each_at_most_once(wrong: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="no list of distinct brokers from 1 to 12"):
        Brokers(12).list_kind.constant(wrong)


def test_nobody_walks_through_the_lists_of_many_brokers() -> None:
    many = Brokers(12)
    with pytest.raises(TypeError, match="too many lists"):
        list(many.lists)
    with pytest.raises(TypeError, match="too many lists"):
        many.first(many.list_kind.variable("replicas"))
