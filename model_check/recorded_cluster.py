"""Which brokers and topics there were in a recording: those that had a session or a replica, those that were created.

Partitions that a reassignment was asked for, but that never were, count, too: each is of a topic that nobody creates.

Whether a topic has unclean leader election is in its configuration as its creation finds it, or else in the brokers',
which `server.log` tells at their start ("KafkaConfig values"); where nothing tells, it is off. (Kafka's own default was
on up to 0.10.2. PROTOCOL.md section 5.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from model_check.recorded import Cluster
from reference.zookeeper_transactions import DataSet, NodeCreated, Transaction
from spec import znode_paths as paths
from spec.errors import Where
from spec.kafka_types import TopicPartition
from spec.znode_paths import Path as ZnodePath
from spec.znode_paths import PathKind
from spec.znodes import parse_payload

UNCLEAN: Final = "unclean.leader.election.enable"
PARTS: Final[Mapping[PathKind, str]] = {paths.REASSIGN_PARTITIONS: "reassignment"}
"""The parts of the protocol that not every recording is judged by, by the paths that only they write."""
REQUEST: Final = ZnodePath(paths.REASSIGN_PARTITIONS)
UNCLEAN_BY_DEFAULT: Final = re.compile(rf"^\s*{re.escape(UNCLEAN)} = true\s*$", re.MULTILINE)


def is_unclean(config: Mapping[str, str], *, default: bool) -> bool:
    """Whether a topic of this configuration has unclean leader election."""
    return config.get(UNCLEAN, str(default).lower()) == "true"


def is_unclean_by_default(folder: Path) -> bool:
    """Whether a broker's server.log, if it is there, says that topics have unclean leader election."""
    logs = folder.glob("broker-*/server.log")
    return any(UNCLEAN_BY_DEFAULT.search(log.read_text(encoding="utf-8", errors="backslashreplace")) for log in logs)


def cluster_of(transactions: Iterable[Transaction], brokers: Iterable[int], *, unclean: bool) -> Cluster:
    """The brokers that had a session, or are assigned to, and the topics in the order of their creation."""
    transactions = list(transactions)
    topics: list[str] = []
    assigned: dict[TopicPartition, tuple[int, ...]] = {}
    configs: dict[str, Mapping[str, str]] = {}
    unclean_ones: set[TopicPartition] = set()
    for one in transactions:
        path = _path_of_a_topic(one)
        if path is None or path.topic is None or path.topic in topics:
            continue
        payload: Any = parse_payload(path, one.change.data)  # type: ignore[union-attr]  # such a path has data
        if path.kind is paths.TOPIC_CONFIG:
            configs[path.topic] = payload.config
        elif isinstance(one.change, NodeCreated):
            topics.append(path.topic)
            of_it = {TopicPartition(path.topic, number): ids for number, ids in sorted(payload.partitions.items())}
            assigned |= of_it
            if is_unclean(configs.get(path.topic, {}), default=unclean):
                unclean_ones.update(of_it)
    requests = list(_requests(transactions))
    unborn = {partition: () for one in requests for partition in one if partition not in assigned}
    assigned |= unborn
    named = {broker for one in (assigned, *requests) for ids in one.values() for broker in ids}
    broker_ids = tuple(sorted({*brokers, *named}))
    numbers = {broker: number for number, broker in enumerate(broker_ids, start=1)}

    def listed(lists: Mapping[TopicPartition, tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(numbers[broker] for broker in lists.get(one, ())) for one in assigned)

    had = [assigned, *requests, *_assignments(transactions)]
    return Cluster(
        broker_ids=broker_ids,
        topics=(*topics, *map(str, unborn)),
        partitions=tuple(assigned),
        assigned=listed(assigned),
        unclean=frozenset(number for number, one in enumerate(assigned) if one in unclean_ones),
        unclean_by_default=unclean,
        parts=frozenset(_parts(transactions)),
        requests=tuple(dict.fromkeys(map(listed, requests))),
        assignments=tuple(frozenset(map(frozenset, lists)) for lists in zip(*map(listed, had), strict=True)),
    )


def _requests(transactions: Iterable[Transaction]) -> Iterator[Mapping[TopicPartition, tuple[int, ...]]]:
    """What was to be reassigned, each time that somebody asked."""
    for one in transactions:
        if isinstance(one.change, NodeCreated) and one.change.path == str(REQUEST):
            payload: Any = parse_payload(REQUEST, one.change.data)
            yield {TopicPartition(named.topic, named.partition): named.replicas for named in payload.partitions}


def _assignments(transactions: Iterable[Transaction]) -> Iterator[Mapping[TopicPartition, tuple[int, ...]]]:
    """What was assigned to a topic's partitions, each time that it was written."""
    for one in transactions:
        path = _path_of_a_topic(one)
        if path is not None and path.kind is paths.BROKER_TOPIC and isinstance(one.change, DataSet):
            payload: Any = parse_payload(path, one.change.data)
            yield {TopicPartition(path.topic or "", number): ids for number, ids in payload.partitions.items()}


def _parts(transactions: Iterable[Transaction]) -> Iterator[str]:
    """The parts whose paths are written; what has no part of its own is no business of this table."""
    written = [one.change.path for one in transactions if isinstance(one.change, NodeCreated | DataSet)]
    for kind, part in PARTS.items():
        if any(kind.template.read(path, Where(path)) is not None for path in written):
            yield part


def _path_of_a_topic(one: Transaction) -> ZnodePath | None:
    """The path of a topic or of its configuration, if that is what a transaction writes."""
    change = one.change
    if not isinstance(change, NodeCreated | DataSet) or not change.path.startswith(("/brokers/topics/", "/config/")):
        return None
    path = ZnodePath.parse(change.path)
    return path if path.kind in {paths.BROKER_TOPIC, paths.TOPIC_CONFIG} else None
