"""Bounded runs: as short as an exhaustive search finds them, replayable, and no verdict without a depth."""

import pytest
import z3

from model_check.proofs.bounded import NotCheckable, at_most_one, check_bounded
from model_check.terms.straight_line import evaluate
from spec.language.rules import Action, Property, TransitionSystem, Variable
from spec.language.terms import epoch
from tests.model_check.elections import below_version, elections, factors, watching
from tests.model_check.plain_exploration import explore_plainly
from tests.model_check.systems import EXPECTED, odometer

CLAIMS = [
    (system, one) for system, _ in EXPECTED.values() for one in system.properties if one.kind in {"always", "step"}
]


@pytest.mark.parametrize(("system", "claim"), CLAIMS, ids=[f"{system.name}-{one.name}" for system, one in CLAIMS])
def test_the_run_found_is_as_long_as_the_shortest_by_exhaustive_search(
    system: TransitionSystem, claim: Property
) -> None:
    searched = explore_plainly(system)
    report = check_bounded(system, claim, searched.depth + 1)
    if claim.name not in searched.violations:
        assert (report.verdict, report.trace) == ("INCOMPLETE", None)
        assert report.depth == searched.depth + 1
        assert f"up to a depth of {searched.depth + 1} steps" in report.reason
        return
    shortest = len(searched.violations[claim.name].trace)
    assert report.verdict == "VIOLATED"
    assert report.trace is not None
    assert (len(report.trace), report.depth) == (shortest, shortest - 1)


@pytest.mark.parametrize("few", [0, 1, 2])
def test_too_many_terms_take_two_steps_each(few: int) -> None:
    system = elections(few + 1, few=few)
    seen: list[int] = []
    report = check_bounded(system, system.property_named("few_terms"), 10, progress=seen.append)
    assert report.trace is not None
    assert len(report.trace) == 2 * (few + 1)
    assert report.trace.last["version"] == few + 1
    assert seen == sorted(set(seen))
    assert seen[-1] == report.depth == 2 * few + 1


@pytest.mark.parametrize(
    ("claim", "length"),
    [
        (z3.Not(z3.Bool("won")), 1),  # the first version is the watched epoch
        (z3.Int("watched") > z3.Int("version"), 0),  # it is none yet
        (z3.Int("watched") <= z3.Int("version") + 50, 0),  # it is far away
        (z3.Or(z3.Not(z3.Bool("won")), z3.Int("watched") < 4), 4),  # it is the fourth
        (z3.Or(z3.Not(z3.Bool("won")), z3.Int("version") < z3.Int("watched") + 2), 3),  # two more after the first
    ],
)
def test_what_no_action_changes_is_chosen_to_break_the_claim(claim: z3.BoolRef, length: int) -> None:
    one = Property("claim", "always", "It is false.", "by hand", claim)
    report = check_bounded(watching(), one, 7)
    assert report.trace is not None
    assert len(report.trace) == length
    assert evaluate(claim, report.trace.last) == 0


def test_known_invariants_may_be_used() -> None:
    system = elections(2)
    lemma = below_version(system, "epoch")
    report = check_bounded(system, system.property_named("one_per_epoch"), 7, invariants=[lemma])
    assert (report.verdict, report.depth) == ("INCOMPLETE", 7)
    # What is assumed is believed: nothing is found where a false invariant rules it out.
    wrong = Property("no_terms", "always", "There are none.", "by hand", z3.Int("version") == 0)
    assert check_bounded(system, system.property_named("few_terms"), 7, invariants=[wrong]).trace is None


def test_a_candidate_resigns_before_it_wins_again() -> None:
    system = elections(1, few=1)
    report = check_bounded(system, system.property_named("few_terms"), 10)
    assert report.trace is not None
    assert report.trace.actions == ("read(c=1)", "write(c=1)", "resign(c=1)", "read(c=1)", "write(c=1)")


def test_a_step_is_broken_by_the_last_action_and_not_at_the_start() -> None:
    system = odometer(1, 1)
    never = Property("never_turns", "step", "Nothing turns.", "by hand", terms={"turn(w=1)": z3.BoolVal(False)})
    report = check_bounded(system, never, 3)
    assert report.trace is not None
    assert report.trace.actions == ("turn(w=1)",)
    assert check_bounded(system, never, 0).verdict == "INCOMPLETE"


@pytest.mark.slow
def test_without_an_answer_the_depth_reached_is_said() -> None:
    system = elections(4)
    report = check_bounded(system, system.property_named("one_per_epoch"), 30, timeout_s=0.05)
    assert (report.verdict, report.trace) == ("INCOMPLETE", None)
    assert report.depth < 30
    assert report.reason == f"no answer within 0.05 s for {report.depth + 1} steps; holds up to {report.depth}"


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_of_some_flags_none_or_one_holds(count: int) -> None:
    flags = [z3.Bool(str(number)) for number in range(count)]
    solver, patterns = z3.Solver(), []
    solver.add(at_most_one(flags))
    while solver.check() == z3.sat:
        pattern = [z3.is_true(solver.model().eval(one, model_completion=True)) for one in flags]
        patterns.append(sum(pattern))
        solver.add(z3.Or(*(one != value for one, value in zip(flags, pattern, strict=True))))
    assert sorted(patterns) == [0] + [1] * count


def test_integers_that_also_shrink_are_left_to_arithmetic() -> None:
    """A counter that goes up by three and down by one first shows two after one step up and one down."""
    counter = Variable("counter", epoch(0, unbounded=True), 0)
    term = z3.Int("counter")

    def changes(name: str, guard: z3.BoolRef, update: z3.ExprRef) -> Action:
        return Action(name, name, {}, "hand", "", "by hand", None, guard, z3.BoolVal(False), {"counter": update}, ())

    actions = (changes("up", z3.BoolVal(True), term + 3), changes("down", term > 0, term - 1))
    never_two = Property("never_two", "always", "The counter never shows two.", "by hand", term != 2)
    report = check_bounded(TransitionSystem("counter", (counter,), actions, (never_two,)), never_two, 5)
    assert report.trace is not None
    assert report.trace.actions == ("up", "down")


def test_only_claims_that_a_finite_run_can_break_are_looked_at() -> None:
    with pytest.raises(NotCheckable, match="all_at_top is of the kind 'sometimes'"):
        check_bounded(odometer(), odometer().property_named("all_at_top"), 1)


def test_what_cannot_be_proved_in_time_can_still_be_unrolled() -> None:
    """Nobody changes the factors from zero, so that no run of bounded length needs the primality of anything."""
    system = factors()
    assert check_bounded(system, system.property_named("prime"), 3, timeout_s=5).depth == 3
