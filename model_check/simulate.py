"""Random runs of the reference, each step of which must be a step of the specification.

Exhaustion goes only so far; random runs go where it cannot, in scopes with more of everything. Hypothesis draws what
the scheduler chooses and, when specification and reference part ways, shrinks the run to a shortest one that still
shows it; small numbers are dull choices.

In each state the steps that the specification enables must be the choices that the reference has, the step that is
taken must lead to the state that the specification says, and observers must see what it says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from model_check.python_code import Raw
from model_check.sides import Disagreement, Pair, Sides
from reference.memory_scheduler import Choice
from spec.scopes import Scope
from spec.variants import AS_CODED, Switches

MANY = 1 << 16
"""More than there are ever choices."""


@dataclass
class Simulated:
    """What random runs have done: how many, how many steps in all, and how often each rule was taken."""

    runs: int = 0
    steps: int = 0
    by_rule: Counter[str] = field(default_factory=Counter)


def simulate(
    scope: Scope, switches: Switches = AS_CODED, *, runs: int = 100, steps: int = 200, derandomize: bool = False
) -> Simulated:
    """So many random runs of so many steps each; raises Disagreement with the steps of a shrunk run.

    With `derandomize` the same runs are made every time.
    """
    sides = Sides(scope, switches)
    done = Simulated()

    class Run(RuleBasedStateMachine):
        """One run from the scope's start."""

        def __init__(self) -> None:
            super().__init__()
            self.pair: Pair = sides.initial()
            self.taken: list[str] = []
            done.runs += 1

        @rule(number=st.integers(0, MANY))
        def take(self, number: int) -> None:
            """Take one of the steps that are possible, if there is any."""
            enabled = sides.enabled(self.pair.raw)
            choice = chosen(sides.possible(self.pair, enabled, self.taken), enabled, number)
            if choice is None:
                return
            before, self.pair = self.pair.raw, sides.follow(self.pair, choice)
            self.taken.append(choice.name)
            if reasons := sides.departures(before, choice, enabled[choice.name], self.pair):
                raise Disagreement(self.taken, reasons)
            done.steps += 1
            done.by_rule[choice.rule] += 1

    run_state_machine_as_test(
        Run,
        settings=settings(
            max_examples=runs,
            stateful_step_count=steps,
            deadline=None,
            database=None,
            derandomize=derandomize,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet,
            print_blob=False,
            report_multiple_bugs=False,
        ),
    )
    return done


def chosen(possible: Mapping[str, Choice], enabled: Mapping[str, Raw], number: int) -> Choice | None:
    """One of the choices that the specification enables; None at rest.

    One number in eight is a fault, if there is any left; small numbers are progress.
    """
    within = sorted((possible[name] for name in enabled), key=lambda choice: choice.name)
    progress = [choice for choice in within if not choice.is_fault]
    faults = [choice for choice in within if choice.is_fault]
    place, kind = divmod(number, 8)
    among = (faults if kind == 7 or not progress else progress) or progress
    return among[place % len(among)] if among else None


def widened(scope: Scope, budgets: Mapping[str, int]) -> Scope:
    """A scope with room for long runs: other budgets, and bounds that these do not reach easily."""
    return replace(
        scope,
        name=f"{scope.name}, wide",
        budgets=tuple(budgets.items()),
        callback_capacity=16,
        connection_capacity=12,
        controller_epochs=31,
        versions=63,
    )
