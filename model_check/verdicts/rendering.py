"""A document as text that pastes into an issue: plain, aligned, no colour, nothing that is not in the document.

The first line is the verdict and the counts that a hurried reader wants. Then, run by run: the size, every property
with its verdict, what the scope cut off, what never happened, and the stories. A story says who did what, what an
observer saw of it, and what it changed.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from model_check.verdicts.choices_text import choices_lines
from model_check.verdicts.opening import opening
from model_check.verdicts.results import CLAIMS, UNWITNESSED, Comparison, Counts, Document, Finding, Run, Step, Story
from model_check.verdicts.verdict import Verdict

TOLD = {
    Verdict.HOLDS: "shown by",
    Verdict.VIOLATED: "broken by",
    Verdict.INCOMPLETE: "the nearest after",
    Verdict.ERROR: "failed after",
}
"""What a story is to a verdict: a witness, a counterexample, or the way to where a bound is in the way."""

StoryLines: TypeAlias = Callable[[Story], Iterable[str]]
"""How a story is printed."""

PER_LINE = 100
"""Names are wrapped at this width."""


def text(document: Document, *, stories: Sequence[str] | None = None, steps: StoryLines | None = None) -> str:
    """The whole document, with stories printed by their `steps`, with all changes if nothing else is said.

    `stories` names the properties whose traces are printed (default: the shortest violation of a run, or, where
    something is expected of it, every trace of a property that differs).
    """
    lines = [headline(document)]
    for run in document.runs:
        lines += ["", *run_lines(run, steps)]
        for one in run.findings:
            if one.story and one.story.is_told and _is_told(one, run, stories):
                lines += ["", *story_lines(one, steps)]
    return "\n".join(lines) + "\n"


def headline(document: Document) -> str:
    """The verdict in one line, with how many expectations were met."""
    made = [one for run in document.runs for one in run.comparisons]
    if not made:
        return f"kcheck {document.verb}: {document.verdict}"
    met = sum(one.is_met for one in made)
    expected = Counter(one.expected_verdict for one in made if one.is_met and one.expected_verdict)
    among = ", ".join(f"{expected[name]} {name}" for name in ("VIOLATED", "INCOMPLETE") if expected[name])
    told = f"{met} as expected{f' (among them {among})' if among else ''}, {len(made) - met} unexpected"
    runs = f"{counted(len(document.runs), 'run')}{_earlier(document)}"
    return f"kcheck {document.verb}: {document.verdict}: {told}, in {runs}"


def _earlier(document: Document) -> str:
    """How many runs are results that were made earlier, and since when the oldest of them has not changed."""
    made = [run.made for run in document.runs if run.made]
    return f"; {len(made)} of {len(document.runs)} unchanged since {min(made)}" if made else ""


def counted(count: int, noun: str) -> str:
    """How many there are of something, in words."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def run_lines(run: Run, steps: StoryLines | None = None) -> Iterator[str]:
    """One run: its size, its findings, what differs from the expectations."""
    yield f"{run.title}: {run.verdict}" + (f": {run.reason}" if run.reason else "")
    if run.counts:
        yield "  " + counts_line(run.counts)
    if run.comparisons:
        yield from comparison_lines(run)
    else:
        yield from claim_lines(run.findings) if run.engine == CLAIMS else finding_lines(run.findings)
        yield from names_in_lines("never enabled", run.never_fired)
        yield from names_in_lines("single actions never enabled", run.idle_instances)
    yield from reach_lines(run)
    yield from choices_lines(run)
    if run.story and run.engine != CLAIMS:  # whose notes tell as much
        yield from ("", *(steps or steps_in_lines)(run.story))


def reach_lines(run: Run) -> Iterator[str]:
    """How far a run says anything: what was not asked, the rules that only a bound stops; and its notes."""
    yield from not_asked_lines(run.not_asked)
    bounds = [f"{rule} ({count:,})" for rule, count in (run.bounds_hit or {}).items()]
    yield from names_in_lines("exhausted only up to bounds that stop", bounds)
    yield from (f"  {line}" for note in run.notes for line in note.splitlines())


def counts_line(counts: Counts) -> str:
    """The size of an exploration in one line."""
    return f"{counts.states:,} states, {counts.transitions:,} transitions, depth {counts.depth}, digest {counts.digest}"


def finding_lines(findings: Sequence[Finding]) -> Iterator[str]:
    """A line for each property: verdict, name, and why."""
    name_width = max((len(one.property) for one in findings), default=0)
    for one in findings:
        said = [one.reason] if one.reason else []
        if one.story:
            said.append(f"{TOLD[one.verdict]} {steps_of(one.story)}")
        if one.expected not in ("", one.verdict):
            said.append(f"expected: {one.expected}")
        yield f"  {one.verdict:<10} {one.kind:<11} {one.property:<{name_width}}  {'; '.join(said)}".rstrip()


def claim_lines(findings: Sequence[Finding]) -> Iterator[str]:
    """What was asked of a recording without a search: a line for each claim that is broken; the rest by name."""
    yield from finding_lines([one for one in findings if one.verdict is not Verdict.HOLDS])
    kept = [one.property for one in findings if one.verdict is Verdict.HOLDS]
    yield from names_in_lines(f"{len(kept)} of {len(findings)} claims hold", kept)


MOST_NAMES = 6
"""So many are named with one reason; what are more is counted, and `--json` has the names."""


def not_asked_lines(names: Sequence[str]) -> Iterator[str]:
    """What a run says nothing about, together by the reason in brackets; what would fill a screen is counted."""
    together: dict[str, list[str]] = {}
    for name, _, reason in (one.removesuffix(")").partition(" (") for one in names):
        together.setdefault(reason, []).append(name)
    for reason, of_it in together.items():
        head = "not asked" + (f", since {reason}" if reason else "")
        yield from names_in_lines(head, of_it if len(of_it) <= MOST_NAMES or not reason else [f"{len(of_it)} claims"])


def steps_of(story: Story) -> str:
    """The length of a story in words."""
    return counted(story.length, "step") if story.length else "the initial state"


def comparison_lines(run: Run) -> Iterator[str]:
    """What is as expected but no plain pass, in few words; then everything that is not as expected."""
    unmet = [one for one in run.comparisons if not one.is_met]
    yield f"  {len(run.comparisons) - len(unmet)} as expected, {len(unmet)} unexpected"
    for verdict in (*Verdict, UNWITNESSED):
        known = [one for one in run.comparisons if one.is_met and one.expected_verdict == verdict]
        if verdict != Verdict.HOLDS:
            yield from names_in_lines(f"{verdict.lower()}, as expected", [_known(one, run) for one in known])
    yield from (f"  {one.verdict:<10} {one.about}: expected {one.expected}, found {one.found}" for one in unmet)


def _known(comparison: Comparison, run: Run) -> str:
    """A property with what is known of it: the length of its trace, or why its question is open."""
    said = [one.expected for one in run.findings if one.property == comparison.about]
    detail = (said[0] if said else comparison.expected).removeprefix(comparison.expected_verdict).lstrip(": ")
    return f"{comparison.about} ({detail})" if detail else comparison.about


def story_lines(finding: Finding, steps: StoryLines | None = None) -> Iterator[str]:
    """A trace in words, under the sentence that it breaks or shows."""
    if finding.story is None:
        return
    yield f"{finding.property}: {finding.statement}"
    yield f"{TOLD[finding.verdict].capitalize()} {steps_of(finding.story)} ({finding.source}):"
    yield from (steps or steps_in_lines)(finding.story)


def steps_in_lines(story: Story, *, changes: bool = True) -> Iterator[str]:
    """The steps of a story, one after the other, with what each of them changes, or without that."""
    yield "   0. The initial state."
    yield from (f"        {line}" for line in opening(story))
    for step in story.steps:
        yield from _step_lines(step, changes=changes)
    if story.because is not None:
        of = f", of {story.because.about}" if story.because.about else ""
        yield f"   Because{of}:"
        yield from (f"        {one}" for one in story.because.facts or ("it never holds",))


def _step_lines(step: Step, *, changes: bool) -> Iterator[str]:
    rule = step.action.partition("(")[0]
    named = step.action if changes else f"{rule}: {step.about}" if step.about else rule
    yield f"{step.number:>4}. {step.actor}: {step.statement}  [{named}]"
    yield from (f"        {one}" for one in step.branch)
    yield from (f"        seen: {one}" for one in step.observed)
    yield from (f"        {one}" for one in step.changes if changes)
    if changes and not step.changes:
        yield "        (nothing changes)"
    yield from (f"        breaks {one}" for one in step.breaks)


def _is_told(finding: Finding, run: Run, stories: Sequence[str] | None) -> bool:
    if stories is not None:
        return finding.property in stories
    if run.comparisons:
        return finding.property in unexpected(run)
    return finding is shortest(run.findings)


def unexpected(run: Run) -> set[str]:
    """What is not as expected, by name: its trace is printed as a story, too."""
    return {one.about for one in run.comparisons if not one.is_met}


def shortest(findings: Iterable[Finding]) -> Finding | None:
    """The violation with the shortest story, if one has any."""
    broken = [(one.story.length, one) for one in findings if one.story and one.verdict is Verdict.VIOLATED]
    return min(broken, key=lambda told: told[0])[1] if broken else None


def names_in_lines(head: str, names: Sequence[str]) -> Iterator[str]:
    """Names behind a head, in lines that fit; nothing where there are none."""
    if not names:
        return
    line = f"  {head}:"
    for name in names:
        if len(line) + len(name) + 2 > PER_LINE:
            yield line
            line = "   "
        line += f" {name},"
    yield line.removesuffix(",")
