"""One solver for all the steps of a proof: it knows the invariant, and is asked goal by goal.

A question of its own for each action has z3 read the invariant each time, and make gates of its bits each time. Here
that is done once. The guard of a step and its goals come on top, and go again before the next step. Each goal has a
name: to assume the name is to say that the goal does not hold, so what z3 learns of one goal helps with the next.

The answer is only ever that all goals hold. What is not shown so here, within a number of the solver's own steps that
no clock decides, is for a question of its own (`model_check/proofs/smtlib.py`): that may take longer, and finds a state
in which a goal fails.

The bits of a variable must be the same gates in the invariant and in every goal, so each bit-vector is put together of
flags, one a bit, before z3's tactics see it: a state has one such spelling, and each spelling is a state. z3 is called
as C has it where its Python would take longer than z3 does.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Final

import z3

from model_check.proofs.obligations import Clause, Step, conjunction, substituted
from spec.language.rules import Variable

OPTIONS: Final = {"arith.solver": 2, "relevancy": 0, "auto_config": False, "ctrl_c": False, "rlimit": 8_000_000}
"""How it searches: integers by the older simplex; every term counts, for few are there; about a second for a goal."""

GATES: Final = ("simplify", "bit-blast", "simplify")
"""What makes gates of bits, before the solver sees them."""


class GoalSolver:
    """A solver that holds some hypotheses about the variables of a system."""

    def __init__(self, variables: Iterable[Variable], hypotheses: Iterable[Clause]) -> None:
        self._context = z3.main_ctx().ref()
        self._solver, self._gates = z3.SimpleSolver(), z3.Then(*GATES)
        for name, value in OPTIONS.items():
            self._solver.set(name, value)
        vectors = [one for one in variables if z3.is_bv_sort(one.sort)]
        self._whole = [z3.Const(one.name, one.sort) for one in vectors]
        self._spelled = [spelled(one) for one in vectors]
        self._named: dict[int, tuple[z3.BoolRef, z3.BoolRef]] = {}
        self._add([one.term for one in hypotheses])

    def keeps(self, step: Step, clauses: Iterable[Clause], claimed: Iterable[Clause], stop: Callable[[], bool]) -> bool:
        """Whether it is shown that a step from a state of the hypotheses keeps clauses, and does as is claimed of it.

        KeyboardInterrupt is raised once `stop` says so.
        """
        after = [self._broken(one) for one in clauses]
        now = [self._broken(one) for one in claimed]
        self._solver.push()
        try:
            self._add([step.action.guard, *(term for _, term in now), step.updated([term for _, term in after])])
            return all(self._is_refuted(name, stop) for name, _ in chain(after, now))
        finally:
            self._solver.pop()

    def _broken(self, clause: Clause) -> tuple[z3.BoolRef, z3.BoolRef]:
        """A name for a clause, and that the clause does not hold where the name is assumed."""
        address = clause.term.as_ast().value
        if address not in self._named:
            name = z3.Bool(f"goal {len(self._named)}")
            self._named[address] = name, z3.Or(z3.Not(name), z3.Not(clause.term))
        return self._named[address]

    def _add(self, terms: Sequence[z3.BoolRef]) -> None:
        """Have the solver hold some terms, with gates for their bits."""
        goal = z3.Goal()
        z3.Z3_goal_assert(self._context, goal.goal, substituted(conjunction(terms), self._whole, self._spelled).ast)
        (gates,) = self._gates(goal)
        for number in range(len(gates)):
            z3.Z3_solver_assert(
                self._context, self._solver.solver, z3.Z3_goal_formula(self._context, gates.goal, number)
            )

    def _is_refuted(self, name: z3.BoolRef, stop: Callable[[], bool]) -> bool:
        """Whether the clause of a name cannot fail."""
        if stop():
            raise KeyboardInterrupt
        assumed = (z3.Ast * 1)(name.as_ast())
        found = z3.Z3_solver_check_assumptions(self._context, self._solver.solver, 1, assumed)
        return bool(found == z3.Z3_L_FALSE)


def spelled(variable: Variable) -> z3.BitVecRef:
    """A bit-vector put together of one flag for each of its bits."""
    zero, one = z3.BitVecVal(0, 1), z3.BitVecVal(1, 1)
    bits = [z3.If(z3.Bool(f"{variable.name} bit {n}"), one, zero) for n in reversed(range(variable.sort.size()))]
    return z3.Concat(*bits) if len(bits) > 1 else bits[0]
