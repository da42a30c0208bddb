"""SARIF, read by models of it that are not ours: each broken property is a result that points into the source."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from pydantic import BaseModel
from sarif_pydantic import Sarif
from sarif_pydantic.sarif import Result

from model_check.reports.characters import printable
from model_check.reports.places import ROOT, place_of_action, place_of_claim, places_of_finding
from model_check.reports.sarif import report
from model_check.verdicts.results import Because, Comparison, Document, Event, Finding, Step, Story, plain_document
from model_check.verdicts.verdict import Verdict
from spec.properties import claims
from spec.system import rules
from tests.model_check.documents import documents, finding, run


def unknown(model: BaseModel) -> list[str]:
    """What a reader would pass over, since SARIF has no such thing."""
    found = [f"{type(model).__name__}.{name}" for name in model.model_extra or ()]
    for name in type(model).model_fields:
        value: Any = getattr(model, name)
        for one in value if isinstance(value, list) else [value]:
            found += unknown(one) if isinstance(one, BaseModel) else []
    return found


@given(documents)
def test_whatever_is_in_a_document_it_is_sarif(document: Document) -> None:
    text = report(document)
    read = Sarif.model_validate_json(text)
    assert [one for one in unknown(read) if one not in UNREAD] == []
    (log,) = read.runs
    broken = [one for each in document.runs for one in each.findings if one.verdict is Verdict.VIOLATED]
    assert [one.rule_id for one in log.results or ()] == [printable(one.property) for one in broken]
    assert [(log.tool.driver.rules or [])[one.rule_index or 0].id for one in log.results or ()] == [
        printable(one.property) for one in broken
    ]
    assert json.loads(text)["version"] == "2.1.0"


UNREAD = {"Invocation.exitCode", "Invocation.toolExecutionNotifications", "Result.baselineState"}
"""What SARIF 2.1.0 has, in 3.20.8, 3.20.21 and 3.27.24, and these models do not."""


def told(*steps: Step) -> Finding:
    (claim,) = [one for one in claims() if one.name == "only_the_latest_term_writes"]
    return Finding(claim.name, claim.kind, claim.statement, "by hand", Verdict.VIOLATED, story=Story(len(steps), steps))


STEPS = (
    Step(1, "crash(b=1)", "broker 1", "It crashes.", "by hand", (Event("broker 1", "crash"),), (), ("a: 0 -> 1",)),
    Step(2, "no_such_rule(b=1)", "broker 1", "It rests.", "by hand"),
)


def result(*made: Comparison) -> Result:
    """The one result of a run."""
    document = plain_document("explore", run(told(*STEPS), verdict=Verdict.VIOLATED, comparisons=made))
    return Sarif.model_validate_json(report(document)).runs[0].results[0]


def places(found: Result) -> list[tuple[str, int]]:
    """Where a result points, and where each step of its code flow does."""
    (flow,) = (found.code_flows or [])[0].thread_flows
    locations = [*(found.locations or ()), *(one.location for one in flow.locations)]
    physical = [one.physical_location for one in locations if one is not None]
    return [
        (one.artifact_location.uri or "", one.region.start_line or 0)
        for one in physical
        if one is not None and one.artifact_location and one.region
    ]


def test_it_points_at_the_claim_and_its_steps_at_their_actions() -> None:
    claim, first, second = places(result())
    for (path, line), function in ((claim, "only_the_latest_term_writes"), (first, "crash")):
        lines = (ROOT / path).read_text("utf-8").splitlines()
        assert any(f"def {function}(" in one for one in lines[line - 1 : line + 12])
    assert second == ("spec/PROTOCOL.md", 1)


def test_its_message_says_why() -> None:
    one = told(*STEPS)
    assert one.story is not None
    broken = replace(one, story=replace(one.story, because=Because("broker 1", ("its epoch (1) is < 2",))))
    page = report(plain_document("explore", run(broken, verdict=Verdict.VIOLATED)))
    found = (Sarif.model_validate_json(page).runs[0].results or [])[0]
    assert found.message.text.endswith("broken by 2 steps; because of broker 1: its epoch (1) is < 2")


@pytest.mark.parametrize("about", ["only_the_latest_term_writes", "D2: only_the_latest_term_writes"])
def test_what_the_manifest_knows_is_a_note_and_no_news(about: str) -> None:
    known = result(Comparison(about, "VIOLATED", "VIOLATED", Verdict.HOLDS, "VIOLATED"))
    assert (known.level, known.model_extra) == ("note", {"baselineState": "unchanged"})
    new = result(Comparison(about, "HOLDS", "VIOLATED", Verdict.VIOLATED, "HOLDS"))
    assert (new.level, new.model_extra) == ("error", {"baselineState": "new"})


def test_every_rule_and_claim_has_a_place() -> None:
    for place in (*(place_of_action(one.name) for one in rules()), *(place_of_claim(one.name) for one in claims())):
        assert place.path.startswith(("spec/", "model_check/monitors/"))
        assert place.line > 1


def test_what_failed_or_is_open_is_told_by_the_tool() -> None:
    runs = run(verdict=Verdict.ERROR), run(finding("p", Verdict.HOLDS), verdict=Verdict.INCOMPLETE)
    (log,) = Sarif.model_validate_json(report(plain_document("explore", *runs))).runs
    called = log.invocations[0]
    noted = called.model_extra["toolExecutionNotifications"]
    assert [(one["level"], one["message"]["text"]) for one in noted] == [
        ("error", "tiny AS_CODED (explorer): ERROR"), ("warning", "tiny AS_CODED (explorer): INCOMPLETE"),
    ]  # fmt: skip
    assert (called.model_extra["exitCode"], called.execution_successful) == (4, False)


def test_a_finding_that_names_its_line_is_there_and_any_other_at_its_claim() -> None:
    named = Finding("f: a < b -> a >= b", "mutant", "- a < b\n+ a >= b", "spec/errors.py:7", Verdict.VIOLATED)
    assert places_of_finding(run(), named) == [(("spec/errors.py", 7), "")]
    for source in ("PROTOCOL.md section 10", "KafkaController.scala:7", "spec/errors.py:7 and more", ""):
        claim = next(iter(claims())).name
        found = places_of_finding(run(), replace(named, property=claim, source=source))
        assert found == [(place_of_claim(claim), "")]
