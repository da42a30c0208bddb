"""Delayed operations: what makes them right is shown by taking it away, and what is proved stays proved."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest
import z3

from model_check.explicit_state.explorer import explore
from model_check.proofs.induction import prove
from model_check.verdicts.verdict import Verdict
from spec.expectations import plan
from spec.language.rules import TransitionSystem, claims_of
from spec.lemmas import delayed_operation, lemmas_of
from spec.model import Model
from spec.scopes import Purgatory, scope
from spec.state.purgatory import At
from spec.system import system
from spec.variants import AS_CODED, FENCED, VARIANTS, Switch, Switches
from tests.model_check.plain_exploration import explore_plainly

SMALL = replace(
    scope("purgatory_alone"), name="small", budgets=(("updates", 1),), purgatory=Purgatory(((0,),), ((),), (1,))
)
RACES = {
    "satisfied_operations_do_not_wait",
    "answered_operations_have_no_timer",
    "completed_operations_do_not_time_out",
}


@cache
def built(switches: Switches, updates: int = 1) -> TransitionSystem:
    """One request for one topic, and some updates."""
    return system(replace(SMALL, budgets=(("updates", updates),)), switches)


def test_a_purgatory_has_nothing_else_of_the_protocol() -> None:
    assert {action.rule for action in built(AS_CODED).actions}.isdisjoint({"elect_read", "crash", "deliver_request"})
    assert {one.name.partition("[")[0].partition(".")[0] for one in built(AS_CODED).variables} == {
        "led", "watching", "operations", "estimated", "purging", "threads", "budget",
    }  # fmt: skip
    assert not any(action.rule == "compare_and_set" for action in system(scope("tiny")).actions)


@pytest.mark.parametrize("variant", ["AS_CODED", "FENCED"])
def test_engines_agree(variant: str) -> None:
    one = built(VARIANTS[variant])
    native, plain = explore(one), explore_plainly(one)
    assert (native.states, native.transitions, native.levels) == (plain.states, plain.transitions, plain.levels)
    assert native.violated.keys() == plain.violations.keys()


def mutated(one: TransitionSystem, rule: str, updates: Callable[[str, z3.ExprRef], z3.ExprRef]) -> set[str]:
    """What is broken when the updates of a rule's actions are changed."""
    actions = tuple(
        replace(a, updates={n: updates(n, term) for n, term in a.updates.items()}) if a.rule == rule else a
        for a in one.actions
    )
    return set(explore_plainly(replace(one, actions=actions)).violations)


def test_without_the_compare_and_set_an_operation_completes_twice() -> None:
    def blindly(_name: str, term: z3.ExprRef) -> z3.ExprRef:
        return z3.substitute(term, (z3.Bool("operations[0].completed"), z3.BoolVal(False)))

    assert set(explore_plainly(built(FENCED)).violations) == set()
    found = mutated(built(FENCED), "compare_and_set", blindly)
    assert {"an_operation_completes_once", "on_expiration_runs_once_after_expiry"} <= found


def test_without_the_second_try_an_update_before_it_is_missed_also_with_the_fix() -> None:
    at = built(FENCED).actions[0].updates["threads[0].at"].sort()

    def tried_once(name: str, term: z3.ExprRef) -> z3.ExprRef:
        second, after = (z3.BitVecVal(list(At).index(one), at.size()) for one in (At.SECOND_TRY, At.RECHECK))
        return z3.If(z3.Const("threads[0].at", at) == second, after, term) if name == "threads[0].at" else term

    assert mutated(built(FENCED), "try_request", tried_once) == {"satisfied_operations_do_not_wait"}


@pytest.mark.slow
def test_each_race_is_fixed_by_its_own_switch() -> None:
    """With all fixes but one, what that one fixes is broken, and nothing else."""
    races = {
        Switch.ARM_BEFORE_SECOND_TRY: ("purgatory_alone", "satisfied_operations_do_not_wait"),
        Switch.INSERT_UNDER_MONITOR: ("purgatory", "answered_operations_have_no_timer"),
        Switch.ANSWER_AS_FOUND: ("purgatory_alone", "completed_operations_do_not_time_out"),
    }
    assert {name for _, name in races.values()} == RACES
    for fix, (name, race) in races.items():
        assert set(explore(system(scope(name), FENCED - {fix}), expected=100_000).violated) == {race}


# ------------------------------------------------------------------------------------------------------------- proofs


@pytest.mark.parametrize("variant", ["AS_CODED", "FENCED"])
def test_what_is_not_a_known_race_is_proved_for_any_number_of_updates(variant: str) -> None:
    within, switches = scope("purgatory"), VARIANTS[variant]
    unbounded = system(within, switches, proving=True)
    lemmas = lemmas_of(Model(within, switches, proving=True))
    (expected,) = (one for one in plan("purgatory").proofs if one.variant == variant)
    assert expected.violated == (RACES if variant == "AS_CODED" else set())
    promised = [
        one for one in unbounded.properties if one.kind in {"always", "step"} and one.name not in expected.violated
    ]
    report = prove(unbounded, promised, lemmas, explain=False)
    assert {name for name, one in report.properties.items() if one.verdict is Verdict.HOLDS} == {
        one.name for one in promised
    }
    assert all(one.verdict is Verdict.HOLDS for one in report.invariant.values())
    assert not any(one.name.startswith("budget") for one in unbounded.variables)


def test_the_lemmas_are_the_purgatorys_own_and_two_need_fixes() -> None:
    found = {v: {one.name for one in lemmas_of(Model(scope("purgatory"), VARIANTS[v]))} for v in VARIANTS}
    assert found["FENCED"] == {one.name for one in claims_of(delayed_operation)}
    assert found["FENCED"] - found["AS_CODED"] == {
        "a_completed_operation_loses_its_entry", "satisfied_operations_are_being_tried",
    }  # fmt: skip
