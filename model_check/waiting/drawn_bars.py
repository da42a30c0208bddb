"""Bars as a terminal shows them: rich's, which is loaded only where somebody watches."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


@contextmanager
def drawn_bar(title: str, expected: int | None) -> Iterator[Callable[..., None]]:
    """A bar on standard error, and what work calls to tell how far it is (`progress.Report`)."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(title, total=expected)

        def report(done: int, what: str = "", of: int | None = None) -> None:
            bars.update(task, completed=done, total=of, description=f"{title}: {what}" if what else title)

        yield report
