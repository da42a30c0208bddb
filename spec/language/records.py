"""Records: what a state is made of, declared as classes with a field a line.

A field says which kind of value it holds, what that is at first, which real thing it stands for, and where it is kept.
What a scope has no use for is no variable of it: it reads as it is at first, whatever is assigned to it, so that a rule
need not ask which scope it is in.

A dead field (of a process that is not running, of a handler that is done) goes back to its initial value (`reset`), so
that two states differ only where the protocol could tell.

Nobody makes an instance of a record. `shape_of` lays out the tree of variables for one model, and a rule is given a
view of that tree (spec/language/views.py), or of a state of numbers. The classes tell mypy what such a view has:
reading a field gives a `Value`, a nested record or an array of them, and assigning takes what the field's kind can
lift: a value, a number, a member of an enumeration, some brokers.
"""

import enum
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeAlias, TypeVar, cast, overload

from spec.language.terms import FLAG, Kind, Value, enumeration

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
K = TypeVar("K")
K_contra = TypeVar("K_contra", contravariant=True)


@dataclass(frozen=True)
class Leaf:
    """A variable to be: its kind and initial value; one that is not kept is no variable, and always has that value."""

    kind: Kind
    initial: object
    kept: bool = True

    @cached_property
    def at_first(self) -> Value:
        """The initial value."""
        return self.kind.constant(self.initial)


Shape: TypeAlias = "Leaf | Mapping[Any, Shape]"
"""A leaf, a record (keys are names) or an array (keys are numbers, or names)."""


# ------------------------------------------------------------------------------------------------ what a scope decides


@dataclass(frozen=True)
class PerScope(Generic[T_co]):
    """What a model decides of its state, and the words for it: a kind, an initial value, the indices of an array, or
    whether a field is kept. `indexed`: it asks for the index of the array around it, too.
    """

    text: str
    function: Callable[..., T_co]
    indexed: bool = False

    def of(self, m: object, index: object) -> T_co:
        """What it is in a model, at the index of the innermost array around the field."""
        return self.function(m, index) if self.indexed else self.function(m)

    def __and__(self, other: "PerScope[bool]") -> "PerScope[bool]":
        if self is ALWAYS or other is ALWAYS:
            return other if self is ALWAYS else cast("PerScope[bool]", self)
        return self._joined(other, f"{self.text} and {other.text}", lambda one, two: one and two)

    def __or__(self, other: "PerScope[bool]") -> "PerScope[bool]":
        return self._joined(other, f"{self.text} or {other.text}", lambda one, two: one or two)

    def __invert__(self) -> "PerScope[bool]":
        return self._joined(ALWAYS, f"not {self.text}", lambda one, _: not one)

    def _joined(self, other: "PerScope[bool]", text: str, join: Callable[[bool, bool], bool]) -> "PerScope[bool]":
        def both(m: object, index: object = None) -> bool:
            return join(bool(self.of(m, index)), other.of(m, index))

        return PerScope(text, both, indexed=self.indexed or other.indexed)


ALWAYS: PerScope[bool] = PerScope("always", lambda _: True)


# -------------------------------------------------------------------------------------------------------- declarations


class Members(Generic[K, T]):
    """What has members by name or number, as rules see it. A view has them; this only tells mypy so."""

    if TYPE_CHECKING:

        def __getitem__(self, key: K) -> T: ...

        def __setitem__(self, key: K, value: object) -> None: ...

        def __contains__(self, key: object) -> bool:
            """Whether anything of it is kept."""

        def is_blank(self) -> bool:
            """Whether it is known to hold nothing but initial values; of variables, nobody knows."""

        def is_untouched(self) -> bool:
            """Whether it is known that the step assigned nothing in it; of numbers, nobody knows."""


class Record(Members[str, Value]):
    """A record of the state, as rules see it; its classes declare the fields, its views have them.

    A record may take over the fields of others, which come before its own, in order. `kept` holds for every field that
    its class declares.
    """

    kept: ClassVar[PerScope[bool]] = ALWAYS
    declared: "ClassVar[tuple[tuple[str, Declared[Any]], ...]]" = ()
    """Every field by its name, those that it takes over first."""

    def __init_subclass__(cls, *, kept: PerScope[bool] = ALWAYS) -> None:
        super().__init_subclass__()
        cls.kept = kept
        others = (one for base in taken_over(cls) for one in base.declared)
        cls.declared = (*others, *own(cls).items())


class Array(Members[K, T]):
    """An array of the state, by number or by name."""


def array_of(record: Record, name: str) -> Array[int, Value]:
    """The array of variables that a record has by this name."""
    return cast("Array[int, Value]", record[name])


class Keyed(Protocol[K_contra]):
    """A record or an array whose variables are read and assigned by a key."""

    def __getitem__(self, key: K_contra, /) -> Value: ...

    def __setitem__(self, key: K_contra, value: object, /) -> None: ...


class Declared(ABC, Generic[T]):
    """A member of a record: `T` is what reading it gives."""

    def __init__(self, meaning: str, kept: PerScope[bool]) -> None:
        self.meaning = meaning
        self.kept = kept
        self.owner: type[Record] = Record
        self.name = ""

    def __set_name__(self, owner: type[Record], name: str) -> None:
        self.owner, self.name = owner, name

    @property
    def where(self) -> PerScope[bool]:
        """Where it is kept: what its record says of all its fields, and what is said of it."""
        return self.owner.kept & self.kept

    def is_kept(self, m: object, index: object = None) -> bool:
        """Whether it is kept in a model, at an index of the array around it."""
        return self.owner.kept.of(m, index) and self.kept.of(m, index)

    @overload
    def __get__(self, record: None, owner: type) -> Self: ...
    @overload
    def __get__(self, record: Record, owner: type) -> T: ...
    def __get__(self, record: Record | None, owner: type) -> Self | T:
        return self if record is None else cast("T", record[self.name])

    def __set__(self, record: Record, value: object) -> None:
        record[self.name] = value

    @abstractmethod
    def shape(self, m: object, index: object, *, kept: bool) -> Shape:
        """The variables that it is in a model, at an index of the array around it."""

    @property
    @abstractmethod
    def indexed(self) -> bool:
        """Whether these are others at another index."""


class Field(Declared[Value]):
    """A variable."""

    def __init__(
        self, kind: Kind | PerScope[Kind], initial: object, meaning: str = "", *, kept: PerScope[bool] = ALWAYS
    ) -> None:
        super().__init__(meaning, kept)
        self.kind = kind
        self.initial = initial

    def shape(self, m: object, index: object, *, kept: bool) -> Shape:
        """Its kind and its initial value."""
        kind = self.kind.of(m, index) if isinstance(self.kind, PerScope) else self.kind
        initial = self.initial.of(m, index) if isinstance(self.initial, PerScope) else self.initial
        return Leaf(kind, initial, kept)

    @property
    def indexed(self) -> bool:
        """Whether its kind or its initial value goes by the index."""
        return any(isinstance(one, PerScope) and one.indexed for one in (self.kind, self.initial))


class Choice(Field):
    """A variable that is a member of an enumeration, named by the member that it is at first."""

    def __init__(self, initial: enum.Enum, meaning: str = "", *, kept: PerScope[bool] = ALWAYS) -> None:
        super().__init__(enumeration(type(initial)), initial, meaning, kept=kept)


class Flag(Field):
    """A variable that is true or false; false at first, unless said otherwise."""

    def __init__(
        self, meaning: str = "", *, initial: bool | PerScope[bool] = False, kept: PerScope[bool] = ALWAYS
    ) -> None:
        super().__init__(FLAG, initial, meaning, kept=kept)


class Nested(Declared[T]):
    """A record within a record."""

    def __init__(self, record: type[T], meaning: str = "", *, kept: PerScope[bool] = ALWAYS) -> None:
        super().__init__(meaning, kept)
        self.record: type[Any] = record

    def shape(self, m: object, index: object, *, kept: bool) -> Shape:
        """The variables of the record."""
        return shape_of(self.record, m, index, kept=kept)

    @property
    def indexed(self) -> bool:
        """Whether anything in the record, or whether it is kept, goes by the index."""
        return any(one.indexed or one.where.indexed for _, one in self.record.declared)


class Each(Declared[Array[K, T]]):
    """An array: one thing for each of the indices that a model has.

    Where the model has no indices (None) the one thing stands alone, without an array.
    """

    def __init__(
        self,
        over: PerScope[Iterable[K] | None],
        one: Declared[T] | type[T],
        meaning: str = "",
        *,
        kept: PerScope[bool] = ALWAYS,
    ) -> None:
        super().__init__(meaning, kept)
        self.over = over
        self.one: Declared[Any] = Nested(one) if isinstance(one, type) else one

    def shape(self, m: object, index: object, *, kept: bool) -> Shape:
        """The variables of all."""
        over = self.over.of(m, index)
        if over is None:
            return self.one.shape(m, index, kept=kept)
        if self._one_indexed:
            return {i: self.one.shape(m, i, kept=kept) for i in over}
        return dict.fromkeys(over, self.one.shape(m, None, kept=kept))

    @cached_property
    def _one_indexed(self) -> bool:
        return self.one.indexed

    @property
    def indexed(self) -> bool:
        """Whether the indices are others, or what stands alone, at another index of an array around this one."""
        return self.over.indexed or self._one_indexed


def flags(
    over: PerScope[Iterable[K]],
    meaning: str = "",
    *,
    initial: bool | PerScope[bool] = False,
    kept: PerScope[bool] = ALWAYS,
) -> Each[K, Value]:
    """A flag for each of the indices."""
    return Each(over, Flag(initial=initial), meaning, kept=kept)


# ------------------------------------------------------------------------------------------------- what is made of them


def taken_over(record: type[Record]) -> list[type[Record]]:
    """The records whose fields a record takes over, in order."""
    return [base for base in record.__bases__ if issubclass(base, Record) and base is not Record]


def own(record: type[Record]) -> dict[str, Declared[Any]]:
    """The fields that a record's own class declares, by name."""
    return {name: one for name, one in vars(record).items() if isinstance(one, Declared)}


def names(record: type[Record]) -> tuple[str, ...]:
    """The names of its fields, whatever a model keeps of them."""
    return tuple(name for name, _ in record.declared)


def shape_of(record: type[Record], m: object, index: object = None, *, kept: bool = True) -> Mapping[str, Shape]:
    """The tree of variables of a record in a model, and behind them what it does not keep.

    Several records that are taken over may declare one name: a variable is kept where any of them says so.
    """
    found = {name: one.shape(m, index, kept=kept) for name, one in record.declared if one.is_kept(m, index)}
    left_out = (one for one in record.declared if one[0] not in found)
    return found | {name: one.shape(m, index, kept=False) for name, one in left_out}
