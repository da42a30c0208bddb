"""Printing: a document as text or JSON, colour only where a terminal reads it."""

import shutil
from collections.abc import Callable, Sequence

import typer
from rich.console import Console
from rich.highlighter import RegexHighlighter
from rich.table import Table
from rich.theme import Theme

from model_check.verdicts import exploration_text
from model_check.verdicts.rendering import text
from model_check.verdicts.results import Document

READABLE = 100
"""So many columns of text are read with ease."""

COLOURS = {
    "verdict.holds": "green",
    "verdict.violated": "bold red",
    "verdict.incomplete": "yellow",
    "verdict.error": "bold magenta",
}


class Verdicts(RegexHighlighter):
    """Colours verdicts, and nothing else."""

    base_style = "verdict."
    highlights = [  # noqa: RUF012 - rich declares it so
        r"(?P<holds>\bHOLDS\b)",
        r"(?P<violated>\bVIOLATED\b)",
        r"(?P<incomplete>\bINCOMPLETE\b)",
        r"(?P<error>\bERROR\b)",
    ]


class Output(Console):
    """Standard output, with colour where rich sees that a terminal wants it.

    Where a reader has gone away, rich would exit with 1, which reads as VIOLATED; so it is an error as any other.
    """

    def on_broken_pipe(self) -> None:
        """Raise the BrokenPipeError that is being handled."""
        raise  # noqa: PLE0704 - rich calls this where it has caught one


def say(message: str) -> None:
    """Print text to standard output, wrapped nowhere."""
    console = Output(highlighter=Verdicts(), theme=Theme(COLOURS), markup=False, emoji=False, soft_wrap=True)
    console.print(message, end="")


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
    console = Console()
    if not console.is_terminal:
        say(aligned(rows))
        return
    drawn = Table(*rows[0])
    for row in rows[1:]:
        drawn.add_row(*row)
    console.print(drawn)


def print_document(
    document: Document,
    *,
    as_json: bool,
    stories: Sequence[str] | None = None,
    verbose: bool = False,
    tell: Callable[[Document], None] | None = None,
) -> int:
    """Print a document and give its exit code; `tell` prints the text of one that has a form of its own."""
    if as_json:
        typer.echo(document.to_json())
    elif tell is not None:
        tell(document)
    elif document.verb in EXPLORATIONS:
        say(exploration_text.text(document, stories=stories, verbose=verbose))
    else:
        say(text(document, stories=stories))
    return document.exit_code
