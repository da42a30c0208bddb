"""What became of an exploration beside another, of a scope under other switches or before an edit; and an edit as text.

Told are the claims whose verdict changed, with the length of the shortest trace, and how many states there are and how
deep they lie; not the claims that stayed as they were. Of an edit there is a line for each scope whose terms changed,
more where claims did; then the first story.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from model_check.verdicts.exploration_text import difference_lines
from model_check.verdicts.rendering import StoryLines, counted, shortest, story_lines
from model_check.verdicts.results import Document, Finding, Run
from model_check.verdicts.verdict import Verdict
from spec.expectations import Expectation


@dataclass(frozen=True)
class Outcome:
    """What an exploration came to: how many states, how deep, and the broken claims with the shortest traces."""

    states: int
    depth: int
    broken: Mapping[str, int]

    @classmethod
    def expected(cls, known: Expectation) -> "Outcome":
        """What the manifest says of it."""
        return cls(known.states, known.depth, known.violated)

    @classmethod
    def found(cls, run: Run) -> "Outcome":
        """What a run of an explorer has counted."""
        if run.counts is None:
            raise ValueError(f"{run.title} counted nothing")
        broken = {
            one.property: one.story.length if one.story else 0
            for one in run.findings
            if one.verdict is Verdict.VIOLATED
        }
        return cls(run.counts.states, run.counts.depth, broken)


SAME: Final = "the same claims are broken as soon as before"


def changed_claims(before: Outcome, after: Outcome, asked: Collection[str]) -> Iterator[str]:
    """The claims asked of both whose verdict changed, each in words: what broke, what is sound now, what moved."""
    olds, news = ({name: one.broken[name] for name in one.broken if name in asked} for one in (before, after))
    yield from (f"now broken: {name} in {news[name]} steps" for name in _by_length(news) if name not in olds)
    yield from (f"no longer broken: {name}" for name in _by_length(olds) if name not in news)
    for name in _by_length(news):
        if name in olds and olds[name] != news[name]:
            when = "later" if news[name] > olds[name] else "sooner"
            yield f"broken {when}: {name} in {news[name]} steps, before in {olds[name]}"


def _by_length(broken: Mapping[str, int]) -> list[str]:
    return sorted(broken, key=lambda name: (broken[name], name))


def size_change(before: Outcome, after: Outcome) -> str:
    """How many states there are, and how deep, before and after."""
    return f"states {_moved(before.states, after.states)}, depth {_moved(before.depth, after.depth)}"


def _moved(before: int, after: int) -> str:
    return f"{after:,} as before" if before == after else f"{before:,} -> {after:,}"


TERMS: Final = "terms"
"""The engine of the run that tells how many systems have the accepted terms."""
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


def ending_lines(
    document: Document, unchanged: int, new: Finding | None, steps: StoryLines | None = None
) -> Iterator[str]:
    """The verdict with the counts, and the story of the claim that the edit broke first."""
    changed = [run for run in document.runs if run.engine != TERMS and (run.counts is not None or run.reason)]
    unmet = sum(run.verdict is Verdict.VIOLATED for run in changed)
    said = [f"{counted(unchanged, 'system')} unchanged"]
    said += [f"{len(changed)} changed"] if changed else []
    said += [f"{unmet} not as the manifest expects"] if unmet else []
    yield f"kcheck {document.verb}: {document.verdict}: {', '.join(said)}"
    yield from (f"  {run.reason}" for run in document.runs if run.engine == TERMS and run.reason)
    yield f"  {BEYOND}"
    if new is not None:
        yield from ("", *story_lines(new, steps))


def first_newly_broken(runs: Sequence[tuple[Run, Expectation]]) -> Finding | None:
    """The newly broken claim with the shortest story, of the first run that has one."""
    for run, known in runs:
        new = shortest(one for one in run.findings if one.property not in known.violated)
        if new is not None:
            return new
    return None
