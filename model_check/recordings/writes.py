"""The table of ZooKeeper's writes: a row for each kind of write and path, which says what observation it is.

What the protocol's controller neither reads nor writes is passed over, and the table says why. What it does write, but
the specification does not model, is an observation that nothing explains: a recording is judged up to there.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from model_check.recordings.recording import NotModelled
from model_check.recordings.seen import ControllerDeleted, EpochWritten, TopicDeleted, ZooKeeperChange
from spec.formats import znode_paths as paths
from spec.formats.znode_paths import Path, PathKind
from spec.protocol.admin_requests import ADMIN_REQUESTS


@dataclass(frozen=True)
class PassedOver:
    """A row of the table: such lines are passed over, for this reason."""

    reason: str


PARENT = PassedOver("a parent node, created once and never read for its content")
PARENTS: Final = (
    paths.BROKERS, paths.BROKER_IDS, paths.BROKER_TOPICS, paths.PARTITIONS, paths.PARTITION, paths.BROKER_SEQUENCE,
    paths.ADMIN, paths.DELETE_TOPICS, paths.ISR_CHANGES, paths.CONSUMERS, paths.CONFIG, paths.CONFIG_TOPICS,
    paths.CONFIG_CHANGES, paths.CONFIG_CLIENTS, paths.CLUSTER,
)  # fmt: skip
SETTINGS = PassedOver("configuration, which the controller reads only for unclean.leader.election.enable")
FOREIGN = PassedOver("what consumers, quotas, users, ACLs and configuration changes keep, which no controller reads")
FOREIGN_ROOTS: Final = (
    "/consumers/", "/config/changes/", "/config/clients/", "/config/users", "/config/brokers", "/kafka-acl",
)  # fmt: skip
"""What the paths begin with that the controller has nothing to do with."""
READ_ROOTS: Final = (
    "/brokers/ids/", "/brokers/topics/", "/admin/delete_topics/", "/isr_change_notification/", "/config/topics/",
)  # fmt: skip
"""Where the controller reads what it finds: what is below, and of no known kind, is refused."""
UNKNOWN: Final = "which the documented controller neither reads nor writes"
CHECKED = PassedOver("a check of a version, together with other changes; it changes nothing")
WITHOUT_ASSIGNMENT = PassedOver("a topic's node without an assignment, made for a state below it: no topic")
EMPTIED = PassedOver("a parent node, deleted with what was below it")

Found: TypeAlias = ZooKeeperChange | NotModelled | None
"""What a transaction is seen as; None, if it is passed over."""
Known: TypeAlias = Callable[[Any, dict[str, Any], Any, Path], Found]
"""What a reader (`changes.Changes`) makes of a write: of its head, its payload and its path."""
Row: TypeAlias = Known | PassedOver

CREATES: Final[Mapping[PathKind, Row]] = {
    paths.CONTROLLER: lambda reader, head, payload, _path: reader.controller(head, payload),
    paths.CONTROLLER_EPOCH: lambda _reader, head, payload, _path: EpochWritten(
        **head, epoch=payload.controller_epoch, version=0
    ),
    paths.BROKER: lambda reader, head, _payload, path: reader.registration(head, path),
    paths.BROKER_TOPIC: lambda reader, head, payload, path: reader.created(head, payload, path),
    paths.STATE: lambda reader, head, payload, path: reader.state(head, payload, path, 0),
    paths.ISR_CHANGE: lambda reader, head, payload, path: reader.notification(head, payload, path),
    **{
        one.kind: lambda reader, head, payload, path: reader.request_made(head, payload, path)
        for one in ADMIN_REQUESTS.values()
    },
    paths.TOPIC_CONFIG: lambda reader, head, payload, path: reader.settings(head, payload, path),
    paths.CLUSTER_ID: PassedOver("the cluster's id, which no controller reads"),
    **dict.fromkeys(PARENTS, PARENT),
}

WRITES: Final[Mapping[PathKind, Row]] = {
    paths.CONTROLLER_EPOCH: lambda _reader, head, payload, _path: EpochWritten(**head, epoch=payload.controller_epoch),
    paths.STATE: lambda reader, head, payload, path: reader.state(head, payload, path, head.pop("version")),
    paths.BROKER_TOPIC: lambda reader, head, payload, path: reader.assignment(head, payload, path),
    paths.REASSIGN_PARTITIONS: lambda reader, head, payload, path: reader.request_written(head, payload, path),
    paths.TOPIC_CONFIG: lambda reader, head, payload, path: reader.settings(head, payload, path),
    paths.BROKER_SEQUENCE: PassedOver("hands out broker ids"),
    paths.BROKER: PassedOver("the content of a registration, which the specification does not have"),
}


def why_nobody_reads(path: str) -> str:
    """Why no controller of the era reads or writes a path; nothing where one does, or would read what is below."""
    if path.startswith(FOREIGN_ROOTS):
        return FOREIGN.reason
    if Path.find(path) is not None or path.startswith(READ_ROOTS):
        return ""
    return f"{'/'.join(path.split('/')[:3])}, {UNKNOWN}"


DELETES: Final[Mapping[PathKind, Row]] = {
    paths.CONTROLLER: lambda _reader, head, _payload, _path: ControllerDeleted(**head),
    paths.ISR_CHANGE: lambda reader, head, _payload, path: reader.notification_gone(head, path),
    **{
        one.kind: lambda reader, head, _payload, path: reader.request_written(head, None, path)
        for one in ADMIN_REQUESTS.values()
    },
    paths.BROKER_TOPIC: lambda reader, head, _payload, path: TopicDeleted(**head, topic=reader.topic(path)),
    paths.PARTITIONS: EMPTIED,
    paths.PARTITION: EMPTIED,
    paths.STATE: lambda reader, head, _payload, path: reader.state_deleted(head, path),
    paths.TOPIC_CONFIG: lambda reader, head, _payload, path: reader.configuration_deleted(head, path),
}

WRITTEN_BY_BROKERS: Final = frozenset(
    {paths.CONTROLLER, paths.CONTROLLER_EPOCH, paths.BROKER, paths.STATE, paths.ISR_CHANGE}
)
"""What an admin tool never writes; a session that does is a broker's, and must be known as one."""
DELETED_BY_BROKERS: Final = WRITTEN_BY_BROKERS - {paths.STATE, paths.CONTROLLER}
"""What is not removed by hand as far as the specification goes; a topic is, and what is below it, and /controller."""
MAY_BE_FILLED_LATER: Final = frozenset({paths.BROKER})
"""What may be created empty, and written in the same transaction, as brokers do from 2.2 on."""
WITH_VERSION: Final = frozenset({paths.CONTROLLER_EPOCH, paths.STATE})
"""What is written on condition of its version."""

REFUSALS: Final[Mapping[str, str]] = {
    "NoNode": "a write to a node that is not there: first creates, and the failover's delete of an absent request",
    "NodeExists": "a create of a node that is there: fixed paths at start-up, and who loses /controller",
}
"""Failed writes that are passed over: their path is not logged, and they change nothing."""
