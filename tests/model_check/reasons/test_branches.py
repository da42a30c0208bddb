"""The branch that a step takes: where another engine finds the controller afterwards, and the rows that it took."""

import random
from collections.abc import Sequence

import pytest
import z3

from model_check.reasons.branches import PLACE, branch, on_the_way
from model_check.stepping.plain_state import PlainState, part
from model_check.terms.straight_line import Program, Valuation
from spec.claims.leadership import NOT_TRANSITIONS
from spec.scopes import scope
from spec.state.enumerations import At
from spec.tables.partition_states import PARTITION_TRANSITIONS, PartitionState
from spec.tables.table import transitions
from spec.variants import AS_CODED
from tests.spec.on_demand import OnDemand
from tests.spec.stepping import played

SMALL = scope("small")


@pytest.mark.takes("It makes the actions that some walks take.")
def test_where_the_controller_goes_on_and_the_partitions_row_are_what_the_rules_do() -> None:
    """On walks that begin with a fault: a step is taken by the text on numbers, its branch is read of the terms."""
    rules, made, program, dice = played(SMALL, AS_CODED), OnDemand(SMALL), Program(), random.Random("go")
    system, places, rows = made.with_actions([]), 0, 0
    for _ in range(6):
        state = rules.initial
        for number in range(25):
            steps = [(name, step) for name, one in rules.named.items() if (step := rules.step(state, *one)) is not None]
            faults = [(name, step) for name, step in steps if rules.rules[rules.named[name].rule].budget is not None]
            if not steps:
                break
            name, step = dice.choice(faults if faults and not number else steps)
            before, state = state, step.after
            values = Valuation(rules.layout.flatten(before), program)
            told, c = branch(system, made.action(name), values), rules.named[name].parameters.get("c", 0)
            for line in told:
                if line.startswith("next: "):
                    place = list(At)[part(state, "controllers", c).get("at", 0)].value
                    assert line.removeprefix("next: ").startswith(place), name
                    places += 1
            if c and rules.named[name].rule not in NOT_TRANSITIONS:
                rows += rows_led(told, partition_state(before, c), partition_state(state, c))
            for path, term in made.action(name).updates.items():
                if PLACE.fullmatch(path):
                    require_that_the_facts_decide(term, values)
    assert (places > 20, rows > 1) == (True, True)


def partition_state(state: PlainState, c: int) -> PartitionState:
    number: int = part(state, "controllers", c, "partitions", 0).get("state", 0)
    return list(PartitionState)[number]


def rows_led(told: Sequence[str], old: PartitionState, new: PartitionState) -> int:
    """How many rows of the partition's are told; one after the other they lead from the old state to the new."""
    rows = [row for row in transitions(PARTITION_TRANSITIONS) if f"takes {row}" in told]
    assert [row.source for row in rows] == [old, *(row.target for row in rows)][: len(rows)]
    assert new is (rows[-1].target if rows else old)
    return len(rows)


def require_that_the_facts_decide(term: z3.ExprRef, values: Valuation) -> None:
    """What is told of the way to a place is so, and leads nowhere else."""
    (facts, leaf), solver = on_the_way(term, values), z3.Solver()
    assert [bool(values(one.term)) for one in facts] == [one.holds for one in facts]
    assert values(leaf) == values(term)
    solver.add(*(one.term if one.holds else z3.Not(one.term) for one in facts), term != leaf)
    assert solver.check() == z3.unsat


def test_an_action_with_one_way_has_no_branch() -> None:
    made = OnDemand(SMALL)
    state = {one.name: one.initial for one in made.variables}
    assert branch(made.with_actions([]), made.action("renew_session(b=1)"), Valuation(state)) == ()
