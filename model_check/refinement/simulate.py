"""Random runs of the reference, each step of which must be a step of the specification.

Exhaustion goes only so far; random runs go where it cannot, in scopes with more of everything. Hypothesis draws what
the scheduler chooses. When specification and reference part ways, steps are left out of the run as long as it still
shows that. They are left out by name: a number that Hypothesis drew, as it would shrink it, means another step as soon
as one before it is gone.

In each state the steps that the specification enables must be the choices that the reference has, the step that is
taken must lead to the state that the specification says, observers must see what it says, and the lines that the
reference writes must be those that the rule says.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from model_check.refinement.lockstep import Disagreement, Pair, Sides, refuse_what_lacks
from model_check.terms.python_code import Raw
from reference.memory.choices import Choice
from spec.model import Model
from spec.protocol.controller.failed_sends import BESIDE, fail_send
from spec.scopes import BUDGETS, Scope
from spec.system import is_in_scope, rules
from spec.variants import AS_CODED

MANY = 1 << 16
"""More than there are ever choices."""

PLENTY = 127
"""What no budget runs out of in a run of some hundred steps, one in eight of which is a fault of some kind."""


@dataclass
class Simulated:
    """What random runs have done: the length of each, how often each rule was taken, and whether Ctrl-C ended them."""

    lengths: list[int] = field(default_factory=list)
    by_rule: Counter[str] = field(default_factory=Counter)
    interrupted: bool = False


def simulate(
    sides: Sides,
    *,
    runs: int = 100,
    steps: int = 200,
    number: int = 0,
    progress: Callable[[int], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
) -> Simulated:
    """So many random runs of so many steps each; raises Disagreement with the steps of a shortened run.

    The same `number` gives the same runs, in a program that has loaded the same modules: Hypothesis draws from the
    constants in them, too. `progress` is called with how many runs have begun. `stop` is asked before each step whether
    to leave it at what was done until then.
    """
    done, parted = Simulated(), list[Disagreement]()

    @seed(number)
    class Run(RuleBasedStateMachine):
        """One run from the scope's start."""

        def __init__(self) -> None:
            super().__init__()
            self.pair: Pair = sides.initial()
            self.taken: list[str] = []
            done.lengths.append(0)
            progress(len(done.lengths))

        @rule(number=st.integers(0, MANY))
        def take(self, number: int) -> None:
            """Take one of the steps that are possible, if there is any."""
            if stop() and not parted:  # what has parted is taken again by Hypothesis, which must find it again
                raise KeyboardInterrupt  # the one way out of Hypothesis that is no failure
            try:
                self.go_on(number)
            except Disagreement as found:
                parted.append(found)
                raise

        def go_on(self, number: int) -> None:
            """Take it on both sides."""
            enabled = sides.enabled(self.pair.raw)
            choice = chosen(sides.possible(self.pair, enabled, self.taken), enabled, number)
            if choice is None:
                return
            self.taken.append(choice.name)
            self.pair = sides.take(self.pair, choice, enabled[choice.name], self.taken)
            done.lengths[-1] += 1
            done.by_rule[choice.rule] += 1

    chosen_settings = settings(
        max_examples=runs,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        derandomize=False,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
        print_blob=False,
        report_multiple_bugs=False,
    )
    try:
        run_state_machine_as_test(Run, settings=chosen_settings, _min_steps=steps)
    except Disagreement as found:
        raise shortened(sides, found, stop) from None
    except KeyboardInterrupt:
        done.interrupted = True
    return done


def shortened(sides: Sides, found: Disagreement, stop: Callable[[], bool] = lambda: False) -> Disagreement:
    """A disagreement that no single step can be left out of: of a longer one, ever smaller parts are left out.

    Where it is told to `stop`, it stays as long as it is by then.
    """
    size = len(found.steps) // 2
    while size:
        before = found
        for begin in range(len(found.steps) - size, -1, -size):
            if stop():
                return found
            rest = (*found.steps[:begin], *found.steps[begin + size :])
            shorter = first_disagreement(sides, rest)
            if shorter is not None and len(shorter.steps) < len(found.steps):
                found = shorter
        size = size if found is not before else size // 2
    return found


def first_disagreement(sides: Sides, steps: Sequence[str]) -> Disagreement | None:
    """Take those of some steps that are possible, until the two sides part ways; None if they never do."""
    pair, taken = sides.initial(), list[str]()
    try:
        for name in steps:
            enabled = sides.enabled(pair.raw)
            possible = sides.possible(pair, enabled, taken)
            if name in enabled.keys() & possible.keys():
                taken.append(name)
                pair = sides.take(pair, possible[name], enabled[name], taken)
        sides.possible(pair, sides.enabled(pair.raw), taken)
    except Disagreement as found:
        return found
    return None


def chosen(possible: Mapping[str, Choice], enabled: Mapping[str, Raw], number: int) -> Choice | None:
    """One of the choices that the specification enables; None at rest.

    One number in eight is a fault, if there is any left; small numbers are progress. First a rule is chosen and then
    one of its choices, so that what can be done in many ways does not crowd out the rest.
    """
    within = sorted((possible[name] for name in enabled.keys() & possible.keys()), key=lambda choice: choice.name)
    progress = [choice for choice in within if not choice.is_fault]
    faults = [choice for choice in within if choice.is_fault]
    place, kind = divmod(number, 8)
    among = (faults if kind == 7 or not progress else progress) or progress
    if not among:
        return None
    rules = sorted({choice.rule for choice in among})
    place, which = divmod(place, len(rules))
    same = [choice for choice in among if choice.rule == rules[which]]
    return same[place % len(same)]


BY_HAND: Final = frozenset({"removals", "state_removals"})
"""Faults that long runs go without: a create of a state znode of a topic that is gone creates the topic's znode, too,
which the specification leaves out (spec/protocol/topics/removal_by_hand.py).
"""


def _faults(scope: Scope) -> Iterator[str]:
    """The budgets that a scope's rules draw on, if none is zero; sends fail only beside parts that ask whether."""
    full = Model(replace(scope, budgets=tuple((name, PLENTY) for name in BUDGETS)), AS_CODED)
    drawn = {rule.budget for rule in rules() if is_in_scope(rule, full)}
    unasked = set() if scope.parts <= BESIDE else {fail_send.budget}
    return (name for name in BUDGETS if name in drawn - unasked - BY_HAND)


def widened(scope: Scope) -> Scope:
    """A scope with room for long runs: every fault but removals by hand, and bounds that these do not reach easily.

    BadInput if the reference lacks a part of it; under its own name, which the wide one is not found by.
    """
    refuse_what_lacks(scope)
    return replace(
        scope,
        name=f"{scope.name}, widened",
        budgets=tuple((name, PLENTY) for name in _faults(scope)),
        callback_capacity=12,
        connection_capacity=6,
        controller_epochs=63,
        versions=63,
    )
