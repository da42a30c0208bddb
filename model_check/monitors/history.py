"""A recording as claims see it: the writes to ZooKeeper with their authors, in order, and what arrived at each broker.

ZooKeeper's log is total: each write knows what was there before, its author, and the controller in office at that
moment. What brokers received is ordered within each broker only, and its clock may be off ZooKeeper's by `SKEW`.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

from model_check.monitors.acts import Acts, Rest
from model_check.monitors.arrivals import Arrivals
from model_check.monitors.contents import (
    MOVES,
    Assignment,
    Configuration,
    Content,
    ControllerEpoch,
    Elected,
    Moves,
    State,
)
from model_check.recordings.tracks import SKEW
from reference.zookeeper.transactions import hex_of
from spec.formats.kafka_types import TopicPartition
from spec.formats.znode_paths import Path as ZnodePath
from spec.formats.znode_paths import PathKind
from spec.formats.znodes import UNCLEAN

T = TypeVar("T")

CONTROLLER, CONTROLLER_EPOCH = "/controller", "/controller_epoch"


@dataclass(frozen=True)
class Author:
    """Whose a session is: a broker's process, or of nobody known (`broker` is None); `is_members`: no admin's."""

    session: int
    broker: int | None = None
    incarnation: int = 0
    is_members: bool = False

    def __str__(self) -> str:
        return f"session {hex_of(self.session)}, no broker's," if self.broker is None else f"broker {self.broker}"


@dataclass(frozen=True)
class Office:
    """The controller in office: the owner of /controller, and the last write of /controller_epoch."""

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
    def is_in_office(self) -> bool:
        """Whether the broker that owned /controller wrote."""
        owner = self.office.owner
        return owner is not None and owner.broker is not None and owner.broker == self.author.broker

    @property
    def is_a_zombies(self) -> bool:
        """Whether a broker wrote that did not own /controller."""
        return self.author.broker is not None and not self.is_in_office

    @property
    def topic_partition(self) -> TopicPartition:
        """The partition of a state znode."""
        assert self.path is not None and self.path.topic is not None and self.path.partition is not None  # noqa: S101, PT018 - asked of state znodes only
        return TopicPartition(self.path.topic, self.path.partition)

    @property
    def topic(self) -> str:
        """The topic that the path names, if any."""
        return (self.path.topic or "") if self.path else ""


def office_after(write: Write, office: Office) -> Office:
    """The controller in office after a write."""
    if write.name == CONTROLLER:
        owner = None if write.after is None else write.author
        return replace(office, owner=owner, since=write.number if owner else -1)
    if write.name == CONTROLLER_EPOCH and isinstance(write.after, ControllerEpoch):
        return replace(office, epoch=write.after.epoch, raised_by=write.author, raised=write.number)
    return office


@dataclass(frozen=True)
class Refusal:
    """A write was refused with an error, before the write of a number; its path is not known."""

    author: Author
    number: int
    error: str


@dataclass(frozen=True)
class History:
    """Everything that claims are asked of. `no_candidates` are the brokers that never stand for election, `controllers`
    the members that do nothing else, and need not be registered.

    `is_admin_told`: the recording tells whose session the admin's is, so that all others are members'. `chroot` was
    taken off all paths. `are_sessions_told`: a file of the recording says whose each session is.
    """

    writes: tuple[Write, ...]
    arrivals: Arrivals = field(default_factory=Arrivals)
    acts: Acts = field(default_factory=Acts)
    unclean_by_default: bool = False
    deletes_topics: bool = True
    refusals: tuple[Refusal, ...] = ()
    no_candidates: frozenset[int] = frozenset()
    controllers: frozenset[int] = frozenset()
    is_admin_told: bool = False
    chroot: str = ""
    are_sessions_told: bool = False

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

    @cached_property
    def _zxids(self) -> list[int]:
        return sorted(one.zxid for one in self.writes)

    # ---------------------------------------------------------------------------------------------------- writes

    def of(self, name: str) -> tuple[Write, ...]:
        """The writes of a path."""
        return self._of.get(name, ())

    def of_kind(self, *kinds: PathKind) -> Sequence[Write]:
        """The writes of paths of these kinds, in order."""
        found = self._of_kinds.get(kinds)
        if found is None:
            found = [one for one in self.writes if one.path is not None and one.path.kind in kinds]
            self._of_kinds[kinds] = found
        return found

    @cached_property
    def _of_kinds(self) -> dict[tuple[PathKind, ...], Sequence[Write]]:
        return {}

    def once(self, find: Callable[["History"], T]) -> T:
        """What a function finds in all of this, which is looked for once."""
        if find not in self._found:
            self._found[find] = find(self)
        found: T = self._found[find]
        return found

    @cached_property
    def _found(self) -> dict[Callable[["History"], Any], Any]:
        return {}

    def saying(self, partition: TopicPartition, state: State) -> Sequence[Write]:
        """The writes of a partition's state with this leader, leader epoch and ISR, whatever the order of that."""
        return self._saying.get((state_path(partition), *_said(state)), ())

    @cached_property
    def _saying(self) -> Mapping[tuple[object, ...], Sequence[Write]]:
        saying = defaultdict[tuple[object, ...], list[Write]](list)
        for one in self.writes:
            if isinstance(one.after, State):
                saying[one.name, *_said(one.after)].append(one)
        return dict(saying)

    def until(self, name: str, number: int) -> tuple[Write, ...]:
        """The writes of a path before a number."""
        return self.of(name)[: bisect_left(self._numbers.get(name, []), number)]

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
        """How many writes there may have been at a rest: by its last transaction, else by clocks off by `SKEW`."""
        if rest.zxid is not None:
            return [bisect_right(self._zxids, rest.zxid)]
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

    def is_asked_to_go(self, topic: str, number: int) -> bool:
        """Whether the deletion of a topic is asked for."""
        return self.at(f"/admin/delete_topics/{topic}", number) is not None

    def is_doomed(self, topic: str, number: int) -> bool:
        """Whether a topic is to be deleted: that is asked for, and topics are deleted here."""
        return self.deletes_topics and self.is_asked_to_go(topic, number)

    def may_be_unclean(self, topic: str, number: int) -> bool:
        """Whether a topic's configuration, or without one the brokers', has ever allowed an unclean election."""
        if self.unclean_by_default or self._unclean_since < number:
            return True
        contents = (one.after for one in self.until(f"/config/topics/{topic}", number))
        return any(
            isinstance(one, Configuration) and one.values.get(UNCLEAN, "").strip().lower() == "true" for one in contents
        )

    @cached_property
    def _unclean_since(self) -> int:
        """The number of the first write that tells of a configuration of brokers, which may allow unclean elections.

        So does one that only a release of 2.4 or later makes, which serves requests for them (KIP-460), unless the
        recording tells whose session the admin's was: then all that was asked for is in ZooKeeper.
        """
        for one in self.writes:
            is_later = isinstance(one.after, Assignment) and one.after.is_later
            if one.name.startswith("/config/brokers/") or (is_later and not self.is_admin_told):
                return one.number
        return len(self.writes)

    def partitions(self, number: int) -> Iterator[tuple[TopicPartition, tuple[int, ...]]]:
        """The partitions that topics' znodes name, each with its AR."""
        for name, writes in self._of.items():
            content = self.at(name, number)
            for partition, replicas in content.replicas.items() if isinstance(content, Assignment) else ():
                yield TopicPartition(writes[0].topic, partition), replicas

    def registered(self, broker: int, number: int) -> Write | None:
        """The registration of a broker, if it is there."""
        write = self.last(f"/brokers/ids/{broker}", number)
        return write if write is not None and write.after is not None else None

    def office(self, number: int) -> Office:
        """The controller in office just before the write of a number."""
        return self.writes[number].office if number < len(self.writes) else self._final_office

    @cached_property
    def _final_office(self) -> Office:
        return office_after(self.writes[-1], self.writes[-1].office) if self.writes else Office()

    def past(self, write: Write) -> int:
        """The number of the first write after a write's transaction."""
        later = (number for number in range(write.number, len(self.writes)) if self.writes[number].zxid != write.zxid)
        return next(later, len(self.writes))

    def birth(self, topic: str, number: int) -> Write | None:
        """The last creation of a topic before the write of a number."""
        births = (one for one in reversed(self.until(f"/brokers/topics/{topic}", number)) if one.is_create)
        return next(births, None)

    def asked_to_delete(self, topic: str, number: int) -> list[Write]:
        """The requests to delete a topic before the write of a number."""
        return [one for one in self.until(f"/admin/delete_topics/{topic}", number) if one.is_create]

    @cached_property
    def brokers(self) -> tuple[int, ...]:
        """The brokers that have written anything."""
        return tuple(sorted({one.author.broker for one in self.writes if one.author.broker is not None}))

    @cached_property
    def processes(self) -> Mapping[int, int]:
        """How many processes of each broker there were, up to the last that has written anything."""
        lives = Counter[int]()
        for one in self.writes:
            if one.author.broker is not None:
                lives[one.author.broker] = max(lives[one.author.broker], one.author.incarnation)
        return lives

    @cached_property
    def epochs_end(self) -> int:
        """The number of the write by which somebody changed /controller_epoch by hand: then epochs prove nothing."""
        by_hand = (one.number for one in self.of(CONTROLLER_EPOCH) if not one.author.is_members)
        return next(by_hand, len(self.writes) + 1)

    def has_raised(self, office: Office) -> bool:
        """Whether the last epoch was written with the election of the controller in office, or after it."""
        return office.raised >= 0 and self.writes[office.raised].zxid >= self.writes[office.since].zxid

    def elections(self, broker: int | None, number: int) -> list[Write]:
        """The elections of a broker before the write of a number."""
        won = (one for one in self.until(CONTROLLER, number) if isinstance(one.after, Elected))
        return [one for one in won if broker is not None and one.author.broker == broker]

    def is_refused(self, broker: int | None, error: str, number: int) -> bool:
        """Whether a write of a broker was refused with an error before the write of a number."""
        of_it = (one for one in self.refusals if broker is not None and one.author.broker == broker)
        return any(one.error == error and one.number <= number for one in of_it)

    def is_assigned_by_hand(self, partition: TopicPartition, number: int) -> bool:
        """Whether the last to change a partition's AR, up to the write of a number, was no member."""
        last = None
        for one in self.until(f"/brokers/topics/{partition.topic}", number + 1):
            if isinstance(one.before, Assignment) and isinstance(one.after, Assignment):
                old, new = (each.replicas.get(partition.partition) for each in (one.before, one.after))
                last = one if old is not None and old != new else last
            else:
                last = None
        return last is not None and not last.author.is_members


def _said(state: State) -> tuple[object, ...]:
    return state.leader, state.leader_epoch, tuple(sorted({*state.isr}))


def state_path(partition: TopicPartition) -> str:
    """The path of a partition's state znode."""
    return f"/brokers/topics/{partition.topic}/partitions/{partition.partition}/state"
