"""Printing: a document as text or JSON, colour only where a terminal reads it."""

import os
import shutil
import sys
from collections.abc import Callable, Sequence

import typer

from model_check.cli.options import Output
from model_check.cli.streams import harmless
from model_check.reports.wanted import write
from model_check.verdicts import exploration_text
from model_check.verdicts.rendering import StoryLines, text
from model_check.verdicts.results import Document

READABLE = 100
"""So many columns of text are read with ease."""


def may_be_terminal() -> bool:
    """Whether standard output may be a terminal: whether it is one, or the environment says something about it.

    rich knows what that means; elsewhere text is printed as it is, and rich not loaded.
    """
    return sys.stdout.isatty() or any(one in os.environ for one in ("FORCE_COLOR", "TTY_COMPATIBLE"))


def say(message: str) -> None:
    """Print text to standard output, wrapped nowhere, in colour where a terminal reads it; it obeys none of it."""
    message = harmless(message)
    if may_be_terminal():
        from model_check.cli.colours import say_in_colour

        say_in_colour(message)
    else:
        sys.stdout.write(message)
        sys.stdout.flush()


def line_width() -> int:
    """How many columns a line may take: those of the terminal, but no more than are read with ease."""
    return max(40, min(shutil.get_terminal_size((READABLE, 24)).columns, READABLE))


EXPLORATIONS = ("explore", "enumerate")
"""The verbs whose documents tell first what is not expected."""


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """A table in aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "".join(f"  {line}\n" for line in lines)


def say_table(rows: Sequence[Sequence[str]]) -> None:
    """Print a table, whose first row is its head: drawn for a terminal, aligned for a pipe."""
    if may_be_terminal():
        from model_check.cli.colours import draw_table, is_terminal

        if is_terminal():
            draw_table([[harmless(cell) for cell in row] for row in rows])
            return
    say(aligned(rows))


def print_document(
    document: Document,
    output: Output,
    *,
    stories: Sequence[str] | None = None,
    verbose: bool = False,
    tell: Callable[[Document], None] | None = None,
    steps: StoryLines | None = None,
    found_here: bool = False,
) -> int:
    """Print a document, write the reports of it, and give its exit code.

    `tell` prints the text of one that has a form of its own; `steps` tells a story, where only a part of it is to be
    printed. What was `found_here`, under the specification as it stands, tells in reports what else was possible at
    each step.
    """
    if output.as_json:
        typer.echo(document.to_json())
    elif tell is not None:
        tell(document)
    elif document.verb in EXPLORATIONS:
        say(exploration_text.text(document, stories=stories, verbose=verbose, steps=steps))
    else:
        say(text(document, stories=stories, steps=steps))
    if found_here and output.tells_possibilities:
        from model_check.checks.possibilities import with_possibilities

        document = with_possibilities(document)
    write(document, output.reports)
    return document.exit_code
