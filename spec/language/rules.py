"""The modelling layer: an action is an ordinary function over a view of the state.

A state is a tree of records and arrays whose leaves are variables. Reading a leaf gives a term; assigning one records
an update; `require` adds to the guard; `when` makes the assignments below it conditional; `observe` says what an
outside observer sees, `say` what Kafka writes to its log; `take` says which row of a transition table the step takes.
A function runs once for each instance of its parameters while a system is built, and what it leaves behind is an
`Action`: one guard, one simultaneous update, the ordered observations, the rows, and the lines if these are asked for.
Nothing is executed here; engines do that with the terms. `only_said` and `where_possible` mark parts of rules that
building terms can do without.

**Bounds never prune silently.** What fits the scope only up to a width or a capacity is said with `fits`: an action
that is enabled but does not fit has a true `overflow`, which engines count and report.
"""

import enum
import functools
import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, Final, ParamSpec, TypeAlias

import z3

from spec.language.records import Leaf, Shape
from spec.language.terms import FALSE, FLAG, NO, Kind, Value, both, choose, either, flag, same
from spec.language.views import Frame, Narrowing, Observation, Place, Variable, View, leaves, reset

P = ParamSpec("P")


@dataclass(frozen=True)
class Action:
    """One instance of an action: z3 terms over the state before the step.

    `guard` includes that everything fits; `overflow` holds where only a bound of the scope stops the action.
    `updates` names only the variables that may change. `budget` names the fault budget it draws on, or is None for
    a step of progress. `taken` has, by row of a table, where the step takes that. `lines` has what Kafka
    logs, if that was asked for. Its `repr` has no terms: z3 prints what they share again and again, for hours.
    """

    name: str
    rule: str
    parameters: Mapping[str, int]
    actor: str
    statement: str
    source: str
    budget: str | None
    guard: z3.BoolRef = field(repr=False)
    overflow: z3.BoolRef = field(repr=False)
    updates: Mapping[str, z3.ExprRef] = field(repr=False)
    events: tuple[Observation, ...] = field(repr=False)
    taken: Mapping[str, z3.BoolRef] = field(default_factory=dict, repr=False)
    lines: tuple[Observation, ...] = field(default=(), repr=False)


Facts: TypeAlias = Iterator[Value]
"""What is true where a claim holds, fact by fact; of a `sometimes` it is enough that one is."""
GOALS: Final = ("recoverable", "eventually")
"""The kinds of claims that speak of a whole graph of states."""


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
    term: z3.BoolRef | None = field(default=None, repr=False)
    terms: Mapping[str, z3.BoolRef] = field(default_factory=dict, repr=False)
    witness: str | None = None


@dataclass(frozen=True)
class TransitionSystem:
    """A whole system: variables with initial values, actions and properties, under one name.

    `model` is what its rules were run with, for whoever runs them on numbers; a system made otherwise has none.
    """

    name: str
    variables: tuple[Variable, ...]
    actions: tuple[Action, ...]
    properties: tuple[Property, ...]
    model: Any = field(default=None, compare=False, repr=False)

    def property_named(self, name: str) -> Property:
        """The property of that name; KeyError if there is none."""
        return {one.name: one for one in self.properties}[name]


# ------------------------------------------------------------------------------------------- what an action may say

_frames: list[Frame] = []


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
    if not counter.kind.unbounded:
        fits(counter != Value(counter.kind, counter.kind.maximum))
    return counter.plus(1)


def when(condition: object) -> AbstractContextManager[None]:
    """Assignments, requirements and observations inside take effect only where the condition holds."""
    return Narrowing(_frame(), flag(condition))


def where_possible(part: Callable[P, None]) -> Callable[P, None]:
    """A part of a rule that is left out where it is known that nothing in it takes effect."""

    @functools.wraps(part)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        if _frame().condition is not NO:
            part(*args, **kwargs)

    return run


def only_said(part: Callable[P, None]) -> Callable[P, None]:
    """A part of a rule that only says lines: while terms are built it is left out, unless lines are asked for."""

    @functools.wraps(part)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        if _frame().keeps_lines:
            part(*args, **kwargs)

    return run


def observe(role: str, kind: str, **fields: Value | int) -> None:
    """An observer sees this, at this point of the step's order."""
    frame = _frame()
    if frame.condition is NO:
        return
    lifted = {name: value if isinstance(value, Value) else constant(value) for name, value in fields.items()}
    frame.events.append(Observation(role, kind, lifted, frame.condition.term))


def say(line: type, *, perhaps: object = False, **fields: object) -> None:
    """Kafka writes this line to its log here; one that is said `perhaps` comes anywhere in the step, or not at all.

    `fields` are what the model has: the number of a partition, a topic or a broker, a value, a mapping from any of
    these to what holds of it (a set is one to flags). A system of terms speaks of no logs; a run on numbers keeps the
    line (model_check/stepping), and so does whoever asks for lines (`instantiate`).
    """
    _frame().log(line.__name__, {**fields, "perhaps": flag(perhaps)})


def in_any_order() -> AbstractContextManager[None]:
    """The lines that are said inside are written in the order of a hash."""
    return _frame().one_group()


def take(row: str, condition: object) -> None:
    """Where the condition holds, the step takes this row of a table: of transitions, or of what follows what."""
    frame = _frame()
    frame.taken[row] = either(frame.taken.get(row, flag(False)), both(frame.condition, condition))


@functools.cache
def constant(value: int) -> Value:
    """A number that an observer sees, of a kind of its own."""
    kind = Kind("constant", max(1, int(value).bit_length()), int(value), str, int)
    return kind.constant(int(value))


# ------------------------------------------------------------------------------------------------------- declarations


@dataclass(frozen=True)
class Rule:
    """An action as written: a function over the state and its parameters, not yet instantiated.

    `places` are those of its actor's code at which alone it is taken (none: anywhere); its guard says so, too.
    """

    function: Callable[..., None]
    name: str
    statement: str
    actor: str
    source: str
    budget: str | None
    parts: frozenset[str]
    places: tuple[enum.Enum, ...] = ()


@dataclass(frozen=True)
class Claim:
    """A property as written: a function over one view, or over (before, action, after) for a `step`."""

    function: "Claimed"
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


def rules_of(module: ModuleType) -> tuple[Rule, ...]:
    """The rules that a module declares, in its order."""
    found = (one for one in vars(module).values() if isinstance(one, Rule))
    return tuple(one for one in found if one.function.__module__ == module.__name__)


def claim(
    kind: str,
    *,
    source: str,
    witness: str | None = None,
    parts: Sequence[str] = (),
    of: Collection[str] | None = None,
    not_of: Collection[str] = (),
    where: Callable[[Any], bool] = lambda _: True,
    fixed: Collection[enum.Enum] = (),
) -> Callable[[Callable[..., Value | None] | Callable[..., Facts]], Claim]:
    """Declare a property of one of the kinds always, step, sometimes, or a goal, which is claimed as each of `GOALS`.

    The function has the state, or those before and after a `step`, and the model. It is asked for each choice of its
    other parameters (`Model.choices`), but of a step only of those behind `*`. The others are the action's own; nothing
    is claimed of an action that lacks one. One of the name `action` is the action itself. `of`: the rules of whose
    steps alone anything is claimed, `not_of`: of whose steps nothing is; `where`, and `fixed`: of which models, and
    with which fixes. It gives a value, or `Facts`; None, or no fact, if it is not about this.
    """

    def declare(function: Callable[..., Any]) -> Claim:
        statement = inspect.cleandoc(function.__doc__ or "")
        claimed = Claimed(
            kind,
            function,
            lambda rule: (of is None or rule in of) and rule not in not_of,
            lambda m: where(m) and all(m.fixes(one) for one in fixed),
        )
        return Claim(claimed, function.__name__, kind, statement, source, witness, frozenset(parts))

    return declare


lemma = functools.partial(claim, "always")
"""Declare a claim that helps to prove others."""


def claims_of(module: ModuleType) -> Iterator[Claim]:
    """The claims that a module declares, in its order; a goal is claimed as each of `GOALS`."""
    for one in vars(module).values():
        if isinstance(one, Claim) and one.function.__module__ == module.__name__:
            if one.kind == "goal":
                yield from (replace(one, name=f"{kind}_{one.name}", kind=kind) for kind in GOALS)
            else:
                yield one


class Claimed:
    """What a claim says: asked of all choices at once, by calling it, or of one of them alone.

    It says something of steps of the rules `of` which it is, and of the models `where` it is asked.
    """

    def __init__(
        self,
        kind: str,
        function: Callable[..., Any],
        of: Callable[[str], bool] = lambda _: True,
        where: Callable[[Any], bool] = lambda _: True,
    ) -> None:
        functools.update_wrapper(self, function)
        self._states = 2 if kind == "step" else 1
        named = tuple(inspect.signature(function).parameters.values())[self._states + 1 :]
        self.each = tuple(one.name for one in named if self._states == 1 or one.kind == one.KEYWORD_ONLY)
        """The parameters of which it is asked for each choice."""
        self._own = tuple(one.name for one in named if one.name not in self.each)
        self._joined = either if kind == "sometimes" else both
        self.tells_rules_apart = "rule" in function.__code__.co_names
        """Whether its own text asks what the rule of a step is."""
        self._gives_facts = inspect.isgeneratorfunction(function)
        self._function, self._of, self._where = function, of, where

    def takes(self, m: Any, action: Any) -> Mapping[str, Any] | None:
        """Its parameters that are the action's own; None if it says nothing of that, or of this model."""
        if not self._where(m) or (self._states == 2 and not self._of(action.rule)):
            return None
        takes = {name: action if name == "action" else action.parameters.get(name) for name in self._own}
        return None if None in takes.values() else takes

    def facts(self, *given: Any, **chosen: Any) -> Iterable[Value]:
        """What is true where it holds of this choice; nothing, if it is not about this."""
        found = self._function(*given, **chosen)
        return found if self._gives_facts else () if found is None else (found,)

    def __call__(self, *given: Any) -> Value | None:
        """Whether it holds of all choices, or for a `sometimes` of any."""
        m = given[self._states]
        takes = self.takes(m, given[-1])
        if takes is None:
            return None
        chosen = m.choices(self.each)
        facts = [fact for one in chosen for fact in self.facts(*given[: self._states + 1], **takes, **one)]
        return self._joined(*facts) if facts or self._joined is either else None


def instantiate(
    rule: Rule, shape: "Shape | Place", model: object, parameters: Mapping[str, int], *, lines: bool = False
) -> tuple[Action, View]:
    """Run a rule's function for one choice of parameters; give the action and the view of the state after it.

    With `lines` the action has those that Kafka logs, too, which takes longer.
    """
    frame = Frame(keeps_lines=lines)
    view = View(shape, frame)
    _frames.append(frame)
    try:
        if rule.budget is not None and "budget" in view:
            budgets = view["budget"]
            require(budgets[rule.budget] > 0)
            budgets[rule.budget] = budgets[rule.budget].plus(-1)
        rule.function(view, model, **parameters)
    finally:
        _frames.pop()
    return _finish(rule, frame, parameters), view


def parameter_names(rule: Rule) -> tuple[str, ...]:
    """The names of a rule's parameters, in order; the first two arguments are the state and the model."""
    return tuple(inspect.signature(rule.function).parameters)[2:]


def _finish(rule: Rule, frame: Frame, parameters: Mapping[str, int]) -> Action:
    enabled, room = both(*frame.guards), both(*frame.fits)
    arguments = ", ".join(f"{name}={value}" for name, value in parameters.items())
    updates = {
        path: value.term for path, value in frame.values.items() if not same(value.term, value.kind.variable(path).term)
    }
    return Action(
        name=f"{rule.name}({arguments})",
        rule=rule.name,
        parameters=dict(parameters),
        actor=rule.actor.format(**parameters),
        statement=rule.statement,
        source=rule.source,
        budget=rule.budget,
        guard=(enabled & room).term,
        overflow=(enabled & ~room).term,
        updates=updates,
        events=tuple(frame.events),
        taken={row: where.term for row, where in frame.taken.items() if not same(where.term, FALSE)},
        lines=tuple(frame.lines),
    )


__all__ = [
    "FLAG", "Action", "Claim", "Leaf", "Observation", "Property", "Rule", "Shape", "TransitionSystem", "Value",
    "Variable", "View", "action", "both", "choose", "claim", "constant", "either", "fits", "flag", "in_any_order",
    "instantiate", "leaves", "observe", "only_said", "parameter_names", "require", "reset", "say", "successor", "take",
    "when", "where_possible",
]  # fmt: skip
