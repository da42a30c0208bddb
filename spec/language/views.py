"""Views: a state is a tree of records and arrays whose leaves are variables; a view reads and assigns them by path.

Reading a leaf gives its term, assigning one records an update in the frame of the action that is being built. The tree
itself is plain data (`Shape`), laid out from the records that are declared in spec/state/.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import z3

from spec.language.records import Array, Leaf, Record, Shape
from spec.language.terms import NO, Kind, Value, both, choose


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
    """What an observer sees of a step: who did which kind of thing, with which fields.

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

    def __init__(self) -> None:
        self.values: dict[str, Value] = {}
        self.guards: list[Value] = []
        self.fits: list[Value] = []
        self.events: list[Observation] = []
        self.taken: dict[str, Value] = {}
        self._conditions: list[Value] = []

    @property
    def condition(self) -> Value:
        """The conjunction of the `when` blocks around this place."""
        return both(*self._conditions)

    @property
    def never(self) -> bool:
        """Whether the conditions around this place are known not to hold together."""
        return self.condition is NO

    @contextmanager
    def narrowed(self, condition: Value) -> Iterator[None]:
        """Inside, one more condition holds."""
        self._conditions.append(condition)
        try:
            yield
        finally:
            self._conditions.pop()


class View:
    """A window on the state: `view.controllers[1].epoch` reads, assigning to it records an update.

    Attribute and index access walk the shape; a leaf reads as its value in the frame, or as the variable itself;
    one that is not kept reads as its initial value, and is not assigned.
    `frame=None` gives a read-only view of the state before.
    """

    __slots__ = ("__dict__", "_frame", "_path", "_shape")
    # What was read is in `__dict__`, as it is by now: Python looks there first, and so calls nothing again.
    __dict__: dict[Any, Any]
    _frame: Frame | None
    _path: str
    _shape: Mapping[Any, Shape]

    def __init__(self, shape: Shape, frame: Frame | None, path: str = "") -> None:
        assert not isinstance(shape, Leaf)  # noqa: S101 - a leaf is a value
        object.__setattr__(self, "_shape", shape)
        object.__setattr__(self, "_frame", frame)
        object.__setattr__(self, "_path", path)

    def __getitem__(self, key: object) -> Any:
        member = self.__dict__.get(key)
        if member is None:
            member = self.__dict__[key] = self._member(key)
        return member

    def _member(self, key: object) -> "View | Value":
        """A record or array by its view, a leaf by its value."""
        shape, path, frame = self._shape, extended(self._path, key), self._frame
        if key not in shape:
            raise AttributeError(f"the state has no {path}")
        child = shape[key]
        if not isinstance(child, Leaf):
            return View(child, frame, path)
        if not child.kept:
            return child.at_first
        return child.kind.variable(path) if frame is None or path not in frame.values else frame.values[path]

    __getattr__ = __getitem__

    def __setitem__(self, key: object, value: object) -> None:
        child, frame = self._shape[key], self._frame
        if not isinstance(child, Leaf):
            target = self[key]
            for name in child:
                target[name] = value[name]  # type: ignore[index]  # copied from a record of the same shape
        elif child.kept:
            path = extended(self._path, key)
            if frame is None:
                raise TypeError(f"{path}: this view of the state is read-only")
            if not frame.never:
                new = choose(frame.condition, child.kind.constant(value), self[key])
                self.__dict__[key] = frame.values[path] = new

    __setattr__ = __setitem__

    def __contains__(self, key: object) -> bool:
        return key in self._shape and any(leaves(self._shape[key]))

    def is_blank(self) -> bool:
        """Whether this record is known to hold nothing but its initial values: of variables, nobody knows."""
        return False


def reset(record: Record | Array[Any, Any] | View, *names: str) -> None:
    """Return a record (or the named fields of it) to its initial values: dead variables cost no states."""
    view = cast("View", record)
    shape = view._shape  # noqa: SLF001 - the layer's own class
    for name in names or tuple(shape):
        child = shape[name]
        if isinstance(child, Leaf):
            view[name] = child.at_first
        else:
            reset(view[name])
