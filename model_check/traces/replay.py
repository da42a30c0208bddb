"""Replaying a trace on the model, to see that every step of it is really a step of this system.

A trace from a file, from another engine or from another version of the specification is not to be believed before its
steps were taken again. The first one that cannot be taken is reported with all that one needs to see why: which
conditions of the action's guard are false and what their variables are, and which actions could have been taken
instead. Replaying uses nothing but the table in `straight_line`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import z3

from model_check.reasons.choices import conjuncts
from model_check.terms.straight_line import Program, Valuation, shortened
from model_check.traces.trace import State, Trace, shown
from spec.language.rules import Action, TransitionSystem, Variable


@dataclass
class ReplayError(Exception):
    """A step of a trace that the system cannot take.

    `step` counts from 0, the initial state. Either `false_conjuncts` says which parts of the guard do not hold, or
    `differences` what the state after the step should have been. `enabled` names the actions that could be taken.
    """

    step: int
    action: str | None
    reason: str
    false_conjuncts: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    enabled: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"step {self.step} ({self.action or 'the initial state'}) does not replay: {self.reason}"]
        lines += [f"  not so: {conjunct}" for conjunct in self.false_conjuncts]
        lines += [f"  {difference}" for difference in self.differences]
        if self.action is not None:
            lines.append(f"  enabled here: {', '.join(self.enabled) or 'nothing'}")
        return "\n".join(lines)


def replay(system: TransitionSystem, trace: Trace) -> Trace:
    """Take every step of a trace again; ReplayError tells of the first that the system cannot take.

    A trace of a system with fewer variables, such as one without a fix that this one has, may be a trace of this one,
    too: what it does not tell is as this system has it. The trace given back has all variables.
    """
    replayed = _Replay(system)
    state = replayed.begin(trace)
    steps: list[tuple[str | None, State]] = [(None, state)]
    for number, (name, after) in enumerate(trace.steps[1:], start=1):
        state = replayed.take(number, state, name, after)
        steps.append((name, state))
    return Trace(tuple(steps))


class _Replay:
    """A system ready to take steps."""

    def __init__(self, system: TransitionSystem) -> None:
        self.system = system
        self.actions = {action.name: action for action in system.actions}
        self.variables = {variable.name: variable for variable in system.variables}
        self.program = Program()
        self.untold: frozenset[str] = frozenset()
        """The variables of which the trace says nothing."""

    def begin(self, trace: Trace) -> State:
        """A trace starts where the system does."""
        if not trace.steps or trace.steps[0][0] is not None:
            raise ReplayError(0, None, "a trace starts with the initial state and no action")
        told = trace.steps[0][1].keys()
        if self.variables and not self.variables.keys() & told:
            raise ReplayError(0, None, f"the trace tells none of the variables of {self.system.name}")
        self.untold = frozenset(self.variables.keys() - told)
        initial = {variable.name: variable.initial for variable in self.system.variables}
        differences = tuple(self._differences(initial, trace.steps[0][1]))
        if differences:
            raise ReplayError(0, None, f"{self.system.name} starts otherwise", differences=differences)
        return initial

    def take(self, number: int, before: State, name: str | None, after: State) -> State:
        """One step: its action is enabled, and leads to the state that the trace says."""
        valuation = Valuation(before, self.program)
        action = self.actions.get(name or "")
        if action is None:
            reason = f"{self.system.name} has no action of that name"
            raise ReplayError(number, name, reason, enabled=self._enabled(valuation))
        if not valuation(action.guard):
            bound = " (only a bound of the scope stops it)" if valuation(action.overflow) else ""
            conjuncts = tuple(self._false_conjuncts(action.guard, valuation))
            reason = f"the action is not enabled{bound}"
            raise ReplayError(number, name, reason, false_conjuncts=conjuncts, enabled=self._enabled(valuation))
        return self._effect(number, action, valuation, after)

    def _effect(self, number: int, action: Action, before: Valuation, after: State) -> State:
        expected = before.after(action.updates)
        differences = tuple(self._differences(expected, after))
        if differences:
            reason = "the action leads to another state"
            enabled = self._enabled(before)
            raise ReplayError(number, action.name, reason, differences=differences, enabled=enabled)
        return expected

    def _enabled(self, valuation: Valuation) -> tuple[str, ...]:
        return tuple(action.name for action in self.system.actions if valuation(action.guard))

    def _differences(self, expected: Mapping[str, int], told: Mapping[str, int]) -> Iterator[str]:
        for name, variable in self.variables.items():
            if name in self.untold:
                continue
            if name not in told:
                yield f"{name} is missing"
            elif told[name] != expected[name]:
                yield f"{name} is {shown(variable, expected[name])}, the trace says {shown(variable, told[name])}"
        yield from (f"{name} is not a variable of {self.system.name}" for name in told if name not in self.variables)

    def _false_conjuncts(self, guard: z3.BoolRef, valuation: Valuation) -> Iterator[str]:
        """The innermost false parts of a conjunction, each with the values of its variables."""
        for term in conjuncts(guard):
            if not valuation(term):
                yield f"{shortened(_named(term, self.variables))}  where {self._values_in(term, valuation)}"

    def _values_in(self, term: z3.BoolRef, valuation: Valuation) -> str:
        place = self.program.place(term)
        nodes = [self.program.nodes[position] for position in self.program.needed_by([place])]
        names = sorted({node.name for node in nodes if node.name})
        return ", ".join(f"{name} = {shown(self.variables[name], valuation.state[name])}" for name in names)


def _named(term: z3.ExprRef, variables: Mapping[str, Variable]) -> z3.ExprRef:
    """A term in which what variables are compared with is called as they print it; it is good for reading only."""
    compared, pending, seen = [], [term], set[int]()
    while pending:
        one = pending.pop()
        if one.get_id() in seen:
            continue
        seen.add(one.get_id())
        pending += one.children()
        sides = one.children() if one.num_args() == 2 else []
        for side, other in zip(sides, reversed(sides), strict=True):
            variable = variables.get(side.decl().name()) if z3.is_const(side) else None
            if variable is not None and not z3.is_bool(side):
                named = _printed(other, variable)
                compared.append((one, one.decl()(*(named if each is other else each for each in sides))))
    return z3.substitute(term, *compared)


def _printed(term: z3.ExprRef, variable: Variable) -> z3.ExprRef:
    """A number as a constant of the name that a variable prints for it, also one of several that it depends on."""
    if z3.is_app_of(term, z3.Z3_OP_ITE):
        condition, *either = term.children()
        return z3.If(condition, *(_printed(one, variable) for one in either))
    is_number = z3.is_bv_value(term) or z3.is_int_value(term)
    return z3.Const(shown(variable, term.as_long()), term.sort()) if is_number else term
