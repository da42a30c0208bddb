"""A document as SARIF 2.1.0, which code hosts and editors show beside the code: a result for each broken property.

A result points at the claim that is broken, and its story is a code flow through the actions that lead there. Where
logs are judged, there is a result for each line that breaks a claim, and it points at that. What the manifest knows to
be violated is a note whose baseline state is `unchanged`; anything else that is broken is an error, and `new`. A run
that ended as ERROR, or INCOMPLETE, and whatever else is not as expected, is a notification of the tool's.

Left out on purpose: properties that hold. There are tens of thousands of them in a verification, and code hosts show
results only; the gate's JSON has them.
"""

import json
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any, Final

from model_check.reports.characters import printable
from model_check.reports.places import Place, place_of_action, places_of_finding
from model_check.verdicts.rendering import TOLD, steps_of
from model_check.verdicts.results import Document, Finding, Run, Step
from model_check.verdicts.told_stories import broken_in
from model_check.verdicts.verdict import Verdict

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
LEVELS: Final = {Verdict.ERROR: "error", Verdict.INCOMPLETE: "warning"}


def report(document: Document) -> str:
    """The JSON."""
    broken = list(broken_in(document))
    claims = {one.property: one for _, one, _ in broken}
    places = {name: number for number, name in enumerate(claims)}
    log = {
        "tool": {
            "driver": {
                "name": "kcheck",
                "version": version("kafka-controller-spec"),
                "rules": [_rule(one) for one in claims.values()],
            }
        },
        "invocations": [
            {
                "commandLine": f"kcheck {document.verb}",
                "exitCode": document.exit_code,
                "executionSuccessful": document.verdict is not Verdict.ERROR,
                "toolExecutionNotifications": [*_notifications(document)],
            }
        ],
        "results": [
            _result(run, one, places[one.property], place, said, new=new)
            for run, one, new in broken
            for place, said in places_of_finding(run, one)
        ],
    }
    return json.dumps(_fit({"$schema": SCHEMA, "version": "2.1.0", "runs": [log]}), indent=1) + "\n"


def _fit(told: Any) -> Any:
    """The same with each text in it made printable."""
    match told:
        case str():
            return printable(told)
        case dict():
            return {name: _fit(one) for name, one in told.items()}
        case list():
            return [_fit(one) for one in told]
    return told


def _rule(claim: Finding) -> dict[str, Any]:
    return {
        "id": claim.property,
        "shortDescription": {"text": claim.statement or claim.property},
        "help": {"text": f"{claim.kind}, from {claim.source or 'this project'}"},
    }


def _notifications(document: Document) -> Iterator[dict[str, Any]]:
    for run in document.runs:
        if run.verdict in LEVELS:
            told = f"{run.title}: {run.verdict}" + (f": {run.reason}" if run.reason else "")
            yield {"level": LEVELS[run.verdict], "message": {"text": told}}
        for one in run.comparisons:
            if not one.is_met:
                told = f"{run.title}: {one.about}: expected {one.expected}, found {one.found}"
                yield {"level": "error", "message": {"text": told}}


def _result(run: Run, claim: Finding, index: int, place: Place, said: str, *, new: bool) -> dict[str, Any]:
    story = claim.story
    parts = [claim.statement, said or claim.reason, f"{TOLD[claim.verdict]} {steps_of(story)}" if story else ""]
    parts += [f"because {story.because}"] if story and story.because else []
    result = {
        "ruleId": claim.property,
        "ruleIndex": index,
        "level": "error" if new else "note",
        "baselineState": "new" if new else "unchanged",
        "message": {"text": f"{run.title}: {'; '.join(one for one in parts if one)}"},
        "locations": [_location(place)],
        "partialFingerprints": {"claimOfRun/v1": f"{run.title}: {claim.property}{f': {said}' if said else ''}"},
    }
    if story and story.steps:
        flow = [{"location": _step(one)} for one in story.steps]
        result["codeFlows"] = [{"threadFlows": [{"locations": flow}]}]
    return result


def _step(step: Step) -> dict[str, Any]:
    seen = "".join(f"\n{one}" for one in (*step.observed, *step.changes))
    told = f"{step.number}. {step.actor}: {step.statement} [{step.action}]{seen}"
    return {**_location(place_of_action(step.action)), "message": {"text": told}}


def _location(place: Place) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": {"uri": place.path}, "region": {"startLine": place.line}}}
