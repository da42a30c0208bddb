"""The picture of several checks at a terminal: a bar for all of them, and a row for each process."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from model_check.waiting.estimates import shown


@contextmanager
def drawn(title: str, number: int, expected: float, processes: int) -> Iterator["Picture"]:
    """The picture, on standard error, as long as the checks take."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[rest]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        picture = Picture(bars, title, number, expected, processes)
        with picture.moving():
            yield picture


class Picture:
    """A bar for all checks, and a row for each process."""

    def __init__(self, bars: Progress, title: str, number: int, expected: float, processes: int) -> None:
        self.bars, self.expected, self.lock = bars, expected, threading.Lock()
        self.whole = bars.add_task(title, total=number, rest="")
        self.rows = [bars.add_task("", total=1.0, rest="") for _ in range(processes)]
        self.under_way: dict[int, tuple[float, float]] = {}
        self.processes = processes

    def begun(self, process: int, title: str, seconds: float) -> None:
        """Its row says what it does now."""
        with self.lock:
            self.under_way[process] = time.monotonic(), max(seconds, 0.1)
            self._move(self.rows[process], 0.0, title)

    def ended(self, title: str, said: str, seconds: float, *, is_news: bool) -> None:
        """The bar of all moves on; what is news stays on the screen above it."""
        with self.lock:
            self.expected = max(0.0, self.expected - seconds)
            self.bars.update(self.whole, advance=1, rest=f"about {shown(self.expected / self.processes)} left")
            if is_news:
                self.bars.console.print(f"{title}: {said}", markup=False, highlight=False)

    def far(self, done: int, what: str = "", of: int | None = None) -> None:
        """How far the first process is with its check, as that says itself."""
        if of:
            self.bars.update(self.rows[0], completed=min(1.0, done / of), rest=what)

    @contextmanager
    def moving(self) -> Iterator[None]:
        """Inside, the rows of the other processes move with their expected time."""
        over = threading.Event()

        def moves() -> None:
            while not over.wait(0.5):
                self.move()

        thread = threading.Thread(target=moves, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def move(self) -> None:
        """Move those rows to where they should be by now."""
        for process, (begun, seconds) in list(self.under_way.items()):
            if process:
                self._move(self.rows[process], (time.monotonic() - begun) / seconds)

    def _move(self, row: TaskID, part: float, title: str | None = None) -> None:
        self.bars.update(row, completed=min(part, 0.99), description=title)
