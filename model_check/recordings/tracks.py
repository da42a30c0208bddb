"""The sequences of a recording as a search walks them: what comes next in each, and which life of a broker is on.

A place in a recording is a tuple of numbers, one for each sequence: how many of its observations are explained. Lines
of a process's second life are not read before its second process has begun, nor is a process killed before all that it
wrote is explained.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import takewhile
from math import inf
from typing import Any, TypeAlias, TypeGuard, TypeVar, overload

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


T = TypeVar("T")


class Part(Sequence[T]):
    """A part of a sequence, which is not copied: most who look ahead stop at the first few."""

    def __init__(self, whole: Sequence[T], start: int, end: int) -> None:
        self._whole, self._start, self._end = whole, start, max(start, end)

    def __len__(self) -> int:
        return self._end - self._start

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        places = range(self._start, self._end)[index]
        return self._whole[places] if isinstance(places, int) else [self._whole[place] for place in places]

    def __iter__(self) -> Iterator[T]:
        return map(self._whole.__getitem__, range(self._start, self._end))


class Tracks:
    """The sequences of a recording, numbered."""

    def __init__(self, recording: Recording) -> None:
        self.cluster = recording.cluster
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
        self._until = [_ends_of_runs(sequence) for sequence in self.sequences]
        self._handled = {b: _by_term(self._all(BROKER, b)) for b in brokers}
        self._leaves = {b: list(_ways_out(self.sequences[self._zookeeper], b)) for b in brokers}
        self._known_heads = lru_cache(maxsize=100)(self._heads)
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
        """Whether the present process of a broker goes on for so long, by the clocks, as far as is known."""
        return self._end(place, b) > self._now(place) + milliseconds

    def goes_on(self, before: Place, place: Place, b: int, log: str, milliseconds: int) -> bool:
        """Whether a log of a controller tells of a later life, or has any entry so long behind a step, by the clocks.

        The step leads from one place to the other. What is no later than the last entry that is explained of the file
        is not behind it: one clock has written both.
        """
        if len(self.lines(place, b, log)) < len(self._all(log, b)) - self._explained(place, log, b):
            return True
        then = max(self._now(before) + milliseconds, self._last_explained(place, b, log))
        return self._log_ends.get(self._name(log, b), 0) > then

    def _last_explained(self, place: Place, b: int, log: str) -> int:
        """When the last entry of a file was written that is explained; a broker writes to one of the two."""
        kinds = (log, BROKER) if log == STATE_CHANGES else (log,)
        return max((last.time for kind in kinds if (last := self._last_of(place, kind, b))), default=0)

    def _now(self, place: Place) -> int:
        """When the first of what is not explained yet was, by the clocks."""
        return min((one.time for _, one in self.heads(place)), default=self._last)

    def track(self, kind: str, b: int) -> int | None:
        """The number of a broker's sequence, of one of the `LOGS` or as `BROKER`; None if its log is not there."""
        return self._numbers.get(self._name(kind, b))

    def _name(self, kind: str, b: int) -> str:
        return f"{kind} {self._names_of[b]}"

    def _all(self, kind: str, b: int) -> Sequence[Any]:
        """A broker's sequence."""
        number = self.track(kind, b)
        return () if number is None else self.sequences[number]

    def _explained(self, place: Place, kind: str, b: int) -> int:
        """How many of a broker's sequence are explained."""
        number = self.track(kind, b)
        return 0 if number is None else place[number]

    def _of_this_life(self, place: Place, kind: str, b: int) -> Part[Any]:
        """What is not explained yet of what the present process of a broker wrote."""
        number, sequence = self.track(kind, b), self._all(kind, b)
        start = 0 if number is None else place[number]
        is_its = start < len(sequence) and sequence[start].incarnation == self.life(place, b)
        return Part(sequence, start, self._until[number or 0][start] if is_its else start)

    def heads(self, place: Place) -> Sequence[tuple[int, Observed]]:
        """The next observation of each sequence, with the sequence's number, in the order of their clocks."""
        return self._known_heads(place)

    def _heads(self, place: Place) -> Sequence[tuple[int, Observed]]:
        heads = [
            (number, sequence[position])
            for number, (sequence, position) in enumerate(zip(self.sequences, place, strict=True))
            if position < len(sequence)
        ]
        return sorted(heads, key=lambda head: (head[1].time, head[0]))

    def lines(self, place: Place, c: int, log: str) -> Part[seen.ControllerSaid]:
        """What the present process of a controller has yet to say in one of its logs."""
        return self._of_this_life(place, log, c)

    def tells(self, c: int, log: str) -> bool:
        """Whether one of a controller's logs has any line, be it of another process of it."""
        return bool(self._all(log, c))

    def last_line(self, place: Place, c: int, log: str) -> str:
        """Where the last line is that is explained of one of a controller's logs."""
        last = self._last_of(place, log, c)
        return last.place if last is not None else f"the start of broker-{self._names_of[c]}/{FILES[log]}"

    def _last_of(self, place: Place, kind: str, b: int) -> Observed | None:
        """The last that is explained of a broker's sequence."""
        explained = self._explained(place, kind, b)
        last: Observed | None = self._all(kind, b)[explained - 1] if explained else None
        return last

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
        """Whether a broker closes its session, as far as is known, and does not register before."""
        either = (one for one in self.changes(place) if isinstance(one, seen.BrokerRegistered | seen.SessionEnded))
        ends = (one for one in either if one.by == b and (isinstance(one, seen.BrokerRegistered) or one.by_client))
        return isinstance(next(ends, None), seen.SessionEnded)

    def leavers(self, place: Place) -> frozenset[int]:
        """The brokers whose present process, as far as is known, comes to its end by closing its session."""
        here = place[self._zookeeper]
        ways = ((b, out[bisect_left(out, (here, False)) :][:1]) for b, out in self._leaves.items())
        return frozenset(b for b, out in ways if any(leaves for _, leaves in out))

    def registers(self, place: Place, b: int, until: int) -> bool:
        """Whether a broker registers up to a time."""
        return any(isinstance(one, seen.BrokerRegistered) and one.by == b for one in self.transactions(place, until))

    def transactions(self, place: Place, until: int) -> Iterator[Observed]:
        """ZooKeeper's next transactions, up to a time."""
        return takewhile(lambda one: one.time <= until, self.changes(place))

    def changes(self, place: Place) -> Part[Observed]:
        """ZooKeeper's next transactions, all of them."""
        changes = self.sequences[self._zookeeper]
        return Part(changes, place[self._zookeeper], len(changes))

    def handled(self, place: Place, b: int) -> Part[seen.Handled]:
        """What the present process of a broker has yet to handle."""
        return self._of_this_life(place, BROKER, b)

    def requests(self, place: Place, b: int) -> Iterator[seen.RequestHandled]:
        """The requests among that."""
        return (one for one in self.handled(place, b) if isinstance(one, seen.RequestHandled))

    def last_request(self, place: Place, b: int, c: int, epoch: int) -> seen.RequestHandled | None:
        """The request of a controller, in a term of it, that a broker has handled last, in this life or one before."""
        of_term = self._handled[b].get((c, epoch), [])
        number = bisect_left(of_term, self._explained(place, BROKER, b))
        last: seen.RequestHandled | None = self._all(BROKER, b)[of_term[number - 1]] if number else None
        return last

    def next_request(self, place: Place, b: int, c: int, epoch: int | None) -> seen.RequestHandled | None:
        """The request of a controller, in a term of it, that the present process of a broker has yet to handle next."""
        return next(self.next_requests(place, b, c, epoch), None)

    def next_requests(self, place: Place, b: int, c: int, epoch: int | None) -> Iterator[seen.RequestHandled]:
        """The requests of a controller, in a term of it, that the present process of a broker has yet to handle."""
        of_term, handled = self._handled[b].get((c, epoch), []), self._all(BROKER, b)
        coming = len(self.handled(place, b)) + self._explained(place, BROKER, b)
        for number in range(bisect_left(of_term, self._explained(place, BROKER, b)), len(of_term)):
            if of_term[number] >= coming:
                return
            yield handled[of_term[number]]

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


def _ends_of_runs(sequence: Sequence[Any]) -> Sequence[int]:
    """For each place in a sequence the one behind those that follow there of the same process."""
    ends = [len(sequence)] * len(sequence)
    for place in range(len(sequence) - 2, -1, -1):
        this, following = (getattr(sequence[one], "incarnation", 0) for one in (place, place + 1))
        ends[place] = ends[place + 1] if this == following else place + 1
    return ends


def _by_term(handled: Sequence[Any]) -> Mapping[tuple[int, int | None], Sequence[int]]:
    """The places of the requests of each term of each controller."""
    places = defaultdict[tuple[int, int | None], list[int]](list)
    for place, one in enumerate(handled):
        if isinstance(one, seen.RequestHandled):
            places[one.controller, one.epoch].append(place)
    return dict(places)


def _ways_out(changes: Sequence[Observed], b: int) -> Iterator[tuple[int, bool]]:
    """Where a broker's sessions end, or a process of it begins; and whether it closes its session there."""
    for place, one in enumerate(changes):
        if (isinstance(one, seen.SessionEnded) or _is_birth(one)) and one.by == b:
            yield place, isinstance(one, seen.SessionEnded) and one.by_client


def _is_birth(one: Observed) -> TypeGuard[seen.SessionBegan]:
    """Whether a process gets its first session."""
    return isinstance(one, seen.SessionBegan) and one.first


def is_death(one: Observed, b: int) -> bool:
    """Whether a broker's process was killed, or came to its end unseen and lost its session, and no later one lives."""
    if isinstance(one, seen.SessionEnded):
        return one.by == b and not (one.survived or one.superseded)
    return isinstance(one, seen.ProcessKilled) and one.broker == b
