"""What else was possible at a step, as text: the step that the story takes, what could be done, and what could not.

Of what could not be done a line says which conjunct of the guard is false, and by which values.
"""

from collections.abc import Iterable, Iterator

from model_check.verdicts.possibilities import Choice, Choices
from model_check.verdicts.results import Document, Run


def text(document: Document) -> str:
    """The whole document."""
    lines = [f"kcheck {document.verb}: {document.verdict}"]
    for run in document.runs:
        lines += ["", run.title + (f": {run.reason}" if run.reason else "")]
        lines += [f"  {line}" for note in run.notes for line in note.splitlines()]
        lines += choices_lines(run)
    return "\n".join(lines) + "\n"


def choices_lines(run: Run) -> Iterator[str]:
    """The choices of a run, if anybody asked for them."""
    before = {step.number + 1: step for step in (run.story.steps if run.story else ())}
    for choices in run.choices:
        if step := before.get(choices.step):
            yield f"  after {step.number}. {step.actor}: {step.statement}"
        yield from ("", *_possible(choices))
        if choices.refused:
            yield from ("", f"  Not possible, and why ({len(choices.refused)}):")
        for one in choices.refused:
            yield from _refused(one)


def _possible(choices: Choices) -> Iterator[str]:
    if not choices.possible:
        yield "  Nothing is possible here: no step can be taken."
        return
    yield f"  Possible as step {choices.step} ({len(choices.possible)}):"
    for one in choices.possible:
        mark = "  <- the story takes it" if one.action == choices.taken else ""
        yield f"    {_what(one)}{mark}"
        if one.row:
            yield f"        row {one.row}"


def _refused(one: Choice) -> Iterator[str]:
    yield f"    {_what(one)}"
    yield f"        because {why_not(one)}"
    if one.row:
        yield f"        row {one.row}"


def why_not(one: Choice) -> str:
    """Why what is not possible is not, in a line."""
    told = first_reason(one.because, bounded=one.bounded)
    return told + (f" (and {one.more} more of its conditions)" if one.more else "")


def first_reason(because: Iterable[str], *, bounded: bool) -> str:
    """The first false conjunct of a guard in a line; nothing decides of one that is false in every state."""
    return "; ".join([*["only a bound of the scope stops it"] * bounded, *because]) or "it is never possible"


def _what(one: Choice) -> str:
    return f"{one.actor}: {one.statement}  [{one.action}]"
