"""ZooKeeper's transactions as observations: a row for each kind of write and path says which one it is.

What the protocol's controller neither reads nor writes is passed over, for a reason that `writes.py` has. What it does
write, but the specification does not model, is an observation that nothing explains: a recording is judged up to there.
A session is a broker's or, if nobody claims it, an admin tool's.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Final, TypeAlias

from model_check.recordings import seen, writes
from model_check.recordings.cluster import is_edit, resurrections
from model_check.recordings.recording import Cluster, NotModelled
from model_check.recordings.sessions import Session
from model_check.recordings.transactions import ZOOKEEPER, may_be_unanswered, with_lines
from model_check.recordings.writes import PassedOver, why_nobody_reads
from reference.zookeeper import transactions as zk
from spec.errors import MalformedInput
from spec.formats import znode_paths as paths
from spec.formats.kafka_types import TopicPartition
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.formats.znode_paths import Path, PathKind
from spec.formats.znodes import PAYLOADS, PartitionsPayload, TopicConfigPayload, parse_payload
from spec.language.broker_lists import plain
from spec.protocol.admin_requests import ADMIN_REQUESTS, part_of

REQUESTS: Final = [one.kind for one in ADMIN_REQUESTS.values()]
Found: TypeAlias = seen.ZooKeeperChange | PassedOver
"""What a transaction is seen as, or why it is passed over."""


class _NotModelled(Exception):
    """A write is the work of a part of the protocol that the specification does not have; the reason says which."""


@dataclass
class Changes:
    """A reader of transactions; it remembers the sessions, and the place of each notification."""

    cluster: Cluster
    sessions: Mapping[int, Session]
    passed_over: Counter[str]
    notices: dict[int, int] = field(default_factory=dict)
    states: dict[int, LeaderIsrAndControllerEpoch] = field(default_factory=dict)
    assigned: dict[str, Mapping[TopicPartition, tuple[int, ...]]] = field(default_factory=dict)
    configured: set[str] = field(default_factory=set)
    unclean: dict[str, bool] = field(default_factory=dict)
    without_assignment: set[str] = field(default_factory=set)
    recreated: int = 0
    begun: list[Session] = field(default_factory=list)
    transactions: list[zk.Transaction] = field(default_factory=list)
    resurrections: frozenset[int] = frozenset()

    def read(self, transactions: list[zk.Transaction]) -> tuple[list[seen.ZooKeeperChange], NotModelled | None]:
        """The observations up to the first that is not modelled, and that one; what follows it may depend on it.

        MalformedInput names the line of a transaction that is not known.
        """
        self.transactions = transactions
        self.resurrections = resurrections(transactions, self.sessions)
        read: list[seen.ZooKeeperChange] = []
        for line, one in with_lines(transactions):
            session = self.sessions.get(one.session)
            by = self.cluster.broker(session.broker) if session else 0
            at: dict[str, Any] = {"place": f"{ZOOKEEPER}:{line}", "time": one.time_ms, "text": _text(one)}
            head = {**at, "zxid": one.zxid, "by": by}
            try:
                observed = self._change(head, one, session)
            except _NotModelled as why:
                return read, NotModelled(**at, reason=str(why))
            except MalformedInput as error:
                raise MalformedInput(at["place"], "", str(error)) from error
            except KeyError as error:
                raise MalformedInput(at["place"], "", f"names {error}, of which nothing else tells") from error
            if isinstance(observed, PassedOver):
                self.passed_over[f"{ZOOKEEPER}: {observed.reason}"] += 1
                continue
            if isinstance(observed, seen.AssignmentWritten) and observed.addition is not None:
                read.append(seen.AssignmentRead(**head, topic=observed.topic))
            read.append(observed)
        return read, None

    def _change(self, head: dict[str, Any], one: zk.Transaction, session: Session | None) -> Found:
        if passed_over := self._nobody_reads(one.change):
            return passed_over
        match one.change:
            case zk.SessionCreated() | zk.SessionClosed():
                return self._session(head, one, session)
            case zk.NodeCreated() | zk.DataSet() | zk.NodeDeleted() as write:
                return self._row(head, write, one.session)
            case zk.WriteRefused(code):
                return self._refused(head, zk.ERROR_NAMES.get(code, str(code)))
            case other:
                raise MalformedInput("", "", f"no controller of the era makes a transaction like {other}")

    def _nobody_reads(self, change: zk.Change) -> PassedOver | None:
        """Why no controller reads a change, whatever it says, if it is so."""
        match change:
            case zk.VersionChecked():
                return writes.CHECKED
            case zk.NodeCreated(path=path) | zk.DataSet(path=path) | zk.NodeDeleted(path=path) if (
                why := why_nobody_reads(path)
            ):
                return PassedOver(why)
            case zk.NodeCreated(path=path, data=None) if Path.parse(path).kind is paths.BROKER_TOPIC:
                self.without_assignment.add(path)
                self.assigned.update({topic: {} for topic in (Path.parse(path).topic,) if topic in self.assigned})
                return writes.WITHOUT_ASSIGNMENT
            case zk.DataSet(path=path) if path in self.without_assignment:
                self.without_assignment.remove(path)
            case zk.NodeDeleted(path) if path in self.without_assignment:
                self.without_assignment.remove(path)
                return writes.WITHOUT_ASSIGNMENT
        return None

    def _session(self, head: dict[str, Any], one: zk.Transaction, session: Session | None) -> Found:
        if session is None:
            return writes.OF_A_TOOL
        if isinstance(one.change, zk.SessionClosed):
            return self._session_ended(head, one, session, one.change.deleted)
        first = session not in self.begun
        self.begun.append(session)
        return seen.SessionBegan(**head, first=first, is_guess=session.is_guess)

    def _row(self, head: dict[str, Any], write: zk.NodeCreated | zk.DataSet | zk.NodeDeleted, session: int) -> Found:
        path = Path.parse(write.path)
        row = ROWS[type(write)].get(path.kind)
        if row is None:
            raise MalformedInput(str(path), "", f"no controller of the era makes a transaction like {write}")
        if isinstance(row, PassedOver):
            return row
        is_deleted = isinstance(write, zk.NodeDeleted)
        data = None if isinstance(write, zk.NodeDeleted) else write.data
        of_brokers = writes.DELETED_BY_BROKERS if is_deleted else writes.WRITTEN_BY_BROKERS
        if not head["by"] and path.kind in of_brokers:
            if is_deleted:
                raise _NotModelled("what is removed by hand is not part of the specification")
            reason = "is no broker's, but writes what only brokers write"
            raise MalformedInput(str(path), "", f"session {zk.hex_of(session)} {reason}")
        is_empty = is_deleted or (data is None and path.kind in writes.MAY_BE_FILLED_LATER)
        payload = None if is_empty else parse_payload(path, data)
        if isinstance(write, zk.DataSet) and path.kind in writes.WITH_VERSION:
            head = head | {"version": write.version}
        return row(self, head, payload, path)

    def _refused(self, head: dict[str, Any], name: str) -> Found:
        if name in writes.REFUSALS:
            return writes.REFUSALS[name]
        if not head["by"]:
            return writes.REFUSED_TO_A_TOOL
        if name == "BadVersion":
            return seen.WriteConflicted(**head)
        raise _NotModelled(f"a write that fails with {name} is not part of the specification")

    # ------------------------------------------------------------------------------------------------ rows in words

    def topic(self, path: Path) -> int:
        """The number of the topic that a path names."""
        return self.cluster.topics.index(path.topic or "")

    def epoch(self, head: dict[str, Any], payload: Any, _path: Path) -> seen.EpochWritten:
        """A controller epoch, which begins with version 0."""
        return seen.EpochWritten(**{"version": 0} | head, epoch=payload.controller_epoch)

    def state(self, head: dict[str, Any], payload: Any, path: Path) -> seen.StateWritten:
        """A state znode's content, as numbers."""
        leadership = self.cluster.in_numbers(replace(payload.leadership, zk_version=head.pop("version", 0)))
        partition = self.cluster.partition(TopicPartition(path.topic or "", path.partition or 0))
        before, self.states[partition] = self.states.get(partition), leadership
        decided = before is None or leadership.leader_epoch != before.leader_epoch
        by_leader = leadership.leader == head["by"] and not decided
        changed = frozenset(leadership.isr).symmetric_difference(before.isr if before else ())
        return seen.StateWritten(**head, partition=partition, state=leadership, by_leader=by_leader, changed=changed)

    def assignment(self, head: dict[str, Any], payload: Any, path: Path) -> seen.AssignmentWritten:
        """A topic's AR, by a controller, by the tool that adds partitions to what it read, or by hand."""
        topic = path.topic or ""
        written = {TopicPartition(topic, number): ids for number, ids in payload.partitions.items()}
        before, self.assigned[topic] = self.assigned.get(topic, {}), written
        number, everything = self.topic(path), range(len(self.cluster.partitions))
        addition = edit = None
        if not head["by"]:
            edits = is_edit(before, written)
            named = self._by_number({p: ids for p, ids in written.items() if edits or p not in before})
            if any(ids != plain(ids) for ids in named.values()):
                raise _NotModelled("a partition that is written without replicas, or with one twice, is not specified")
            if not before.keys() <= written.keys():
                raise _NotModelled("a partition that is taken out of its topic by hand is not specified")
            known = self.cluster.edited if edits else self.cluster.additions
            found = known.index(tuple(named.get(p, ()) for p in everything))
            addition, edit = (None, found) if edits else (found, None)
        gone = {p: () for p in everything if self.cluster.topic_of[p] == number}
        assigned = {**gone, **self._by_number(written)}
        return seen.AssignmentWritten(**head, topic=number, assigned=assigned, addition=addition, edit=edit)

    def request_made(self, head: dict[str, Any], payload: Any, path: Path) -> seen.RequestChanged:
        """An admin's request is there: a tool creates it, or a controller that is to write what is left finds none."""
        part, says = part_of(path.kind), self._says(payload, path)
        if ADMIN_REQUESTS[part].rewritten is None:
            parameters = {"t": self.topic(path)} if path.topic else {"named": sum(1 << p for p in says if says[p])}
        elif head["by"]:
            return self.request_written(head, payload, path)
        elif not any(says.values()):
            raise _NotModelled("a request to reassign nothing is not part of the specification")
        else:
            parameters = {"k": self.cluster.requests.index(tuple(says.values()))}
        return seen.RequestMade(**head, part=part, says=says, parameters=parameters)

    def request_written(self, head: dict[str, Any], payload: Any, path: Path) -> seen.RequestWritten:
        """What is left of an admin's request, by a controller; nothing, if the znode is deleted, be it by hand."""
        part = part_of(path.kind)
        if payload and not head["by"]:
            raise _NotModelled("a request that is changed by hand is not part of the specification")
        if not head["by"] and ADMIN_REQUESTS[part].withdrawn_by is None:
            raise _NotModelled("a request to delete a topic that is withdrawn by hand is not specified")
        return seen.RequestWritten(**head, part=part, says=self._says(payload, path))

    def _says(self, payload: Any, path: Path) -> Mapping[int, Any]:
        """What an admin's request says of its topic, or of each partition; without a payload, there is none."""
        if path.topic:
            return {self.topic(path): payload is not None}
        everything, named = range(len(self.cluster.partitions)), payload.partitions if payload else ()
        if PAYLOADS[path.kind] is PartitionsPayload:
            numbers = set(map(self.cluster.partition, named))
            return {p: p in numbers for p in everything}
        wanted = self._by_number({TopicPartition(one.topic, one.partition): one.replicas for one in named})
        return {p: wanted.get(p, ()) for p in everything}

    def _by_number(self, lists: Mapping[TopicPartition, tuple[int, ...]]) -> Mapping[int, tuple[int, ...]]:
        return {self.cluster.partition(one): self.cluster.replicas(ids) for one, ids in lists.items()}

    def state_deleted(self, head: dict[str, Any], _payload: None, path: Path) -> seen.StateDeleted:
        """The end of a state znode; the next one of this partition begins anew."""
        partition = self.cluster.partition(TopicPartition(path.topic or "", path.partition or 0))
        self.states.pop(partition, None)
        return seen.StateDeleted(**head, partition=partition)

    def created(self, head: dict[str, Any], payload: Any, path: Path) -> seen.ZooKeeperChange:
        """A topic that was not there; one that has been there before comes with an assignment of its own.

        The tool writes the configuration first; a deletion between the two writes is not modelled yet. A
        controller that writes the assignment of a topic which another has deleted creates it, too (D52).
        """
        topic, recreation = path.topic or "", None
        if head["zxid"] in self.resurrections:
            return self.assignment(head, payload, path)
        if "deletion" in self.cluster.parts and topic not in self.configured:
            raise _NotModelled("a topic that is created without its configuration is not specified")
        if topic in self.assigned:
            recreation, self.recreated = self.recreated, self.recreated + 1
        assigned = {TopicPartition(topic, number): ids for number, ids in payload.partitions.items()}
        self.assigned[topic] = assigned
        numbers = self._by_number(assigned)
        if any(ids != plain(ids) for ids in numbers.values()):
            raise _NotModelled("a new topic's partition without replicas, or with one twice, is not specified")
        return seen.TopicCreated(**head, topic=self.topic(path), assigned=numbers, recreation=recreation)

    def configuration_deleted(self, head: dict[str, Any], _payload: None, path: Path) -> Found:
        """The end of a topic's configuration; by hand, it is like any change of it."""
        if not head["by"]:
            if "deletion" in self.cluster.parts:
                raise _NotModelled("a configuration that is removed by hand is not specified")
            return self.settings(head, TopicConfigPayload(config={}), path)
        self.configured.discard(path.topic or "")
        self.unclean.pop(path.topic or "", None)
        return seen.ConfigurationDeleted(**head, topic=self.topic(path))

    def settings(
        self, head: dict[str, Any], payload: TopicConfigPayload, path: Path
    ) -> seen.UncleanChanged | PassedOver:
        """A topic's configuration, of which the controller reads one thing, each time anew."""
        topic, default = path.topic or "", self.cluster.unclean_by_default
        unclean = payload.is_unclean(default=default)
        self.configured.add(topic)
        if topic not in self.cluster.topics or unclean == self.unclean.get(topic, default):
            return writes.SETTINGS
        self.unclean[topic] = unclean
        return seen.UncleanChanged(**head, topic=self.topic(path), unclean=unclean)

    def controller(self, head: dict[str, Any], payload: Any, _path: Path) -> seen.ControllerCreated:
        """A broker's win, which names itself."""
        self._check_owner(head, "/controller", payload.brokerid)
        return seen.ControllerCreated(**head, may_be_unanswered=may_be_unanswered(self.transactions, head["zxid"]))

    def registration(self, head: dict[str, Any], _payload: Any, path: Path) -> seen.BrokerRegistered:
        """A broker's registration, under its own id."""
        self._check_owner(head, str(path), path.broker)
        return seen.BrokerRegistered(**head, may_be_unanswered=may_be_unanswered(self.transactions, head["zxid"]))

    def _check_owner(self, head: dict[str, Any], path: str, named: int | None) -> None:
        owner = self.cluster.broker_ids[head["by"] - 1]
        if named != owner:
            raise MalformedInput(path, "", f"names broker {named}, but its session is broker {owner}'s")

    def notification(self, head: dict[str, Any], payload: Any, path: Path) -> seen.NotificationCreated:
        """An ISR change notification, with the partitions that it names."""
        places = count(head["by"], len(self.cluster.broker_ids))
        notice = next(place for place in places if place not in self.notices.values())
        self.notices[path.sequence or 0] = notice
        partitions = frozenset(map(self.cluster.partition, payload.partitions))
        return seen.NotificationCreated(**head, partitions=partitions, notice=notice)

    def notification_gone(self, head: dict[str, Any], _payload: None, path: Path) -> seen.NotificationDeleted:
        """The end of a notification that was seen before."""
        return seen.NotificationDeleted(**head, notice=self.notices.pop(path.sequence or 0))

    def _session_ended(
        self, head: dict[str, Any], one: zk.Transaction, session: Session, deleted: tuple[str, ...]
    ) -> seen.SessionEnded:
        begin = (other for other in self.transactions if isinstance(other.change, zk.SessionCreated))
        later = [self.sessions.get(other.session) for other in begin if other.zxid > one.zxid]
        lives = (other.incarnation for other in self.begun if other.broker == session.broker)
        for path in deleted:
            if Path.find(path) is not None and path not in {"/controller", f"/brokers/ids/{session.broker}"}:
                raise MalformedInput(path, "", "no broker of the era owns such an ephemeral znode")
        return seen.SessionEnded(
            **head,
            by_client=one.cxid != 0,
            superseded=any(life > session.incarnation for life in lives),
            survived=session in later,
            had_controller="/controller" in deleted,
            had_registration=f"/brokers/ids/{session.broker}" in deleted,
        )


def _text(one: zk.Transaction) -> str:
    """A transaction in a line."""
    fields = {name: value for name, value in one.to_json().items() if name not in {"zxid", "time", "utc"}}
    return f"zxid {one.zxid:#x} " + " ".join(f"{name}={value}" for name, value in fields.items())


Row: TypeAlias = Callable[[Changes, dict[str, Any], Any, Path], Found] | PassedOver
"""What a reader makes of a write, of its head, its payload and its path; or why it passes it over."""

CREATES: Final[Mapping[PathKind, Row]] = {
    paths.CONTROLLER: Changes.controller,
    paths.CONTROLLER_EPOCH: Changes.epoch,
    paths.BROKER: Changes.registration,
    paths.BROKER_TOPIC: Changes.created,
    paths.STATE: Changes.state,
    paths.ISR_CHANGE: Changes.notification,
    **dict.fromkeys(REQUESTS, Changes.request_made),
    paths.TOPIC_CONFIG: Changes.settings,
    paths.CLUSTER_ID: PassedOver("the cluster's id, which no controller reads"),
    **dict.fromkeys(writes.PARENTS, writes.PARENT),
}
WRITES: Final[Mapping[PathKind, Row]] = {
    paths.CONTROLLER_EPOCH: Changes.epoch,
    paths.STATE: Changes.state,
    paths.BROKER_TOPIC: Changes.assignment,
    paths.REASSIGN_PARTITIONS: Changes.request_written,
    paths.TOPIC_CONFIG: Changes.settings,
    paths.BROKER_SEQUENCE: PassedOver("hands out broker ids"),
    paths.BROKER: PassedOver("the content of a registration, which the specification does not have"),
}
DELETES: Final[Mapping[PathKind, Row]] = {
    paths.CONTROLLER: lambda _self, head, _payload, _path: seen.ControllerDeleted(**head),
    paths.ISR_CHANGE: Changes.notification_gone,
    **dict.fromkeys(REQUESTS, Changes.request_written),
    paths.BROKER_TOPIC: lambda self, head, _payload, path: seen.TopicDeleted(**head, topic=self.topic(path)),
    **dict.fromkeys((paths.PARTITIONS, paths.PARTITION), writes.EMPTIED),
    paths.STATE: Changes.state_deleted,
    paths.TOPIC_CONFIG: Changes.configuration_deleted,
}
ROWS: Final = {zk.NodeCreated: CREATES, zk.DataSet: WRITES, zk.NodeDeleted: DELETES}
"""What a write of a path is; one that is in no table is refused."""
