"""No result is used again once anything that it depends on has changed: an edit of each kind, for each engine."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from model_check.checks import gate
from model_check.inventory import known_terms, sources
from model_check.inventory.known_terms import KnownTerms
from model_check.inventory.system_facts import SystemKey
from model_check.reuse import environment, reusable, reuse
from model_check.reuse.reusable import Reusable, files_of, key_of
from model_check.reuse.reuse import Reuse
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import Verdict
from model_check.verdicts.verification import Check
from spec import expectations, scopes
from spec.expectations import plan, plans
from spec.manifest import manifest
from spec.model import Model
from spec.system import is_in_scope, rules
from spec.variants import AS_CODED

ENGINES = {
    "explorer": "model_check/explicit_state/search.py",
    "induction": "model_check/proofs/induction.py",
    "refinement": "model_check/refinement/lockstep.py",
    "simulation": "model_check/refinement/simulate.py",
    "crash matrix": "model_check/matrix/fault_injection.py",
    "judge": "model_check/judging/search.py",
    "live": "model_check/live/live_cluster.py",
    "D12": "model_check/checks/defects.py",
    "Spark": "model_check/spark/enumeration.py",
}
"""A check of each engine, and a file of that engine."""

RULES = "spec/protocol/requests/handling.py"
"""A file of rules, which make terms, and which some engines run, too."""

TERMS = {"variables": "a", "actions": "b", "claims": "c", "rows": "d", "observations": "e"}


EVERY = [*chain(*gate.checks(list(plans().values()), whole=True, deep=True))]
"""All checks of the gate."""


def check_of(engine: str) -> Reusable:
    """The first check of the gate that the engine makes."""
    return next(one for one in EVERY if isinstance(one, Reusable) and one.engine == engine)


CHECKS = {engine: check_of(engine) for engine in ENGINES}


def key(engine: str) -> str:
    """The key of the engine's check, built without its system."""
    check = CHECKS[engine]
    return key_of(check, TERMS if check.system else None)


def edited(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    """A line more in a file."""
    other = {**sources.sources(), path: sources.sources()[path] + b"# another line\n"}
    monkeypatch.setattr(sources, "sources", lambda: other)
    for remembered in (reusable._reached, reusable._digest_of):
        monkeypatch.setattr(reusable, remembered.__name__, remembered.__wrapped__)


@pytest.mark.parametrize("engine", ENGINES)
def test_another_line_of_an_engine_is_another_key(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = key(engine)
    assert key(engine) == before
    edited(monkeypatch, ENGINES[engine])
    assert key(engine) != before


@pytest.mark.parametrize("engine", ENGINES)
def test_another_line_of_what_all_engines_use_is_another_key(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = key(engine)
    edited(monkeypatch, "spec/language/terms.py")
    assert key(engine) != before


@pytest.mark.parametrize("engine", ENGINES)
def test_another_rule_is_another_key(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a check about a system, by its terms: those of before are forgotten, and other ones make another key."""
    check, before = CHECKS[engine], key(engine)
    if RULES in files_of(check):
        edited(monkeypatch, RULES)
        assert key(engine) != before
        return
    assert check.system is not None
    for part in TERMS:
        assert key_of(check, {**TERMS, part: "0"}) != before
    monkeypatch.setattr(known_terms, "digests_of", lambda _: pytest.fail("nothing is to be built"))
    known = KnownTerms()
    known.put(check.system, TERMS)
    assert KnownTerms().get(check.system) == TERMS
    other = {**sources.sources()}
    other[RULES] = other[RULES].replace(b" > ", b" >= ")
    assert other != sources.sources()
    monkeypatch.setattr(sources, "sources", lambda: other)
    assert KnownTerms().get(check.system) is None


@pytest.mark.parametrize("engine", [one for one in ENGINES if CHECKS[one].system])
def test_other_words_of_a_rule_are_another_key(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = key(engine)
    every = list(rules())
    asked = CHECKS[engine].system
    assert asked is not None
    m = Model(scopes.scope(asked.scope), asked.switches, asked.proving)
    place = next(place for place, one in enumerate(every) if is_in_scope(one, m))
    every[place] = replace(every[place], statement="Another sentence.")
    monkeypatch.setattr(reusable, "rules", lambda: every)
    monkeypatch.setattr(reusable, "_words", reusable._words.__wrapped__)
    assert key(engine) != before


@pytest.mark.parametrize("engine", ENGINES)
def test_another_expectation_is_another_key(engine: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    check, before = CHECKS[engine], key(engine)
    if check.whole_manifest:
        (tmp_path / "manifest.toml").write_bytes(reusable.MANIFEST.read_bytes() + b"# another line\n")
        monkeypatch.setattr(reusable, "MANIFEST", tmp_path / "manifest.toml")
    else:
        one = plan(check.scope)
        monkeypatch.setattr(reusable, "plan", lambda _: replace(one, goals=not one.goals))
    assert key(engine) != before


INSTALLED = environment.libraries()
"""Read once: it takes a twentieth of a second."""


@pytest.mark.parametrize("engine", ENGINES)
def test_another_version_of_a_library_is_another_key(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = key(engine)
    monkeypatch.setattr(reusable, "environment", environment.environment.__wrapped__)
    assert key(engine) == before
    for name in ("z3-solver", "numba", "llvmlite", "pyspark"):
        (pinned,) = (one for one in INSTALLED if one.startswith(f"library {name} "))
        others = tuple(f"{one}.1" if one == pinned else one for one in INSTALLED)
        monkeypatch.setattr(environment, "libraries", lambda others=others: others)
        assert key(engine) != before
    monkeypatch.setattr(environment, "libraries", lambda: INSTALLED)
    assert key(engine) == before
    monkeypatch.setattr(sys, "version", "3.11.99")
    assert key(engine) != before


@pytest.mark.parametrize("engine", [one for one in ENGINES if CHECKS[one].system])
def test_another_accepted_system_is_another_key(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = key(engine)
    monkeypatch.setattr(reusable, "accepted", dict)
    assert key(engine) != before


def test_another_recording_is_another_key(tmp_path: Path) -> None:
    check, before = CHECKS["judge"], key("judge")
    assert check.files
    copy = tmp_path / check.files[0].name
    copy.write_bytes(check.files[0].read_bytes() + b"\0")
    assert key_of(replace(check, files=(copy, *check.files[1:])), None) != before


def test_checks_of_one_name_are_one_check() -> None:
    assert len({one.identity for one in EVERY}) == len(EVERY) > 300


def test_the_whole_gate_can_be_used_again() -> None:
    assert [one.identity for one in EVERY if not isinstance(one, Reusable)] == []
    assert len({key_of(one, TERMS if one.system else None) for one in EVERY if isinstance(one, Reusable)}) == len(EVERY)
    assert {one.system.scope for one in EVERY if isinstance(one, Reusable) and one.system} <= set(plans())


# ------------------------------------------------------------------------------------------- what is done with the keys


def makes(calls: Path, verdict: Verdict) -> list[Run]:
    """A line for each time that it is made."""
    with calls.open("a", encoding="utf-8") as file:
        file.write("made\n")
    return [Run("explorer", "tiny", "AS_CODED", verdict, seconds={"check": 1.0})]


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with a line for each making, and an empty cache; the sources count as loaded."""
    monkeypatch.setenv("KCHECK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(reuse, "are_as_loaded", lambda: True)
    monkeypatch.setattr(sources, "are_as_loaded", lambda: True)
    monkeypatch.setattr(known_terms, "parts_of", lambda _: TERMS)
    monkeypatch.setattr(SystemKey, "built", lambda _: None)
    return tmp_path / "calls"


def number_of(calls: Path) -> int:
    return len(calls.read_text(encoding="utf-8").splitlines()) if calls.exists() else 0


def tiny(calls: Path, verdict: Verdict = Verdict.HOLDS) -> Reusable:
    make = partial(makes, calls, verdict)
    return Reusable("explorer", "tiny", "AS_CODED", 0, make, system=SystemKey("tiny", AS_CODED), whole_manifest=False)


def runs_of(check: Check, how: Reuse) -> list[Run]:
    ((_, kept),) = how.earlier([check])
    return list(how.made(check).make()) if kept is None else reuse.again(kept)


def test_what_was_made_is_not_made_again_unless_all_is_to_be_fresh(calls: Path) -> None:
    first = runs_of(tiny(calls), Reuse())
    assert (number_of(calls), first[0].made) == (1, "")
    again = runs_of(tiny(calls), Reuse())
    assert number_of(calls) == 1
    assert again[0].made
    assert replace(again[0], made="") == first[0]
    runs_of(tiny(calls), Reuse(fresh=True))
    assert number_of(calls) == 2


def test_where_the_terms_are_not_known_whoever_would_make_it_looks_again(
    calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs_of(tiny(calls), Reuse())
    monkeypatch.setattr(KnownTerms, "get", lambda *_: None)
    assert Reuse().earlier([tiny(calls)])[0][1] is None
    assert Reuse().made(tiny(calls)).make()
    assert number_of(calls) == 1
    monkeypatch.setattr(known_terms, "parts_of", lambda _: {**TERMS, "actions": "others"})
    assert Reuse().made(tiny(calls)).make()
    assert number_of(calls) == 2


@pytest.mark.parametrize("verdict", [Verdict.VIOLATED, Verdict.INCOMPLETE, Verdict.ERROR])
def test_what_is_not_as_expected_is_made_again(calls: Path, verdict: Verdict) -> None:
    for number in (1, 2):
        runs_of(tiny(calls, verdict), Reuse())
        assert number_of(calls) == number


def test_what_was_made_while_files_were_edited_is_not_kept(calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reuse, "are_as_loaded", lambda: False)
    for number in (1, 2):
        runs_of(tiny(calls), Reuse())
        assert number_of(calls) == number


def test_a_check_that_depends_on_who_knows_what_is_made_each_time(calls: Path) -> None:
    for number in (1, 2):
        runs_of(Check("explorer", "tiny", "AS_CODED", 0, partial(makes, calls, Verdict.HOLDS)), Reuse())
        assert number_of(calls) == number


class Noting(dict[str, Any]):
    """The scopes of the manifest; it notes which are read."""

    def __init__(self, scopes: Mapping[str, Any]) -> None:
        super().__init__(scopes)
        self.read = set[str]()

    def __getitem__(self, name: str) -> Any:
        self.read.add(name)
        return super().__getitem__(name)

    def items(self) -> Any:
        self.read |= set(self)
        return super().items()


def smallest(engine: str) -> Reusable:
    """The cheapest check of the engine."""
    return min((one for one in EVERY if isinstance(one, Reusable) and one.engine == engine), key=lambda one: one.cost)


@pytest.mark.parametrize("check", [smallest("explorer"), smallest("refinement"), CHECKS["D12"]])
def test_a_check_of_one_scope_reads_the_expectations_of_no_other(
    check: Reusable, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KCHECK_CACHE", str(tmp_path))
    scopes.scopes()  # the bounds of all are read once, and kept
    noting = Noting(manifest()["scope"])
    monkeypatch.setattr(expectations, "manifest", lambda: {"scope": noting})
    assert [run.verdict for run in check.make()] == [Verdict.HOLDS]
    assert noting.read == {check.scope}
