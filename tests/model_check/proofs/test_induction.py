"""Proofs by induction: of what is true for reasons given beside the system, and never of what is not."""

import functools
import itertools
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from model_check.explicit_state.interpreter import Machine
from model_check.proofs import goal_solver, smtlib
from model_check.proofs.induction import NotProvable, _Proof, prove
from model_check.proofs.obligations import TYPE_OF, conjuncts
from model_check.proofs.proof_findings import run_of_proof
from model_check.proofs.proof_report import ProofReport
from model_check.proofs.smtlib import Answer, decide, export, file_name
from spec.language.rules import Property, TransitionSystem
from spec.language.terms import FLAG, Value
from tests.model_check.elections import always, below_version, elections, factors, watching
from tests.model_check.plain_exploration import explore_plainly
from tests.model_check.systems import EXPECTED, clerks, jugs, lamps, odometer


def verdicts(report: ProofReport) -> dict[str, str]:
    return {name: one.verdict for name, one in report.properties.items()}


ELECTIONS = elections()
LEMMA = below_version(ELECTIONS, "epoch")
ONE_PER_EPOCH, FEW_TERMS, VERSION_GROWS = ELECTIONS.properties


def test_with_its_lemma_an_epoch_has_one_term_however_large_epochs_get() -> None:
    report = prove(ELECTIONS, lemmas=[LEMMA])
    assert verdicts(report) == {"one_per_epoch": "HOLDS", "few_terms": "INCOMPLETE", "version_grows": "HOLDS"}
    assert report.invariant[LEMMA.name].verdict == "HOLDS"
    assert report.assumptions == ()
    assert {one.verdict for one in report.obligations} == {"PROVED"}


def test_without_it_the_step_into_an_epoch_that_somebody_serves_already_is_shown() -> None:
    report = prove(ELECTIONS, [ONE_PER_EPOCH])
    conclusion = report.properties["one_per_epoch"]
    assert conclusion.verdict == "INCOMPLETE"
    (failure,) = report.failures[:1]
    assert failure.action is not None
    assert failure.action in conclusion.reason
    found = failure.counterexample
    assert found is not None
    assert found.breaks == ("one_per_epoch",)
    writer, other = (1, 2) if failure.action == "write(c=1)" else (2, 1)
    epochs = [f"candidates[{c}].epoch" for c in (writer, other)]
    # The other serves in an epoch to come, the very one that the writer makes, and the version is where it started.
    assert found.before["version"] == 0
    assert found.after[epochs[0]] == found.before[epochs[1]] == found.after["version"] == 1
    text = found.text(ELECTIONS).splitlines()
    assert text.index(f"  candidates[{other}].at = SERVES") < text.index(f"action: write(c={writer})")
    assert text.index(f"  candidates[{writer}].at = SERVES") > text.index(f"action: write(c={writer})")


def test_what_is_false_at_the_start_is_violated_and_is_not_assumed_later() -> None:
    absurd = always("absurd", Value(FLAG, z3.Int("version") == 1))
    report = prove(ELECTIONS, [absurd, ONE_PER_EPOCH])
    assert verdicts(report) == {"absurd": "VIOLATED", "one_per_epoch": "INCOMPLETE"}


def test_a_bad_lemma_spoils_only_what_needs_it() -> None:
    version = z3.Int("version")
    bad = always("version_below_three", Value(FLAG, version < 3))
    needs_it = always("version_not_three", Value(FLAG, version != 3))
    report = prove(ELECTIONS, [ONE_PER_EPOCH, needs_it], [LEMMA, bad])
    assert verdicts(report) == {"one_per_epoch": "HOLDS", "version_not_three": "INCOMPLETE"}
    assert report.invariant["version_below_three"].verdict == "INCOMPLETE"
    owners = {owner for one in report.obligations for owner in one.properties}
    assert owners.isdisjoint({"version_below_three", "version_not_three"})
    assert not any("< version 3" in one.problem.text for one in report.obligations)


def test_what_one_step_kept_by_a_lemma_is_asked_again_when_another_step_breaks_the_lemma() -> None:
    bad = always("version_below_three", Value(FLAG, z3.Int("version") < 3))
    needs_it = always("read_below_three", Value(FLAG, z3.Int("candidates[1].seen") < 3))
    report = prove(ELECTIONS, [needs_it], [bad], earlier=[])
    # Reading keeps it, as long as the version is below three; only writing raises the version.
    assert verdicts(report) == {"read_below_three": "INCOMPLETE"}
    assert report.properties["read_below_three"].reason.startswith("not inductive: read(c=1)")
    assert report.invariant["version_below_three"].reason.startswith("not inductive: write(")


def test_what_the_lemmas_imply_is_not_stepped() -> None:
    implied = always("epoch_one_above_at_most", Value(FLAG, z3.Int("candidates[1].epoch") <= z3.Int("version") + 1))
    report = prove(ELECTIONS, [implied], [LEMMA])
    assert verdicts(report) == {"epoch_one_above_at_most": "HOLDS"}
    asked = [one.name for one in report.obligations if implied.name in one.properties]
    assert sorted(asked) == ["implied/epoch_one_above_at_most", "init"]


def test_a_question_without_an_answer_names_the_action_and_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(goal_solver.OPTIONS, "rlimit", 1_000_000)
    report = prove(factors(), timeout_s=0.2)
    assert verdicts(report) == {"prime": "INCOMPLETE", "still_prime": "INCOMPLETE"}
    assert {one.reason for one in report.properties.values()} == {"no answer within 0.2 s for factor()"}
    assert {one.verdict for one in report.failures} == {"TIMEOUT"}
    assert not any("prime" in one.properties for one in report.obligations if one.action)


def test_what_needs_a_lemma_without_an_answer_is_open_and_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its counterexample is a state that the lemma excludes, so nothing is said of whether it is inductive."""

    def no_time_for_the_lemma(text: str, *how: object) -> Answer:
        asked_of = text.partition("\n")[0]
        alone = "/" in asked_of and LEMMA.name not in asked_of
        return decide(text, *how) if alone else Answer("unknown", 0.1)  # type: ignore[arg-type]  # as it was called

    monkeypatch.setitem(goal_solver.OPTIONS, "rlimit", 1)
    monkeypatch.setattr(smtlib, "decide", no_time_for_the_lemma)
    monkeypatch.setattr(_Proof, "check_start", lambda _: None)
    report = prove(ELECTIONS, lemmas=[LEMMA], timeout_s=0.1)
    assert report.invariant[LEMMA.name].reason.startswith("no answer within 0.1 s for ")
    reason = report.properties["one_per_epoch"].reason
    assert re.fullmatch(r"open: write\(c=[12]\) breaks it from a state that epoch_below_version would exclude", reason)
    assert report.properties["few_terms"].reason.startswith("not inductive: "), "which no lemma would save"
    run = run_of_proof(ELECTIONS, report, scope="elections", variant="")
    assert "0 of 1 lemmas are inductive, and of 1 nothing is known" in run.notes[0]


def test_a_bound_that_may_stop_an_action_is_an_assumption() -> None:
    bounded = elections(top=7)
    report = prove(bounded, [bounded.property_named("version_grows")])
    assert verdicts(report) == {"version_grows": "HOLDS"}
    assert report.assumptions == ("write(c=1)", "write(c=2)")


def test_what_no_action_changes_stands_for_any_number() -> None:
    system, watched, version = watching(), z3.Int("watched"), z3.Int("version")
    lemma = always("won_is_past", Value(FLAG, z3.Implies(z3.Bool("won"), watched <= version)))
    absurd = always("watches_the_first", Value(FLAG, watched == 0))
    report = prove(system, [*system.properties, absurd], [lemma])
    assert report.arbitrary == ("watched",)
    assert verdicts(report) == {"won_once": "HOLDS", "watches_the_first": "VIOLATED"}
    assert report.properties["watches_the_first"].reason == "false in an initial state"
    assert verdicts(prove(system)) == {"won_once": "INCOMPLETE"}


def test_the_type_invariant_is_derived_and_a_type_that_steps_leave_is_found() -> None:
    report = prove(jugs(), [])
    # The largest measure, 5, leaves two bit patterns unused. Five measures in the small jug, which holds three, are
    # within its type, and to pour the big one into it then takes away what is not there.
    assert set(report.invariant) == {TYPE_OF + "big", TYPE_OF + "small"}
    assert "pour" in report.failures[0].name
    assert any(one.verdict == "INCOMPLETE" for one in report.invariant.values())


@pytest.mark.parametrize("workers", [1, 2])
def test_progress_comes_once_for_each_action(workers: int) -> None:
    seen: list[tuple[int, int, str]] = []
    prove(ELECTIONS, [VERSION_GROWS], workers=workers, progress=lambda *one: seen.append(one))
    assert [done for done, _, _ in seen] == [1, 2, 3, 4, 5, 6]
    assert sorted(name for _, _, name in seen) == sorted(action.name for action in ELECTIONS.actions)


def test_what_induction_says_nothing_about_is_refused() -> None:
    sometimes = odometer().property_named("all_at_top")
    with pytest.raises(NotProvable, match="all_at_top is of the kind 'sometimes'"):
        prove(odometer(), [sometimes])
    with pytest.raises(NotProvable, match="version_grows is of the kind 'step'; what can be proved here is always"):
        prove(ELECTIONS, [], [VERSION_GROWS])
    with pytest.raises(NotProvable, match="one_per_epoch is given twice"):
        prove(ELECTIONS, [ONE_PER_EPOCH], [ONE_PER_EPOCH])


def test_every_obligation_has_a_file_that_proves_it_again(tmp_path: Path) -> None:
    report = prove(ELECTIONS, [ONE_PER_EPOCH], [LEMMA])
    paths = export(report.problems, tmp_path)
    assert [path.name for path in paths] == [file_name(one.name) for one in report.obligations]
    assert {"init.smt2", "read.c1.smt2", "write.c2.smt2"} <= {path.name for path in paths}
    assert {decide(path.read_text(encoding="utf-8"), 10).result for path in paths} == {"unsat"}
    again = prove(elections(), [ONE_PER_EPOCH], [below_version(elections(), "epoch")])
    assert [one.name for one in again.obligations] == [one.name for one in report.obligations]


# ----------------------------------------------------------------------------------------- against exhaustive searches


@pytest.mark.parametrize("system", [system for system, _ in EXPECTED.values()], ids=EXPECTED)
def test_nothing_is_proved_that_a_search_finds_violated(system: TransitionSystem) -> None:
    violated = set(explore_plainly(system).violations)
    proved = {name for name, verdict in verdicts(prove(system)).items() if verdict == "HOLDS"}
    assert proved.isdisjoint(violated)


SMALL = {one.name: one for one in (clerks(), jugs(), lamps(2, 2), elections(top=2))}


@functools.cache
def machine_of(name: str) -> Machine:
    return Machine(SMALL[name])


@functools.cache
def all_states(name: str) -> list[tuple[int, ...]]:
    """Every state of the right types, reachable or not."""
    return list(itertools.product(*(range(one.kind.maximum + 1) for one in SMALL[name].variables)))


def greatest_inductive_part(name: str, claims: Sequence[Property]) -> set[str]:
    """What Houdini's fixpoint is by definition, found by trying every state."""
    machine = machine_of(name)
    holds = {one.name: machine.condition(one.term) for one in claims}
    tops = [one.kind.maximum for one in SMALL[name].variables]
    alive = {one for one, true in holds.items() if true(machine.initial)}
    typed = True
    while True:
        broken: set[str] = set()
        for state in all_states(name):
            if all(holds[one](state) for one in alive):
                for _, step in machine.steps:
                    after = step(state)
                    if after is not None:
                        typed = typed and all(value <= top for value, top in zip(after, tops, strict=True))
                        broken |= {one for one in alive if not holds[one](after)}
        assert typed, "choose systems whose types are inductive by themselves"
        if not broken:
            return alive
        alive -= broken


@st.composite
def claims_about(draw: st.DrawFn, system: TransitionSystem) -> list[Property]:
    """Clauses of two comparisons with constants, or between two variables of a kind."""

    def atom() -> Value:
        one = draw(st.sampled_from(system.variables))
        value = one.kind.variable(one.name)
        alike = [other for other in system.variables if other.kind.name == one.kind.name]
        other = draw(st.sampled_from(alike))
        if draw(st.booleans()) or one.kind is FLAG:
            right = Value(one.kind, one.kind.literal(draw(st.integers(0, one.kind.maximum))))
        else:
            right = other.kind.variable(other.name)
        comparisons = [Value.__eq__, Value.__ne__] + [Value.__le__] * (one.kind is not FLAG)
        return draw(st.sampled_from(comparisons))(value, right)

    return [always(f"claim {number}", atom() | atom()) for number in range(draw(st.integers(1, 8)))]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name != "lamps-2-2")) for name in SMALL if name != "jugs"]
)
@given(data=st.data())
@settings(max_examples=12)
def test_what_is_proved_is_the_largest_inductive_part(name: str, data: st.DataObject) -> None:
    """Every day of the smallest system."""
    system = SMALL[name]
    claims = data.draw(claims_about(system))
    report = prove(system, claims[:3], claims[3:], explain=False)
    proved = {one for one, found in {**report.properties, **report.invariant}.items() if found.verdict == "HOLDS"}
    assert proved - {one for one in proved if one.startswith(TYPE_OF)} == greatest_inductive_part(name, claims)


FLAGS = z3.Bools("p q r s")


def connectives() -> st.SearchStrategy[z3.BoolRef]:
    def wider(inner: st.SearchStrategy[z3.BoolRef]) -> st.SearchStrategy[z3.BoolRef]:
        several = st.lists(inner, min_size=2, max_size=3)
        return st.one_of(
            several.map(lambda parts: z3.And(*parts)),
            several.map(lambda parts: z3.Or(*parts)),
            inner.map(z3.Not),
            st.tuples(inner, inner).map(lambda pair: z3.Implies(*pair)),
        )

    return st.recursive(st.sampled_from(FLAGS), wider, max_leaves=12)


@given(term=connectives())
def test_conjuncts_are_together_the_term(term: z3.BoolRef) -> None:
    parts = list(conjuncts(term))
    assert not any(z3.is_and(part) for part in parts)
    solver = z3.Solver()
    solver.add(z3.And(*parts) != term)
    assert solver.check() == z3.unsat


def test_an_implication_is_split_on_both_sides() -> None:
    p, q, r, s = FLAGS
    assert len(list(conjuncts(z3.Implies(z3.Or(p, q), z3.And(r, s))))) == 4
