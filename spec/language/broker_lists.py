"""Sets and ordered lists of brokers.

Kafka keeps assigned replicas and the in-sync replicas as ordered lists: the order of AR decides who is elected, and the
order of the ISR is part of a state znode's content. A list is one number: its index among all duplicate-free lists of
the scope's brokers (2, 5, 16, 65 of them for 1 to 4 brokers), shortest first, then by content. Operations are constant
tables over that index, so a list of three brokers costs four bits and no loop. Of more than `FEW` brokers, which only a
recorded cluster has, a list has its number from when it first comes up (`lists_in_use`).

A set is one bit a broker, broker 1 lowest. A broker id is its number; 0 stands for "none", which prints as Kafka's -1.

Kafka lets a reassignment ask for other lists, too, which are then `odd`: one that names a broker twice; one of nobody,
`(0,)`, for the empty list stands for a list that is not there; and one with text in the place of a number, `(-2,)` for
`["2"]`. Members, the first one, and what is made of a list are those that are numbers, each once.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import permutations, repeat
from typing import Any, Final

from spec.formats.scala_order import immutable_set_order
from spec.language.bits import has_bit, lookup, shared, united, without
from spec.language.lists_in_use import Members, OfEach, lists_in_use
from spec.language.terms import FLAG, NO, Kind, Value, bits_for, both, choose

FEW: Final = 5
"""So many brokers have every list known beforehand: 326 of them."""
MANY: Final = 2**31 - 1
"""The number of the last list that may come up of more brokers."""
NOBODY: Final[Members] = (0,)
"""A list that is there, and empty."""


def plain(one: Members) -> Members:
    """The members of a list that are numbers, each once."""
    return tuple(dict.fromkeys(broker for broker in one if broker > 0))


def as_listed(written: Iterable[int | str]) -> Members:
    """A list that JSON has, as one of the model."""
    return tuple(-int(one) if isinstance(one, str) else one for one in written) or NOBODY


def as_written(one: Members) -> tuple[Any, ...]:
    """A list of the model, as JSON has it."""
    return tuple(str(-broker) if broker < 0 else broker for broker in one if broker)


@dataclass(frozen=True)
class Brokers:
    """The brokers 1..`count` of a scope, and the kinds made of them; `odd` are the lists that only a request names."""

    count: int
    odd: tuple[Members, ...] = ()

    @property
    def ids(self) -> range:
        """The broker ids of the scope."""
        return range(1, self.count + 1)

    @cached_property
    def lists(self) -> Sequence[Members]:
        """Every duplicate-free ordered list, in the order of its index, then the odd ones."""
        if self.count > FEW:
            return lists_in_use(self.count, self.odd)
        return (*(chosen for size in range(self.count + 1) for chosen in permutations(self.ids, size)), *self.odd)

    def _of_each(self, of: Callable[[Members], object]) -> Sequence[object]:
        """A table of something of each list."""
        return OfEach(self.lists, of) if self.count > FEW else [of(one) for one in self.lists]

    @cached_property
    def id_kind(self) -> Kind:
        """A broker id, or none (raw 0, shown as -1)."""
        return Kind("broker", bits_for(self.count), self.count, lambda raw: str(raw or -1), int)

    @cached_property
    def set_kind(self) -> Kind:
        """A set of brokers, one bit each."""
        return Kind("broker set", self.count, (1 << self.count) - 1, self._show_set, self._mask)

    @cached_property
    def list_kind(self) -> Kind:
        """An ordered, duplicate-free list of brokers, or an odd one."""
        order = self.lists
        maximum = MANY if self.count > FEW else len(order) - 1
        return Kind("broker list", bits_for(maximum), maximum, lambda raw: _show(order[raw]), order.index)

    def _show_set(self, raw: int) -> str:
        return "{" + ",".join(map(str, self.ids_in(raw))) + "}"

    def ids_in(self, raw: int) -> tuple[int, ...]:
        """The members of a set of brokers that is known: one bit each."""
        return tuple(broker for broker in self.ids if raw >> broker - 1 & 1)

    def _mask(self, members: Iterable[int] | int) -> int:
        return members if isinstance(members, int) else sum(1 << broker - 1 for broker in set(members) if broker > 0)

    def empty_set(self) -> Value:
        """No broker."""
        return self.set_kind.constant(())

    def in_set(self, broker: int | Value, members: Value) -> Value:
        """Whether a broker (a number or a term) is in a set."""
        if isinstance(broker, int):
            return has_bit(members, broker - 1)
        if broker.is_known and members.is_known:
            return has_bit(members, broker.raw - 1) if broker.raw else NO
        found = NO
        for candidate in self.ids:
            found = found | ((broker == candidate) & self.in_set(candidate, members))
        return found

    def union(self, left: Value, right: Value) -> Value:
        """Members of either."""
        if self._is_known_empty(left) or self._is_known_empty(right):
            return right if self._is_known_empty(left) else left
        return united(left, right)

    def intersection(self, left: Value, right: Value) -> Value:
        """Members of both."""
        if self._is_known_empty(left) or self._is_known_empty(right):
            return self.empty_set()
        return shared(left, right)

    def difference(self, left: Value, right: Value) -> Value:
        """Members of the first that are not in the second."""
        if self._is_known_empty(left) or self._is_known_empty(right):
            return left
        return without(left, right)

    @staticmethod
    def _is_known_empty(members: Value) -> bool:
        """Whether a set is known to be empty."""
        return members.is_known and members.raw == 0

    def complement(self, members: Value) -> Value:
        """The brokers that are not in a set."""
        return self.difference(self.set_kind.constant(self.ids), members)

    def set_from(self, membership: Mapping[int, object]) -> Value:
        """The set of the brokers whose flag holds; a broker without a flag is not in it."""
        result = self.empty_set()
        for broker, member in membership.items():
            one = choose(member, self.set_kind.constant((broker,)), self.empty_set())
            result = self.union(result, one)
        return result

    def members(self, replicas: Value) -> Value:
        """The set of a list's members."""
        return lookup(replicas, self.lists, self.set_kind)

    def contains(self, replicas: Value, broker: int | Value) -> Value:
        """Whether a list has a broker."""
        return self.in_set(broker, self.members(replicas))

    def plain(self, replicas: Value) -> Value:
        """The members of a list that are numbers, each once, order kept."""
        return lookup(replicas, self._of_each(plain), self.list_kind) if self.odd else replicas

    def is_odd(self, replicas: Value) -> Value:
        """Whether a list is of nobody, names a broker twice, or has text in it."""
        return self._holds(replicas, lambda one: one != plain(one))

    def has_text(self, replicas: Value) -> Value:
        """Whether text stands in the place of a number."""
        return self._holds(replicas, lambda one: min(one, default=0) < 0)

    def repeats(self, replicas: Value) -> Value:
        """Whether a list names a broker twice."""
        return self._holds(replicas, lambda one: len(one) > len(set(one)))

    def _holds(self, replicas: Value, of: Callable[[Members], bool]) -> Value:
        return lookup(replicas, self._of_each(of), FLAG) if self.odd else NO

    def without(self, replicas: Value, broker: int) -> Value:
        """The list less one broker, order kept."""
        return lookup(replicas, self._without(broker), self.list_kind)

    @cache  # noqa: B019 - one for each number of brokers
    def _without(self, broker: int) -> Sequence[object]:
        return self._of_each(lambda one: tuple(r for r in plain(one) if r != broker))

    def appended(self, replicas: Value, broker: int) -> Value:
        """The list with a broker at its end, unless it is there already; a longer one as a Scala set lists it."""
        return lookup(replicas, self._longer(broker), self.list_kind)

    @cache  # noqa: B019 - as above
    def _longer(self, broker: int) -> Sequence[object]:
        return self._of_each(lambda one: plain(one) if broker in one else immutable_set_order((*plain(one), broker)))

    def at(self, replicas: Value, position: int) -> Value:
        """The member at a position, from 0; none beyond the end."""
        return lookup(replicas, self._at(position), self.id_kind)

    @cache  # noqa: B019 - as above
    def _at(self, position: int) -> Sequence[object]:
        return self._of_each(lambda one: (*plain(one), *repeat(0, position + 1))[position])

    def merged(self, first: Value, second: Value) -> Value:
        """The first list, then those members of the second that it lacks, as a Scala set lists them."""
        first = self.plain(first)
        for position in range(self.count):
            for broker in self.ids:
                first = choose(self.at(second, position) == broker, self.appended(first, broker), first)
        return first

    def filtered(self, replicas: Value, keep: Value) -> Value:
        """The members of a list that are in a set, order kept."""
        replicas = self.plain(replicas)
        for broker in self.ids:
            replicas = choose(self.in_set(broker, keep), replicas, self.without(replicas, broker))
        return replicas

    def first(self, replicas: Value) -> Value:
        """The first member, or none of an empty list."""
        return self.at(replicas, 0)

    def single(self, broker: Value) -> Value:
        """The list of exactly one broker (empty for none)."""
        result = self.list_kind.constant(())
        for candidate in self.ids:
            result = choose(broker == candidate, self.list_kind.constant((candidate,)), result)
        return result

    def is_subset(self, left: Value, right: Value) -> Value:
        """Whether every member of the first set is in the second."""
        return self.difference(left, right) == self.empty_set()

    def is_empty(self, members: Value) -> Value:
        """Whether a set has no member."""
        return members == self.empty_set()

    def disjoint(self, left: Value, right: Value) -> Value:
        """Whether two sets share no member."""
        return both(self.intersection(left, right) == self.empty_set())


@cache
def brokers_of(count: int, odd: tuple[Members, ...] = ()) -> Brokers:
    """Those of so many, the same for every model, and so are the kinds made of them."""
    return Brokers(count, odd)


def _show(one: Members) -> str:
    named = ("nobody" if broker == 0 else str(broker) if broker > 0 else f'"{-broker}"' for broker in one)
    return f"[{', '.join(named)}]"
