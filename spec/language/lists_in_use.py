"""The ordered lists of brokers that come up, where there are too many to have them all: 109,601 of 8, 10^9 of 12.

What is enumerated has few brokers, and every list of them has its number beforehand. What is recorded may have many, of
which few lists are ever assigned, asked for or in sync. There a list has its number from when it first comes up, and a
table over lists is computed entry by entry. Nobody can walk through all of them, so no term can be made of such a
table: a system with so many brokers runs on numbers only.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NoReturn

Members = tuple[int, ...]


class _Unlisted(Sequence[Any]):
    """A table whose entries are made as they are asked for."""

    def __len__(self) -> NoReturn:
        raise TypeError("of so many brokers there are too many lists to walk through; explore a scope with fewer")

    def __iter__(self) -> Iterator[Any]:
        return iter(range(len(self)))


class ListsInUse(_Unlisted):
    """Duplicate-free ordered lists of the brokers from 1 to `count`, each with a number of its own; the empty is 0.

    Those that are `odd` may come up, too.
    """

    def __init__(self, count: int, odd: tuple[Members, ...]) -> None:
        self._brokers, self._odd = range(1, count + 1), odd
        self._lists: list[Members] = [()]
        self._numbers: dict[Members, int] = {(): 0}

    def __getitem__(self, number: Any) -> Any:
        return self._lists[number]

    def index(self, one: Members, *_: int) -> int:
        """The number of a list, which is new if the list is; ValueError if it is not of these brokers."""
        number = self._numbers.get(one)
        if number is None:
            distinct = len(set(one)) == len(one) and all(broker in self._brokers for broker in one)
            if not distinct and one not in self._odd:
                raise ValueError(f"{one} is no list of distinct brokers from 1 to {len(self._brokers)}")
            number = self._numbers[one] = len(self._lists)
            self._lists.append(one)
        return number


class OfEach(_Unlisted):
    """Something of each list in use."""

    def __init__(self, lists: Sequence[Members], of: Callable[[Members], object]) -> None:
        self._lists, self._of = lists, of

    def __getitem__(self, number: Any) -> Any:
        return self._of(self._lists[number])


@cache
def lists_in_use(count: int, odd: tuple[Members, ...] = ()) -> ListsInUse:
    """Those of so many brokers, the same for every model."""
    return ListsInUse(count, odd)
