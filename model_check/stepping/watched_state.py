"""A view of a state that knows who has read what, and so what has to be asked again in the next state.

Thousands of questions are asked of each state of a long run (can this controller take that step? does this claim hold
of that replica?), and a step changes a few numbers. So each number of a `Watched` remembers what has read it, and where
`follow` takes the view to another state, whichever, those questions are due that have read what is another there. All
others would be answered as they were: what is asked may only read, and its answer follows from what it has read.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, NoReturn, TypeVar

from model_check.stepping.plain_state import EMPTY, Cell, Layout, PlainState
from spec.language.terms import Value

T = TypeVar("T")


class Assigned(Exception):
    """A rule assigns where it may only read."""


class Question(Generic[T]):
    """What is asked about one thing; `number` is its place among `all_of` them."""

    __slots__ = ("about", "all_of", "number")

    def __init__(self, about: T, number: int, all_of: "Asked[T]") -> None:
        self.about = about
        self.number = number
        self.all_of = all_of


Readers = set[Question[Any]]


class Watch:
    """What is being asked now, of all the views that share this."""

    __slots__ = ("asking",)

    def __init__(self) -> None:
        self.asking: Question[Any] | None = None


class Asked(Generic[T]):
    """One thing asked about many, of views that share a watch; what was answered is asked again only if it is due."""

    def __init__(self, watch: Watch, about: Iterable[T], ask: Callable[[T], bool]) -> None:
        self._watch = watch
        self._ask = ask
        self._about = tuple(about)
        self._holds = [False] * len(self._about)
        self._holding: tuple[T, ...] = ()
        self.due: Readers = {Question(one, number, self) for number, one in enumerate(self._about)}

    def holding(self) -> tuple[T, ...]:
        """Those for which it holds in the views as they are now, in their order."""
        if self.due:
            for one in self.due:
                self._watch.asking = one
                self._holds[one.number] = self._ask(one.about)
            self._watch.asking = None
            self.due.clear()  # all of them, or none where something was raised
            self._holding = tuple(one for one, holds in zip(self._about, self._holds, strict=True) if holds)
        return self._holding


class _Number:
    """A number that was read: its value now, and what has read it since it is that."""

    __slots__ = ("cell", "readers", "value")

    def __init__(self, cell: Cell, raw: int) -> None:
        self.cell = cell
        self.value = cell.value(raw)
        self.readers: Readers = set()


def _now_due(readers: Readers) -> None:
    """What these have read is another now; they read anew when they are asked again."""
    for one in readers:
        one.all_of.due.add(one)
    readers.clear()


class Watched:
    """A record of a state, to be read."""

    __slots__ = ("__dict__", "_blank", "_node", "_numbers", "_parts", "_watch")
    # The records below that were read are in `__dict__`: Python looks there first, and so calls nothing again.
    __dict__: dict[Any, "Watched"]
    _blank: Readers
    """What has asked whether all of it is initial."""
    _node: PlainState
    _numbers: dict[Any, _Number]
    _parts: dict[Any, Cell | Layout]
    _watch: Watch

    def __init__(self, layout: Layout, node: PlainState, watch: Watch) -> None:
        put = object.__setattr__
        put(self, "_parts", layout.parts)
        put(self, "_node", node)
        put(self, "_watch", watch)
        put(self, "_numbers", {})
        put(self, "_blank", set())

    def __getitem__(self, key: Any) -> "Value | Watched":
        number = self._numbers.get(key)
        if number is not None:
            number.readers.add(self._watch.asking)  # type: ignore[arg-type]  # who reads asks
            return number.value
        return self.__dict__.get(key) or self._first(key)

    __getattr__ = __getitem__

    def _first(self, key: Any) -> "Value | Watched":
        """What is read for the first time."""
        part = self._parts.get(key)
        if isinstance(part, Cell):
            self._numbers[key] = _Number(part, self._node.get(key, part.initial))
            return self[key]
        if part is None:
            raise AttributeError(f"the state has no {key} here")
        record = self.__dict__[key] = Watched(part, self._node.get(key, EMPTY), self._watch)
        return record

    def __contains__(self, key: object) -> bool:
        part = self._parts.get(key)
        return part is not None and part.kept

    def is_blank(self) -> bool:
        """Whether this record is known to hold nothing but its initial values."""
        self._blank.add(self._watch.asking)  # type: ignore[arg-type]  # who reads asks
        return not self._node

    def __setitem__(self, key: Any, _: object) -> None:
        if key in self:
            raise Assigned

    __setattr__ = __setitem__

    def forget(self, *_: str) -> NoReturn:
        """Nothing is written here; raises Assigned."""
        raise Assigned

    def follow(self, node: PlainState) -> None:
        """Hold this content from now on, here and below; what has read a number that is another by that is due."""
        if (before := self._node) is node:
            return
        object.__setattr__(self, "_node", node)
        if bool(before) is not bool(node):
            _now_due(self._blank)
        for key, number in self._numbers.items():
            raw = node.get(key)
            if raw != before.get(key):
                number.value = number.cell.value(number.cell.initial if raw is None else raw)
                _now_due(number.readers)
        for key, record in self.__dict__.items():
            below = node.get(key, EMPTY)
            if below is not record._node:  # noqa: SLF001 - the class's own
                record.follow(below)


class WatchedParameters(Mapping[str, int]):
    """The parameters of a rule's actions, each of which likewise knows what has read it."""

    def __init__(self, watch: Watch) -> None:
        self._parameters: Mapping[str, int] = {}
        self._watch = watch
        self._readers: dict[str, Readers] = {}

    def __getitem__(self, name: str) -> int:
        self._readers.setdefault(name, set()).add(self._watch.asking)  # type: ignore[arg-type]  # who reads asks
        return self._parameters[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __len__(self) -> int:
        return len(self._parameters)

    def follow(self, parameters: Mapping[str, int]) -> None:
        """Hold these from now on, which have the same names; what has read one that is another by that is due."""
        before, self._parameters = self._parameters, parameters
        for name, readers in self._readers.items():
            if before.get(name) != parameters.get(name):
                _now_due(readers)
