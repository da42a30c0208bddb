"""The paths that the documented controller, its brokers and its admin tools use in ZooKeeper, each declared once.

A path is a kind with its parameters: `STATE.path(topic="t", partition=0)` prints as
`/brokers/topics/t/partitions/0/state`, and `Path.parse` gives the same value back. What the payload of each kind is,
`spec/formats/znodes.py` tells.

Kafka: `kafka.utils.ZkUtils`, 0.8.2 to 0.10.2. Left out on purpose: consumers' offsets and owners, quotas, users, ACLs
and configuration changes, which the controller neither reads nor writes; a path below them is refused as unknown.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from spec.errors import MalformedInput, Where
from spec.formats.shapes import ID, SEQUENCE, TOPIC
from spec.formats.templates import Shapes, Template

PARAMETERS: Final[Shapes] = {"topic": TOPIC, "partition": ID, "broker": ID, "sequence": SEQUENCE}


class CreateMode(StrEnum):
    """How a znode lives, and whether ZooKeeper completes its name with a number."""

    PERSISTENT = "persistent"
    PERSISTENT_SEQUENTIAL = "persistent sequential"
    EPHEMERAL = "ephemeral"


@dataclass(frozen=True)
class PathKind:
    """A kind of path: its template, how its nodes are created, and what they stand for."""

    template: Template
    mode: CreateMode
    meaning: str

    def path(
        self,
        *,
        topic: str | None = None,
        partition: int | None = None,
        broker: int | None = None,
        sequence: int | None = None,
    ) -> "Path":
        """The path of this kind with these parameters; MalformedInput if one lacks, is too many or is illegal."""
        return Path(self, topic, partition, broker, sequence)

    @property
    def prefix(self) -> str:
        """The fixed text before the first parameter: what a create of a sequential node names."""
        first = self.template.parts[0]
        return first if isinstance(first, str) else ""

    def __str__(self) -> str:
        return self.template.text

    def __reduce__(self) -> "tuple[Callable[[str], PathKind], tuple[str]]":
        return kind_of, (self.template.text,)


@dataclass(frozen=True)
class Path:
    """A path of the protocol: its kind, and the parameters that the kind has."""

    kind: PathKind
    topic: str | None = None
    partition: int | None = None
    broker: int | None = None
    sequence: int | None = None

    def __post_init__(self) -> None:
        where = Where(str(self.kind))
        for name, shape in PARAMETERS.items():
            value = getattr(self, name)
            if (value is not None) != (name in self.kind.template.holes):
                where.key(name).refuse("missing" if value is None else "this path has no such parameter")
            if value is not None and not shape.accepts(value):
                where.key(name).refuse(f"{value!r} is not a {shape.name}")

    def __str__(self) -> str:
        return self.kind.template.write(self)

    @classmethod
    def find(cls, text: str) -> "Path | None":
        """The path that the text is, if some kind has this form."""
        for kind in KINDS:
            if (parameters := kind.template.read(text, Where(text))) is not None:
                return cls(kind, **parameters)
        return None

    @classmethod
    def parse(cls, text: str) -> "Path":
        """The path that the text is; MalformedInput if no kind has this form."""
        if (path := cls.find(text)) is None:
            raise MalformedInput(text, "", "no znode of the controller's protocol has this path")
        return path


def _kind(text: str, meaning: str, mode: CreateMode = CreateMode.PERSISTENT) -> PathKind:
    return PathKind(Template(text, PARAMETERS), mode, meaning)


CONTROLLER: Final = _kind("/controller", "the controller", CreateMode.EPHEMERAL)
CONTROLLER_EPOCH: Final = _kind("/controller_epoch", "how many controllers were elected")
BROKER: Final = _kind("/brokers/ids/{broker}", "a broker that is registered", CreateMode.EPHEMERAL)
BROKER_TOPIC: Final = _kind("/brokers/topics/{topic}", "the assigned replicas of a topic's partitions")
STATE: Final = _kind("/brokers/topics/{topic}/partitions/{partition}/state", "leader, ISR and epochs of a partition")
REASSIGN_PARTITIONS: Final = _kind("/admin/reassign_partitions", "the partitions still to be reassigned")
PREFERRED_REPLICA_ELECTION: Final = _kind(
    "/admin/preferred_replica_election", "partitions to give to their first replica"
)
DELETE_TOPIC: Final = _kind("/admin/delete_topics/{topic}", "a topic that shall be deleted")
ISR_CHANGE: Final = _kind(
    "/isr_change_notification/isr_change_{sequence}",
    "partitions whose leader changed the ISR",
    CreateMode.PERSISTENT_SEQUENTIAL,
)
TOPIC_CONFIG: Final = _kind("/config/topics/{topic}", "the overridden configuration of a topic")
CLUSTER_ID: Final = _kind("/cluster/id", "the id of the cluster, from 0.10.1 on")

BROKERS: Final = _kind("/brokers", "parent of what follows")
BROKER_IDS: Final = _kind("/brokers/ids", "its children are the registered brokers")
BROKER_TOPICS: Final = _kind("/brokers/topics", "its children are the topics")
PARTITIONS: Final = _kind("/brokers/topics/{topic}/partitions", "its children are the partitions that have a leader")
PARTITION: Final = _kind("/brokers/topics/{topic}/partitions/{partition}", "parent of a state znode")
BROKER_SEQUENCE: Final = _kind("/brokers/seqid", "its data version hands out broker ids")
ADMIN: Final = _kind("/admin", "parent of the admin tools' orders")
DELETE_TOPICS: Final = _kind("/admin/delete_topics", "its children are the topics to delete")
ISR_CHANGES: Final = _kind("/isr_change_notification", "its children are notifications of ISR changes")
CONSUMERS: Final = _kind("/consumers", "the old consumers' own; only created here")
CONFIG: Final = _kind("/config", "parent of configurations")
CONFIG_TOPICS: Final = _kind("/config/topics", "its children are topics with a configuration")
CONFIG_CHANGES: Final = _kind("/config/changes", "its children are notifications of configuration changes")
CONFIG_CLIENTS: Final = _kind("/config/clients", "the clients' quotas")
CLUSTER: Final = _kind("/cluster", "parent of the cluster's id")

KINDS: Final = tuple(value for value in list(globals().values()) if isinstance(value, PathKind))
"""Every kind of path, in the order above; no text has two of these forms."""


def kind_of(template: str) -> PathKind:
    """The kind with this template."""
    return next(kind for kind in KINDS if kind.template.text == template)
