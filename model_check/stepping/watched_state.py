"""A view of a state that knows who has read what, and so what has to be asked again in the next state.

Thousands of questions are asked of each state of a long run (can this controller take that step? does this claim hold
of that replica?), and a step changes a few numbers. So each number of a `Watched` remembers what has read it, and where
`follow` takes the view to another state, whichever, those questions are due that have read what is another there. All
others would be answered as they were: what is asked may only read, and its answer follows from what it has read.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Generic, NoReturn, TypeVar

from model_check.stepping.plain_state import EMPTY, Cell, Layout, PlainState
from spec.language.terms import Value

T = TypeVar("T")


class Assigned(Exception):
    """A rule assigns where it may only read."""


class Read:
    """Something that can be read: what it is now, and what has read it since it is that."""

    __slots__ = ("raw", "readers")

    def __init__(self, raw: Any) -> None:
        self.raw = raw
        self.readers: Readers = set()

    def become(self, raw: Any) -> None:
        """Be this from now on; what has read it, if it is another, is due, and reads it anew when it is asked again."""
        if raw != self.raw:
            self.raw = raw
            for one in self.readers:
                one.all_of.due.add(one)
            self.readers.clear()


class _Number(Read):
    """A number of a state."""

    __slots__ = ("cell", "initial", "value")

    def __init__(self, cell: Cell, raw: int) -> None:
        super().__init__(raw)
        self.cell, self.initial = cell, cell.initial
        self.value = cell.value(raw)


MOST: Final = 64
"""So many answers to a question are remembered."""


class Question(Generic[T]):
    """What is asked about one thing, which has a place among all that are asked about, and how it was answered.

    An answer is found by what it was read from: what was read first, by what that was the next one, and so on.
    """

    __slots__ = ("_answers", "_ways", "about", "all_of", "place")

    def __init__(self, about: T, place: int, all_of: "Asked[T]") -> None:
        self.about = about
        self.place = place
        self.all_of = all_of
        self._ways: dict[int, Any] = {}
        self._answers = 0

    def remembered(self) -> bool | None:
        """What was answered when all that was read was as it is now; None if it was never asked then."""
        way = self._ways.get(FIRST)
        while type(way) is tuple:
            read, ways = way
            read.readers.add(self)
            way = ways.get(read.raw)
        return way

    def remember(self, every: Iterable[Read], answer: bool) -> None:
        """What is answered where all of this, as it was read one after the other, is as it is now."""
        if self._answers == MOST:
            self._ways.clear()
            self._answers = 0
        self._answers += 1
        ways, raw = self._ways, FIRST
        for read in every:
            way = ways.get(raw)
            if type(way) is not tuple or way[0] is not read:
                way = ways[raw] = (read, {})
            ways, raw = way[1], read.raw
        ways[raw] = answer


FIRST: Final = -1
"""The way to what is read first."""

Readers = set[Question[Any]]


class Watch:
    """What is being read by the question that is asked now, of all the views that share this, in its order."""

    __slots__ = ("read",)

    def __init__(self) -> None:
        self.read: dict[Read, None] = {}


class Asked(Generic[T]):
    """One thing asked about many, of views that share a watch; what was answered is asked again only if it is due."""

    def __init__(self, watch: Watch, about: Iterable[T], ask: Callable[[T], bool], *, remembers: bool = True) -> None:
        self._watch = watch
        self._ask = ask
        self._remembers = remembers
        self._about = tuple(about)
        self._holds = [False] * len(self._about)
        self._holding: tuple[T, ...] = ()
        self.due: Readers = {Question(one, place, self) for place, one in enumerate(self._about)}

    def holding(self) -> tuple[T, ...]:
        """Those for which it holds in the views as they are now, in their order."""
        if self.due:
            for one in self.due:
                known = one.remembered() if self._remembers else None
                self._holds[one.place] = self._answer(one) if known is None else known
            self.due.clear()  # all of them, or none where something was raised
            self._holding = tuple(one for one, holds in zip(self._about, self._holds, strict=True) if holds)
        return self._holding

    def _answer(self, one: Question[T]) -> bool:
        self._watch.read.clear()
        answer = self._ask(one.about)
        if self._remembers:
            one.remember(self._watch.read, answer)
        for read in self._watch.read:
            read.readers.add(one)
        return answer


class Watched:
    """A record of a state, to be read."""

    __slots__ = ("__dict__", "_blank", "_node", "_numbers", "_parts", "_watch")
    # The records below that were read are in `__dict__`: Python looks there first, and so calls nothing again.
    __dict__: dict[Any, "Watched"]
    _blank: Read
    """Whether all of it is initial."""
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
        put(self, "_blank", Read(not node))

    def __getitem__(self, key: Any) -> "Value | Watched":
        number = self._numbers.get(key)
        if number is not None:
            self._watch.read[number] = None
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

    def is_untouched(self) -> bool:
        """Not known here: numbers are compared."""
        return False

    def is_blank(self) -> bool:
        """Whether this record is known to hold nothing but its initial values."""
        self._watch.read[self._blank] = None
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
        if self._node is node:
            return
        object.__setattr__(self, "_node", node)
        self._blank.become(not node)
        for key, number in self._numbers.items():
            raw = node.get(key, number.initial)
            if raw != number.raw:
                number.value = number.cell.value(raw)
                number.become(raw)
        for key, record in self.__dict__.items():
            below = node.get(key, EMPTY)
            if below is not record._node:  # noqa: SLF001 - the class's own
                record.follow(below)


class WatchedParameters(Mapping[str, int]):
    """The parameters of an action, each of which likewise knows what has read it; there are always the same ones."""

    def __init__(self, watch: Watch) -> None:
        self._parameters: Mapping[str, int] = {}
        self._watch = watch
        self._read: dict[str, Read] = {}

    def __getitem__(self, name: str) -> int:
        read = self._read.get(name)
        if read is None:
            read = self._read[name] = Read(self._parameters[name])
        self._watch.read[read] = None
        raw: int = read.raw
        return raw

    def __contains__(self, name: object) -> bool:
        return name in self._parameters

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __len__(self) -> int:
        return len(self._parameters)

    def follow(self, parameters: Mapping[str, int]) -> None:
        """Hold these from now on, which have the same names; what has read one that is another by that is due."""
        self._parameters = parameters
        for name, read in self._read.items():
            read.become(parameters[name])


class WatchedAction:
    """The action of a step, whose rule and parameters know what has read them."""

    def __init__(self, watch: Watch) -> None:
        self.parameters = WatchedParameters(watch)
        self._watch = watch
        self._rule = Read("")

    @property
    def rule(self) -> str:
        """The name of its rule."""
        self._watch.read[self._rule] = None
        rule: str = self._rule.raw
        return rule

    def follow(self, rule: str, parameters: Mapping[str, int]) -> None:
        """Be this action from now on, which has parameters of the same names."""
        self._rule.become(rule)
        self.parameters.follow(parameters)
