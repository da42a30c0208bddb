"""`kcheck coverage`: the table is what the plain interpreter counts, and 1 says that something never occurs."""

import json
from typing import Any

import pytest

from model_check.checks import coverage
from model_check.verdicts.occurrences import items
from tests.model_check.cli.conftest import Kcheck, counted


def test_counts_and_first_depths_are_those_of_the_plain_interpreter(kcheck: Kcheck) -> None:
    result = kcheck("coverage", "pair")
    system, found = counted("pair")
    mine = [action.name for action in system.actions if action.rule == "elect_create"]
    times, depth = sum(found.fired[name] for name in mine), min(found.first_depths[name] for name in mine)
    lines = {" ".join(line.split()[:2]): line.split()[2:] for line in result.stdout.splitlines() if line.strip()}
    assert lines["action elect_create"] == ["1", f"{times:,}", str(depth), "pair", "AS_CODED"]
    witness = "two_controllers_act"
    states = f"{found.occurrences[witness]:,}"
    assert lines[f"property {witness}"] == ["1", states, str(len(found.witnesses[witness].trace)), "pair", "AS_CODED"]
    assert lines["row P-NEW-OFFLINE"] == ["0"]


def test_what_never_occurs_exits_with_1_and_is_named(kcheck: Kcheck, monkeypatch: pytest.MonkeyPatch) -> None:
    result = kcheck("coverage")
    assert result.exit_code == 1
    assert "VIOLATED   row P-NEW-OFFLINE: expected is taken, found nowhere" in result.stdout
    some = [item for item in items() if item.name in {"crash", "elect_create"}]
    monkeypatch.setattr(coverage, "items", lambda: iter(some))
    assert kcheck("coverage", "--deep").exit_code == 0
    one = json.loads(kcheck("coverage", "--deep", "--json").stdout)
    assert [comparison["about"] for comparison in one["runs"][0]["comparisons"]] == [
        "action crash",
        "action elect_create",
    ]


def test_an_unknown_scope_is_refused(kcheck: Kcheck) -> None:
    assert kcheck("coverage", "pare").exit_code == 2


def test_a_scope_of_which_nothing_is_explored_is_refused(kcheck: Kcheck, manifest: dict[str, Any]) -> None:
    del manifest["pair"]["expect"]
    refused = kcheck("coverage", "pair")
    assert refused.exit_code == 2
    assert "pair is not explored" in refused.stderr
