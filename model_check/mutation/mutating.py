"""A run of mutants: which there are, which are drawn, and what becomes of each, asked in several copies at a time."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Final

from model_check.mutation.answers import Baseline, Stopped
from model_check.mutation.fates import Fate, Kind, fate
from model_check.mutation.importers import Importers, python_texts
from model_check.mutation.known import EQUIVALENT, FILE, Known, known_mutants
from model_check.mutation.mutants import Maker, Mutant, Name, drawn
from model_check.mutation.questions import not_asked, questions
from model_check.mutation.trees import ROOT, Copy, checkout_files, copied
from model_check.waiting.board import Board
from spec.errors import BadInput

AREAS: Final = ("spec", "reference", "model_check/monitors", "model_check/judging", "model_check/recordings")
"""What is mutated unless one says otherwise: what is right, the reference, and whoever judges recordings."""
PACKAGES: Final = ("spec", "reference", "model_check")


@dataclass(frozen=True)
class Subjects:
    """The modules to be mutated, by their paths, and all of the checkout that mutants are copied with."""

    sources: Mapping[str, bytes]
    files: Sequence[str]
    root: Path = ROOT

    def mutants(self) -> list[Mutant]:
        """All of their mutants."""
        return [one for file, source in self.sources.items() for one in Maker().mutants_of(file, source)]

    def importers(self) -> Importers:
        """Their test files."""
        return Importers(python_texts((one, (self.root / one).read_bytes()) for one in self.files))


def subjects(paths: Iterable[str], root: Path = ROOT) -> Subjects:
    """The modules at some paths, files or folders; BadInput where there is none."""
    files = checkout_files(root)
    chosen = list[str]()
    for path in paths:
        wanted = path.removeprefix("./").rstrip("/")
        found = [one for one in files if one.endswith(".py") and (one == wanted or one.startswith(f"{wanted}/"))]
        if not found or wanted.split("/")[0] not in PACKAGES:
            raise BadInput(
                f"{path}: no module of {', '.join(PACKAGES)} is there; name a file or folder of the checkout"
            )
        chosen += found
    return Subjects({one: (root / one).read_bytes() for one in dict.fromkeys(chosen)}, files, root)


@dataclass(frozen=True)
class Made:
    """A mutant, what became of it, and what is known of it."""

    mutant: Mutant
    fate: Fate
    known: Known | None = None


@dataclass
class Mutating:
    """A run: mutants in the order in which they are asked about, and what became of those that were."""

    subjects: Subjects
    mutants: Sequence[Mutant]
    of: int
    """How many mutants there are, of which these are some."""
    seed: str
    known: Mapping[Name, Known]
    made: list[Made] = field(default_factory=list)
    broken: Exception | None = None
    """Why it ended early, unless somebody wanted it to."""

    @property
    def is_whole(self) -> bool:
        """Whether all that were drawn were asked about."""
        return len(self.made) == len(self.mutants)


def drawn_from(found: Subjects, number: int | None, seed: str, like: str = "") -> Mutating:
    """A run of so many mutants, or all, that have a text in their titles; BadInput where there is none."""
    every = [one for one in found.mutants() if like in one.title]
    if not every:
        raise BadInput(
            f"nothing of what was named can be changed{f' so that {like!r} is in its title' if like else ''}"
        )
    return Mutating(found, drawn(every, number, seed), len(every), seed, known_mutants(FILE.read_text("utf-8")))


def ask(run: Mutating, jobs: int, seconds: float, stop: Callable[[], bool], board: Board) -> None:
    """Ask about the mutants of a run, in so many copies of the checkout, until `stop` says so or the baseline fails."""
    ends = threading.Event()
    baseline = Baseline(seconds, lambda: stop() or ends.is_set())
    asker = _Asker(run, baseline, ends, board, stop)
    left, lock = iter(run.mutants), threading.Lock()

    def work(number: int, copy: Copy) -> None:
        while not baseline.stop():
            with lock:
                mutant = next(left, None)
            if mutant is None or not asker.asks(mutant, number, copy):
                return

    with ExitStack() as stack:
        copies = [stack.enter_context(copied(list(run.subjects.files), run.subjects.root)) for _ in range(jobs)]
        threads = [threading.Thread(target=work, args=pair, name="mutants") for pair in enumerate(copies)]
        for one in threads:
            one.start()
        for one in threads:
            while one.is_alive():  # Ctrl-C reaches this thread, which must not be lost in a lock
                one.join(0.2)


class _Asker:
    """Asks about one mutant after the other, for any thread."""

    def __init__(
        self, run: Mutating, baseline: Baseline, ends: threading.Event, board: Board, stop: Callable[[], bool]
    ) -> None:
        self.run, self.baseline, self.ends, self.board, self.stop = run, baseline, ends, board, stop
        importers = run.subjects.importers()
        self.questions = cache(lambda file: list(questions(file, importers)))
        self.not_asked = cache(lambda file: not_asked(file, importers))
        self.lock = threading.Lock()

    def asks(self, mutant: Mutant, number: int, copy: Copy) -> bool:
        """Whether it could be asked about: not if the baseline fails, or somebody wants it to end."""
        begun, known = time.monotonic(), self.run.known.get(mutant.name)
        self.board.begun(number, mutant.title, USUAL_SECONDS)
        try:
            found = self._fate(mutant, known, copy)
        except Stopped:
            return False
        except Exception as error:  # noqa: BLE001 - whatever it is, the first thread raises it
            self.run.broken = self.run.broken or error
            self.ends.set()
            return False
        spent = time.monotonic() - begun
        with self.lock:
            self.run.made.append(Made(mutant, replace(found, seconds=spent), known))
        said = f"{found.kind}{f': {found.why}' if found.why else ''}"
        self.board.ended(mutant.title, said, spent, is_news=found.kind in {Kind.SURVIVED, Kind.UNDECIDED})
        return True

    def _fate(self, mutant: Mutant, known: Known | None, copy: Copy) -> Fate:
        if known is not None and known.kind == EQUIVALENT:
            return Fate(Kind.EQUIVALENT, known.reason)
        source = self.run.subjects.sources[mutant.file]
        found = fate(mutant, source, self.questions(mutant.file), copy, self.baseline)
        if found.kind is Kind.SURVIVED:
            return replace(found, why=f"asked: {', '.join(found.asked)}; not asked: {self.not_asked(mutant.file)}")
        return found


USUAL_SECONDS: Final = 45.0
"""What a mutant takes, about."""
