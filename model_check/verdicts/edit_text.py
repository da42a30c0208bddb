"""What an edit did, as text: a line for each scope whose terms changed, more where claims did; then the first story."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from model_check.verdicts.difference import Outcome, changed_claims, size_change
from model_check.verdicts.exploration_text import difference_lines
from model_check.verdicts.rendering import story_lines
from model_check.verdicts.results import Document, Finding, Run
from model_check.verdicts.verdict import Verdict
from spec.expectations import Expectation

BEYOND = "not looked at: proofs, crash matrices, the reference, recordings; `kcheck verify` does"


def scope_lines(run: Run, known: Expectation) -> Iterator[str]:
    """What became of a scope: its size before and after, and every claim whose verdict changed."""
    title = f"{run.scope} {run.variant}"
    if run.counts is None or run.reason:
        yield f"{title}: {run.verdict}: {run.reason}"
        return
    before, after = Outcome.expected(known), Outcome.found(run)
    asked = {one.property for one in run.findings}
    lines = [*changed_claims(before, after, asked | before.broken.keys())]
    kinds = {one.property: one.kind for one in run.findings}
    for one in run.comparisons:
        if kinds.get(one.about) == "sometimes" and not one.is_met:
            lines.append(f"{one.about}: {one.expected} -> {one.found}")
        elif one.about.startswith(("rules ", "rows ")):
            lines += [line.strip() for line in difference_lines(one)]
    if not lines and (before.states, before.depth) == (after.states, after.depth):
        yield f"{title}: {after.states:,} states, and all verdicts, as before"
        return
    yield f"{title}: {size_change(before, after)}" + ("" if lines else "; all verdicts as before")
    yield from (f"  {line}" for line in lines)


def ending_lines(document: Document, unchanged: int, new: Finding | None) -> Iterator[str]:
    """The verdict with the counts, and the story of the claim that the edit broke first."""
    changed = [run for run in document.runs if run.counts is not None or run.reason]
    unmet = sum(run.verdict is Verdict.VIOLATED for run in changed)
    said = [f"{_systems(unchanged)} unchanged"]
    said += [f"{len(changed)} changed"] if changed else []
    said += [f"{unmet} not as the manifest expects"] if unmet else []
    yield f"kcheck {document.verb}: {document.verdict}: {', '.join(said)}"
    yield f"  {BEYOND}"
    if new is not None:
        yield from ("", *story_lines(new))


def _systems(count: int) -> str:
    return f"{count} system" if count == 1 else f"{count} systems"


def first_newly_broken(runs: Sequence[tuple[Run, Expectation]]) -> Finding | None:
    """The newly broken claim with the shortest story, of the first run that has one."""
    for run, known in runs:
        new = [one for one in run.findings if one.verdict is Verdict.VIOLATED and one.property not in known.violated]
        told = [one for one in new if one.story is not None]
        if told:
            return min(told, key=lambda one: one.story.length if one.story else 0)
    return None
