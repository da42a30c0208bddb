"""The effects about a partition's state znode: reads and conditional writes of the controller and of leaders.

Each carries the locals that the specification keeps where its handler is: which partitions or replicas `remain` to be
handled, the present one included. What is to be written has the version that was read, on which it is written.

Kafka 0.10.2.2: `PartitionStateMachine`, `KafkaController.removeReplicaFromIsr`, `Partition.updateIsr`.
"""

from dataclasses import field

from reference.procedures import Effect, Script
from reference.scripts import (
    Fence,
    Found,
    check,
    create_persistent,
    parsed_if_json,
    read_data,
    read_state_znode,
    state_data,
    state_path,
    topic_config_path,
    update_state_znode,
)
from reference.zookeeper.api import NodeExists
from spec.formats.kafka_types import TopicPartition
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.formats.znodes import TopicConfigPayload
from spec.state.enumerations import At

Partitions = frozenset[TopicPartition]
Replica = tuple[TopicPartition, int]
Replicas = frozenset[Replica]


class StateRead(Effect[Found]):
    """A read of a state znode by the controller: None if there is none."""

    partition: TopicPartition

    def script(self) -> Script[Found]:
        """Read it."""
        return read_state_znode(self.partition)


class FencedStateRead(StateRead):
    """A read for the cache: with a fence, only if the epoch is still the latest then (a fix of ours)."""

    fence: Fence | None

    def script(self) -> Script[Found]:
        """Read it, then whether that counts."""
        found = yield from read_state_znode(self.partition)
        yield from check(self.fence)
        return found


class ReadState(FencedStateRead):
    """Failover: `updateLeaderAndIsrCache`, one state znode."""

    remaining: Partitions
    at = At.READ_STATES


class CreateState(Effect[Found]):
    """New to Online: create the state znode; what it holds if somebody else had done so, else None.

    The era takes every znode that is in the way for somebody else's, also that of an own create whose answer was lost
    (D54); `recognises_own` fixes that.
    """

    partition: TopicPartition
    remaining: Partitions
    leadership: LeaderIsrAndControllerEpoch
    fence: Fence | None = None
    recognises_own: bool = False
    at = At.ONLINE_READ

    @property
    def written(self) -> str:
        """The state znode."""
        return state_path(self.partition)

    def script(self) -> Script[Found]:
        """Create it with its parents; if it exists, read it for the log, or raise where that finds nothing."""
        yield from check(self.fence)
        try:
            yield from create_persistent(state_path(self.partition), state_data(self.leadership))
        except NodeExists:
            found = yield from read_state_znode(self.partition)
            if found is None:
                raise
            return None if self.recognises_own and found == self.leadership else found
        return None


class ReadForElection(StateRead):
    """Offline to Online: the state znode that a leader is to be elected for."""

    remaining: Partitions
    at = At.ONLINE_READ


class ReadUnclean(Effect[bool]):
    """Whether a topic may elect who is not in sync (`AdminUtils.fetchEntityConfig`).

    It is read within the step that has read the state znode.
    """

    topic: str
    default: bool
    at = At.ONLINE_READ

    def script(self) -> Script[bool]:
        """Read the topic's configuration; without one, or where it is no JSON, the brokers' own counts."""
        path = topic_config_path(self.topic)
        node = yield from read_data(path)
        payload = None if node is None else parsed_if_json(TopicConfigPayload, path, node.data)
        return self.default if payload is None else payload.is_unclean(default=self.default)


class ConditionalWrite(Effect["int | None"]):
    """A conditional write of a state znode: the new version, or None if it is gone, or not at the expected one.

    `compares_content`: one that fails on its version, but finds its very content, counts as done.
    """

    partition: TopicPartition
    leadership: LeaderIsrAndControllerEpoch
    compares_content: bool = field(default=True, kw_only=True)

    @property
    def written(self) -> str:
        """The state znode."""
        return state_path(self.partition)

    def script(self) -> Script[int | None]:
        """Write it on the version known."""
        return update_state_znode(self.partition, self.leadership, compares_content=self.compares_content)


class StateWrite(ConditionalWrite):
    """One by the controller, on the version that it has read; if it fails, it reads again."""

    fence: Fence | None

    def script(self) -> Script[int | None]:
        """Write it, unless the fence is in the way."""
        yield from check(self.fence)
        return (yield from super().script())


class WriteElectedLeader(StateWrite):
    """Offline to Online: the elected leader and ISR, leader_epoch + 1."""

    remaining: Partitions
    at = At.ONLINE_WRITE


class ReadForRemoval(FencedStateRead):
    """To OfflineReplica: the state znode that a replica is to be removed from."""

    replica: int
    remaining: Replicas
    at = At.REMOVE_READ


class WriteRemoval(StateWrite):
    """To OfflineReplica: the ISR less the replica, leader_epoch + 1."""

    replica: int
    remaining: Replicas
    at = At.REMOVE_WRITE


class ReadForNewReplica(StateRead):
    """To NewReplica: the state znode, which normally is not there yet."""

    replica: int
    remaining: Replicas
    at = At.NEW_REPLICA_READ


class IsrWrite(ConditionalWrite):
    """A leader's write of its ISR, on the version that it has cached."""

    replicas: tuple[int, ...]


class ShrinkIsr(IsrWrite):
    """The ISR less `replicas`, which lag."""


class ExpandIsr(IsrWrite):
    """The ISR and `replicas`, one that has caught up."""


class StartNewReplica(StateRead):
    """Step 3: the state znode, for a replica that is to be started."""

    replica: int
    remaining: Replicas
    at = At.START_READ
