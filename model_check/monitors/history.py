"""A recording as claims see it: who wrote what to ZooKeeper, in order, and what arrived at whom.

ZooKeeper's log is total: each write knows what stood there before, who made it, and who was in office at that moment.
The parts of a transaction that was made as one follow each other; one that was refused as a whole wrote nothing. What
brokers received is ordered within each broker only, and its clock may be off ZooKeeper's by `SKEW`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

from model_check.monitors.acts import Acts, Rest
from model_check.monitors.arrivals import Arrivals
from model_check.monitors.contents import (
    Assignment,
    Configuration,
    Content,
    ControllerEpoch,
    Moves,
    State,
    read_content,
)
from model_check.recordings.recorded_cluster import UNCLEAN
from model_check.recordings.recorded_sessions import Session
from model_check.recordings.recorded_tracks import SKEW
from model_check.recordings.recorded_transactions import with_lines
from reference.zookeeper.transactions import (
    ERROR_NAMES,
    Change,
    DataSet,
    MultiChange,
    NodeCreated,
    NodeDeleted,
    SessionClosed,
    Transaction,
    WriteRefused,
    hex_of,
)
from spec.errors import MalformedInput
from spec.formats import znode_paths as paths
from spec.formats.znode_paths import Path as ZnodePath
from spec.formats.znode_paths import PathKind
from spec.kafka_types import TopicPartition

CONTROLLER, CONTROLLER_EPOCH = "/controller", "/controller_epoch"
MOVES, ELECTIONS = "/admin/reassign_partitions", "/admin/preferred_replica_election"


@dataclass(frozen=True)
class Author:
    """Whose a session is: a broker's process, or nobody's that is known (then `broker` is None)."""

    session: int
    broker: int | None = None
    incarnation: int = 0

    def __str__(self) -> str:
        return f"session {hex_of(self.session)}, no broker's," if self.broker is None else f"broker {self.broker}"


@dataclass(frozen=True)
class Office:
    """Who is in office: the owner of /controller, and the write of /controller_epoch that stands."""

    owner: Author | None = None
    since: int = -1
    epoch: int | None = None
    raised_by: Author | None = None
    raised: int = -1

    def __str__(self) -> str:
        owner = f"/controller was {self.owner}'s" if self.owner else "there was no /controller"
        return f"/controller_epoch was {'not there' if self.epoch is None else self.epoch} and {owner}"


@dataclass(frozen=True)
class Write:
    """One change of one znode: content and existence before and after, and the office before it.

    `number` counts all writes; `version` is the znode's data version after it, -1 if it is gone. A znode that goes with
    its session is `dropped`. `place` is the line of the transaction.
    """

    number: int
    place: str
    ms: int
    zxid: int
    author: Author
    path: ZnodePath | None
    name: str
    before: Content | None
    after: Content | None
    version: int
    office: Office
    dropped: bool = False

    @property
    def is_create(self) -> bool:
        """Whether the znode was not there before."""
        return self.before is None

    @property
    def is_delete(self) -> bool:
        """Whether a client deleted the znode."""
        return self.after is None and not self.dropped

    @property
    def topic_partition(self) -> TopicPartition:
        """The partition of a state znode."""
        assert self.path is not None and self.path.topic is not None and self.path.partition is not None  # noqa: S101, PT018 - asked of state znodes only
        return TopicPartition(self.path.topic, self.path.partition)

    @property
    def topic(self) -> str:
        """The topic that the path names, if any."""
        return (self.path.topic or "") if self.path else ""


@dataclass(frozen=True)
class Conflict:
    """A write of a session was refused for the version that it expected, before the write of a number."""

    session: int
    number: int


@dataclass(frozen=True)
class History:
    """Everything that claims are asked of. `no_candidates` are the brokers that never stand for election."""

    writes: tuple[Write, ...]
    arrivals: Arrivals = field(default_factory=Arrivals)
    acts: Acts = field(default_factory=Acts)
    unclean_by_default: bool = False
    conflicts: tuple[Conflict, ...] = ()
    no_candidates: frozenset[int] = frozenset()

    @cached_property
    def _of(self) -> Mapping[str, tuple[Write, ...]]:
        of: dict[str, list[Write]] = {}
        for one in self.writes:
            of.setdefault(one.name, []).append(one)
        return {name: tuple(some) for name, some in of.items()}

    @cached_property
    def _numbers(self) -> Mapping[str, list[int]]:
        return {name: [one.number for one in some] for name, some in self._of.items()}

    @cached_property
    def _clock(self) -> list[int]:
        """When each write was made, at the latest that any up to it was."""
        times, latest = [], 0
        for one in self.writes:
            latest = max(latest, one.ms)
            times.append(latest)
        return times

    # ---------------------------------------------------------------------------------------------------- writes

    def of(self, name: str) -> tuple[Write, ...]:
        """The writes of a path."""
        return self._of.get(name, ())

    def of_kind(self, *kinds: PathKind) -> Iterator[Write]:
        """The writes of paths of these kinds, in order."""
        return (one for one in self.writes if one.path is not None and one.path.kind in kinds)

    def last(self, name: str, number: int) -> Write | None:
        """The last write of a path before a number."""
        index = bisect_left(self._numbers.get(name, []), number)
        return self._of[name][index - 1] if index else None

    def at(self, name: str, number: int) -> Content | None:
        """What a path held just before the write of a number."""
        write = self.last(name, number)
        return write.after if write else None

    def during(self, name: str, start: int, end: int) -> list[Content | None]:
        """All that a path held at some moment between two times, each of which may be off by `SKEW`."""
        first, past = self.before(start - SKEW), self.before(end + SKEW + 1)
        return [self.at(name, first), *(one.after for one in self.of(name) if first <= one.number < past)]

    def before(self, ms: int) -> int:
        """The number of the first write that is not before a time."""
        return bisect_left(self._clock, ms)

    def cuts(self, rest: Rest) -> list[int]:
        """How many writes there may have been at a moment of rest.

        They are known, if the last transaction is told; else by clocks that are off by `SKEW` at most.
        """
        if rest.zxid is not None:
            return [sum(one.zxid <= rest.zxid for one in self.writes)]
        first, last = bisect_right(self._clock, rest.ms - SKEW), bisect_right(self._clock, rest.ms + SKEW)
        ends = [n for n in range(first, last) if n == 0 or self.writes[n - 1].place != self.writes[n].place]
        return [*ends, last]

    # -------------------------------------------------------------------------------------------------- contents

    def assignment(self, topic: str, number: int) -> Assignment | None:
        """A topic's AR."""
        content = self.at(f"/brokers/topics/{topic}", number)
        return content if isinstance(content, Assignment) else None

    def replicas(self, partition: TopicPartition, number: int) -> tuple[int, ...] | None:
        """A partition's AR; None where its topic's znode does not name it."""
        assignment = self.assignment(partition.topic, number)
        return assignment.replicas.get(partition.partition) if assignment else None

    def state(self, partition: TopicPartition, number: int) -> State | None:
        """A partition's state znode."""
        content = self.at(state_path(partition), number)
        return content if isinstance(content, State) else None

    def moves(self, number: int) -> Mapping[TopicPartition, tuple[int, ...]]:
        """What /admin/reassign_partitions asks for."""
        content = self.at(MOVES, number)
        return content.replicas if isinstance(content, Moves) else {}

    def is_doomed(self, topic: str, number: int) -> bool:
        """Whether the deletion of a topic is asked for."""
        return self.at(f"/admin/delete_topics/{topic}", number) is not None

    def may_be_unclean(self, topic: str, number: int) -> bool:
        """Whether a topic's configuration, or without one the brokers', has ever allowed an unclean election."""
        if self.unclean_by_default:
            return True
        contents = (one.after for one in self.of(f"/config/topics/{topic}") if one.number < number)
        return any(isinstance(one, Configuration) and one.values.get(UNCLEAN) == "true" for one in contents)

    def topics(self, number: int) -> Iterator[str]:
        """The topics that there are."""
        for name, writes in self._of.items():
            path = writes[0].path
            if path is not None and path.kind is paths.BROKER_TOPIC and isinstance(self.at(name, number), Assignment):
                yield path.topic or ""

    def partitions(self, number: int) -> Iterator[tuple[TopicPartition, tuple[int, ...]]]:
        """The partitions that topics' znodes name, each with its AR."""
        for topic in self.topics(number):
            assignment = self.assignment(topic, number)
            for partition, replicas in (assignment.replicas if assignment else {}).items():
                yield TopicPartition(topic, partition), replicas

    def registered(self, broker: int, number: int) -> Write | None:
        """The registration of a broker, if it is there."""
        write = self.last(f"/brokers/ids/{broker}", number)
        return write if write is not None and write.after is not None else None

    def office(self, number: int) -> Office:
        """Who was in office just before the write of a number."""
        return self.writes[number].office if number < len(self.writes) else self._final_office

    @cached_property
    def _final_office(self) -> Office:
        return _after(self.writes[-1], self.writes[-1].office) if self.writes else Office()

    def birth(self, topic: str, number: int) -> Write | None:
        """The last creation of a topic before the write of a number."""
        births = (one for one in self.of(f"/brokers/topics/{topic}") if one.is_create and one.number < number)
        return max(births, default=None, key=lambda one: one.number)

    @cached_property
    def brokers(self) -> tuple[int, ...]:
        """The brokers that have written anything."""
        return tuple(sorted({one.author.broker for one in self.writes if one.author.broker is not None}))

    def raises(self) -> Iterator[Write]:
        """The writes of /controller_epoch."""
        return (one for one in self.of(CONTROLLER_EPOCH) if isinstance(one.after, ControllerEpoch))


def state_path(partition: TopicPartition) -> str:
    """The path of a partition's state znode."""
    return f"/brokers/topics/{partition.topic}/partitions/{partition.partition}/state"


# ------------------------------------------------------------------------------------------------------------ making


def history_of(transactions: Iterable[Transaction], sessions: Mapping[int, Session]) -> History:
    """What a log tells, from its first transaction on; the line of each is its place."""
    tree: dict[str, tuple[Content, int]] = {}
    writes: list[Write] = []
    conflicts: list[Conflict] = []
    office = Office()
    for line, one in with_lines(transactions):
        author = _author(one.session, sessions)
        for change in parts_of(one.change):
            for name, data, version in _changed(change):
                write = _write(one, f"zookeeper.jsonl:{line}", author, name, data, version, tree, office)
                write = replace(write, number=len(writes), dropped=isinstance(change, SessionClosed))
                writes.append(write)
                office = _after(write, office)
        if _is_conflict(one.change):
            conflicts.append(Conflict(one.session, len(writes)))
    return History(tuple(writes), conflicts=tuple(conflicts))


def parts_of(change: Change) -> tuple[Change, ...]:
    """The changes that were made as one; none, if one of them was refused, for then all were."""
    if not isinstance(change, MultiChange):
        return (change,)
    parts = tuple(part for one in change.changes for part in parts_of(one))
    return () if any(isinstance(one, WriteRefused) for one in parts) else parts


def _is_conflict(change: Change) -> bool:
    if isinstance(change, MultiChange):
        return any(map(_is_conflict, change.changes))
    return isinstance(change, WriteRefused) and ERROR_NAMES.get(change.code) == "BadVersion"


def _changed(change: Change) -> Iterator[tuple[str, bytes | None, int]]:
    """Path, data and version of what a change writes; version -1 of what it deletes."""
    match change:
        case NodeCreated(path=name, data=data):
            yield name, data, 0
        case DataSet(path=name, data=data, version=version):
            yield name, data, version
        case NodeDeleted(path=name):
            yield name, None, -1
        case SessionClosed(deleted=names):
            yield from ((name, None, -1) for name in names)
        case _:
            pass


def _write(
    one: Transaction,
    place: str,
    author: Author,
    name: str,
    data: bytes | None,
    version: int,
    tree: dict[str, tuple[Content, int]],
    office: Office,
) -> Write:
    path = _path(name)
    before = tree.pop(name, None)
    after = None if version < 0 else read_content(path, data)
    if after is not None:
        tree[name] = (after, version)
    return Write(
        0, place, one.time_ms, one.zxid, author, path, name, before[0] if before else None, after, version, office
    )


def _after(write: Write, office: Office) -> Office:
    """Who is in office after a write."""
    if write.name == CONTROLLER:
        owner = None if write.after is None else write.author
        return replace(office, owner=owner, since=write.number if owner else -1)
    if write.name == CONTROLLER_EPOCH and isinstance(write.after, ControllerEpoch):
        return replace(office, epoch=write.after.epoch, raised_by=write.author, raised=write.number)
    return office


def _author(session: int, sessions: Mapping[int, Session]) -> Author:
    whose = sessions.get(session)
    return Author(session) if whose is None else Author(session, whose.broker, whose.incarnation)


@cache
def _path(name: str) -> ZnodePath | None:
    """The path of a znode of the protocol; others are nobody's business here."""
    try:
        return ZnodePath.parse(name)
    except MalformedInput:
        return None
