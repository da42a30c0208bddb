"""Views: a state is a tree of records and arrays whose leaves are variables; a view reads and assigns them by path.

Reading a leaf gives its term, assigning one records an update in the frame of the action that is being built. The tree
itself is plain data (`Shape`), laid out from the records that are declared in spec/state/.
"""

import enum
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import z3

from spec.language.records import Array, Leaf, Record, Shape
from spec.language.terms import NO, Kind, Value, both, choose, flag


@dataclass(frozen=True)
class Variable:
    """One scalar of the state: its unique name, its kind and its initial raw value."""

    name: str
    kind: Kind
    initial: int

    @property
    def sort(self) -> z3.SortRef:
        """The z3 sort: Bool or BitVec when enumerating, also Int when proving."""
        return self.kind.sort

    def show(self, raw: int) -> str:
        """A raw value as text."""
        return self.kind.show(raw)


@dataclass(frozen=True)
class Observation:
    """What an observer sees of a step, or a log has of it: the actor, the kind of thing that it did, and its fields.

    `fields` and `condition` are terms over the state before the step; it is seen only where `condition` holds.
    """

    role: str
    kind: str
    fields: Mapping[str, Value]
    condition: z3.BoolRef


def leaves(shape: Shape, path: str = "", *, kept: bool = True) -> Iterator[Variable]:
    """The variables of a shape, or what is not kept of it, named by their path, as in `controllers[1].epoch`."""
    if isinstance(shape, Leaf):
        if shape.kept is kept:
            yield Variable(path, shape.kind, shape.at_first.raw)
        return
    for key, child in shape.items():
        yield from leaves(child, extended(path, key), kept=kept)


def extended(path: str, key: object) -> str:
    """The name of a member of what has this name: `.name` of a record, `[number]` of an array."""
    if isinstance(key, str):
        return f"{path}.{key}" if path else key
    return f"{path}[{key}]"


class Frame:
    """What one run of an action leaves behind."""

    def __init__(self, *, keeps_lines: bool = False) -> None:
        self.keeps_lines = keeps_lines
        self.lines: list[Observation] = []
        self.group = self.groups = 0
        """Which lines come in any order among themselves, as a number (0: none), and how many such groups there are."""
        self.values: dict[str, Value] = {}
        self.guards: list[Value] = []
        self.fits: list[Value] = []
        self.events: list[Observation] = []
        self.taken: dict[str, Value] = {}
        self.conditions: list[Value] = []
        """Those of the `when` blocks around this place."""
        self.joined: list[Value | None] = [both()]
        """The conjunction up to each open block, the outermost first; computed when it is first asked for."""

    @property
    def condition(self) -> Value:
        """The conjunction of all conditions; NO where they are known not to hold together."""
        found = self.joined[-1]
        if found is None:
            found = self.joined[-1] = both(*self.conditions)
        return found

    @contextmanager
    def one_group(self) -> Iterator[None]:
        """The lines that are kept inside are one group, unless it is in another's inside."""
        if self.group:
            yield
            return
        self.groups += 1
        self.group = self.groups
        try:
            yield
        finally:
            self.group = 0

    def log(self, line: str, fields: Mapping[str, object]) -> None:
        """Keep a line of a log, with all values in its fields, where lines are kept."""
        if self.keeps_lines and self.condition is not NO:
            held = dict(_values("", {**fields, "group": str(self.group)}))
            self.lines.append(Observation("log", line, held, self.condition.term))


def _values(place: str, found: object) -> Iterator[tuple[str, Value]]:
    """The values in a field of a line by their places; of what is no value, what it is there."""
    if isinstance(found, Value):
        yield place, found
    elif isinstance(found, Mapping):
        yield f"{place}: {', '.join(map(str, found))}", flag(True)
        for key, one in found.items():
            yield from _values(f"{place}[{key}]", one)
    elif isinstance(found, bool | int | str | enum.Enum | type | None):
        yield f"{place}: {type(found).__name__} {found}", flag(True)
    elif isinstance(found, tuple):
        yield from _values(f"{place}: tuple", dict(enumerate(found)))
    else:
        raise TypeError(f"{place} of a line is a {type(found).__name__}")


class Narrowing:
    """A part of a run of an action in which one more condition holds."""

    __slots__ = ("_condition", "_frame")

    def __init__(self, frame: Frame, condition: Value) -> None:
        self._frame, self._condition = frame, condition

    def __enter__(self) -> None:
        self._frame.conditions.append(self._condition)
        self._frame.joined.append(None)  # lines are said under many conditions, of which no term is ever asked

    def __exit__(self, *_: object) -> None:
        self._frame.conditions.pop()
        self._frame.joined.pop()


class Place:
    """A place in the state, by its path: a record, an array or a variable, whose value before the step is known here.

    All views of one state share its places, for there are many views and each has a way to go.
    """

    __slots__ = ("_members", "path", "shape", "value")

    def __init__(self, shape: Shape, path: str = "") -> None:
        self.shape, self.path = shape, path
        self.value: Value | None = None
        self._members: dict[object, Place] = {}
        if isinstance(shape, Leaf):
            self.value = shape.kind.variable(path) if shape.kept else shape.at_first

    def member(self, key: object) -> "Place":
        """A member of a record or an array."""
        found = self._members.get(key)
        if found is None:
            shape, path = self.shape, extended(self.path, key)
            if isinstance(shape, Leaf) or key not in shape:
                raise AttributeError(f"the state has no {path}")
            found = self._members[key] = Place(shape[key], path)
        return found


class View:
    """A window on the state: `view.controllers[1].epoch` reads, assigning to it records an update.

    Attribute and index access walk the shape; a leaf reads as its value in the frame, or as the variable itself;
    one that is not kept reads as its initial value, and is not assigned.
    `frame=None` gives a read-only view of the state before.
    """

    __slots__ = ("__dict__", "_frame", "_place")
    # What was read is in `__dict__`, as it is by now: Python looks there first, and so calls nothing again.
    __dict__: dict[Any, Any]
    _frame: Frame | None
    _place: Place

    def __init__(self, shape: "Shape | Place", frame: Frame | None) -> None:
        assert not isinstance(shape, Leaf)  # noqa: S101 - a leaf is a value
        object.__setattr__(self, "_place", shape if isinstance(shape, Place) else Place(shape))
        object.__setattr__(self, "_frame", frame)

    def __getitem__(self, key: object) -> Any:
        member = self.__dict__.get(key)
        if member is None:
            member = self.__dict__[key] = self._member(key)
        return member

    def _member(self, key: object) -> "View | Value":
        """A record or array by its view, a leaf by its value."""
        place, frame = self._place.member(key), self._frame
        if place.value is None:
            return View(place, frame)
        return place.value if frame is None else frame.values.get(place.path, place.value)

    __getattr__ = __getitem__

    def __setitem__(self, key: object, value: object) -> None:
        place, frame = self._place.member(key), self._frame
        shape = place.shape
        if not isinstance(shape, Leaf):
            target = self[key]
            for name in shape:
                target[name] = value[name]  # type: ignore[index]  # copied from a record of the same shape
        elif shape.kept:
            if frame is None:
                raise TypeError(f"{place.path}: this view of the state is read-only")
            condition = frame.condition
            if condition is not NO:
                new = choose(condition, shape.kind.constant(value), self[key])
                self.__dict__[key] = frame.values[place.path] = new

    __setattr__ = __setitem__

    def __contains__(self, key: object) -> bool:
        shape = self._place.shape
        return not isinstance(shape, Leaf) and key in shape and any(leaves(shape[key]))

    def is_blank(self) -> bool:
        """Whether this record is known to hold nothing but its initial values: of variables, nobody knows."""
        return False

    def is_untouched(self) -> bool:
        """Whether it is known that the step assigned nothing in this record."""
        if self._frame is None:
            return False
        path = self._place.path
        below = (f"{path}.", f"{path}[") if path else ""
        return not any(one.startswith(below) for one in self._frame.values)


def reset(record: Record | Array[Any, Any] | View, *names: str) -> None:
    """Return a record (or the named fields of it) to its initial values: dead variables cost no states."""
    view = cast("View", record)
    place = view._place  # noqa: SLF001 - the layer's own class
    for name in names or cast("Mapping[str, Shape]", place.shape):
        shape = place.member(name).shape
        if not isinstance(shape, Leaf):
            reset(view[name])
        elif shape.kept:
            view[name] = shape.at_first
