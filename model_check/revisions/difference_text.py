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
    """The verdict, what changed in a few lines, and the stories."""
    yield f"kcheck {document.verb}: {document.verdict}: from {before} to {after}"
    yield from (f"  {line}" for line in (*_summary(document), BEYOND))
    for run in document.runs:
        for one in run.findings:
            if one.story and one.story.steps:
                yield from ("", f"{run.scope} {run.variant}", *story_lines(one))


def _summary(document: Document) -> Iterator[str]:
    """What changed, counted; or that nothing did."""
    runs = [one for one in document.runs if one.engine == ENGINE]
    found = {kind: {one.property for run in runs for one in run.findings if one.kind == kind} for kind in (NEW, GONE)}
    news = {one.property for run in runs for one in run.findings if is_break(one)}
    said = [one for one in document.runs if one.engine in (SPECIFICATION, VECTORS) and not is_unchanged(one)]
    yield from (f"{one.engine}: {counted(len(one.notes), 'line')} of changes" for one in said)
    if runs:
        yield f"{counted(len(runs), 'system')} of other terms"
    yield from (f"{kind}: steps of {counted(len(rules), 'action')}" for kind, rules in found.items() if rules)
    if news:
        yield f"{counted(len(news), 'claim')} newly broken, and not expected to be"
    if not runs and not said and document.verdict is Verdict.HOLDS:
        yield NOTHING


def is_unchanged(run: Run) -> bool:
    """Whether a run that compares what is written down found no difference."""
    return all(note.startswith(NOTHING) for note in run.notes)
