"""The modelling layer: an action is an ordinary function over a view of the state.

A state is a tree of records and arrays whose leaves are variables. Reading a leaf gives a term; assigning one records
an update; `require` adds to the guard; `when` makes the assignments below it conditional; `observe` says what an
outside observer sees. A function runs once for each instance of its parameters while a system is built, and what it
leaves behind is an `Action`: one guard, one simultaneous update, and the ordered observations. Nothing is executed
here; engines do that with the terms.

**Bounds never prune silently.** What fits the scope only up to a width or a capacity is said with `fits`: an action
that is enabled but does not fit has a true `overflow`, which engines count and report.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import z3

from spec.terms import FALSE, FLAG, Kind, Value, both, choose, either, flag


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


@dataclass(frozen=True)
class Action:
    """One instance of an action: z3 terms over the state before the step.

    `guard` includes that everything fits; `overflow` holds where only a bound of the scope stops the action.
    `updates` names only the variables that may change. `budget` names the fault budget it draws on, or is None for
    a step of progress.
    """

    name: str
    rule: str
    parameters: Mapping[str, int]
    actor: str
    statement: str
    source: str
    budget: str | None
    guard: z3.BoolRef
    overflow: z3.BoolRef
    updates: Mapping[str, z3.ExprRef]
    events: tuple[Observation, ...]


@dataclass(frozen=True)
class Property:
    """A claim: `always` and `sometimes` and the goals `recoverable`, `eventually` have a `term` over one state.

    A `step` property has `terms`: by action name, what must hold of the state before that action's step (the state
    after it is already substituted). Actions for which it is trivially true are left out.
    """

    name: str
    kind: str
    statement: str
    source: str
    term: z3.BoolRef | None = None
    terms: Mapping[str, z3.BoolRef] = field(default_factory=dict)
    witness: str | None = None


@dataclass(frozen=True)
class TransitionSystem:
    """A whole system: variables with initial values, actions and properties, under one name."""

    name: str
    variables: tuple[Variable, ...]
    actions: tuple[Action, ...]
    properties: tuple[Property, ...]

    def property_named(self, name: str) -> Property:
        """The property of that name; KeyError if there is none."""
        return {one.name: one for one in self.properties}[name]


# ------------------------------------------------------------------------------------------------ the shape of a state


@dataclass(frozen=True)
class Leaf:
    """A variable to be: its kind and initial value."""

    kind: Kind
    initial: object


Shape: TypeAlias = "Leaf | Mapping[Any, Shape]"
"""A leaf, a record (keys are names) or an array (keys are numbers)."""


def leaves(shape: Shape, path: str = "") -> Iterator[Variable]:
    """The variables of a shape, named by their path, as in `controllers[1].epoch`."""
    if isinstance(shape, Leaf):
        raw = shape.kind.encode(shape.initial)
        yield Variable(path, shape.kind, raw)
        return
    for key, child in shape.items():
        yield from leaves(child, _extend(path, key))


def _extend(path: str, key: object) -> str:
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
        self.conditions: list[Value] = []

    @property
    def condition(self) -> Value:
        """The conjunction of the `when` blocks around this place."""
        return both(*self.conditions)


_frames: list[Frame] = []


class View:
    """A window on the state: `view.controllers[1].epoch` reads, assigning to it records an update.

    Attribute and index access walk the shape; a leaf reads as its value in the frame, or as the variable itself.
    `frame=None` gives a read-only view of the state before.
    """

    __slots__ = ("_frame", "_path", "_shape")

    def __init__(self, shape: Shape, frame: Frame | None, path: str = "") -> None:
        object.__setattr__(self, "_shape", shape)
        object.__setattr__(self, "_frame", frame)
        object.__setattr__(self, "_path", path)

    def __getitem__(self, key: object) -> Any:
        shape: Shape = self._shape  # type: ignore[attr-defined]  # a slot set through object.__setattr__
        frame, path = self._frame, _extend(self._path, key)  # type: ignore[attr-defined]  # as above
        if isinstance(shape, Leaf) or key not in shape:
            raise AttributeError(f"the state has no {path}")
        child = shape[key]
        if not isinstance(child, Leaf):
            return View(child, frame, path)
        if frame is not None and path in frame.values:
            return frame.values[path]
        return child.kind.variable(path)

    __getattr__ = __getitem__

    def __setitem__(self, key: object, value: object) -> None:
        path, child = _extend(self._path, key), self._shape[key]  # type: ignore[attr-defined]  # as above
        if isinstance(child, Leaf):
            self._assign(path, child.kind, value, self[key])
            return
        target = self[key]
        for name in child:
            target[name] = value[name]  # type: ignore[index]  # a record is copied from a record of the same shape

    __setattr__ = __setitem__

    def __contains__(self, key: object) -> bool:
        return not isinstance(self._shape, Leaf) and key in self._shape  # type: ignore[attr-defined]  # as above

    def _assign(self, path: str, kind: Kind, value: object, old: Value) -> None:
        frame: Frame | None = self._frame  # type: ignore[attr-defined]  # as above
        if frame is None:
            raise TypeError(f"{path}: this view of the state is read-only")
        frame.values[path] = choose(frame.condition, kind.constant(value), old)


def reset(view: View, *names: str) -> None:
    """Return a record (or the named fields of it) to its initial values: dead variables cost no states."""
    shape = view._shape  # type: ignore[attr-defined]  # noqa: SLF001 - the layer's own class
    for name in names or tuple(shape):
        child = shape[name]
        if isinstance(child, Leaf):
            view[name] = child.initial
        else:
            reset(view[name])


# ------------------------------------------------------------------------------------------- what an action may say


def _frame() -> Frame:
    if not _frames:
        raise RuntimeError("require, fits, when and observe work only while an action is built")
    return _frames[-1]


def require(*conditions: object) -> None:
    """The action is enabled only where all of these hold."""
    frame = _frame()
    frame.guards.append(frame.condition.implies(both(*conditions)))


def fits(condition: object) -> None:
    """The scope has room for this step only where the condition holds; elsewhere the bound is reported as hit."""
    frame = _frame()
    frame.fits.append(frame.condition.implies(condition))


def successor(counter: Value) -> Value:
    """The counter plus one; a bounded counter at its maximum hits the bound."""
    if counter.kind.unbounded:
        return Value(counter.kind, counter.term + 1)
    fits(_below_maximum(counter))
    return Value(counter.kind, counter.term + 1)


def _below_maximum(counter: Value) -> Value:
    return counter != Value(counter.kind, counter.kind.literal(counter.kind.maximum))


@contextmanager
def when(condition: object) -> Iterator[None]:
    """Assignments, requirements and observations inside take effect only where the condition holds."""
    frame = _frame()
    frame.conditions.append(flag(condition))
    try:
        yield
    finally:
        frame.conditions.pop()


def observe(role: str, kind: str, **fields: Value | int) -> None:
    """An observer sees this, at this point of the step's order."""
    frame = _frame()
    lifted = {name: value if isinstance(value, Value) else _constant(value) for name, value in fields.items()}
    frame.events.append(Observation(role, kind, lifted, frame.condition.term))


def _constant(value: int) -> Value:
    kind = Kind("constant", max(1, int(value).bit_length()), int(value), str, int)
    return kind.constant(int(value))


# ------------------------------------------------------------------------------------------------------- declarations


@dataclass(frozen=True)
class Rule:
    """An action as written: a function over the state and its parameters, not yet instantiated."""

    function: Callable[..., None]
    name: str
    statement: str
    actor: str
    source: str
    budget: str | None
    parts: frozenset[str]


@dataclass(frozen=True)
class Claim:
    """A property as written: a function over one view, or over (before, action, after) for a `step`."""

    function: Callable[..., Value | None]
    name: str
    kind: str
    statement: str
    source: str
    witness: str | None
    parts: frozenset[str]


def action(
    *, actor: str, source: str, budget: str | None = None, parts: Sequence[str] = ()
) -> Callable[[Callable[..., None]], Rule]:
    """Declare an action; `parts` are the parts of the protocol that a scope must have switched on for it."""

    def declare(function: Callable[..., None]) -> Rule:
        statement = inspect.cleandoc(function.__doc__ or "")
        return Rule(function, function.__name__, statement, actor, source, budget, frozenset(parts))

    return declare


def claim(
    kind: str, *, source: str, witness: str | None = None, parts: Sequence[str] = ()
) -> Callable[[Callable[..., Value | None]], Claim]:
    """Declare a property of one of the kinds always, step, sometimes, recoverable, eventually."""

    def declare(function: Callable[..., Value | None]) -> Claim:
        statement = inspect.cleandoc(function.__doc__ or "")
        return Claim(function, function.__name__, kind, statement, source, witness, frozenset(parts))

    return declare


def instantiate(
    rule: Rule, shape: Shape, model: object, parameters: Mapping[str, int]
) -> tuple[Action, View]:
    """Run a rule's function for one choice of parameters; give the action and the view of the state after it."""
    frame = Frame()
    view = View(shape, frame)
    _frames.append(frame)
    try:
        if rule.budget is not None and "budget" in view:
            budget = view.budget[rule.budget]
            require(budget > 0)
            view.budget[rule.budget] = _decremented(budget)
        rule.function(view, model, **parameters)
    finally:
        _frames.pop()
    return _finish(rule, frame, parameters), view


def parameter_names(rule: Rule) -> tuple[str, ...]:
    """The names of a rule's parameters, in order; the first two arguments are the state and the model."""
    return tuple(inspect.signature(rule.function).parameters)[2:]


def _decremented(budget: Value) -> Value:
    return Value(budget.kind, budget.term - 1)


def _finish(rule: Rule, frame: Frame, parameters: Mapping[str, int]) -> Action:
    enabled, room = both(*frame.guards), both(*frame.fits)
    arguments = ", ".join(f"{name}={value}" for name, value in parameters.items())
    updates = {
        path: value.term for path, value in frame.values.items() if not value.term.eq(value.kind.variable(path).term)
    }
    overflow = FALSE if z3.is_true(room.term) else (enabled & ~room).term
    return Action(
        name=f"{rule.name}({arguments})",
        rule=rule.name,
        parameters=dict(parameters),
        actor=rule.actor.format(**parameters),
        statement=rule.statement,
        source=rule.source,
        budget=rule.budget,
        guard=(enabled & room).term,
        overflow=overflow,
        updates=updates,
        events=tuple(frame.events),
    )


__all__ = [
    "FLAG", "Action", "Claim", "Leaf", "Observation", "Property", "Rule", "Shape", "TransitionSystem", "Value", "Variable",
    "View", "action", "both", "choose", "claim", "either", "fits", "flag", "instantiate", "leaves", "observe", "parameter_names", "require",
    "reset", "successor", "when",
]
