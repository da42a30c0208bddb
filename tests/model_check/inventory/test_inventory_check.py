"""The gate compares with the inventory: every edit that makes it check less is found, and named."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from model_check.checks import gate, live_checks
from model_check.inventory import facts, inventory_check, system_facts, whole_protocol
from model_check.inventory.accepted import accepted
from model_check.inventory.accepted_systems import REVIEW, with_system_compared
from model_check.inventory.inventory_check import check_inventory
from model_check.inventory.system_facts import SystemKey, system_keys
from model_check.judging import shipped_recordings
from model_check.reuse.reusable import Reusable
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import Verdict
from spec import defects, expectations, properties, scopes
from spec.expectations import plans
from spec.language.rules import Claimed, say, when
from spec.language.terms import YES, Value, flag
from spec.lemmas import declared
from spec.logs.controller_request_lines import ControllerLine
from spec.manifest import manifest as real_manifest
from spec.properties import claim_named, claims
from spec.protocol import state_change_log
from spec.protocol.failover import election
from spec.protocol.requests import batch
from spec.variants import AS_CODED, FENCED, Switches

pytestmark = pytest.mark.xdist_group("whole protocol")


@pytest.mark.slow
def test_what_is_checked_is_what_was_accepted() -> None:
    """All of it, the terms of the whole protocol included, as `kcheck verify` compares it every day."""
    run = check_inventory(plans(), gate.gate())
    assert [one for one in run.comparisons if not one.is_met] == []
    assert run.verdict is Verdict.HOLDS
    assert run.notes == ()


@pytest.fixture
def unmoved(monkeypatch: pytest.MonkeyPatch) -> None:
    """The terms of the protocol stay as accepted, so that nobody needs to write them down."""
    monkeypatch.setattr(inventory_check, "term_facts", lambda: iter(terms().items()))


def terms() -> dict[str, str]:
    """What was accepted of terms, and of lines."""
    found = {name: told for name, told in accepted().items() if name.endswith((" / terms", " / lines"))}
    assert found
    return found


def unmet() -> list[tuple[str, str, str]]:
    """What the gate complains of; it then says what to do."""
    run = check_inventory(plans(), gate.gate())
    found = [(one.about, one.expected, one.found) for one in run.comparisons if not one.is_met]
    assert run.verdict is (Verdict.VIOLATED if found else Verdict.HOLDS)
    assert run.notes == ((REVIEW,) if found else ())
    return found


@pytest.mark.usefixtures("unmoved")
def test_what_is_not_edited_passes_the_gate() -> None:
    assert unmet() == []


@pytest.fixture
def manifest(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """A copy of the manifest's scopes, for a test to edit."""
    given = {"scope": deepcopy(dict(real_manifest()["scope"]))}
    monkeypatch.setattr(scopes, "manifest", lambda: given)
    monkeypatch.setattr(expectations, "manifest", lambda: given)
    scopes.scopes.cache_clear()
    yield given["scope"]
    scopes.scopes.cache_clear()


Edit = Callable[[dict[str, Any]], object]


def cut_and_measured_anew(entries: dict[str, Any]) -> None:
    entries["small"]["bounds"]["budgets"]["expiries"] = 1
    entries["small"]["expect"]["AS_CODED"]["states"] = 7


EDITS: dict[str, tuple[Edit, list[tuple[str, ...]]]] = {
    "a scope leaves the everyday gate": (
        lambda entries: entries["bounce"].setdefault("verify", {}).update(deep=True),
        [
            ("gate explorer bounce AS_CODED", "every day", "with --deep"),
            ("gate explorer bounce FENCED", "every day", "with --deep"),
            ("scope bounce / verified", "every day", "with --deep"),
        ],
    ),
    "a scope's goals are not asked": (
        lambda entries: entries["tiny"].setdefault("verify", {}).update(goals=False),
        [("scope tiny / verified", "with goals", "without goals")],
    ),
    "a proof's expectations are dropped": (
        lambda entries: entries["proof"]["prove"].pop("FENCED"),
        [
            ("gate induction proof FENCED", "every day", "nothing"),
            ("scope proof / proved FENCED",),
            ("system proof FENCED proving",),
        ],
    ),
    "a property is no longer expected to be proved": (
        lambda entries: entries["proof"]["prove"]["FENCED"].update(violated=["one_term_acts_in_an_epoch"]),
        [("scope proof / proved FENCED",)],
    ),
    "a variant's expectation is gone": (
        lambda entries: entries["bounce"]["expect"].pop("FENCED"),
        [
            ("gate explorer bounce FENCED", "every day", "nothing"),
            ("scope bounce / explored FENCED",),
            ("system bounce FENCED",),
        ],
    ),
    "a violation is expected where none was": (
        lambda entries: entries["large"]["expect"]["AS_CODED"]["violated"].update(leaders_were_in_sync=9),
        [("scope large / explored AS_CODED",)],
    ),
    "a row is no longer asked for": (
        lambda entries: entries["creation"]["expect"]["AS_CODED"].pop("rows"),
        [("scope creation / explored AS_CODED",)],
    ),
    "bounds are cut, and what is left is measured": (
        cut_and_measured_anew,
        [
            ("scope small / budget expiries", "2", "1"),
            ("scope small / explored AS_CODED",),
        ],
    ),
    "a place of the crash matrix recovers no more": (
        lambda entries: entries["matrix_failover"]["matrix"]["expect"]["AS_CODED"]["crash"].update(OVER="never tried"),
        [("scope matrix_failover / matrix AS_CODED",)],
    ),
}  # fmt: skip


@pytest.mark.usefixtures("unmoved")
@pytest.mark.parametrize("name", EDITS)
def test_an_edit_of_the_manifest_fails_the_gate(name: str, manifest: dict[str, Any]) -> None:
    edit, expected = EDITS[name]
    edit(manifest)
    found = unmet()
    assert [wanted for wanted in expected if wanted not in {one[: len(wanted)] for one in found}] == []


@pytest.mark.usefixtures("unmoved")
def test_a_recording_taken_out_of_the_list_fails_the_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    left = {name: broken for name, broken in shipped_recordings.BROKEN.items() if name != "03-controller-kill"}
    monkeypatch.setattr(facts, "BROKEN", left)
    monkeypatch.setattr(shipped_recordings, "BROKEN", left)
    assert [one[0] for one in unmet()] == [
        "gate judge 03-controller-kill AS_CODED", "recording 03-controller-kill",
    ]  # fmt: skip


@pytest.mark.usefixtures("unmoved")
def test_a_recording_judged_less_often_fails_the_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    less = shipped_recordings.DEEP | {"03-controller-kill"}
    monkeypatch.setattr(facts, "DEEP", less)
    monkeypatch.setattr(shipped_recordings, "DEEP", less)
    assert [one[1:] for one in unmet()] == [
        ("every day", "with --deep"), ("judged every day", "judged with --deep"),
    ]  # fmt: skip


@pytest.mark.usefixtures("unmoved")
def test_a_defects_row_that_is_gone_or_shown_otherwise_fails_the_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    first, *others = defects.DEFECTS
    monkeypatch.setattr(facts, "DEFECTS", tuple(others))
    assert [one[::2] for one in unmet()] == [(f"defect {first.id}", "nothing")]
    monkeypatch.setattr(facts, "DEFECTS", (replace(first, first_depth=first.first_depth + 1), *others))
    assert [one[0] for one in unmet()] == [f"defect {first.id}"]


@pytest.mark.usefixtures("unmoved")
def test_a_claim_that_is_gone_or_has_another_witness_fails_the_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    known = list(claims())
    name = next(one.name for one in known if one.witness)
    left = [one for one in known if one.name != name]
    monkeypatch.setattr(facts, "claims", lambda: iter(left))
    assert [one[::2] for one in unmet()] == [(f"claim {name}", "nothing"), (f"claim {name} / words", "nothing")]
    easier = replace(claim_named(name), witness="an_easier_one")
    monkeypatch.setattr(facts, "claims", lambda: iter([*left, easier]))
    assert [one[0] for one in unmet()] == [f"claim {name}"]


@pytest.mark.usefixtures("unmoved")
def test_a_lemma_in_other_words_fails_the_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    first, *others = declared()
    monkeypatch.setattr(facts, "declared", lambda: iter([replace(first, statement="The opposite."), *others]))
    assert [one[0] for one in unmet()] == [f"lemma {first.name} / words"]


@pytest.mark.usefixtures("unmoved")
def test_other_files_under_the_name_of_a_recording_fail_the_gate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *others = shipped_recordings.ARCHIVES
    swapped = tmp_path / first.name
    swapped.write_bytes(others[0].read_bytes())
    of_long = shipped_recordings.archives_of

    def archives_of(name: str) -> tuple[Path, ...]:
        return of_long(name) if name in shipped_recordings.LONG else (swapped, *others)

    monkeypatch.setattr(facts, "archives_of", archives_of)
    assert [one[0] for one in unmet()] == [f"archive {first.name}"]


def test_a_kept_comparison_of_facts_does_not_outlive_another_archive() -> None:
    """Its key has their bytes."""
    (check,) = [one for some in gate.checks([], whole=True, deep=False) for one in some if one.engine == "inventory"]
    assert isinstance(check, Reusable)
    assert set(shipped_recordings.ARCHIVES) < set(check.files)


@pytest.mark.usefixtures("unmoved")
def test_a_live_run_without_its_faults_fails_the_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_checks, "SHORT", replace(live_checks.SHORT, faults=0))
    assert [one[0] for one in unmet()] == [f"live run {live_checks.SHORT.title}"]


@pytest.mark.usefixtures("unmoved")
def test_a_fix_that_is_expected_to_break_something_fails_the_gate(manifest: dict[str, Any]) -> None:
    """As it stands, also where the numbers of that scope are measured anew and accepted one by one."""
    entry = manifest["bounce"]["expect"]["FENCED"]
    entry["violated"] = {**entry.get("violated", {}), "epochs_never_go_back": 1}
    assert {one[0] for one in unmet()} == {"scope bounce / explored FENCED", "variant FENCED / breaks"}


def test_a_term_that_is_not_the_accepted_one_fails_the_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    known = terms()
    for kind, part in (("action", "terms"), ("action", "lines"), ("claim", "terms")):
        name = next(one for one in known if one.startswith(kind) and one.endswith(part))
        monkeypatch.setattr(inventory_check, "term_facts", lambda name=name: iter({**known, name: "0"}.items()))
        assert [one[::2] for one in unmet()] == [(name, "0")]
    less = dict(list(known.items())[1:])
    monkeypatch.setattr(inventory_check, "term_facts", lambda: iter(less.items()))
    assert [one[2] for one in unmet()] == ["nothing"]


@pytest.fixture
def small_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    """The protocol of a small scope, written down anew each time."""
    monkeypatch.setattr(whole_protocol, "WHOLE", (scopes.scope("bounce"),))
    monkeypatch.setattr(whole_protocol, "_built", whole_protocol._built.__wrapped__)


@pytest.mark.usefixtures("small_protocol")
@pytest.mark.parametrize(
    "name",
    [
        "isr_is_within_assigned",
        pytest.param("brokers_accept_only_higher_leader_epochs", marks=pytest.mark.slow),
        pytest.param("two_brokers_lead", marks=pytest.mark.slow),
    ],
)
def test_a_claim_or_a_witness_that_is_made_always_true_has_other_terms(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every day that of a state; with --deep that of a step, and a witness."""
    before = dict(whole_protocol.term_facts())
    weaker = tuple(replace(one, function=Claimed(one.kind, _always)) if one.name == name else one for one in claims())
    monkeypatch.setattr(properties, "claims", lambda: weaker)
    after = dict(whole_protocol.term_facts())
    assert [one for one in before if before[one] != after[one]] == [f"claim {name} / terms"]


EDITED_LINES = {
    "a line may be missing": (election, "say", lambda line, **fields: say(line, **fields, perhaps=True)),
    "a line is left out": (election, "say", lambda _line, **_fields: None),
    "a line tells of another": (election, "say", lambda line, **fields: say(line, **fields, broker=1)),
    "lines come in an order": (batch, "in_any_order", nullcontext),
    "a condition is turned round": (state_change_log, "when", lambda condition: when(~flag(condition))),
}


@pytest.mark.usefixtures("small_protocol")
@pytest.mark.parametrize(
    "edit", [pytest.param(one, marks=pytest.mark.slow if number else []) for number, one in enumerate(EDITED_LINES)]
)
def test_an_edit_of_what_is_logged_is_found(edit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_protocol, "LOGGING", ())
    before = dict(whole_protocol.line_facts())
    monkeypatch.setattr(*EDITED_LINES[edit])
    after = dict(whole_protocol.line_facts())
    assert {one for one in before if before[one] != after.get(one)}


@pytest.mark.slow
def test_another_process_finds_the_same_terms_and_lines() -> None:
    """A set that is gone through in its own order would fail the gate now and then."""
    command = [sys.executable, "-c", f"from {whole_protocol.__name__} import term_facts; print(dict(term_facts()))"]
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
        assert done.stdout.strip() == str(dict(whole_protocol.term_facts()))


@pytest.mark.slow
def test_every_line_that_a_rule_names_is_among_those_that_are_logged() -> None:
    told = {line.kind for _, actions in whole_protocol.logged() for action in actions for line in action.lines}
    named = {
        one.__name__
        for module in list(sys.modules.values())
        if module.__name__.startswith("spec.protocol.")
        for one in vars(module).values()
        if isinstance(one, type) and one.__module__.startswith("spec.logs.") and is_dataclass(one)
    } - {ControllerLine.__name__}
    assert told == named


def _always(*_: object) -> Value:
    return YES


def test_each_system_is_compared_where_it_is_checked() -> None:
    built = SystemKey("tiny", AS_CODED).built()
    run = Run("explorer", "tiny", "AS_CODED", Verdict.HOLDS)
    met = with_system_compared(run, built, SystemKey("tiny", AS_CODED))
    assert (met.verdict, [one.about for one in met.comparisons]) == (Verdict.HOLDS, ["system"])
    other = replace(built, actions=built.actions[1:])
    moved = with_system_compared(run, other, SystemKey("tiny", AS_CODED))
    (difference,) = moved.comparisons
    assert (moved.verdict, difference.about, moved.notes) == (Verdict.VIOLATED, "system tiny AS_CODED", (REVIEW,))
    assert "variables" not in difference.found, "only what moved is told"


def test_every_system_of_which_something_is_expected_is_in_the_inventory() -> None:
    wanted = [one.name for one in system_keys(plans().values())]
    assert sorted(wanted) == sorted(name for name in accepted() if name.startswith("system "))
    explored = sum(len(one.explorations) for one in plans().values())
    proved = sum(len(one.proofs) for one in plans().values())
    tried = sum(len(one.matrix.expected) for one in plans().values() if one.matrix is not None)
    assert len(wanted) == explored + proved + tried


SHARE = (("bounce", AS_CODED), ("bounce", FENCED), ("removal", AS_CODED), ("purgatory_alone", AS_CODED))
"""Some that are soon built; `kcheck verify` looks at all that it checks, every day at most of them."""


@pytest.mark.parametrize(("name", "switches"), SHARE)
def test_some_systems_are_those_of_the_inventory(name: str, switches: Switches) -> None:
    ((key, told),) = system_facts.system_facts([SystemKey(name, switches)])
    assert accepted()[key] == told


@pytest.mark.slow
def test_every_system_is_that_of_the_inventory() -> None:
    known = accepted()
    for key, told in system_facts.system_facts(system_keys(plans().values())):
        assert known[key] == told
