"""Text and tables for a terminal: rich's, which is loaded only where there may be one."""

from collections.abc import Sequence

from rich.console import Console
from rich.highlighter import RegexHighlighter
from rich.table import Table
from rich.theme import Theme

COLOURS = {
    "verdict.holds": "green",
    "verdict.violated": "bold red",
    "verdict.incomplete": "yellow",
    "verdict.error": "bold magenta",
    "verdict.e0": "blue",
    "verdict.e1": "cyan",
    "verdict.e2": "yellow",
    "verdict.e3": "magenta",
    "verdict.e4": "green",
    "verdict.e5": "red",
}
EPOCHS = 6
"""So many epochs of a time line differ in colour; the next one has the first colour again."""


class Verdicts(RegexHighlighter):
    """Colours verdicts, and on a time line the epochs in which controllers act (`e2|`), and nothing else."""

    base_style = "verdict."
    highlights = [  # noqa: RUF012 - rich declares it so
        r"(?P<holds>\bHOLDS\b)",
        r"(?P<violated>\bVIOLATED\b)",
        r"(?P<incomplete>\bINCOMPLETE\b)",
        r"(?P<error>\bERROR\b)",
        *(
            rf"(?P<e{number}>(?<= )e(?:{'|'.join(map(str, range(number, 60, EPOCHS)))})(?=[|:]))"
            for number in range(EPOCHS)
        ),
    ]


class Output(Console):
    """Standard output, with colour where rich sees that a terminal wants it.

    Where a reader has gone away, rich would exit with 1, which reads as VIOLATED; so it is an error as any other.
    """

    def on_broken_pipe(self) -> None:
        """Raise the BrokenPipeError that is being handled."""
        raise  # noqa: PLE0704 - rich calls this where it has caught one


def is_terminal() -> bool:
    """Whether standard output is a terminal, as rich sees it."""
    return Output().is_terminal


def say_in_colour(message: str) -> None:
    """Print text, its verdicts coloured, wrapped nowhere."""
    console = Output(highlighter=Verdicts(), theme=Theme(COLOURS), markup=False, emoji=False, soft_wrap=True)
    console.print(message, end="")


def draw_table(rows: Sequence[Sequence[str]]) -> None:
    """Print a table, whose first row is its head, between lines."""
    drawn = Table(*rows[0])
    for row in rows[1:]:
        drawn.add_row(*row)
    Output().print(drawn)
