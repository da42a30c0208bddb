"""The solver for all steps of a proof: it shows what is true of every state, and never what is not."""

import itertools
from functools import cache

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from model_check.explicit_state.interpreter import Machine
from model_check.proofs import goal_solver
from model_check.proofs.goal_solver import GoalSolver, spelled
from model_check.proofs.obligations import Clause, Step, Vocabulary
from spec.language.rules import TransitionSystem
from spec.language.terms import FLAG, Value
from tests.model_check.elections import below_version, elections, factors
from tests.model_check.systems import clerks, jugs, lamps

SYSTEMS = {"clerks": clerks(), "jugs": jugs(), "lamps": lamps(2, 2), "elections": elections(top=2)}


def on(_: object = None) -> bool:
    """Nobody wants it to stop."""
    return False


@cache
def vocabulary(name: str) -> Vocabulary:
    return Vocabulary(SYSTEMS[name].variables)


def clauses_of(name: str, *terms: z3.BoolRef) -> list[Clause]:
    return [clause for term in terms for clause in vocabulary(name).clauses("some claim", term)]


def types(system: TransitionSystem) -> list[z3.BoolRef]:
    """That each variable has one of its values."""
    found = []
    for one in system.variables:
        constant = z3.Const(one.name, one.sort)
        if z3.is_int(constant):
            found += [constant >= 0, constant <= one.kind.maximum]
        elif z3.is_bv(constant):
            found.append(z3.ULE(constant, one.kind.literal(one.kind.maximum)))
    return found


@st.composite
def comparisons(draw: st.DrawFn, system: TransitionSystem) -> z3.BoolRef:
    """One or two variables, compared with values of theirs."""

    def atom() -> Value:
        one = draw(st.sampled_from(system.variables))
        value = one.kind.variable(one.name)
        right = Value(one.kind, one.kind.literal(draw(st.integers(0, one.kind.maximum))))
        return draw(st.sampled_from([Value.__eq__, Value.__ne__] + [Value.__le__] * (one.kind is not FLAG)))(
            value, right
        )

    return (atom() | atom()).term


@pytest.mark.parametrize("name", SYSTEMS)
@given(data=st.data())
def test_what_it_shows_is_what_holds_after_every_step_from_every_state(name: str, data: st.DataObject) -> None:
    system, machine = SYSTEMS[name], Machine(SYSTEMS[name])
    hypotheses = data.draw(st.lists(comparisons(system), max_size=2))
    goals = data.draw(st.lists(comparisons(system), min_size=1, max_size=2))
    states = itertools.product(*(range(one.kind.maximum + 1) for one in system.variables))
    assumed, wanted = ([machine.condition(one) for one in some] for some in (hypotheses, goals))
    allowed = [state for state in states if all(one(state) for one in assumed)]
    solver = GoalSolver(system.variables, clauses_of(name, *hypotheses, *types(system)))
    for action, (_, step) in zip(system.actions, machine.steps, strict=True):
        afters = [after for state in allowed if (after := step(state)) is not None]
        holds = all(one(after) for after in afters for one in wanted)
        taken = Step(action, system, vocabulary(name))
        assert solver.keeps(taken, clauses_of(name, *goals), [], on) is holds


@pytest.mark.parametrize("kept", [True, False])
def test_what_is_claimed_of_a_step_is_asked_of_the_state_before(kept: bool) -> None:
    system = SYSTEMS["elections"]
    resign = next(one for one in system.actions if one.rule == "resign")
    guard = resign.guard if kept else z3.Not(resign.guard)
    solver = GoalSolver(system.variables, clauses_of("elections", *types(system)))
    step = Step(resign, system, vocabulary("elections"))
    assert solver.keeps(step, [], clauses_of("elections", guard), on) is kept


def test_without_the_lemma_it_shows_nothing_and_what_one_step_says_is_gone_before_the_next() -> None:
    system = elections()
    words = Vocabulary(system.variables)
    claim = words.clauses("one per epoch", system.property_named("one_per_epoch").term)
    lemma = words.clauses("below", below_version(system, "epoch").term)
    write, resign = (Step(one, system, words) for one in system.actions if one.name in {"write(c=1)", "resign(c=1)"})
    natural = words.clauses("type", z3.And(*(z3.Int(one.name) >= 0 for one in system.variables if one.kind.unbounded)))
    bare = GoalSolver(system.variables, [*natural, *claim])
    assert [bare.keeps(one, claim, [], on) for one in (write, resign, write)] == [False, True, False]
    helped = GoalSolver(system.variables, [*natural, *claim, *lemma])
    assert [helped.keeps(one, [*claim, *lemma], [], on) for one in (write, resign, write)] == [True, True, True]


@pytest.mark.parametrize("place", [0, 1, 9])
def test_one_goal_that_fails_among_many_is_enough_wherever_it_stands(place: int) -> None:
    """That a lamp is off, which a step from there changes, among the types of all variables."""
    system = SYSTEMS["lamps"]
    step = next(Step(one, system, vocabulary("lamps")) for one in system.actions if one.rule == "light")
    changed = next(one for one in system.variables if one.name in step.action.updates)
    hypotheses = goals = clauses_of("lamps", *types(system))
    off = clauses_of("lamps", (changed.kind.variable(changed.name) == changed.initial).term)
    solver = GoalSolver(system.variables, hypotheses)
    assert solver.keeps(step, goals, [], on)
    assert not solver.keeps(step, [*goals[:place], *off, *goals[place:]], [], on)


def test_what_takes_too_long_is_not_shown_and_says_nothing_of_what_comes_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(goal_solver.OPTIONS, "rlimit", 1_000_000)
    system = factors()
    words = Vocabulary(system.variables)
    solver = GoalSolver(system.variables, [])
    (step,) = (Step(one, system, words) for one in system.actions)
    prime = words.clauses("prime", system.property_named("prime").term)
    assert not solver.keeps(step, prime, [], on)
    assert solver.keeps(step, [], words.clauses("guard", step.action.guard), on)


@pytest.mark.parametrize("goals", [0, 3])
def test_it_stops_when_it_should_and_can_be_asked_again(goals: int) -> None:
    system = SYSTEMS["clerks"]
    stops = iter([False] * goals + [True])
    solver = GoalSolver(system.variables, clauses_of("clerks", *types(system)))
    step = Step(system.actions[0], system, vocabulary("clerks"))
    many = clauses_of("clerks", *types(system)) * 9
    with pytest.raises(KeyboardInterrupt):
        solver.keeps(step, many, [], lambda: next(stops))
    assert solver.keeps(step, many, [], on)


def test_each_value_of_a_bit_vector_is_spelled_in_one_way() -> None:
    (variable,) = (one for one in jugs().variables if one.name == "big")
    assert variable.sort.size() == 3
    flags = [z3.Bool(f"big bit {n}") for n in range(3)]
    for chosen in itertools.product([False, True], repeat=3):
        value = z3.simplify(z3.substitute(spelled(variable), *zip(flags, map(z3.BoolVal, chosen), strict=True)))
        assert value.as_long() == sum(1 << place for place, is_set in enumerate(chosen) if is_set)
