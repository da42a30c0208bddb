"""Traces: how a system gets from its initial state to the one that somebody wants to see.

A trace is a value. It starts with the initial state and goes on with steps: the name of the action taken and the whole
state after it. Engines make traces, `kcheck` prints, saves and replays them, and a trace is the same thing whether it
tells of a broken property or of a witness.

Printed, a trace is a story: the actors and what they did, in the words of the action's own statement, what an observer
saw of it, the lines that Kafka would log, and what it changed. What did not change is left out on purpose; a reader who
needs the whole state has the saved file.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from model_check.reasons.branches import branch
from model_check.reasons.names import Names
from model_check.terms.straight_line import Program, Valuation
from model_check.traces.logged import Logged, logs_of
from model_check.verdicts.results import Event, Step
from spec.language.rules import Action, Observation, TransitionSystem, Variable

State: TypeAlias = dict[str, int]
"""A whole state: raw values by variable name."""


class TraceError(Exception):
    """A trace does not belong to the system that it is printed for."""


@dataclass(frozen=True, eq=False)
class Trace:
    """A path through a system: (None, initial state), then (action name, state after it) for each step."""

    steps: tuple[tuple[str | None, State], ...]

    @property
    def actions(self) -> tuple[str, ...]:
        """The names of the actions taken, in order."""
        return tuple(name for name, _ in self.steps if name is not None)

    @property
    def last(self) -> Mapping[str, int]:
        """The state that the trace ends in."""
        return self.steps[-1][1]

    def __len__(self) -> int:
        """The number of steps taken: 0 for the initial state alone."""
        return len(self.steps) - 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trace) and self.steps == other.steps

    __hash__ = None  # type: ignore[assignment]  # states are dictionaries, which have none


def continued(trace: Trace, actions: Iterable[Action]) -> Trace:
    """A trace that goes on with some actions; ValueError names the first that is not enabled."""
    steps, program = list(trace.steps), Program()
    for action in actions:
        value = Valuation(steps[-1][1], program)
        if not value(action.guard):
            raise ValueError(f"step {len(steps)}: {action.name} is not enabled")
        steps.append((action.name, value.after(action.updates)))
    return Trace(tuple(steps))


class LateTrace(Trace):
    """A trace whose length is known. It is looked for once anybody asks for its steps, in the process that can."""

    def __init__(self, length: int, find: Callable[[], Trace]) -> None:
        vars(self).update(_length=length, _find=find)

    @cached_property
    def steps(self) -> tuple[tuple[str | None, State], ...]:
        """The steps, looked for."""
        found: Trace = vars(self).pop("_find")()  # which holds all states of the search
        return found.steps

    def __len__(self) -> int:
        return int(vars(self)["_length"])


def tell(system: TransitionSystem, trace: Trace) -> tuple[Step, ...]:
    """The steps of a trace in words; TraceError if it names an action or lacks a variable of the system."""
    actions = {action.name: action for action in system.actions}
    program, logged = Program(), logs_of(system)
    told = []
    for number, ((_, before), (name, after)) in enumerate(zip(trace.steps, trace.steps[1:], strict=False), start=1):
        if name not in actions:
            raise TraceError(f"step {number} takes {name}, but {system.name} has no action of that name")
        told.append(_told(system, number, actions[name], Valuation(before, program), after, logged))
    return tuple(told)


def _told(
    system: TransitionSystem, number: int, action: Action, before: Valuation, after: Mapping[str, int], logged: Logged
) -> Step:
    return Step(
        number=number,
        action=action.name,
        actor=action.actor,
        statement=" ".join(action.statement.split("\n\n")[0].split()),
        source=action.source,
        events=tuple(_event(event, before) for event in action.events if before(event.condition)),
        logged=logged(action, before.state),
        changes=tuple(_changes(system, number, before.state, after)),
        budget=action.budget or "",
        about=Names(system.model).parameters(_besides(action)),
        branch=branch(system, action, before),
    )


def _besides(action: Action) -> Mapping[str, int]:
    """The parameters of an action except the one that its actor is."""
    names = Names(None)
    return {name: number for name, number in action.parameters.items() if names.parameter(name, number) != action.actor}


def _event(event: Observation, before: Valuation) -> Event:
    fields = {name: value.kind.show(before(value.term)) for name, value in event.fields.items()}
    return Event(event.role, event.kind, fields)


def _changes(system: TransitionSystem, step: int, before: Mapping[str, int], after: Mapping[str, int]) -> Iterator[str]:
    for variable in system.variables:
        if variable.name not in before or variable.name not in after:
            raise TraceError(f"the states around step {step} lack {variable.name}, a variable of {system.name}")
        old, new = before[variable.name], after[variable.name]
        if old != new:
            yield f"{variable.name}: {shown(variable, old)} -> {shown(variable, new)}"


def shown_initial(system: TransitionSystem, trace: Trace) -> dict[str, str]:
    """The values of the state that a trace starts in, by variable."""
    _, state = trace.steps[0]
    return {one.name: shown(one, state[one.name]) for one in system.variables if one.name in state}


def shown(variable: Variable, raw: int) -> str:
    """A raw value as its variable's kind prints it; one that the kind does not have is said to be so."""
    if not variable.kind.unbounded and not 0 <= raw <= variable.kind.maximum:
        return f"{raw} (not a {variable.kind.name})"
    return variable.show(raw)
