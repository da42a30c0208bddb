"""The sequences of a recording as a search walks them: what comes next in each, and which life of a broker is on.

A place in a recording is a tuple of numbers, one for each sequence: how many of its observations are explained. Lines
of a process's second life are not read before its second process has begun, nor is a process killed before all that it
wrote is explained.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from math import inf
from typing import Any, TypeAlias, TypeGuard

from model_check.recordings import seen
from model_check.recordings.recording import Observed, Recording

Place: TypeAlias = tuple[int, ...]

ZOOKEEPER = "zookeeper"
LOGS = STATE_CHANGES, REPORTS, UNLOCKED = "controller", "controller.log", "controller.log without the lock"
"""A controller's sequences: what it says in state-change.log, and in controller.log with its lock and without."""
BROKER = "broker"
"""What a broker handles, as state-change.log tells it."""
FILES: Mapping[str, str] = {STATE_CHANGES: "state-change.log", **dict.fromkeys((REPORTS, UNLOCKED), "controller.log")}
"""The files that these are in."""
SKEW = 2000
"""Milliseconds by which a clock and ZooKeeper's, or a line and what it tells of, are likely apart at most."""
APART = 2 * SKEW
"""Milliseconds by which two clocks are likely apart at most, each of which may be off ZooKeeper's."""


class Tracks:
    """The sequences of a recording, numbered."""

    def __init__(self, recording: Recording) -> None:
        self.sequences: tuple[Sequence[Observed], ...] = tuple(recording.tracks.values())
        self.beginning: Place = (0,) * len(self.sequences)
        self.end: Place = tuple(map(len, self.sequences))
        self._numbers = {name: number for number, name in enumerate(recording.tracks)}
        self._zookeeper = self._numbers[ZOOKEEPER]
        self._names_of = brokers = {b: name for name, b in recording.cluster.numbers.items()}
        self.releases = {b: recording.releases.get(name) for b, name in self._names_of.items()}
        begun = [(number, one) for number, one in enumerate(self.sequences[self._zookeeper]) if _is_birth(one)]
        self._births = {b: [number for number, one in begun if one.by == b] for b in brokers}
        self._last = max((one.time for sequence in self.sequences for one in sequence), default=0)
        self._log_ends = recording.log_ends
        self._ends = {b: self._ends_of_lives(b) for b in brokers}
        self.started = frozenset(b for b in brokers if self._births[b])

    def _ends_of_lives(self, b: int) -> Sequence[int]:
        """When each process of a broker ends: it is killed, or loses its session for good, or the next one begins."""
        begun = [self.sequences[self._zookeeper][number].time for number in self._births[b]]
        ends = [one.time for sequence in self.sequences for one in sequence if is_death(one, b)] + begun
        return [min((time for time in ends if time > begin), default=self._last) for begin in begun or [self._last]]

    def life(self, place: Place, b: int) -> int:
        """Which process of a broker is the present one; 1 also before any."""
        return max(1, bisect_left(self._births[b], place[self._zookeeper]))

    def _end(self, place: Place, b: int) -> int:
        """When the present process of a broker ends."""
        return self._ends[b][self.life(place, b) - 1]

    def dies(self, place: Place, b: int) -> bool:
        """Whether the present process of a broker comes to its end before the recording does."""
        return self._end(place, b) < self._last

    def lives_on(self, place: Place, b: int, milliseconds: int) -> bool:
        """Whether the present process of a broker goes on for so long, by the clocks, as far as it is told."""
        return self._end(place, b) > self._now(place) + milliseconds

    def goes_on(self, before: Place, place: Place, b: int, log: str, milliseconds: int) -> bool:
        """Whether a log of a controller tells of a later life, or has any entry so long behind a step, by the clocks.

        The step leads from one place to the other. What is no later than the last entry that is explained of the file
        is not behind it: one clock has written both.
        """
        if len(self.lines(place, b, log)) < len(self._left(place, log, b)):
            return True
        then = max(self._now(before) + milliseconds, self._last_explained(place, b, log))
        return self._log_ends.get(self._name(log, b), 0) > then

    def _last_explained(self, place: Place, b: int, log: str) -> int:
        """When the last entry of a file was written that is explained; a broker writes to one of the two."""
        kinds = (log, BROKER) if log == STATE_CHANGES else (log,)
        return max((done[-1].time for kind in kinds if (done := self._done(place, kind, b))), default=0)

    def _now(self, place: Place) -> int:
        """When the first of what is not explained yet was, by the clocks."""
        return min((one.time for _, one in self.heads(place)), default=self._last)

    def track(self, kind: str, b: int) -> int | None:
        """The number of a broker's sequence, of one of the `LOGS` or as `BROKER`; None if its log is not there."""
        return self._numbers.get(self._name(kind, b))

    def _name(self, kind: str, b: int) -> str:
        return f"{kind} {self._names_of[b]}"

    def _done(self, place: Place, kind: str, b: int) -> Sequence[Any]:
        """What is explained of a broker's sequence."""
        number = self.track(kind, b)
        return () if number is None else self.sequences[number][: place[number]]

    def _left(self, place: Place, kind: str, b: int) -> Sequence[Any]:
        """What is not explained yet of a broker's sequence."""
        number = self.track(kind, b)
        return () if number is None else self.sequences[number][place[number] :]

    def _of_this_life(self, place: Place, kind: str, b: int) -> Iterator[Any]:
        """What is not explained yet of what the present process of a broker wrote."""
        life = self.life(place, b)
        return takewhile(lambda one: one.incarnation == life, self._left(place, kind, b))

    def heads(self, place: Place) -> list[tuple[int, Observed]]:
        """The next observation of each sequence, with the sequence's number, in the order of their clocks."""
        heads = [
            (number, sequence[position])
            for number, (sequence, position) in enumerate(zip(self.sequences, place, strict=True))
            if position < len(sequence)
        ]
        return sorted(heads, key=lambda head: (head[1].time, head[0]))

    def lines(self, place: Place, c: int, log: str) -> list[seen.ControllerSaid]:
        """What the present process of a controller has yet to say in one of its logs."""
        return list(self._of_this_life(place, log, c))

    def last_line(self, place: Place, c: int, log: str) -> str:
        """Where the last line stands that is explained of one of a controller's logs."""
        done = self._done(place, log, c)
        return done[-1].place if done else f"the start of broker-{self._names_of[c]}/{FILES[log]}"

    def is_late(self, place: Place, shown: Sequence[Observed]) -> bool:
        """Whether something comes, by the clocks, before all that a controller is shown to say.

        That is a line of its in the other log, or its deletion of /controller.
        """
        said = [one for one in shown if isinstance(one, seen.ControllerSaid)]
        if not said:
            return False
        c, then = said[0].controller, min(one.time for one in said)
        earlier = self.transactions(place, then - 1)
        is_deleted = any(isinstance(one, seen.ControllerDeleted) and one.by == c for one in earlier)
        return is_deleted or any(one.time < then for log in LOGS for one in self.lines(place, c, log)[:1])

    def gives_up(self, place: Place, b: int) -> bool:
        """Whether a broker closes its session, as far as it is told, and does not register before."""
        either = (one for one in self.changes(place) if isinstance(one, seen.BrokerRegistered | seen.SessionEnded))
        ends = (one for one in either if one.by == b and (isinstance(one, seen.BrokerRegistered) or one.by_client))
        return isinstance(next(ends, None), seen.SessionEnded)

    def leavers(self, place: Place) -> frozenset[int]:
        """The brokers whose present process, as far as it is told, comes to its end by closing its session."""
        ends: dict[int, bool] = {}
        for one in self.changes(place):
            if isinstance(one, seen.SessionEnded) or _is_birth(one):
                ends.setdefault(one.by, isinstance(one, seen.SessionEnded) and one.by_client)
        return frozenset(b for b, leaves in ends.items() if leaves)

    def registers(self, place: Place, b: int, until: int) -> bool:
        """Whether a broker registers up to a time."""
        return any(isinstance(one, seen.BrokerRegistered) and one.by == b for one in self.transactions(place, until))

    def transactions(self, place: Place, until: int) -> Iterator[Observed]:
        """ZooKeeper's next transactions, up to a time."""
        return takewhile(lambda one: one.time <= until, self.changes(place))

    def changes(self, place: Place) -> Sequence[Observed]:
        """ZooKeeper's next transactions, all of them."""
        return self.sequences[self._zookeeper][place[self._zookeeper] :]

    def handled(self, place: Place, b: int) -> Iterator[seen.Handled]:
        """What the present process of a broker has yet to handle."""
        return self._of_this_life(place, BROKER, b)

    def requests(self, place: Place, b: int) -> Iterator[seen.RequestHandled]:
        """The requests among that."""
        return (one for one in self.handled(place, b) if isinstance(one, seen.RequestHandled))

    def last_request(self, place: Place, b: int, c: int, epoch: int) -> seen.RequestHandled | None:
        """The request of a controller, in a term of it, that a broker has handled last, in this life or one before."""
        done = (one for one in reversed(self._done(place, BROKER, b)) if isinstance(one, seen.RequestHandled))
        return next((one for one in done if (one.controller, one.epoch) == (c, epoch)), None)

    def is_silent(self, place: Place, b: int) -> bool:
        """Whether the present process of a broker wrote nothing more."""
        return not any(any(self._of_this_life(place, kind, b)) for kind in (*LOGS, BROKER))

    def explained(self, place: Place) -> tuple[float, int]:
        """How far an explanation came: all is explained that was before a time, and so many observations in all."""
        return min((one.time for _, one in self.heads(place)), default=inf), sum(place)

    @staticmethod
    def after(place: Place, steps: Mapping[int, int]) -> Place:
        """The place after so many more observations of these sequences."""
        return tuple(position + steps.get(number, 0) for number, position in enumerate(place))


def _is_birth(one: Observed) -> TypeGuard[seen.SessionBegan]:
    """Whether a process gets its first session."""
    return isinstance(one, seen.SessionBegan) and one.first


def is_death(one: Observed, b: int) -> bool:
    """Whether a broker's process was killed, or came to its end unseen and lost its session, and no later one lives."""
    if isinstance(one, seen.SessionEnded):
        return one.by == b and not (one.survived or one.superseded)
    return isinstance(one, seen.ProcessKilled) and one.broker == b
