"""Which brokers and topics there were in a recording: those that had a session or a replica, those that were created.

Partitions that a reassignment or an election was asked for, but that never were, count, too, as do those that
were added to a topic; at first nothing is assigned to them. A topic may be created again, with other replicas or
partitions. Where it is, what is assigned is a variable, as it is for reassignments.

Whether a topic has unclean leader election is in its configuration, or else in the brokers', which `server.log` tells
at their start ("KafkaConfig values"); where nothing tells, it is off. (Kafka's own default was on up to 0.10.2.
PROTOCOL.md section 5.) Likewise whether topics are deleted, where nothing tells that they are not.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from model_check.recordings.recording import Cluster
from model_check.recordings.sessions import Session
from reference.scripts import BROKER_TOPICS
from reference.zookeeper.transactions import DataSet, NodeCreated, NodeDeleted, Transaction
from spec.errors import Where
from spec.formats import znode_paths as paths
from spec.formats.kafka_types import TopicPartition
from spec.formats.znode_paths import Path as ZnodePath
from spec.formats.znode_paths import PathKind
from spec.formats.znodes import UNCLEAN, TopicConfigPayload, parse_payload
from spec.language.broker_lists import plain
from spec.protocol.admin_requests import ADMIN_REQUESTS

Brokers: TypeAlias = tuple[int, ...]
Assignment: TypeAlias = Mapping[TopicPartition, Brokers]

DELETES: Final = "delete.topic.enable"
DISABLED: Final = re.compile("since delete topic is disabled")
"""What a controller of 0.10.2 logs of a request that it drops."""
VERIFIED: Final = "Verifying properties (kafka.utils.VerifiableProperties)"
"""What 0.8.2 logs before the properties that are set; of what is not set it logs nothing."""
AT_FIRST: Final[Mapping[str, bool]] = {DELETES: False, UNCLEAN: True}
"""Kafka's defaults, up to 0.10.2."""


def is_unclean_by_default(folder: Path) -> bool:
    """Whether a broker's server.log, or a piece of it, says that topics have unclean leader election."""
    return True in _settings(folder, UNCLEAN)


def deletes_topics(folder: Path) -> bool:
    """Whether topics are deleted on request, unless a broker's server.log or controller.log says that they are not."""
    dropped = any(DISABLED.search(text) for text in _texts(folder, "server.log", "controller.log"))
    return not dropped and False not in _settings(folder, DELETES)


def _settings(folder: Path, name: str) -> set[bool]:
    """What brokers say of a setting that is on or off.

    0.9.0 and later print all that they have, 0.8.2 what differs from its defaults: of the others that says the default.
    """
    known = re.escape(name)
    told = re.compile(rf"(?:^\s*{known} = |Property {known} is overridden to )(true|false)\b", re.MULTILINE)
    found = set[bool]()
    for text in _texts(folder, "server.log"):
        values = {one == "true" for one in told.findall(text)}
        found |= values or ({AT_FIRST[name]} if VERIFIED in text else set())
    return found


def _texts(folder: Path, *names: str) -> Iterator[str]:
    logs = (one for name in names for one in folder.glob(f"broker-*/{name}*") if one.is_file())
    return (log.read_text(encoding="utf-8", errors="backslashreplace") for log in logs)


@dataclass
class _Topics:
    """The topics that were created, in this order, with their partitions' replicas: at first, and each time again.

    `written` is what was assigned to the partitions of topics that were there, `edited` what somebody wrote so by hand.
    """

    unclean_by_default: bool
    names: list[str] = field(default_factory=list)
    assigned: dict[TopicPartition, Brokers] = field(default_factory=dict)
    again: list[tuple[str, Assignment]] = field(default_factory=list)
    now: dict[str, Assignment] = field(default_factory=dict)
    added: list[Assignment] = field(default_factory=list)
    written: list[Assignment] = field(default_factory=list)
    edited: list[Assignment] = field(default_factory=list)
    unclean: set[str] = field(default_factory=set)
    configs: dict[str, TopicConfigPayload] = field(default_factory=dict)

    def add(self, one: Transaction, *, is_resurrected: bool, by_tool: bool) -> None:
        """A topic, or its configuration, if that is what is written; none is created that is resurrected (D52)."""
        if (write := _write_of_a_topic(one)) is None:
            self._forget(one)
            return
        kind, topic, payload = write
        if kind is paths.TOPIC_CONFIG:
            self.configs[topic] = payload
            self._note_unclean(topic)
            return
        of_it = {TopicPartition(topic, number): ids for number, ids in sorted(payload.partitions.items())}
        if is_resurrected:
            self.written.append(of_it)
            self.add_unborn(of_it)
        elif isinstance(one.change, NodeCreated):
            self._create(topic, of_it)
        else:
            self._write(topic, of_it, by_tool=by_tool)
        self.now[topic] = of_it

    def _forget(self, one: Transaction) -> None:
        """A topic that is created without an assignment has none of an earlier one of its name."""
        if isinstance(one.change, NodeCreated) and one.change.path.startswith(BROKER_TOPICS + "/"):
            path = ZnodePath.parse(one.change.path)
            if path.kind is paths.BROKER_TOPIC and path.topic in self.now:
                self.now[path.topic] = {}

    def _create(self, topic: str, of_it: Assignment) -> None:
        if topic in self.names:
            self.again.append((topic, of_it))
            self.add_unborn(of_it)
            return
        self.names.append(topic)
        self.assigned |= of_it
        self._note_unclean(topic)

    def _note_unclean(self, topic: str) -> None:
        """Whether a topic that is there may elect who is not in sync."""
        payload = self.configs.get(topic, TopicConfigPayload(config={}))
        if topic in self.names and payload.is_unclean(default=self.unclean_by_default):
            self.unclean.add(topic)

    def _write(self, topic: str, of_it: Assignment, *, by_tool: bool) -> None:
        """The AR of a topic that is there; a tool that does more than to add partitions edits it."""
        self.written.append(of_it)
        new = {p: ids for p, ids in of_it.items() if p not in self.now.get(topic, {})}
        self.add_unborn(new)
        if by_tool and is_edit(self.now.get(topic, {}), of_it):
            self.edited.append(of_it)
        elif new:
            self.added.append(new)

    def add_unborn(self, partitions: Iterable[TopicPartition]) -> None:
        """Partitions that were not there at first, or never."""
        for one in partitions:
            self.assigned.setdefault(one, ())

    def add_unknown(self, topic: str) -> None:
        """A topic that somebody asks to delete; one that never was counts with a partition, for all have some."""
        if all(one.topic != topic for one in self.assigned):
            self.add_unborn([TopicPartition(topic, 0)])

    def recreations(self) -> list[Assignment]:
        """What is assigned to all partitions as topics are created again: to those of other topics, as at first."""
        others = [{p: ids for p, ids in self.assigned.items() if p.topic != topic} for topic, _ in self.again]
        return [{**kept, **new} for kept, (_, new) in zip(others, self.again, strict=True)]


def is_edit(before: Assignment, after: Assignment) -> bool:
    """Whether a write of a topic does something else than to add partitions to it."""
    return after == before or not before.items() <= after.items()


def cluster_of(folder: Path, transactions: Sequence[Transaction], sessions: Mapping[int, Session]) -> Cluster:
    """The brokers that had a session, or are assigned to, and the topics in the order of their creation."""
    topics = _Topics(is_unclean_by_default(folder))
    resurrected = resurrections(transactions, sessions)
    for transaction in transactions:
        by_tool = transaction.session not in sessions
        topics.add(transaction, is_resurrected=transaction.zxid in resurrected, by_tool=by_tool)
    requests: list[Assignment] = []
    parts = set[str]()
    for part, request in ADMIN_REQUESTS.items():
        for path, payload in _asked(transactions, request.kind):
            parts.add(part)
            if path.topic:
                topics.add_unknown(path.topic)
                continue
            named = {TopicPartition(one.topic, one.partition): one for one in payload.partitions}
            topics.add_unborn(named)
            if request.kind is paths.REASSIGN_PARTITIONS:
                requests.append({partition: one.replicas for partition, one in named.items()})
    assigned, again = topics.assigned, topics.recreations()
    lists: tuple[Assignment, ...] = (assigned, *requests, *again, *topics.written)
    brokers = {int(broker) for one in lists for ids in one.values() for broker in ids}
    cluster = Cluster(
        broker_ids=tuple(sorted({*(one.broker for one in sessions.values()), *brokers})),
        topics=tuple(dict.fromkeys((*topics.names, *(partition.topic for partition in assigned)))),
        partitions=tuple(assigned),
        assigned=(),
    )

    def listed(lists: Assignment) -> tuple[Brokers, ...]:
        return tuple(plain(cluster.replicas(lists.get(one, ()))) for one in assigned)

    def asked(lists: Assignment) -> tuple[Brokers, ...]:
        return tuple(cluster.replicas(lists[one]) if one in lists else () for one in assigned)

    had = [assigned, *requests, *again, *topics.written]
    additions, edited = (tuple(dict.fromkeys(map(listed, ones))) for ones in (topics.added, topics.edited))
    if any(listed(one) != listed(assigned) for one in again):
        parts.add("reassignment")
    return replace(
        cluster,
        assigned=listed(assigned),
        unclean=frozenset(topics.unclean),
        unclean_by_default=topics.unclean_by_default,
        deletes_topics=deletes_topics(folder),
        parts=frozenset(parts | ({"addition"} if additions or edited else set())),
        requests=tuple(dict.fromkeys(map(asked, requests))),
        recreations=tuple(map(listed, again)),
        additions=additions,
        edited=edited,
        assignments=tuple(frozenset(map(frozenset, lists)) for lists in zip(*map(listed, had), strict=True)),
    )


def _asked(transactions: Iterable[Transaction], kind: PathKind) -> Iterator[tuple[ZnodePath, Any]]:
    """The requests of a kind that somebody made: the znode's path, and what it says."""
    for one in transactions:
        if isinstance(one.change, NodeCreated):
            named = kind.template.read(one.change.path, Where(one.change.path))
            if named is not None:
                yield (path := ZnodePath(kind, **named)), parse_payload(path, one.change.data)


def resurrections(transactions: Iterable[Transaction], sessions: Mapping[int, Session]) -> frozenset[int]:
    """The zxids at which a controller that writes a deleted topic creates it (D52).

    A broker that creates a topic for a client has written its configuration first, as the tool does; one that is gone
    again tells nothing of what is written later.
    """
    configured: dict[str, int] = {}
    found = set[int]()
    for one in transactions:
        if isinstance(one.change, NodeDeleted):
            named = paths.TOPIC_CONFIG.template.read(one.change.path, Where(one.change.path))
            configured.pop(str(named["topic"]) if named is not None else "", None)
        if (write := _write_of_a_topic(one)) is None:
            continue
        kind, topic, _ = write
        is_by_a_broker = isinstance(one.change, NodeCreated) and one.session in sessions
        if kind is paths.TOPIC_CONFIG:
            configured[topic] = one.session
        elif is_by_a_broker and configured.get(topic) != one.session:
            found.add(one.zxid)
    return frozenset(found)


def _write_of_a_topic(one: Transaction) -> tuple[PathKind, str, Any] | None:
    """What a transaction writes of a topic, or of its configuration: which of them, the topic's name, the payload."""
    change = one.change
    if not isinstance(change, NodeCreated | DataSet) or change.data is None:
        return None
    if not change.path.startswith((f"{BROKER_TOPICS}/", "/config/topics/")):
        return None
    path = ZnodePath.parse(change.path)
    if path.topic is None or path.kind not in {paths.BROKER_TOPIC, paths.TOPIC_CONFIG}:
        return None
    return path.kind, path.topic, parse_payload(path, change.data)
