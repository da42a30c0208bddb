"""A document as Markdown for a pull request: the verdict, what differs, and the stories, folded away.

Code hosts take 65,536 characters of a comment: stories that no longer fit are left out, and counted.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from model_check.reports.characters import folded, plain_markdown
from model_check.verdicts.choices_text import choices_lines
from model_check.verdicts.rendering import headline, steps_in_lines, story_lines, unexpected
from model_check.verdicts.results import Document, Run, news_of
from model_check.verdicts.told_stories import stories_told
from model_check.verdicts.verdict import Verdict

MOST_CHARACTERS: Final = 60_000
MOST_ROWS, MOST_DIFFERENCES = 40, 60
"""So many runs and differences are printed; with the longest texts these fill less than the page."""
MOST_LETTERS: Final = 200
"""Of a text, except stories."""


def report(document: Document) -> str:
    """The page."""
    noted = [run for run in document.runs if _is_noted(run)]
    shown = _shown(document, noted)
    page = "\n".join([f"### {_cut(headline(document))}", "", *_table(document, shown), *_differences(noted)]) + "\n"
    page += _notes(shown, MOST_CHARACTERS * 3 // 4 - len(page))
    left_out = 0
    for block in _blocks(document):
        if len(page) + len(block) < MOST_CHARACTERS:
            page += block
        else:
            left_out += 1
    return page + (f"\nand {left_out} stories more; `--report json=FILE` has them\n" if left_out else "")


def _blocks(document: Document) -> Iterator[str]:
    """The stories, then what else was possible, each folded away."""
    for told in stories_told(document):
        lines = story_lines(told.finding) if told.finding else steps_in_lines(told.story)
        yield folded(f"{told.run.title}: {told.name}"[:MOST_LETTERS], "\n".join(lines))
    for run in document.runs:
        if run.choices:
            yield folded(f"{run.title}: what else was possible"[:MOST_LETTERS], "\n".join(choices_lines(run)))


def _cut(text: str) -> str:
    """A text in which Markdown sees nothing, and no more of it than fits."""
    return plain_markdown(text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]}...")


def _is_noted(run: Run) -> bool:
    return run.verdict is not Verdict.HOLDS or bool(unexpected(run))


def _shown(document: Document, noted: Sequence[Run]) -> Sequence[Run]:
    """What is printed: everything where that is little, and else what does not hold."""
    return document.runs if len(document.runs) <= MOST_ROWS else noted[:MOST_ROWS]


def _table(document: Document, shown: Sequence[Run]) -> Iterator[str]:
    """What ran."""
    if shown:
        yield from ("| run | verdict | states | as expected | broken |", "|---|---|---:|---:|---:|")
    for run in shown:
        made = run.comparisons
        cells = [
            _cut(run.title),
            run.verdict + (f": {_cut(run.reason)}" if run.reason else ""),
            f"{run.counts.states:,}" if run.counts else "",
            f"{sum(one.is_met for one in made)} of {len(made)}" if made else "",
            str(sum(one.verdict is Verdict.VIOLATED for one in run.findings)),
        ]
        yield f"| {' | '.join(cells)} |"
    left_out = len(document.runs) - len(shown)
    if left_out:
        hold = sum(run.verdict is Verdict.HOLDS for run in document.runs)
        hold -= sum(run.verdict is Verdict.HOLDS for run in shown)
        more = f"and {left_out} runs more" if shown else f"{left_out} runs"
        yield from ("", f"{more}, of which {hold} hold")


def _differences(noted: Sequence[Run]) -> Iterator[str]:
    """What is not as expected, or, where nothing is expected, what is broken; a line each."""
    told = [(run, one) for run in noted for one in _of_run(run)]
    for run, some in groupby(told[:MOST_DIFFERENCES], key=lambda one: one[0].title):
        yield from ("", f"**{_cut(run)}**", "", *(f"- {_cut(one)}" for _, one in some))
    if len(told) > MOST_DIFFERENCES:
        yield from ("", f"and {len(told) - MOST_DIFFERENCES} differences more")


def _notes(shown: Sequence[Run], room: int) -> str:
    """What else there is to say of the runs, a line each, in so many characters."""
    told = [(run.title, line) for run in shown for note in run.notes for line in note.splitlines() if line.strip()]
    text, title, left_out = "", "", 0
    for run, line in told:
        head = "" if run == title else f"\n**{_cut(run)}**\n\n"
        more = f"{head}- {_cut(line.strip())}\n"
        if len(text) + len(more) < room:
            text, title = text + more, run
        else:
            left_out += 1
    return text + (f"\nand {left_out} lines more\n" if left_out else "")


def _of_run(run: Run) -> list[str]:
    if run.comparisons:
        return [f"{one.about}: expected {one.expected}, found {one.found}" for one in run.comparisons if not one.is_met]
    news = news_of(run)
    return [f"{one.property}: {one.reason or one.statement}" for one in run.findings if one.property in news]
