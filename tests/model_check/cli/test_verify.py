"""`kcheck verify`: 0 exactly when every expectation is met."""

from pathlib import Path
from typing import Any

import pytest

from model_check.checks import enumeration, exploration, gate, replay, simulation
from model_check.checks.verifying import verified
from model_check.cli import check as check_verb
from model_check.cli import verify
from model_check.explicit_state import findings
from model_check.kernel.cache import cache_folder
from model_check.verdicts.results import Run, from_json
from model_check.verdicts.screen import LINES
from model_check.verdicts.verdict import INTERRUPTED, Verdict
from model_check.verdicts.verification import Check
from spec.expectations import Expectation, plan, plans
from spec.scopes import PARTS, scope
from tests.model_check.cli.conftest import Kcheck, expectation


def test_what_is_as_expected_exits_with_0_and_says_how_much_was_expected_to_be_bad(kcheck: Kcheck) -> None:
    result = kcheck("verify", "solo", "pair")
    bad = len(expectation("pair")["violated"])
    assert result.exit_code == 0, result.stdout
    assert result.stdout.startswith("kcheck verify: HOLDS: ")
    assert f"(among them {bad} VIOLATED), 0 unexpected, in 2 runs" in result.stdout.splitlines()[0]


def test_it_ends_with_one_screen_and_the_full_report_is_kept(kcheck: Kcheck, manifest: dict[str, Any]) -> None:
    violated = dict(expectation("pair")["violated"])
    name, length = violated.popitem()
    manifest["pair"]["expect"]["AS_CODED"]["violated"] = violated
    lines = kcheck("verify", "solo", "pair").stdout.splitlines()
    assert lines[0].startswith("kcheck verify: VIOLATED: ")
    assert f"  pair AS_CODED (explorer): {name}: expected HOLDS, found VIOLATED in {length} steps" in lines
    *_, last = lines
    assert len(lines) <= LINES
    path = Path(last.removeprefix("the full report: "))
    assert path == cache_folder() / "verify.txt"
    whole = kcheck("verify", "solo", "pair", "--verbose").stdout
    assert path.read_text(encoding="utf-8") == whole
    assert f"\n{name}: " in whole


def test_a_report_that_cannot_be_kept_is_not_promised(kcheck: Kcheck, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "keep", lambda *_: None)
    monkeypatch.setattr(verify, "cache_folder", lambda: Path("/proc/nowhere"))
    *_, last = kcheck("verify", "solo").stdout.splitlines()
    assert last == "/proc/nowhere/verify.txt cannot be written; --verbose prints the full report"


def test_every_number_of_the_manifest_is_compared(kcheck: Kcheck, manifest: dict[str, Any]) -> None:
    for key in ("states", "transitions", "depth"):
        manifest["pair"]["expect"]["AS_CODED"] = {**expectation("pair"), key: expectation("pair")[key] + 1}
        result = kcheck("verify", "pair", "--verbose")
        assert result.exit_code == 1
        assert f"  VIOLATED   {key}: expected " in result.stdout
        assert ", 1 unexpected, in 1 run" in result.stdout


def test_an_unexpected_violation_is_told_as_a_story(kcheck: Kcheck, manifest: dict[str, Any]) -> None:
    violated = dict(expectation("pair")["violated"])
    name, _ = violated.popitem()
    manifest["pair"]["expect"]["AS_CODED"]["violated"] = violated
    result = kcheck("verify", "pair", "--verbose")
    assert result.exit_code == 1
    assert f"\n{name}: " in result.stdout
    assert not [other for other in violated if f"\n{other}: " in result.stdout]


@pytest.mark.parametrize("verb", [("verify", "--json"), ("verify", "--verbose"), ("coverage",), ("check",)])
def test_what_is_as_expected_is_told_by_nobody(
    kcheck: Kcheck, monkeypatch: pytest.MonkeyPatch, verb: tuple[str, ...]
) -> None:
    def told(*_: object) -> None:
        raise AssertionError("a story that nobody reads")

    monkeypatch.setattr(findings, "tell", told)
    monkeypatch.setattr(check_verb, "changed_terms", lambda keys, _: ((key, True) for key in keys))
    result = kcheck(verb[0], "solo", "pair", *verb[1:])
    assert result.exit_code == (1 if verb == ("coverage",) else 0), "two small scopes exercise little"
    assert expectation("pair")["violated"]


def test_a_scope_of_which_nothing_is_expected_is_incomplete(kcheck: Kcheck, manifest: dict[str, Any]) -> None:
    del manifest["pair"]["expect"]
    result = kcheck("verify", "solo", "pair")
    assert result.exit_code == 3
    assert "pair (explorer): INCOMPLETE: the manifest expects nothing" in result.stdout


def test_an_error_in_one_check_does_not_hide_the_others(kcheck: Kcheck, monkeypatch: pytest.MonkeyPatch) -> None:
    real = exploration.run

    def fails_on_solo(task: exploration.Task) -> Any:
        if task.scope == "solo":
            raise ZeroDivisionError("a bug")
        return real(task)

    monkeypatch.setattr(exploration, "run", fails_on_solo)
    document = from_json(kcheck("verify", "solo", "pair", "--json").stdout, "stdout")
    assert {run.scope: str(run.verdict) for run in document.runs} == {"solo": "ERROR", "pair": "HOLDS"}
    assert document.exit_code == 4


def test_ctrl_c_leaves_the_rest_incomplete(kcheck: Kcheck, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(exploration, "run", interrupted)
    result = kcheck("verify", "solo", "pair", "--verbose")
    assert result.exit_code == 3
    assert result.stdout.count(INTERRUPTED) == 2


@pytest.mark.usefixtures("ctrl_c_behind_each")
def test_ctrl_c_at_the_very_end_of_a_check_is_not_forgotten(kcheck: Kcheck) -> None:
    """Whichever took longer in earlier runs is made first."""
    document = from_json(kcheck("verify", "solo", "pair", "--json").stdout, "stdout")
    assert sorted((str(run.verdict), run.reason) for run in document.runs) == [
        ("HOLDS", ""),
        ("INCOMPLETE", f"{INTERRUPTED} before it began"),
    ]
    assert document.exit_code == 3


@pytest.fixture
def replayed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What would be replayed, simulated and enumerated by Spark, which takes long."""
    asked: list[str] = []

    def made(task: replay.Task | simulation.Task | Expectation) -> Run:
        asked.append(f"{type(task).__module__.rpartition('.')[2]} {task.scope}")
        return Run("noted", task.scope, "AS_CODED", Verdict.HOLDS)

    monkeypatch.setattr(replay, "run", made)
    monkeypatch.setattr(simulation, "run", made)
    monkeypatch.setattr(enumeration, "verified", lambda expected: [made(expected)])
    return asked


@pytest.mark.usefixtures("replayed")
def test_deep_scopes_are_verified_only_when_asked_for(kcheck: Kcheck) -> None:
    assert "\nsolo" not in kcheck("verify", "--verbose").stdout
    assert "\nsolo" in kcheck("verify", "--deep", "--verbose").stdout


def test_one_scope_is_always_replayed_and_in_a_deep_run_all_that_are_not_too_large(
    kcheck: Kcheck, replayed: list[str], manifest: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest["pair"]["verify"]["replayed"] = True
    assert kcheck("verify", "solo", "pair").exit_code == 0
    assert replayed == ["replay pair"]
    manifest["solo"]["verify"]["simulated"] = True
    assert kcheck("verify", "solo", "pair", "--deep").exit_code == 0
    assert sorted(replayed[1:]) == ["replay pair", "replay solo", "simulation solo"]
    monkeypatch.setattr(gate, "REPLAYABLE", 1)
    kcheck("verify", "solo", "--deep")
    assert replayed[4:] == ["simulation solo"]


def test_cheap_scopes_are_replayed_every_day_although_they_are_deep(
    kcheck: Kcheck, replayed: list[str], manifest: dict[str, Any]
) -> None:
    manifest["solo"]["verify"]["replayed"] = True
    kcheck("verify")
    assert replayed == ["replay solo"]
    kcheck("verify", "pair")
    assert replayed[1:] == []


def test_every_part_with_a_cheap_scope_is_replayed_every_day() -> None:
    """What is left has no scope of so few states."""
    replayed = [one for one in plans().values() if one.replayed]
    assert sum(one.explorations[0].states for one in replayed) < 25_000
    parts = {part for one in replayed for part in scope(one.scope).parts}
    assert set(PARTS) - parts == {"failed_removals", "soft_failures", "delayed_operations", "notification_reads"}


def test_a_deep_run_makes_two_thousand_random_runs_of_two_hundred_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[simulation.Task] = []

    def noted(task: simulation.Task) -> Run:
        made.append(task)
        return Run("noted", task.scope, "AS_CODED", Verdict.HOLDS)

    monkeypatch.setattr(simulation, "run", noted)
    for check in gate.simulations(list(plans().values())):
        list(check.make())
    assert sorted(task.scope for task in made) == sorted(one.scope for one in plans().values() if one.simulated)
    assert sum(task.runs for task in made) >= 2_000
    assert {task.steps for task in made} == {200}


def test_a_deep_run_has_spark_enumerate_one_scope(
    kcheck: Kcheck, replayed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "ENUMERATED", ("pair", "AS_CODED"))
    kcheck("verify", "solo", "pair")
    assert replayed == []
    kcheck("verify", "solo", "pair", "--deep")
    assert sorted(replayed) == ["expectations pair", "replay pair", "replay solo"]


@pytest.mark.slow
@pytest.mark.xdist_group("spark")
@pytest.mark.usefixtures("spark")
def test_what_spark_enumerates_is_compared_with_all_that_the_manifest_expects_but_goals(
    manifest: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "ENUMERATED", ("pair", "AS_CODED"))
    expected = manifest["pair"]["expect"]["AS_CODED"]
    expected["violated"]["eventually_one_working_controller"] = 9

    enumerated: list[Any] = []

    def run_once(*given: Any) -> Any:
        if not enumerated:
            enumerated.append(real(*given))
        return enumerated[0]

    real = enumeration.run
    monkeypatch.setattr(enumeration, "run", run_once)

    def found() -> Run:
        (check,) = gate.enumerations([plan("solo"), plan("pair")])
        (run,) = check.make()
        return run

    assert found().verdict is Verdict.HOLDS
    assert "eventually_one_working_controller" in found().not_asked
    name = next(iter(expectation("pair")["violated"]))
    for changed in ({"transitions": expected["transitions"] + 1}, {"violated": {name: 1}}, {"digest": "0-0"}):
        manifest["pair"]["expect"]["AS_CODED"] = {**expected, **changed}
        assert found().verdict is Verdict.VIOLATED


def test_a_disagreement_fails_the_verification(
    kcheck: Kcheck, manifest: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest["solo"]["verify"]["replayed"] = True
    monkeypatch.setattr(
        replay, "run", lambda task: Run("refinement", task.scope, "", Verdict.VIOLATED, "they disagree")
    )
    result = kcheck("verify", "solo")
    assert result.exit_code == 1
    assert "solo (refinement): VIOLATED: they disagree" in result.stdout


def test_the_whole_manifest_is_compared_with_itself_when_no_scope_is_named(kcheck: Kcheck) -> None:
    result = kcheck("verify", "--verbose")
    assert "a_leader_is_elected: expected a witness in some scope, found no scope" in result.stdout
    assert result.exit_code == 1


@pytest.mark.parametrize("when", ["before they are begun", "after they have ended"])
def test_what_is_dropped_on_the_way_is_missed(kcheck: Kcheck, monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    """Whoever drops the dear checks of the plan that is made, or their results, is found out by the accepted ones."""

    def without_dear_ones(here: list[Check], anywhere: list[Check], *how: Any) -> dict[Check, list[Run]]:
        if when == "before they are begun":
            return verified(here, [one for one in anywhere if one.scope != "pair"], *how)
        return {check: runs for check, runs in verified(here, anywhere, *how).items() if check.scope != "pair"}

    accepted = dict.fromkeys(("gate manifest", "gate explorer pair AS_CODED"), "every day")
    monkeypatch.setattr(verify, "verified", without_dear_ones)
    monkeypatch.setattr(verify, "accepted", lambda: accepted)
    result = kcheck("verify", "--verbose")
    assert "ERROR      check explorer pair AS_CODED: expected made, found not made" in result.stdout
    assert "ERROR      checks: expected 2 made, found 1 made" in result.stdout


def test_an_unknown_scope_is_refused(kcheck: Kcheck) -> None:
    result = kcheck("verify", "pare")
    assert result.exit_code == 2
    assert "did you mean pair?" in result.stderr


def test_a_damaged_manifest_is_refused(kcheck: Kcheck, manifest: dict[str, Any]) -> None:
    manifest["pair"]["expect"]["AS_CODED"]["violated"] = {"no_such_property": 3}
    result = kcheck("verify")
    assert result.exit_code == 2
    assert result.stderr.startswith("kcheck: manifest.toml: scope.pair.expect.AS_CODED.violated: no property is called")
