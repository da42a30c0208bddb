"""The gate's proofs: a second one takes what the first showed, says so, and comes to the same; a fresh one does not."""

from pathlib import Path

import pytest

from model_check.checks.proof import verified
from model_check.checks.verifying import How
from model_check.checks.verifying import verified as verify
from model_check.inventory import accepted_systems
from model_check.inventory.accepted import accepted
from model_check.inventory.system_facts import SystemKey
from model_check.reuse import kept_goals
from model_check.reuse.kept_goals import goals_folder
from model_check.verdicts.interrupts import Interrupt
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import Verdict
from spec.expectations import plan
from spec.variants import AS_CODED

EXPECTED = {one.variant: one for one in plan("purgatory").proofs}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty cache; the sources count as loaded."""
    monkeypatch.setenv("KCHECK_CACHE", str(tmp_path))
    monkeypatch.setattr(kept_goals, "are_as_loaded", lambda: True)


def made(variant: str) -> Run:
    (run,) = verified(EXPECTED[variant], deep=False)
    return run


def said_of_goals(run: Run) -> list[str]:
    return [note.partition(" were shown")[0] for note in run.notes if "goals were shown by an earlier proof" in note]


def test_a_proof_again_and_of_another_variant_builds_on_the_first_and_says_so() -> None:
    first = made("AS_CODED")
    assert said_of_goals(first) == []
    again = made("AS_CODED")
    assert said_of_goals(again) == ["681 of 681 goals"]
    assert (again.verdict, again.comparisons, again.findings) == (first.verdict, first.comparisons, first.findings)
    assert [note for note in again.notes if "goals" not in note] == list(first.notes)
    # FENCED has more lemmas, and all of those of AS_CODED. Of 1,919 clauses after a step 84 are of properties that the
    # lemmas imply; 523 are the very terms of AS_CODED, under the same guard, as z3 itself has it: one address.
    assert said_of_goals(made("FENCED")) == ["523 of 1,835 goals"]


def test_the_system_of_a_proof_is_compared_with_the_accepted_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever proves another system than was accepted proves nothing of that one."""
    name = SystemKey("purgatory", AS_CODED, proving=True).name
    assert [one.about for one in made("AS_CODED").comparisons if one.about.startswith("system")] == ["system"]
    monkeypatch.setattr(accepted_systems, "accepted", lambda: {**accepted(), name: "another one"})
    moved = made("AS_CODED")
    assert (moved.verdict, [one.about for one in moved.comparisons if not one.is_met]) == (Verdict.VIOLATED, [name])


@pytest.mark.parametrize("fresh", [False, True])
def test_a_fresh_verification_forgets_what_was_shown(fresh: bool) -> None:
    made("AS_CODED")
    assert goals_folder().exists()
    verify([], [], How(fresh=fresh), Interrupt(raises=False))
    assert goals_folder().exists() is not fresh
