"""An exploration as text, in the order in which somebody who edited the specification reads it.

First what the manifest does not expect, with the shortest story; then, a line each, the violations that it knows; then
how many claims hold, and what no verdict may hide: bounds, and what was not asked. Of a scope and variant of which the
manifest expects nothing, every violation comes first. Everything by name comes with `verbose`.
"""

from collections.abc import Iterator, Sequence

from model_check.verdicts import rendering
from model_check.verdicts.results import Comparison, Document, Finding, Run
from model_check.verdicts.verdict import Verdict


def text(
    document: Document,
    *,
    stories: Sequence[str] | None = None,
    verbose: bool = False,
    steps: rendering.StoryLines | None = None,
) -> str:
    """The whole document; `stories` names the properties whose traces are printed, in place of the shortest new one."""
    lines = [headline(document)]
    for run in document.runs:
        lines += ["", *_run_lines(run, stories, steps, verbose=verbose)]
    return "\n".join(lines) + "\n"


def headline(document: Document) -> str:
    """The verdict in one line, and what it goes by: what the manifest expects, or, where it is silent, what holds."""
    head = f"kcheck {document.verb}: {document.verdict}"
    made = [one for run in document.runs for one in run.comparisons]
    if not made:
        return f"{head}; the manifest expects nothing of it"
    if any(run.reason for run in document.runs):
        return head
    unmet, known = sum(not one.is_met for one in made), sum(map(_is_known, made))
    told = f"{unmet} not as expected" if unmet else "all as expected"
    return f"{head}: {told}" + (f", {known} known violation{'s' * (known != 1)}" if known else "")


def _is_known(one: Comparison) -> bool:
    return one.is_met and one.expected_verdict == Verdict.VIOLATED


def _run_lines(
    run: Run, stories: Sequence[str] | None, steps: rendering.StoryLines | None, *, verbose: bool
) -> Iterator[str]:
    by_name = {one.property: one for one in run.findings}
    new = [one for one in run.findings if _is_new(one, run)]
    yield run.title + (f": {run.reason}" if run.reason else "")
    if run.counts:
        yield "  " + rendering.counts_line(run.counts)
    yield from rendering.finding_lines(new)
    yield from (line for one in run.comparisons if one.about not in by_name for line in difference_lines(one))
    told = [one for one in told_of(run, stories) if one.story and one.story.is_told]
    for one in told:
        yield from ("", *rendering.story_lines(one, steps))
    if told:
        yield ""
    yield from known_lines([by_name[one.about] for one in run.comparisons if _is_known(one) and one.about in by_name])
    if verbose:
        yield from rendering.finding_lines(run.findings)
        yield from rendering.names_in_lines("single actions never enabled", run.idle_instances)
    else:
        yield from _counted_lines(run)
    if verbose or not run.comparisons:
        yield from rendering.names_in_lines("never enabled", run.never_fired)
    yield from rendering.reach_lines(run)


def told_of(run: Run, stories: Sequence[str] | None = None) -> list[Finding]:
    """The findings of a run whose traces the text has, step by step."""
    if stories is not None:
        return [one for one in run.findings if one.property in stories]
    return [*filter(None, [rendering.shortest(one for one in run.findings if _is_new(one, run))])]


def _is_new(one: Finding, run: Run) -> bool:
    """Whether a verdict is news: not the expected one, or, where nothing is expected, a violation."""
    if not run.comparisons:
        return one.verdict is Verdict.VIOLATED
    return any(other.about == one.property and other.verdict is Verdict.VIOLATED for other in run.comparisons)


def difference_lines(one: Comparison) -> Iterator[str]:
    """What is not as expected of a count, or of a list of names: what is more in it, and what less."""
    if one.is_met:
        return
    if not one.about.startswith(("rules ", "rows ")):
        yield f"  {one.about}: expected {one.expected}, found {one.found}"
        return
    before, after = ([] if names == "none" else names.split(", ") for names in (one.expected, one.found))
    more, less = (sorted(set(some) - set(others)) for some, others in ((after, before), (before, after)))
    yield from rendering.names_in_lines(f"{one.about}, and not expected", more)
    yield from rendering.names_in_lines(f"{one.about}, expected and not found", less)


def known_lines(findings: Sequence[Finding]) -> Iterator[str]:
    """A line for each violation that the manifest knows: what is broken, how soon, and where that is written."""
    name_width = max((len(one.property) for one in findings), default=0)
    for one in findings:
        broken = f"broken by {rendering.steps_of(one.story)}, " if one.story else ""
        yield f"  known      {one.kind:<11} {one.property:<{name_width}}  {broken}as expected ({one.source})"


def _counted_lines(run: Run) -> Iterator[str]:
    """How many properties there are of each verdict, and how they can be seen by name."""
    claims = [one for one in run.findings if one.kind != "sometimes"]
    witnesses = [one for one in run.findings if one.kind == "sometimes"]
    hold = [one for one in claims if one.verdict is Verdict.HOLDS]
    idle = sum(bool(one.reason) for one in hold)
    still_open = sum(one.verdict is Verdict.INCOMPLETE for one in claims)
    shown = sum(one.verdict is Verdict.HOLDS for one in witnesses)
    said = [f"{len(hold)} of {len(claims)} claims hold" + (f" ({idle} for want of occasion)" if idle else "")]
    said += [f"{still_open} still open"] if still_open else []
    said += [f"{shown} of {len(witnesses)} witnesses are shown"] if witnesses else []
    yield f"  {', '.join(said)}; --verbose names them"
