"""A document as Markdown for a pull request: the verdict, what differs, and the stories, folded away.

Code hosts take 65,536 characters of a comment: stories that no longer fit are left out, and counted.
"""

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from model_check.reports.characters import plain_markdown, printable
from model_check.verdicts.rendering import headline, steps_in_lines, story_lines, unexpected
from model_check.verdicts.results import Document, Run, is_new, stories_told
from model_check.verdicts.verdict import Verdict

MOST_CHARACTERS: Final = 60_000
"""What a story needs beside it fits into the rest."""
MOST_ROWS: Final = 100


def report(document: Document) -> str:
    """The page."""
    noted = [run for run in document.runs if _is_noted(run)]
    lines = [f"### {plain_markdown(headline(document))}", "", *_table(document, noted)]
    for run in noted:
        lines += _differences(run)
    page, left_out = "\n".join(lines) + "\n", 0
    for told in stories_told(document):
        lines_of = story_lines(told.finding) if told.finding else steps_in_lines(told.story)
        folded = _folded(f"{told.run.title}: {told.name}", lines_of)
        if len(page) + len(folded) < MOST_CHARACTERS:
            page += folded
        else:
            left_out += 1
    return page + (f"\nand {left_out} stories more; `--report json=FILE` has them\n" if left_out else "")


def _is_noted(run: Run) -> bool:
    return run.verdict is not Verdict.HOLDS or bool(unexpected(run))


def _table(document: Document, noted: Sequence[Run]) -> Iterator[str]:
    """What ran: everything where that is little, and else what does not hold."""
    shown = document.runs if len(document.runs) <= MOST_ROWS else noted[:MOST_ROWS]
    if shown:
        yield from ("| run | verdict | states | as expected | broken |", "|---|---|---:|---:|---:|")
    for run in shown:
        made = run.comparisons
        cells = [
            plain_markdown(run.title),
            run.verdict + (f": {plain_markdown(run.reason)}" if run.reason else ""),
            f"{run.counts.states:,}" if run.counts else "",
            f"{sum(one.is_met for one in made)} of {len(made)}" if made else "",
            str(sum(one.verdict is Verdict.VIOLATED for one in run.findings)),
        ]
        yield f"| {' | '.join(cells)} |"
    if len(shown) < len(document.runs):
        yield from ("", f"and {len(document.runs) - len(shown)} runs more, of which {_hold(document, shown)} hold")


def _hold(document: Document, shown: Sequence[Run]) -> int:
    return sum(run.verdict is Verdict.HOLDS for run in document.runs if run not in shown)


def _differences(run: Run) -> Iterator[str]:
    """What is not as expected, or, where nothing is expected, what is broken; a line each."""
    told = [f"{one.about}: expected {one.expected}, found {one.found}" for one in run.comparisons if not one.is_met]
    if not run.comparisons:
        told = [f"{one.property}: {one.reason or one.statement}" for one in run.findings if is_new(one, run)]
    if told:
        yield from ("", f"**{plain_markdown(run.title)}**", "")
        yield from (f"- {plain_markdown(one)}" for one in told[:MOST_ROWS])
        if len(told) > MOST_ROWS:
            yield f"- and {len(told) - MOST_ROWS} more"


def _folded(title: str, lines: Iterator[str]) -> str:
    told = printable("\n".join(lines))
    fence = "`" * (1 + max([2, *map(len, re.findall("`+", told))]))
    head = f"<details><summary>{escape(printable(title), quote=False)}</summary>"
    return f"\n{head}\n\n{fence}text\n{told}\n{fence}\n\n</details>\n"
