"""The sequences of a recording as a search walks them: what comes next in each, and which life of a broker is on.

A place in a recording is a tuple of numbers, one for each sequence: how many of its observations are explained. Lines
of a process's second life are not read before its second process has begun, nor is a process killed before all that it
wrote is explained.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from math import inf
from typing import TypeAlias

from model_check.recordings.processes import ControllerSaid, Handled, ProcessKilled, RequestHandled
from model_check.recordings.recording import Observed, Recording
from model_check.recordings.zookeeper import (
    BrokerRegistered,
    NotificationCreated,
    SessionBegan,
    SessionEnded,
    StateWritten,
    WriteConflicted,
    ZooKeeperChange,
)
from spec.logs.log_lines import Line

Place: TypeAlias = tuple[int, ...]

ZOOKEEPER = "zookeeper"
LOGS = STATE_CHANGES, REPORTS = "controller", "controller.log"
"""A controller's sequences: what it says in state-change.log, and in controller.log."""
FILES: Mapping[str, str] = {STATE_CHANGES: "state-change.log", REPORTS: "controller.log"}
"""The files that these are in."""
SKEW = 2000
"""Milliseconds by which a clock and ZooKeeper's, or a line and what it tells of, are likely apart at most."""
APART = 2 * SKEW
"""Milliseconds by which two clocks are likely apart at most, each of which may be off ZooKeeper's."""


class Tracks:
    """The sequences of a recording, numbered."""

    def __init__(self, recording: Recording) -> None:
        self.cluster = recording.cluster
        self.names = tuple(recording.tracks)
        self.sequences: tuple[Sequence[Observed], ...] = tuple(recording.tracks.values())
        self.beginning: Place = (0,) * len(self.names)
        self.end: Place = tuple(map(len, self.sequences))
        self._numbers = {name: number for number, name in enumerate(self.names)}
        self._zookeeper = self._numbers[ZOOKEEPER]
        brokers = range(1, len(recording.cluster.broker_ids) + 1)
        self._names_of = dict(zip(brokers, recording.cluster.broker_ids, strict=True))
        self.releases = {b: (recording.releases or {}).get(name) for b, name in self._names_of.items()}
        self._lives = {b: self._count_lives(b) for b in brokers}
        self._last = max((one.time for sequence in self.sequences for one in sequence), default=0)
        self._log_ends = recording.log_ends
        self._ends = {b: tuple(self._ends_of_lives(b)) for b in brokers}
        self.started = frozenset(b for b in brokers if self._lives[b][-1])

    def _count_lives(self, b: int) -> list[int]:
        """After how many transactions a broker has had how many processes."""
        counts = [0]
        for one in self.sequences[self._zookeeper]:
            counts.append(counts[-1] + (isinstance(one, SessionBegan) and one.by == b and one.first))
        return counts

    def life(self, place: Place, b: int) -> int:
        """Which process of a broker is the present one; 1 also before any."""
        return max(1, self._lives[b][place[self._zookeeper]])

    def dies(self, place: Place, b: int) -> bool:
        """Whether the present process of a broker comes to its end before the recording does."""
        ends, life = self._ends[b], self.life(place, b)
        return life <= len(ends) and ends[life - 1] < self._last

    def lives_on(self, place: Place, b: int, milliseconds: int) -> bool:
        """Whether the present process of a broker goes on for so long, by the clocks, as far as it is told."""
        ends, life = self._ends[b], self.life(place, b)
        return life <= len(ends) and ends[life - 1] > self._now(place) + milliseconds

    def goes_on(self, before: Place, place: Place, b: int, log: str, milliseconds: int) -> bool:
        """Whether a log of a controller tells of a later life, or has any entry so long behind a step, by the clocks.

        The step leads from one place to the other. What is no later than the last entry that is explained of the file
        is not behind it: one clock has written both.
        """
        number = self.track(log, b)
        if number is not None and place[number] + len(self.lines(place, b, log)[1]) < self.end[number]:
            return True
        then = max(self._now(before) + milliseconds, self._last_explained(place, b, log))
        return self._log_ends.get(self._name(log, b), 0) > then

    def _last_explained(self, place: Place, b: int, log: str) -> int:
        """When the last entry of a file was written that is explained; a broker writes to one of the two."""
        kinds = (log, "broker") if log == STATE_CHANGES else (log,)
        numbers = [number for number in (self.track(kind, b) for kind in kinds) if number is not None]
        return max((self.sequences[one][place[one] - 1].time for one in numbers if place[one]), default=0)

    def _now(self, place: Place) -> int:
        """When the first of what is not explained yet was, by the clocks."""
        return min((one.time for _, one in self.heads(place)), default=self._last)

    def _ends_of_lives(self, b: int) -> Iterator[int]:
        """When each process of a broker ends: as it is killed, or loses its session for good, or at the last."""
        begun = [
            one.time
            for one in self.sequences[self._zookeeper]
            if isinstance(one, SessionBegan) and one.first and one.by == b
        ]
        deaths = [one.time for sequence in self.sequences for one in sequence if _is_death(one, b)]
        yield from (min((time for time in deaths if time > begin), default=self._last) for begin in begun)

    def track(self, kind: str, b: int) -> int | None:
        """The number of a broker's sequence, as "broker" or of one of the `LOGS`; None if its log is not there."""
        return self._numbers.get(self._name(kind, b))

    def _name(self, kind: str, b: int) -> str:
        return f"{kind} {self._names_of[b]}"

    def heads(self, place: Place) -> list[tuple[int, Observed]]:
        """The next observation of each sequence, with the sequence's number, in the order of their clocks."""
        heads = [
            (number, sequence[position])
            for number, (sequence, position) in enumerate(zip(self.sequences, place, strict=True))
            if position < len(sequence)
        ]
        return sorted(heads, key=lambda head: (head[1].time, head[0]))

    def lines(self, place: Place, c: int, log: str) -> tuple[int, list[ControllerSaid]]:
        """The number of the sequence of one of a controller's logs, and what its present process has yet to say."""
        number = self.track(log, c)
        if number is None:
            return -1, []
        life = self.life(place, c)
        left = []
        for one in self.sequences[number][place[number] :]:
            if not isinstance(one, ControllerSaid) or one.incarnation != life:
                break
            left.append(one)
        return number, left

    def last_line(self, place: Place, c: int, log: str) -> str:
        """Where the last line stands that is explained of one of a controller's logs."""
        number = self.track(log, c)
        if number is None or not place[number]:
            return f"the start of broker-{self._names_of[c]}/{FILES[log]}"
        return self.sequences[number][place[number] - 1].place

    def lines_to_come(self, place: Place) -> Iterator[Line]:
        """What controllers, in this life and later ones, have yet to say in state-change.log."""
        for name, sequence, position in zip(self.names, self.sequences, place, strict=True):
            if name.startswith(f"{STATE_CHANGES} "):
                yield from (one.line for one in sequence[position:] if isinstance(one, ControllerSaid))

    def conflicts_next(self, place: Place, c: int) -> bool:
        """Whether the next thing that a controller does in ZooKeeper fails on a version: it has read too early.

        Its session may end before; the client writes in the next one what it could not write in the last.
        """
        own = (one for one in self._changes(place) if isinstance(one, ZooKeeperChange) and one.by == c)
        done = (one for one in own if not (_is_a_leaders(one) or _is_survived(one)))
        return isinstance(next(done, None), WriteConflicted)

    def leavers(self, place: Place) -> frozenset[int]:
        """The brokers whose present process, as far as it is told, comes to its end by closing its session."""
        ends: dict[int, bool] = {}
        for one in self._changes(place):
            if isinstance(one, SessionEnded) or (isinstance(one, SessionBegan) and one.first):
                ends.setdefault(one.by, isinstance(one, SessionEnded) and one.by_client)
        return frozenset(b for b, leaves in ends.items() if leaves)

    def noted_late(self, place: Place, b: int) -> frozenset[int]:
        """Partitions that a leader announces the time after next, without another change of their ISR until then."""
        changed = set[int]()
        for one in self._changes(place)[1:]:
            match one:
                case NotificationCreated(by=by, partitions=named) if by == b:
                    return named - changed
                case StateWritten(by=by, by_leader=True, partition=p) if by == b:
                    changed.add(p)
                case SessionBegan(by=by, first=True) if by == b:
                    break
        return frozenset()

    def changed_just_now(self, place: Place, b: int) -> frozenset[int]:
        """Partitions whose ISR a leader has changed shortly before the next transaction, by the clock."""
        done, now = place[self._zookeeper], self.sequences[self._zookeeper][place[self._zookeeper]].time
        changed = set[int]()
        for one in reversed(self.sequences[self._zookeeper][:done]):
            if one.time < now - SKEW:
                break
            if isinstance(one, StateWritten) and one.by_leader and one.by == b:
                changed.add(one.partition)
        return frozenset(changed)

    def registers(self, place: Place, b: int, until: int) -> bool:
        """Whether a broker registers up to a time."""
        return any(isinstance(one, BrokerRegistered) and one.by == b for one in self.transactions(place, until))

    def transactions(self, place: Place, until: int) -> Iterator[Observed]:
        """ZooKeeper's next transactions, up to a time."""
        return takewhile(lambda one: one.time <= until, self._changes(place))

    def _changes(self, place: Place) -> Sequence[Observed]:
        """ZooKeeper's next transactions, all of them."""
        return self.sequences[self._zookeeper][place[self._zookeeper] :]

    def handled(self, place: Place, b: int) -> Iterator[Handled]:
        """What the present process of a broker has yet to handle."""
        number = self.track("broker", b)
        if number is None:
            return
        life = self.life(place, b)
        for one in self.sequences[number][place[number] :]:
            if isinstance(one, Handled):
                if one.incarnation != life:
                    return
                yield one

    def requests(self, place: Place, b: int) -> Iterator[RequestHandled]:
        """The requests among that."""
        return (one for one in self.handled(place, b) if isinstance(one, RequestHandled))

    def later_requests(self, place: Place, b: int) -> Iterator[RequestHandled]:
        """The requests that a broker has yet to handle after the next one, in this life and later ones."""
        number = self.track("broker", b)
        sequence = self.sequences[number][place[number] + 1 :] if number is not None else ()
        return (one for one in sequence if isinstance(one, RequestHandled))

    def last_request(self, place: Place, b: int, c: int, epoch: int) -> RequestHandled | None:
        """The request of a controller, in a term of it, that a broker has handled last, in this life or one before."""
        number = self.track("broker", b)
        for one in reversed(self.sequences[number][: place[number]] if number is not None else ()):
            if isinstance(one, RequestHandled) and (one.controller, one.epoch) == (c, epoch):
                return one
        return None

    def is_silent(self, place: Place, b: int) -> bool:
        """Whether the present process of a broker wrote nothing more."""
        said = any(self.lines(place, b, log)[1] for log in LOGS)
        return not said and next(self.handled(place, b), None) is None

    def explained(self, place: Place) -> tuple[float, int]:
        """How far an explanation came: all is explained that was before a time, and so many observations in all."""
        return min((one.time for _, one in self.heads(place)), default=inf), sum(place)

    @staticmethod
    def after(place: Place, steps: Mapping[int, int]) -> Place:
        """The place after so many more observations of these sequences."""
        return tuple(position + steps.get(number, 0) for number, position in enumerate(place))


def _is_death(one: Observed, b: int) -> bool:
    """Whether a broker's process was killed, or came to its end unseen and lost its session."""
    match one:
        case ProcessKilled(broker=broker):
            return broker == b
        case SessionEnded(by=broker, survived=False):
            return broker == b
        case _:
            return False


def _is_survived(one: ZooKeeperChange) -> bool:
    """Whether a process loses a session and lives on, or gets another one."""
    match one:
        case SessionEnded(survived=survived):
            return survived
        case SessionBegan(first=first):
            return not first
        case _:
            return False


def _is_a_leaders(one: ZooKeeperChange) -> bool:
    """Whether a broker does this as the leader of a partition."""
    match one:
        case NotificationCreated() | StateWritten(by_leader=True):
            return True
        case _:
            return isinstance(one, WriteConflicted) and one.of_leader is not None
