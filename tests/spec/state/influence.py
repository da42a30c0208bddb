"""What of a system's variables matters: an analysis of its terms, without a look at any state but the first.

A variable is *constant* where no step can give it another value than it has at first: all are presumed to be, until no
update is left that may change one of those. A variable is *seen* where a guard, a bound, a row, an observation or a
claim depends on it, directly or by what seen variables become; of each term only that counts which is left of it once
the constants are put in.

What is constant or unseen could be left out of the system, and nobody would notice. Not all that could be is found.
"""

from collections.abc import Collection, Iterable, Iterator

import z3

from model_check.terms.straight_line import CONSTANTS, MEANING, VARIABLE, Program
from spec.language.rules import Action, TransitionSystem

ABSORBING = {z3.Z3_OP_AND: 0, z3.Z3_OP_BAND: 0, z3.Z3_OP_OR: 1}
"""What decides a junction, of flags or of sets, whatever else is in it."""


class Influence:
    """The analysis of one system; the variables of `moving` are not presumed to be constant."""

    def __init__(self, system: TransitionSystem, moving: Collection[str] = ()) -> None:
        self.system = system
        self._program = Program()
        self._guards = {one.name: self._program.place(one.guard) for one in system.actions}
        self._updates = [
            (self._guards[one.name], name, self._program.place(term))
            for one in system.actions
            for name, term in one.updates.items()
        ]
        self._asked = list(map(self._program.place, self._questions()))
        self._initial = {one.name: one.initial for one in system.variables}
        self.constants = self._initial.keys() - set(moving)
        self._known: list[int | None] = []
        self._find_constants()
        self.seen = self._find_seen()

    @property
    def idle(self) -> frozenset[str]:
        """The variables that are constant or unseen."""
        return frozenset(self.constants | (self._initial.keys() - self.seen))

    def _questions(self) -> Iterator[z3.ExprRef]:
        """The terms that engines and observers ask; those of a step's claims only where the step can be taken."""
        for action in self.system.actions:
            yield from (action.guard, action.overflow, *action.taken.values())
            yield from _observed(action)
        guards = {one.name: one.guard for one in self.system.actions}
        for claim in self.system.properties:
            yield from () if claim.term is None else (claim.term,)
            yield from (z3.Or(z3.Not(guards[name]), term) for name, term in claim.terms.items())

    def _find_constants(self) -> None:
        users: list[list[int]] = [[] for _ in self._program.nodes]
        variables = {}
        for position, node in enumerate(self._program.nodes):
            self._known.append(None)
            self._known[position] = self._value(position)
            if node.operator == VARIABLE:
                variables[node.name] = position
            for argument in node.arguments:
                users[argument].append(position)
        while changed := {name for guard, name, term in self._updates if self._may_change(guard, name, term)}:
            self.constants -= changed
            pending = [variables[name] for name in changed if name in variables]
            while pending:
                position = pending.pop()
                if self._known[position] != (value := self._value(position)):
                    self._known[position] = value
                    pending += users[position]

    def _may_change(self, guard: int, name: str, term: int) -> bool:
        return name in self.constants and self._known[guard] != 0 and self._known[term] != self._initial[name]

    def _value(self, position: int) -> int | None:
        """The value of a node in every state that is presumed to be, None where it has several."""
        node = self._program.nodes[position]
        if node.operator in CONSTANTS:
            return node.value
        if node.operator == VARIABLE:
            return self._initial[node.name] if node.name in self.constants else None
        values = [self._known[one] for one in node.arguments]
        if node.operator == z3.Z3_OP_ITE:
            test, then, otherwise = values
            return (then if then == otherwise else None) if test is None else then if test else otherwise
        if ABSORBING.get(node.operator, -1) in values:
            return ABSORBING[node.operator]
        known = [one for one in values if one is not None]
        if len(known) < len(values):
            return None
        return MEANING[node.operator](node, known)

    def _find_seen(self) -> set[str]:
        becomes: dict[str, list[int]] = {}
        for guard, name, term in self._updates:
            if self._known[guard] != 0:
                becomes.setdefault(name, []).append(term)
        seen, visited, pending = set[str](), set[int](), list(self._asked)
        while pending:
            position = pending.pop()
            if position in visited or self._known[position] is not None:
                continue
            visited.add(position)
            node = self._program.nodes[position]
            if node.operator == VARIABLE:
                seen.add(node.name)
                pending += becomes.get(node.name, ())
            pending += self._needed(node.operator, node.arguments)
        return seen

    def _needed(self, operator: int, arguments: tuple[int, ...]) -> Iterable[int]:
        """The arguments of which a node's value is made: of a choice that is decided, the side that is taken."""
        if operator != z3.Z3_OP_ITE or (test := self._known[arguments[0]]) is None:
            return arguments
        return arguments[1:2] if test else arguments[2:]


def _observed(action: Action) -> Iterator[z3.ExprRef]:
    for event in action.events:
        yield event.condition
        yield from (value.term for value in event.fields.values())
