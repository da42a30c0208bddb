"""One log, judged: its pieces in order, each fact handed to whoever asks something of it."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from model_check.logs.answers import ROWS, Answers
from model_check.logs.facts import (
    Accepted,
    Arrived,
    Begun,
    Election,
    EpochRaised,
    EpochRead,
    Fact,
    Forgotten,
    Illegal,
    Received,
    Refused,
    Resigned,
    Run,
    Stale,
)
from model_check.logs.fences import Fences
from model_check.logs.files import FileStream
from model_check.logs.lives import Lives, ms
from model_check.logs.partitions import Partitions
from model_check.logs.reading import MOST_TOPICS, SHOWN, Piece
from model_check.logs.terms import Terms

INTERNAL: Final = frozenset({"__consumer_offsets", "__transaction_state"})
"""Topics that every cluster may have."""


@dataclass
class Judged:
    """A log, as far as it is judged."""

    stream: FileStream
    lives: Lives
    answers: Answers = field(default_factory=Answers)
    counts: Counter[str] = field(default_factory=Counter)
    moves: Counter[str] = field(default_factory=Counter)
    refused_moves: Counter[str] = field(default_factory=Counter)
    samples: dict[str, list[str]] = field(default_factory=dict)
    topics: set[str] = field(default_factory=set)
    first_time: str = ""
    last_time: str = ""
    set_back: int = 0
    """By how many milliseconds an entry is of an earlier time than the one above it, at most."""
    _file: int = -1
    _lines: int = 0

    def __post_init__(self) -> None:
        self.terms = Terms(self.lives, self.answers)
        self.fences = Fences(self.lives, self.answers)
        self.partitions = Partitions(self.answers)
        self._asks: dict[type, Callable[..., None]] = {
            Accepted: self.fences.accepts,
            Begun: self.terms.begins,
            EpochRaised: self.terms.raises,
            EpochRead: self.terms.reads,
            Illegal: self.partitions.moves_wrongly,
            Refused: self.fences.refuses,
            Resigned: self.terms.resigns,
            Stale: self.partitions.is_stale,
        }

    @property
    def writers(self) -> set[int]:
        """The brokers whose state changes it has."""
        return {*self.fences.brokers, *(one.controller for one in self.terms.all.values() if one.is_told and one.lines)}

    def take(self, file: int, piece: Piece) -> None:
        """The next piece, of the file with that index."""
        if file != self._file:
            self._file, self._lines = file, 0
        name, before = self.stream.files[file].name, self._lines
        for fact in piece.facts:
            self._ask(fact, name, before)
        self.counts += piece.counts
        self.moves += piece.moves
        self.refused_moves += piece.refused_moves
        self.answers.holds(ROWS, piece.moves.total())
        self.topics |= set(sorted(piece.topics - INTERNAL)[: MOST_TOPICS - len(self.topics)])
        for kind, shown in piece.samples.items():
            kept = self.samples.setdefault(kind, [])
            kept += [f"{name}:{before + number}: {text!r}" for number, text in shown[: SHOWN - len(kept)]]
        self.set_back = max(self.set_back, piece.set_back, _set_back(self.last_time, piece.first_time))
        self.first_time = self.first_time or piece.first_time
        self.last_time = piece.last_time or self.last_time
        self._lines += piece.lines

    def _ask(self, fact: Fact, name: str, before: int) -> None:
        """Hand a fact to whoever asks something of it."""
        match fact:
            case Run():
                self._act(fact, f"{name}:{before + fact.first}", f"{name}:{before + fact.last}")
            case Arrived():
                self.fences.arrives(fact)
            case Received():
                self.fences.receives(fact)
            case Forgotten():
                self.fences.forgets(fact)
            case Election():
                self.partitions.elects(fact, f"{name}:{before + fact.number}")
                self.terms.decides(fact, f"{name}:{before + fact.number}")
            case _:
                self._asks[type(fact)](fact, f"{name}:{before + fact.number}")

    def _act(self, run: Run, first: str, last: str) -> None:
        """A controller has acted, or a broker has obeyed one."""
        if run.role == "controller":
            self.terms.act(run, first, last)
        else:
            self.terms.obeyed(run, first, last)
            self.fences.obeys(run, first, last)


def _set_back(before: str, after: str) -> int:
    return ms(before) - ms(after) if after < before and after else 0
