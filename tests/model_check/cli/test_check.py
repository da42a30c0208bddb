"""`kcheck check`: what an edit did, told of the systems whose terms are not the accepted ones."""

from typing import Any

import pytest

from model_check.checks import exploration
from model_check.cli import check as verb
from model_check.inventory.system_facts import system_fact
from model_check.verdicts.results import from_json
from tests.model_check.cli.conftest import Bars, Kcheck, built, expectation


@pytest.fixture(autouse=True)
def accepted(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> dict[str, str]:
    """The accepted facts of the small manifest's systems, for a test to change; and a cache of its own."""
    facts = {f"system {name} AS_CODED": system_fact(built(name)) for name in ("solo", "pair")}
    monkeypatch.setattr(verb, "accepted", lambda: facts)
    monkeypatch.setenv("KCHECK_CACHE", str(tmp_path))
    return facts


def edited(accepted: dict[str, str], *names: str) -> None:
    for name in names:
        accepted[f"system {name} AS_CODED"] = "an older fact"


def test_where_nothing_changed_nothing_is_explored(kcheck: Kcheck, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exploration, "run", lambda *_: pytest.fail("explored"))
    result = kcheck("check", "--deep")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines()[0] == "kcheck check: HOLDS: 2 systems unchanged"


def test_deep_scopes_are_looked_at_when_asked_for_or_named(kcheck: Kcheck) -> None:
    assert "HOLDS: 1 system unchanged" in kcheck("check").stdout
    assert "HOLDS: 1 system unchanged" in kcheck("check", "solo").stdout
    assert "HOLDS: 2 systems unchanged" in kcheck("check", "--deep").stdout


def test_where_a_scope_that_is_named_is_not_explored_nothing_holds(kcheck: Kcheck, manifest: dict[str, Any]) -> None:
    """As of one of which only proofs are expected."""
    manifest["pair"].pop("expect")
    for named, unchanged in ((["pair"], "0 systems"), (["solo", "pair"], "1 system")):
        result = kcheck("check", *named)
        assert result.exit_code == 3
        told = [f"kcheck check: INCOMPLETE: {unchanged} unchanged", "  nothing is explored of pair"]
        assert result.stdout.splitlines()[:2] == told
    assert kcheck("check").exit_code == 0


def test_other_terms_with_the_same_verdicts_and_states_take_a_line(kcheck: Kcheck, accepted: dict[str, str]) -> None:
    edited(accepted, "pair", "solo")
    result = kcheck("check", "--deep")
    states = {name: expectation(name)["states"] for name in ("solo", "pair")}
    assert result.exit_code == 0
    assert result.stdout.splitlines()[:3] == [
        f"solo AS_CODED: {states['solo']:,} states, and all verdicts, as before",
        f"pair AS_CODED: {states['pair']:,} states, and all verdicts, as before",
        "kcheck check: HOLDS: 0 systems unchanged, 2 changed",
    ]


def test_what_broke_and_what_did_not_any_more_is_told_with_the_first_story(
    kcheck: Kcheck, accepted: dict[str, str], manifest: dict[str, Any]
) -> None:
    edited(accepted, "pair")
    broken = dict(expectation("pair")["violated"])
    name = max(broken, key=broken.get)  # type: ignore[arg-type]  # every name has a length
    length = broken.pop(name)
    manifest["pair"]["expect"]["AS_CODED"] = {
        **expectation("pair"), "states": 7, "violated": {**broken, "epochs_never_go_back": 3},
    }  # fmt: skip
    result = kcheck("check")
    lines = result.stdout.splitlines()
    assert result.exit_code == 1
    assert lines[0].startswith(f"pair AS_CODED: states 7 -> {expectation('pair')['states']:,}, depth ")
    assert lines[1:3] == [f"  now broken: {name} in {length} steps", "  no longer broken: epochs_never_go_back"]
    assert lines[3] == ("kcheck check: VIOLATED: 0 systems unchanged, 1 changed, 1 not as the manifest expects")
    assert lines[6].startswith(f"{name}: ")
    assert lines[7].startswith(f"Broken by {length} steps")


def test_rules_and_witnesses_that_differ_are_told(
    kcheck: Kcheck, accepted: dict[str, str], manifest: dict[str, Any]
) -> None:
    edited(accepted, "pair")
    given = expectation("pair")
    manifest["pair"]["expect"]["AS_CODED"] = {
        **given, "never_fired": given["never_fired"][1:], "unwitnessed": [*given["unwitnessed"], "two_controllers_act"],
    }  # fmt: skip
    result = kcheck("check")
    assert result.exit_code == 1
    assert "  two_controllers_act: unwitnessed -> HOLDS\n" in result.stdout
    assert f"  rules never enabled, and not expected: {given['never_fired'][0]}\n" in result.stdout


def test_what_there_is_no_time_for_is_put_off_and_leaves_incomplete(kcheck: Kcheck, accepted: dict[str, str]) -> None:
    edited(accepted, "pair")
    result = kcheck("check", "--minutes", "0")
    assert result.exit_code == 3
    reason = "its terms changed, and the 0 minutes were over; kcheck explore pair --variant AS_CODED"
    assert result.stdout.startswith(f"pair AS_CODED: INCOMPLETE: {reason}\n")


@pytest.mark.usefixtures("ctrl_c_behind_each")
def test_ctrl_c_ends_it_with_what_was_found(kcheck: Kcheck, accepted: dict[str, str]) -> None:
    edited(accepted, "solo", "pair")
    result = kcheck("check", "--deep")
    assert result.exit_code == 3
    assert "solo AS_CODED: " in result.stdout
    assert "INCOMPLETE: " in result.stdout.splitlines()[-2]


def test_the_json_is_a_document_with_the_same_verdict(
    kcheck: Kcheck, accepted: dict[str, str], manifest: dict[str, Any]
) -> None:
    edited(accepted, "pair")
    manifest["pair"]["expect"]["AS_CODED"] = {**expectation("pair"), "violated": {}}
    result = kcheck("check", "--deep", "--json")
    document = from_json(result.stdout, "stdout")
    assert document.exit_code == result.exit_code == 1
    assert [(run.engine, run.scope) for run in document.runs] == [("terms", ""), ("explorer", "pair")]
    assert [(one.about, one.found) for one in document.runs[0].comparisons] == [("systems unchanged", "1")]


def test_somebody_at_a_terminal_sees_how_far_the_comparison_is(
    kcheck: Kcheck, accepted: dict[str, str], bars: Bars
) -> None:
    edited(accepted, "solo")
    kcheck("check", "--deep")
    assert [(titles[-1], done, of) for titles, done, of in bars.told if "terms" in titles[0]] == [
        ("comparing terms: solo", 1, 2),
        ("comparing terms: pair", 2, 2),
    ]


def test_an_unknown_scope_is_refused(kcheck: Kcheck) -> None:
    assert kcheck("check", "pare").exit_code == 2
