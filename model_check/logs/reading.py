"""A piece of a log file, read: the facts in it, in order, and counts of all other lines.

    piece = read_piece(lines)

Pieces are read by themselves, anywhere; numbers of lines are counted from the piece's first. Lines of a role in one
epoch are put together to one `Run` as long as nobody names another epoch.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from model_check.logs import patterns
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
from model_check.logs.heads import FOREIGN, TORN, Head, Odd, read_heads
from model_check.logs.lives import ms

READ: Final = "read"
QUIET: Final = "known, and nothing is asked of it"
OTHER: Final = "of other classes of Kafka"
UNKNOWN: Final = "unknown"
SHOWN: Final = 3
"""Lines of a kind that are shown."""
MOST_TOPICS: Final = 1_000
"""Topics of a piece that are kept, by which the files of a cluster are known."""


@dataclass
class Piece:
    """What was read of a piece of a file; `moves` counts transitions by their row, `samples` shows odd lines."""

    lines: int = 0
    facts: list[Fact] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    moves: Counter[str] = field(default_factory=Counter)
    refused_moves: Counter[str] = field(default_factory=Counter)
    samples: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    topics: set[str] = field(default_factory=set)
    first_time: str = ""
    last_time: str = ""
    set_back: int = 0
    """By how many milliseconds an entry is of an earlier time than the one above it, at most."""


class Reading:
    """A piece that is being read."""

    def __init__(self) -> None:
        self.piece = Piece()
        self._runs: dict[tuple[str, int], _Open] = {}
        self._epoch: tuple[int, int] | None = None
        self._arrived: dict[int, tuple[int, int, int]] = {}

    def take(self, one: Head | Odd) -> None:
        """The next entry, or what is not one."""
        if isinstance(one, Odd):
            self._count(one.kind, one.number, one.text)
            return
        piece = self.piece
        piece.first_time = piece.first_time or one.time
        if one.time < piece.last_time:
            piece.set_back = max(piece.set_back, ms(piece.last_time) - ms(one.time))
        piece.last_time = one.time
        if one.logger == patterns.STATE_CHANGES:
            kind = self._state_change(one)
        elif one.logger.startswith(patterns.CONTROLLER):
            kind = self._report(one)
        elif one.logger == patterns.PARTITION and (found := patterns.STALE.fullmatch(one.message)):
            piece.facts.append(Stale(one.number, one.time, int(found[2]), dashed(found[1]), int(found[3])))
            kind = READ
        else:
            kind = OTHER
        if kind is UNKNOWN:
            self._count(UNKNOWN, one.number, one.message)
        else:
            piece.counts[kind] += 1

    def _count(self, kind: str, number: int, text: str) -> None:
        self.piece.counts[kind] += 1
        shown = self.piece.samples.setdefault(kind, [])
        if len(shown) < SHOWN:
            shown.append((number, text[:120]))

    def _state_change(self, one: Head) -> str:
        """A line of state-change.log: its writer, then what it says."""
        speaker = patterns.SPEAKER.match(one.message)
        if speaker is None:
            return QUIET if one.message.startswith("preRegister called.") else UNKNOWN
        role, who = speaker[1] or speaker[4], int(speaker[2] or speaker[5] or speaker[8])
        said = one.message[speaker.end() :]
        if role == "Controller":
            epoch = speaker[3] or speaker[6]
            return UNKNOWN if epoch is None else self._controller(one, who, int(epoch), said)
        return self._broker(one, who, said)

    def _controller(self, one: Head, who: int, epoch: int, said: str) -> str:
        verb = said[:8].lower()
        if verb == "changed ":
            return self._moved(one, who, epoch, said)
        if verb in {"initiate", "failed t"} and (failed := patterns.FAILED.fullmatch(said)):
            return self._failed(one, who, epoch, failed)
        if verb == "started " and (begun := patterns.BEGUN.fullmatch(said)):
            self._run("controller", who, who, epoch, one)
            self.piece.facts.append(Begun(one.number, one.time, who, epoch, dashed(begun[1])))
            return READ
        if verb in {"elected ", "sending ", "sent lea"} and patterns.QUIET.match(said):
            self._run("controller", who, who, epoch, one)
            return READ
        return QUIET if patterns.QUIET.match(said) else UNKNOWN

    def _moved(self, one: Head, who: int, epoch: int, said: str) -> str:
        found = patterns.MOVED.match(said, 1)
        if found is None or found[4] not in patterns.STATES or found[5] not in patterns.STATES:
            return UNKNOWN
        source, target = found[4], found[5]
        partition = dashed(found[1] or found[3])
        self._topic(partition)
        self._run("controller", who, who, epoch, one, creates=source.startswith("NonExistent"))
        row = patterns.ROWS.get((source, target))
        if row is None and not ((source, target) == patterns.LATER and one.message.startswith("[")):
            subject = f"replica {found[2]} of {partition}" if found[2] else f"partition {partition}"
            self.piece.facts.append(Illegal(one.number, one.time, who, epoch, subject, source, target))
        else:
            self.piece.moves[row or "R-Offline-DeletionIneligible"] += 1
        if target == patterns.NEW:
            self.piece.facts.append(Begun(one.number, one.time, who, epoch, partition))
        elif target == patterns.ONLINE:
            self.piece.facts.append(Election(one.number, one.time, who, epoch, partition, ""))
        return READ

    def _failed(self, one: Head, who: int, epoch: int, found: re.Match[str]) -> str:
        source, target = found[3], found[4]
        if source not in patterns.STATES or target not in patterns.STATES:
            return UNKNOWN
        self._run("controller", who, who, epoch, one)
        if found[1] is None and target == patterns.ONLINE:
            cause = one.cause or "the file does not say why"
            self.piece.facts.append(Election(one.number, one.time, who, epoch, dashed(found[2]), cause))
        else:
            self.piece.refused_moves[f"{source} to {target}"] += 1
        return READ

    def _broker(self, one: Head, who: int, said: str) -> str:
        first = said[:9].lower()
        if (
            first == "received "
            and said[9:29] == "LeaderAndIsr request"
            and (found := patterns.RECEIVED.fullmatch(said))
        ):
            return self._received(who, said, found)
        if first == "handling " and (found := patterns.ACCEPTED.fullmatch(said, 1)):
            self._accepted(one, who, found)
        elif found := patterns.UPDATED.fullmatch(said):
            self._updated(one, who, (int(found[1]), int(found[2]), int(found[3])))
        elif found := patterns.OLD_REQUEST.fullmatch(said, 1):
            self._refused(one, who, "controller", found)
        elif found := patterns.OLD_LEADER_EPOCH.fullmatch(said, 1):
            self._refused(one, who, "leader", found)
        elif patterns.QUIET.match(said):
            return self._forgets(who, said)
        else:
            return UNKNOWN
        return READ

    def _updated(self, one: Head, who: int, request: tuple[int, int, int]) -> None:
        self._run("broker", who, request[0], request[1], one)
        if self._arrived.get(who) != request:
            self._arrived[who] = request
            self.piece.facts.append(Arrived(who, request))

    def _accepted(self, one: Head, who: int, found: re.Match[str]) -> None:
        request = (int(found[2]), int(found[3]), int(found[1]))
        self._run("broker", who, request[0], request[1], one)
        self.piece.facts.append(Accepted(one.number, one.time, who, request, dashed(found[4])))

    def _refused(self, one: Head, who: int, of: str, found: re.Match[str]) -> None:
        controller, epoch, known = int(found[1] or -1), int(found[2]), int(found[3])
        self.piece.facts.append(Refused(one.number, one.time, who, controller, of, epoch, known))

    def _forgets(self, who: int, said: str) -> str:
        """A line that nothing is asked of, after which nobody may know what the broker has stored."""
        if patterns.FORGETS.match(said):
            named = patterns.OF_PARTITION.match(said)
            self.piece.facts.append(Forgotten(who, dashed(named[1]) if named else None))
        return QUIET

    def _received(self, who: int, said: str, found: re.Match[str]) -> str:
        named = found[4]
        if named is None and (fields := patterns.NAMED.search(said)):
            named = f"{fields[1]}-{fields[2]}"
        if named is None:
            return UNKNOWN
        self._topic(named)
        epoch = patterns.LEADER_EPOCH.search(said)
        request = (int(found[2]), int(found[3]), int(found[1]))
        self.piece.facts.append(Received(who, request, dashed(named), int(epoch[1]) if epoch else -1))
        return READ

    def _report(self, one: Head) -> str:
        """A line of controller.log, of which most say nothing that is asked for."""
        if "poch" not in one.message and "esigned" not in one.message:
            return QUIET
        found = patterns.EPOCH_LINE.fullmatch(one.message)
        if found is None:
            return QUIET
        who, place = int(found[1]), (one.number, one.time)
        if found["read"]:
            self.piece.facts.append(EpochRead(*place, who, int(found[3]), int(found[4])))
        elif found["resigned"]:
            self.piece.facts.append(Resigned(*place, who))
        else:
            self.piece.facts.append(EpochRaised(*place, who, int(found[5] or found[6])))
        return READ

    def _topic(self, partition: str) -> None:
        if len(self.piece.topics) < MOST_TOPICS:
            self.piece.topics.add(topic_of(partition))

    def _run(self, role: str, who: int, controller: int, epoch: int, one: Head, *, creates: bool = True) -> None:
        """One more line of a role in an epoch; a line with another epoch ends all runs."""
        if self._epoch != (controller, epoch):
            self.flush()
            self._epoch = (controller, epoch)
        known = self._runs.get((role, who))
        if known is None:
            first = Run(role, who, controller, epoch, one.number, one.time, one.number, one.time, 1, creates)
            self._runs[role, who] = _Open(len(self.piece.facts), one.number, one.time)
            self.piece.facts.append(first)
            return
        known.last, known.last_time = one.number, one.time
        known.lines += 1

    def flush(self) -> None:
        """End all runs."""
        facts = self.piece.facts
        for run in self._runs.values():
            begun = facts[run.index]
            if isinstance(begun, Run):
                facts[run.index] = begun._replace(last=run.last, last_time=run.last_time, lines=run.lines)
        self._runs.clear()


class _Open:
    """A run to which lines may still come, and where it stands among the facts."""

    __slots__ = ("index", "last", "last_time", "lines")

    def __init__(self, index: int, number: int, time: str) -> None:
        self.index, self.last, self.last_time, self.lines = index, number, time, 1


def read_piece(lines: Iterable[str]) -> Piece:
    """All that is in some lines, which begin at an entry."""
    reading = Reading()
    piece = reading.piece

    def counted() -> Iterable[str]:
        for line in lines:
            piece.lines += 1
            yield line

    for one in read_heads(counted(), piece.counts):
        reading.take(one)
    reading.flush()
    return piece


def dashed(partition: str) -> str:
    """A partition as later releases print it: t-0 for [t,0]."""
    if partition.startswith("["):
        topic, _, number = partition[1:-1].rpartition(",")
        return f"{topic}-{number}"
    return partition


def topic_of(partition: str) -> str:
    """The topic of a partition, however it is printed."""
    return dashed(partition).rpartition("-")[0]


__all__ = ["FOREIGN", "OTHER", "QUIET", "READ", "TORN", "UNKNOWN", "Piece", "dashed", "read_piece", "topic_of"]
