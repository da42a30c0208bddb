"""What a change did, as text: a line or more for each run, then the verdict in a line, then the stories."""

from collections.abc import Iterator
from textwrap import wrap
from typing import Final

from model_check.revisions.comparing import SYSTEMS
from model_check.revisions.specification import NOTHING, SPECIFICATION, VECTORS
from model_check.revisions.systems import ENGINE, GONE, NEW
from model_check.verdicts.rendering import counted, story_lines
from model_check.verdicts.results import Document, Run, is_break
from model_check.verdicts.verdict import Verdict

WIDTH: Final = 118
BEYOND: Final = "not looked at: proofs, crash matrices, the reference, recordings; `kcheck verify` does"


def run_lines(run: Run) -> Iterator[str]:
    """One run: what it is about, what it found, what else is to say."""
    unclear = "" if run.verdict is Verdict.HOLDS else f" {run.verdict}" + (f": {run.reason}" if run.reason else "")
    if run.engine == SYSTEMS:
        yield from (f"{run.engine}: {note}" for note in run.notes)
        if unclear:
            yield f"{run.engine}:{unclear}"
        return
    yield f"{f'{run.scope} {run.variant}' if run.engine == ENGINE else run.engine}:{unclear}"
    for note in run.notes:
        yield from wrap(note, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def ending_lines(document: Document, before: str, after: str) -> Iterator[str]:
    """The verdict with what there is, and the stories."""
    yield f"kcheck {document.verb}: {document.verdict}: {before} -> {after}: {', '.join(_summary(document))}"
    yield f"  {BEYOND}"
    for run in document.runs:
        for one in run.findings:
            if one.story and one.story.steps:
                yield from ("", f"{run.scope} {run.variant}", *story_lines(one))


def _summary(document: Document) -> Iterator[str]:
    """What changed, counted; or that nothing did."""
    lines = {
        one.engine: 0 if one.notes[:1] and one.notes[0].startswith(NOTHING) else len(one.notes)
        for one in document.runs
        if one.engine in (SPECIFICATION, VECTORS)
    }
    runs = [one for one in document.runs if one.engine == ENGINE]
    if lines.get(SPECIFICATION):
        yield f"{counted(lines[SPECIFICATION], 'change')} of what the specification has"
    if runs:
        yield f"{counted(len(runs), 'system')} of other terms"
    for kind in (NEW, GONE):
        rules = {one.property for run in runs for one in run.findings if one.kind == kind}
        if rules:
            yield f"steps of {counted(len(rules), 'rule')} {kind}"
    broken = {one.property for run in runs for one in run.findings if is_break(one)}
    if broken:
        yield f"{counted(len(broken), 'claim')} newly broken, and not expected to be"
    if lines.get(VECTORS):
        yield "other vectors"
    if not runs and not any(lines.values()) and document.verdict is Verdict.HOLDS:
        yield NOTHING
