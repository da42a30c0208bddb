"""From a proof to what is said of it: a verdict for each property, what it rests on, and what is missing.

A property that a step breaks from a state that the invariant allows is INCOMPLETE: nobody knows whether that state can
be reached. The step is shown, so that a reader sees which lemma is missing, or reaches for the explorer.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from model_check.explicit_state.findings import story_of
from model_check.proofs.bounded import BoundedReport
from model_check.proofs.obligations import TYPE_OF
from model_check.proofs.proof_report import ProofReport
from model_check.verdicts.results import Comparison, Finding, Run
from model_check.verdicts.verdict import INTERRUPTED, Verdict, worst
from spec.expectations import ProofExpectation
from spec.language.rules import TransitionSystem

ENGINE = "induction"


def run_of_proof(system: TransitionSystem, report: ProofReport, *, scope: str, variant: str) -> Run:
    """What a proof says of a system."""
    claims = {one.name: one for one in system.properties}
    findings = tuple(
        Finding.of(claims[name], Verdict(concluded.verdict), concluded.reason)
        for name, concluded in report.properties.items()
    )
    return Run(
        ENGINE,
        scope,
        variant,
        worst(one.verdict for one in findings),
        INTERRUPTED if report.interrupted else "",
        findings=findings,
        not_asked=tuple(name for name in claims if name not in report.properties),
        notes=tuple(_notes(report)),
        seconds={"proof": report.seconds},
    )


def _notes(report: ProofReport) -> Iterator[str]:
    lemmas = [one for name, one in report.invariant.items() if not name.startswith(TYPE_OF)]
    kept, unknown = (sum(one.verdict == Verdict.HOLDS for one in lemmas), sum(one.is_open for one in lemmas))
    of_some = f", and of {unknown} nothing is known" if unknown else ""
    yield f"{len(report.obligations)} questions answered; {kept} of {len(lemmas)} lemmas are inductive{of_some}"
    shown_before, goals = (sum(getattr(one, name) for one in report.obligations) for name in ("shown_before", "goals"))
    if shown_before:
        yield f"{shown_before:,} of {goals:,} goals were shown by an earlier proof, from nothing that is not held here"
    if report.arbitrary:
        yield f"for every value of {', '.join(report.arbitrary)}"
    if report.assumptions:
        rules = sorted({name.partition("(")[0] for name in report.assumptions})
        yield f"assuming that no bound stops: {', '.join(rules)}"


def missing_lemmas(report: ProofReport, system: TransitionSystem) -> Iterator[str]:
    """For each property that is not proved, one step that breaks it from a state that the invariant allows."""
    told: set[str] = set()
    for one in report.failures:
        new = set(one.properties) & report.properties.keys() - told
        if one.counterexample is not None and new:
            told |= new
            yield f"{one.action} stands in the way of {', '.join(one.properties)}:\n{one.counterexample.text(system)}"


def with_bounded(run: Run, system: TransitionSystem, reports: Mapping[str, BoundedReport]) -> Run:
    """The run with what bounded model checking says of properties that induction left open."""
    findings = tuple(
        _bounded(one, system, reports[one.property]) if one.property in reports else one for one in run.findings
    )
    verdict = worst(one.verdict for one in findings)
    return replace(run, findings=findings, verdict=verdict, reason=_reason(run, reports))


def _reason(run: Run, reports: Mapping[str, BoundedReport]) -> str:
    """What a proof's run was ended by; Ctrl-C may have come while bounded runs were looked at."""
    return INTERRUPTED if any(INTERRUPTED in one.reason for one in reports.values()) else run.reason


def _bounded(one: Finding, system: TransitionSystem, report: BoundedReport) -> Finding:
    story = None if report.trace is None else story_of(system, report.trace)
    reason = "; ".join(filter(None, [one.reason, report.reason]))
    return replace(one, verdict=Verdict(report.verdict), reason=reason, story=story)


def compared_proof(run: Run, expected: ProofExpectation, reports: Mapping[str, BoundedReport] | None = None) -> Run:
    """A proof's run, compared; `reports` say how deep open properties were looked at, None if they were not."""
    found = {one.property for one in run.findings}
    comparisons = [_comparison(one, expected) for one in run.findings]
    for name in sorted(expected.incomplete.keys() - found):
        absent = "no such property in this scope"
        comparisons.append(Comparison(name, Verdict.INCOMPLETE, absent, Verdict.ERROR, Verdict.INCOMPLETE))
    for name, report in (reports or {}).items():
        comparisons.append(_depth(report, expected.bounded[name]))
    findings = tuple(replace(one, expected=_expected(one.property, expected)) for one in run.findings)
    verdict = worst(one.verdict for one in comparisons)
    reason = _reason(run, reports or {})
    return replace(run, findings=findings, comparisons=tuple(comparisons), verdict=verdict, reason=reason)


def _comparison(one: Finding, expected: ProofExpectation) -> Comparison:
    wanted = Verdict.INCOMPLETE if one.property in expected.incomplete else Verdict.HOLDS
    weight = Verdict.VIOLATED if one.verdict is Verdict.HOLDS else one.verdict
    return Comparison.of(one.property, wanted, one.verdict, weight, wanted)


def _expected(name: str, expected: ProofExpectation) -> str:
    if name not in expected.incomplete:
        return Verdict.HOLDS
    depth = f" up to {expected.bounded[name]} steps" if name in expected.bounded else ""
    return f"{Verdict.INCOMPLETE}{depth}: {expected.incomplete[name]}"


def _depth(report: BoundedReport, depth: int) -> Comparison:
    """No run of so many steps breaks a property, and the solver got that far."""
    about, wanted = f"{report.property}, bounded", f"kept by all runs of {depth} steps"
    if report.trace is not None:
        return Comparison(about, wanted, f"broken in {len(report.trace)} steps", Verdict.VIOLATED)
    verdict = Verdict.HOLDS if report.depth >= depth else Verdict.INCOMPLETE
    return Comparison(about, wanted, f"kept by all runs of {report.depth} steps", verdict)
