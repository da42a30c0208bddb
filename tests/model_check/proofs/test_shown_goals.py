"""What an earlier proof showed is not asked again, and nothing is taken for shown that was not."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from model_check.proofs import goal_solver
from model_check.proofs.induction import prove
from model_check.proofs.obligations import Step, Vocabulary
from model_check.proofs.proof_findings import run_of_proof
from model_check.proofs.proof_report import ProofReport
from model_check.proofs.shown_goals import Shown
from model_check.proofs.smtlib import decide
from spec.language.rules import Action, Property, TransitionSystem
from spec.language.terms import FLAG, Value
from tests.model_check.elections import always, below_version, elections
from tests.model_check.proofs.test_induction import SMALL, claims_about
from tests.model_check.random_terms import terms

SYSTEM = elections()
LEMMA = below_version(SYSTEM, "epoch")
ONE_PER_EPOCH, _, VERSION_GROWS = SYSTEM.properties
CLAIMS = [ONE_PER_EPOCH, VERSION_GROWS]


def verdicts(report: ProofReport) -> dict[str, str]:
    return {name: one.verdict for name, one in {**report.properties, **report.invariant}.items()}


def shown_by(report: ProofReport) -> Shown:
    assert report.shown is not None
    return report.shown


@cache
def first() -> ProofReport:
    return prove(SYSTEM, CLAIMS, [LEMMA], earlier=[])


def asked_again(report: ProofReport) -> dict[str, int]:
    """How many goals of each action were not shown before, of those that have any."""
    left = {one.name: one.goals - one.shown_before for one in report.obligations}
    return {name: number for name, number in left.items() if number}


def with_action(name: str, **changes: object) -> TransitionSystem:
    """The system with one of its actions changed."""

    def changed(one: Action) -> Action:
        return replace(one, **changes) if one.name == name else one  # type: ignore[arg-type]  # the field's own kind

    return replace(SYSTEM, actions=tuple(map(changed, SYSTEM.actions)))


def test_a_proof_shows_each_goal_once_and_says_what_it_has_shown() -> None:
    assert {one.shown_before for one in first().obligations} == {0}
    goals = sum(one.goals for one in first().obligations)
    # Two clauses may be one: the same goal of an action is one fact.
    assert 0 < len(shown_by(first()).goals) <= goals
    assert prove(SYSTEM, CLAIMS, [LEMMA]).shown is None


def test_the_same_proof_again_needs_no_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(goal_solver.GoalSolver, "keeps", lambda *_: pytest.fail("nothing is to be asked"))
    again = prove(elections(), CLAIMS, [below_version(elections(), "epoch")], earlier=[shown_by(first())])
    assert asked_again(again) == {}
    assert verdicts(again) == verdicts(first())
    named = [[(one.name, one.properties, one.verdict, one.goals) for one in it.obligations] for it in (first(), again)]
    assert named[0] == named[1]
    assert again.shown == first().shown
    assert {decide(one.text, 10).result for one in again.problems} == {"unsat"}


def test_the_report_says_which_goals_an_earlier_proof_has_shown() -> None:
    again = prove(SYSTEM, CLAIMS, [LEMMA], earlier=[shown_by(first())])
    goals = sum(one.goals for one in again.obligations)
    notes = run_of_proof(SYSTEM, again, scope="elections", variant="AS_CODED").notes
    assert f"{goals} of {goals} goals were shown by an earlier proof, from nothing that is not held here" in notes
    fresh = run_of_proof(SYSTEM, first(), scope="elections", variant="AS_CODED").notes
    assert not any("earlier" in one for one in fresh)


def test_a_hypothesis_that_is_missing_leaves_nothing_of_what_was_shown() -> None:
    again = prove(SYSTEM, CLAIMS, [], earlier=[shown_by(first())])
    assert verdicts(again) == verdicts(prove(SYSTEM, CLAIMS, []))
    assert again.properties["one_per_epoch"].verdict == "INCOMPLETE"
    assert {one.shown_before for one in again.obligations} == {0}


def test_one_more_lemma_has_only_itself_asked() -> None:
    more = replace(below_version(SYSTEM, "seen"), name="seen_below")
    again = prove(SYSTEM, CLAIMS, [LEMMA, more], earlier=[shown_by(first())])
    assert verdicts(again) == verdicts(prove(SYSTEM, CLAIMS, [LEMMA, more]))
    # What was read is changed by a read and a write, and the version that it is below by a write of either.
    assert {name.partition("(")[0] for name in asked_again(again)} <= {"read", "write"}
    per_action = asked_again(prove(SYSTEM, CLAIMS, [LEMMA, more], earlier=[]))
    assert all(number < per_action[name] for name, number in asked_again(again).items() if name.startswith("write"))


WRITE = next(one for one in SYSTEM.actions if one.name == "write(c=1)")
VERSION = z3.Int("version")


@pytest.mark.parametrize(
    "changes",
    [
        {"guard": z3.And(WRITE.guard, VERSION >= 0)},
        {"guard": z3.BoolVal(True)},
        {"updates": {**WRITE.updates, "version": VERSION}},
        {"updates": {**WRITE.updates, "version": VERSION + 2}},
    ],
    ids=["a narrower guard", "no guard", "no new version", "a gap"],
)
def test_another_guard_or_update_has_the_action_asked_again_and_no_other(changes: dict[str, object]) -> None:
    system = with_action(WRITE.name, **changes)
    again = prove(system, CLAIMS, [LEMMA], earlier=[shown_by(first())])
    assert verdicts(again) == verdicts(prove(system, CLAIMS, [LEMMA]))
    asked = {name.partition("/")[0] for name in asked_again(again)} | {str(one.action) for one in again.failures}
    assert WRITE.name in asked
    if not again.failures:
        assert asked == {WRITE.name}
    if "guard" in changes:
        (all_of_it,) = (one.goals for one in again.obligations if one.name == WRITE.name)
        assert asked_again(again) == {WRITE.name: all_of_it}


def test_an_update_has_only_the_clauses_asked_that_mention_its_variable() -> None:
    system = with_action(WRITE.name, updates={**WRITE.updates, "candidates[1].seen": z3.IntVal(1)})
    natural = len([one for one in SYSTEM.variables if one.name == "candidates[1].seen"])
    again = prove(system, CLAIMS, [LEMMA], earlier=[shown_by(first())])
    assert asked_again(again) == {WRITE.name: natural}


def test_what_was_shown_from_a_lemma_that_falls_is_asked_without_it() -> None:
    """As if a proof had shown it from the bad lemma: it stands until the lemma is dropped, and not at the end."""
    bad = always("version_below_three", Value(FLAG, VERSION < 3))
    needs_it = always("read_below_three", Value(FLAG, z3.Int("candidates[1].seen") < 3))
    words = Vocabulary(SYSTEM.variables)
    (goal,) = words.clauses("read_below_three", needs_it.term)
    (read,) = (one for one in SYSTEM.actions if one.name == "read(c=1)")
    forged = Shown(frozenset({words.digest(bad.term)}), frozenset({Step(read, SYSTEM, words).key(goal)}))
    report = prove(SYSTEM, [needs_it], [bad], earlier=[forged])
    assert verdicts(report) == verdicts(prove(SYSTEM, [needs_it], [bad]))
    assert report.properties["read_below_three"].verdict == "INCOMPLETE"
    assert shown_by(report).hypotheses.isdisjoint(forged.hypotheses)
    assert shown_by(report).goals.isdisjoint(forged.goals)


def test_a_proof_that_was_interrupted_has_shown_nothing() -> None:
    stops = iter([False] * 5)
    report = prove(SYSTEM, CLAIMS, [LEMMA], earlier=[], stop=lambda: next(stops, True))
    assert report.interrupted
    assert report.shown is None


@pytest.mark.slow
@pytest.mark.takes("Each of its examples is five proofs.")
@pytest.mark.parametrize("name", [name for name in SMALL if name != "jugs"])
@given(data=st.data())
@settings(max_examples=max(1, settings().max_examples // 10))
def test_with_what_other_proofs_have_shown_the_verdicts_are_those_without(name: str, data: st.DataObject) -> None:
    system = SMALL[name]
    many: list[list[Property]] = [data.draw(claims_about(system)) for _ in range(3)]
    some = [replace(one, name=f"{one.name} again") for one in data.draw(st.permutations(many[0]))[:3]]
    earlier = [shown_by(prove(system, one, explain=False, earlier=[])) for one in (*many[:2], [*some, *many[1]])]

    def found(earlier: Sequence[Shown] | None) -> dict[str, str]:
        return verdicts(prove(system, [*many[2], *some], explain=False, earlier=earlier))

    assert found(earlier) == found(None)


# -------------------------------------------------------------------------------------------------------------- digests


@given(some=st.lists(terms(depth=3), min_size=2, max_size=3))
def test_two_terms_have_one_digest_where_they_say_the_same_word_for_word(some: list[z3.ExprRef]) -> None:
    words, others = Vocabulary([]), Vocabulary([])
    said = [words.digest(one) for one in some]
    assert [others.digest(one) for one in reversed(some)] == said[::-1]
    spelled = list[tuple[object, ...]]()
    for node in words.program.nodes:
        spelled.append((node._replace(arguments=()), *(spelled[at] for at in node.arguments)))
    assert len({*spelled}) == len({*words._digests})
    assert len({*zip(spelled, words._digests, strict=True)}) == len({*spelled})
