"""States of numbers: nested dictionaries that hold only what differs from the initial state, and views to write them.

A state is never changed. A `Draft` is a view of one in which a rule reads and assigns; it copies the records that are
written, and shares all others with the state before, so that a step costs what it touches, however many brokers and
partitions there are. Two states are equal exactly when their dictionaries are.

Reading a leaf gives a `Value` that is known; this is what makes the rules of the specification compute with numbers.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, TypeAlias
from weakref import ReferenceType, ref

from spec.language.rules import Leaf, Shape
from spec.language.terms import Value
from spec.language.views import extended, leaves

PlainState: TypeAlias = Mapping[Any, Any]
"""A record: raw numbers and records by key; what is not there has its initial value."""

EMPTY: PlainState = {}


def part(state: PlainState, *keys: Any) -> Any:
    """A record of a state, empty where all of it is initial."""
    for key in keys:
        state = state.get(key, EMPTY)
    return state


class Cell:
    """A leaf of the state: its kind, its initial raw value, whether it is kept, and the values it has had."""

    __slots__ = ("initial", "kept", "kind", "values")

    def __init__(self, leaf: Leaf) -> None:
        self.kind = leaf.kind
        self.initial = leaf.at_first.raw
        self.kept = leaf.kept
        self.values: dict[int, Value] = {}

    def value(self, raw: int) -> Value:
        """A raw number as a value of this leaf."""
        known = self.values.get(raw)
        if known is None:
            known = self.values[raw] = Value(self.kind, raw)
        return known


class Layout:
    """A shape made ready for drafts: cells and layouts by key, each made when a draft comes to its record.

    ValueError if a variable is named as one of a draft's own methods: a rule that reads it would get that.
    """

    def __init__(self, shape: Shape) -> None:
        self.shape = shape

    @cached_property
    def parts(self) -> "dict[Any, Cell | Layout]":
        """What the record has below, each with a cell of its own: those who note what was read know it by that."""
        assert not isinstance(self.shape, Leaf)  # noqa: S101 - the root of a state is a record
        for key in self.shape:
            if isinstance(key, str) and hasattr(Draft, key):
                raise ValueError(f"a state has no {key}: its drafts have a method of that name; name it otherwise")
        return {key: Cell(child) if isinstance(child, Leaf) else Layout(child) for key, child in self.shape.items()}

    @cached_property
    def kept(self) -> bool:
        """Whether any variable is kept below."""
        return any(part.kept for part in self.parts.values())

    @cached_property
    def names(self) -> tuple[tuple[str, tuple[Any, ...], Cell], ...]:
        """Every variable: its name in a system, the keys that lead to it, and its cell."""
        paths = list(self._paths(()))
        return tuple((leaf.name, path, cell) for leaf, (path, cell) in zip(leaves(self.shape), paths, strict=True))

    def _paths(self, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Cell]]:
        for key, part in self.parts.items():
            if not isinstance(part, Cell):
                yield from part._paths((*path, key))  # noqa: SLF001 - the class's own
            elif part.kept:
                yield (*path, key), part

    def changes(self, before: PlainState, after: PlainState, path: str = "") -> Iterator[str]:
        """What differs between two states, as `variable: old -> new`."""
        for key, part in self.parts.items():
            old, new = before.get(key), after.get(key)
            if old is new:
                continue
            name = extended(path, key)
            if isinstance(part, Layout):
                yield from part.changes(old or EMPTY, new or EMPTY, name)
            elif old != new:
                values = (part.initial if raw is None else raw for raw in (old, new))
                yield f"{name}: {' -> '.join(map(part.kind.show, values))}"

    def flatten(self, state: PlainState) -> dict[str, int]:
        """The state as every other engine has it: all raw values by variable name."""
        flat = {}
        for name, path, cell in self.names:
            node: Any = state
            for key in path[:-1]:
                node = node.get(key, EMPTY)
            flat[name] = node.get(path[-1], cell.initial)
        return flat

    def unflatten(self, flat: Mapping[str, int]) -> PlainState:
        """The state of these raw values by variable name."""
        state: dict[Any, Any] = {}
        for name, path, cell in self.names:
            if flat[name] != cell.initial:
                node = state
                for key in path[:-1]:
                    node = node.setdefault(key, {})
                node[path[-1]] = flat[name]
        return state


class Draft:
    """A view of a state that a rule reads and assigns; `finished` gives the state after it.

    Its own attributes are underscored, and set past `__setattr__`, which is the rule's: `view.at = At.IDLE` assigns.
    """

    __slots__ = ("__dict__", "__weakref__", "_key", "_node", "_owned", "_parent", "_parts")
    # What was read is in `__dict__`, values and records below: Python looks there first, and so calls nothing again.
    __dict__: dict[Any, Any]
    _key: Any
    _node: PlainState
    _owned: bool
    _parent: "ReferenceType[Draft] | None"
    """The record above, which holds this one. Held by it in turn, both would stay until Python looks for circles."""
    _parts: dict[Any, Cell | Layout]

    def __init__(self, layout: Layout, node: PlainState, parent: "Draft | None" = None, key: object = None) -> None:
        put = object.__setattr__
        put(self, "_parts", layout.parts)
        put(self, "_node", node)
        put(self, "_parent", None if parent is None else ref(parent))
        put(self, "_key", key)
        put(self, "_owned", False)

    def __getitem__(self, key: Any) -> Any:
        found = self.__dict__.get(key)
        return self._first(key) if found is None else found

    def _first(self, key: Any) -> Any:
        """What is read for the first time."""
        part = self._parts.get(key)
        if isinstance(part, Cell):
            found: Any = part.value(self._node.get(key, part.initial))
        elif part is None:
            raise AttributeError(f"the state has no {key} here")
        else:
            found = type(self)(part, self._node.get(key, EMPTY), self, key)
        self.__dict__[key] = found
        return found

    __getattr__ = _first

    def __contains__(self, key: object) -> bool:
        part = self._parts.get(key)
        return part is not None and part.kept

    def __setitem__(self, key: Any, value: Any) -> None:
        part = self._parts[key]
        if part.kept and isinstance(part, Cell):
            self._put(key, part, part.kind.constant(value).raw)
        elif part.kept:
            self[key].become(value)

    __setattr__ = __setitem__

    def forget(self, *names: str) -> None:
        """Return a record, or the named fields of it, to the initial values."""
        if not names:
            self._replace(EMPTY)
        for name in names:
            part = self._parts[name]
            if isinstance(part, Cell):
                self._put(name, part, part.initial)
            else:
                self[name].forget()

    def become(self, other: "Draft") -> None:
        """Take over what another record of the same shape holds; both share it until one of them is written."""
        content = other.finished()
        other.share()
        self._replace(content)

    def is_still(self, state: PlainState) -> bool:
        """Whether this is of that very state, and nothing was assigned."""
        return self._node is state and not self._owned

    def is_untouched(self) -> bool:
        """Not known here: numbers are compared."""
        return False

    def is_blank(self) -> bool:
        """Whether this record is known to hold nothing but its initial values."""
        return not self._node

    def finished(self) -> PlainState:
        """The state after everything that was assigned; records that are all initial are left out."""
        if self._owned:
            node = self.own()
            for key, child in self._below():
                if child._owned and not child.finished():  # noqa: SLF001 - the class's own
                    node.pop(key, None)
        return self._node

    def _below(self) -> "list[tuple[Any, Draft]]":
        """The records below that were read."""
        return [(key, found) for key, found in self.__dict__.items() if type(found) is not Value]

    def own(self) -> dict[Any, Any]:
        """The record to write in: a copy that no other state shares."""
        if not self._owned:
            object.__setattr__(self, "_node", dict(self._node))
            object.__setattr__(self, "_owned", True)
            if self._parent is not None:
                self._above().own()[self._key] = self._node
        return self._node  # type: ignore[return-value]  # a dictionary of our own by now

    def _above(self) -> "Draft":
        """The record that holds this one."""
        above = self._parent() if self._parent is not None else None
        assert above is not None  # noqa: S101 - a whole state is never replaced, and who writes holds all of it
        return above

    def share(self) -> None:
        """Copy again before the next write, here and below: somebody else holds this content, too."""
        object.__setattr__(self, "_owned", False)
        for _, child in self._below():
            child.share()

    def follow(self, node: PlainState) -> None:
        """Hold this content from now on, here and below."""
        object.__setattr__(self, "_node", node)
        object.__setattr__(self, "_owned", False)
        children = self._below()
        self.__dict__.clear()
        self.__dict__.update(children)
        for key, child in children:
            child.follow(node.get(key, EMPTY))

    def _put(self, key: Any, cell: Cell, raw: int) -> None:
        if not cell.kept or self._node.get(key, cell.initial) == raw:
            return
        node = self.own()
        self.__dict__[key] = cell.value(raw)
        if raw == cell.initial:
            del node[key]
        else:
            node[key] = raw

    def _replace(self, node: PlainState) -> None:
        """Hold other content, and let the record above hold it."""
        if node == self._node:
            return
        above = self._above().own()
        if node:
            above[self._key] = node
        else:
            above.pop(self._key, None)
        self.follow(node)
