"""The admin of a live cluster asks for what Kafka's own tools ask for, by the same znodes, and looks around.

What the tools write may be deleted by hand, and /controller.

Each command is written down as it is given. The tools write znodes and wait for nothing; the rest is the controller's.
"""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Final, Protocol, TypeVar

from model_check.monitors.contents import State, read_content
from model_check.recordings.sessions import elected_in
from reference import scripts
from reference.elections.requested import ELECTIONS
from reference.zookeeper.api import Create, Delete, Exists, GetData, NoNode, Operation, SetData
from spec.formats import znode_paths as paths
from spec.formats import znodes
from spec.formats.kafka_types import TopicPartition

PATIENCE_SECONDS: Final = 30.0
"""How long anything may take that the cluster must come to by itself."""


Answer = TypeVar("Answer")


class Zookeeper(Protocol):
    """A connection to ZooKeeper; the one of live runs is `LiveZookeeper`, which needs kazoo."""

    @property
    def last_zxid(self) -> int:
        """The last transaction that it has heard of."""

    def execute(self, operation: Operation[Answer], timeout_seconds: float | None = None, /) -> Answer:
        """Carry out an operation, and wait so long for the answer."""


class Act(Protocol):
    """Writes down what is done."""

    def __call__(self, action: str, **fields: object) -> None:
        """An action, and what it is done to."""


class Admin:
    """The tool: its connection to ZooKeeper, and where its commands are written down."""

    def __init__(self, zookeeper: Zookeeper, act: Act) -> None:
        self._zookeeper = zookeeper
        self._act = act

    def create_topic(self, topic: str, assignment: Mapping[int, tuple[int, ...]]) -> None:
        """The admin tool creates a topic."""
        self._act("admin-create-topic", topic=topic, partitions={str(p): list(ids) for p, ids in assignment.items()})
        for path, payload in (
            (scripts.topic_config_path(topic), znodes.TopicConfigPayload(config={})),
            (scripts.topic_path(topic), znodes.TopicPayload(partitions=dict(assignment))),
        ):
            self._zookeeper.execute(Create(path, payload.encode()), PATIENCE_SECONDS)

    def add_partitions(self, topic: str, replicas: Iterable[tuple[int, ...]]) -> None:
        """The admin tool adds partitions: it writes the topic's znode as it has just read it, with so many more."""
        assignment = self.assignment(topic)
        added = dict(enumerate(replicas, start=max(assignment) + 1))
        self._act("admin-add-partitions", topic=topic, added={str(p): list(ids) for p, ids in added.items()})
        data = znodes.TopicPayload(partitions={**assignment, **added}).encode()
        self._zookeeper.execute(SetData(scripts.topic_path(topic), data), PATIENCE_SECONDS)

    def edit_assignment(self, topic: str, partition: int, replicas: tuple[int, ...]) -> None:
        """Somebody writes other replicas of a partition into the topic's znode by hand."""
        self._act("admin-edit-assignment", topic=topic, edited={str(partition): list(replicas)})
        data = znodes.TopicPayload(partitions={**self.assignment(topic), partition: replicas}).encode()
        self._zookeeper.execute(SetData(scripts.topic_path(topic), data), PATIENCE_SECONDS)

    def delete_topic(self, topic: str) -> None:
        """The admin tool asks for the deletion of a topic."""
        self._act("admin-delete-topic", topic=topic)
        self._zookeeper.execute(Create(scripts.delete_topic_path(topic), b""), PATIENCE_SECONDS)

    def reassign(self, wanted: Mapping[TopicPartition, tuple[int, ...]]) -> None:
        """The admin tool asks for a reassignment; it refuses to while there is one."""
        entries = tuple(
            znodes.PartitionReassignment(tp.topic, tp.partition, replicas) for tp, replicas in wanted.items()
        )
        self._ask("admin-reassign", scripts.REASSIGN_PARTITIONS, znodes.ReassignPartitionsPayload(partitions=entries))

    def elect_preferred(self, partitions: Iterable[TopicPartition]) -> None:
        """The admin tool asks for a preferred election; it refuses to while one is asked for."""
        asked = znodes.PartitionsPayload(partitions=tuple(partitions))
        self._ask("admin-preferred-election", ELECTIONS, asked)

    def _ask(
        self, action: str, path: str, request: znodes.ReassignPartitionsPayload | znodes.PartitionsPayload
    ) -> None:
        data = request.encode() or b""
        self._act(action, request=json.loads(data))
        self._zookeeper.execute(Create(path, data), PATIENCE_SECONDS)

    def remove(self, path: str) -> None:
        """Somebody deletes a znode by hand, if it is there."""
        self._act("admin-remove", path=path)
        with suppress(NoNode):
            self._zookeeper.execute(Delete(path), PATIENCE_SECONDS)

    # ----------------------------------------------------------------------------------------------- what is seen of it

    def controller(self) -> int | None:
        """The id in /controller; None also where none can be made out."""
        try:
            data = self._zookeeper.execute(GetData(scripts.CONTROLLER), PATIENCE_SECONDS).data
        except NoNode:
            return None
        return elected_in(data)

    def controllers_session(self) -> int:
        """The session that owns /controller; 0 where none does."""
        stat = self._zookeeper.execute(Exists(scripts.CONTROLLER), PATIENCE_SECONDS)
        return 0 if stat is None else stat.ephemeral_owner

    def assignment(self, topic: str) -> Mapping[int, tuple[int, ...]]:
        """The assigned replicas of a topic's partitions."""
        data = self._zookeeper.execute(GetData(scripts.topic_path(topic)), PATIENCE_SECONDS).data
        payload = znodes.parse_payload(scripts.topic_path(topic), data)
        return payload.partitions if isinstance(payload, znodes.TopicPayload) else {}

    def leader(self, partition: TopicPartition) -> int | None:
        """The leader of a partition, -1 where it has none; None where that cannot be made out."""
        path = paths.STATE.path(topic=partition.topic, partition=partition.partition)
        try:
            data = self._zookeeper.execute(GetData(str(path)), PATIENCE_SECONDS).data
        except NoNode:
            return None
        content = read_content(path, data)
        return content.leader if isinstance(content, State) else None

    def is_there(self, path: str) -> bool:
        """Whether there is such a znode: a request that is not done yet, say."""
        return self._zookeeper.execute(Exists(path), PATIENCE_SECONDS) is not None

    def is_registered(self, broker: int) -> bool:
        """Whether /brokers/ids/N is there."""
        return self.is_there(scripts.broker_path(broker))

    def is_present(self, broker: int) -> bool:
        """Whether a session of a member lives: it is registered, or controller."""
        return self.is_registered(broker) or self.controller() == broker

    def last_zxid(self) -> int:
        """The last transaction."""
        self._zookeeper.execute(Exists("/"), PATIENCE_SECONDS)
        return self._zookeeper.last_zxid
