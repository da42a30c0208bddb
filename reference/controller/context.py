"""What the controller knows: its caches of ZooKeeper, its two state machines, and what it is doing.

All of it is memory of one process, guarded by the one controller lock. Being active is *having a channel manager*; it
is not the same as believing to be leader, and neither is asked of ZooKeeper again.

Kafka 0.10.2.2: `ControllerContext`, the maps of `PartitionStateMachine` and `ReplicaStateMachine`. Kafka leaves the
caches as they are when it resigns (D13); those of brokers, topics and leadership nobody reads before the next failover
overwrites them, so here they are emptied, unless a controlled shutdown is being handled, whose request handler goes on,
or, before 0.10.2.0, a partition reassigned, whose listener does (D8).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, Self, TypeVar

from reference.forking import shallow_copy
from reference.procedures import DirtyBatch
from reference.requests.connections import ControllerChannelManager
from spec.formats.kafka_types import TopicPartition
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.formats.request_schemas import PartitionLeadership
from spec.formats.znodes import BrokerPayload
from spec.state.enumerations import Handler

K = TypeVar("K")
S = TypeVar("S")

NO_EPOCH = 0
"""A controller epoch in memory before the first was read, and after a resignation."""


@dataclass(frozen=True)
class Registration:
    """A broker as it registered; `broker_epoch` is the zxid of that, which tells two registrations apart (2.2.0)."""

    payload: BrokerPayload
    broker_epoch: int


NO_REQUEST = -1
"""The czxid of the request for elections that was read, before any was."""


@dataclass
class ControllerContext:
    """The caches, and the epoch that this controller acts in.

    `live_brokers` are all that are registered, also those of them that are shutting down; `partitions_being_reassigned`
    has RAR by partition.
    """

    epoch: int = NO_EPOCH
    epoch_zk_version: int = NO_EPOCH
    live_brokers: Mapping[int, Registration] = field(default_factory=dict)
    all_topics: frozenset[str] = frozenset()
    partition_replica_assignment: dict[TopicPartition, tuple[int, ...]] = field(default_factory=dict)
    partition_leadership_info: dict[TopicPartition, LeaderIsrAndControllerEpoch] = field(default_factory=dict)
    controller_channel_manager: ControllerChannelManager | None = None
    partitions_undergoing_election: frozenset[TopicPartition] = frozenset()
    election_request: int = NO_REQUEST
    partitions_being_reassigned: dict[TopicPartition, tuple[int, ...]] = field(default_factory=dict)
    shutting_down_broker_ids: frozenset[int] = frozenset()
    topic_ids: dict[str, int] = field(default_factory=dict)

    @property
    def live_broker_ids(self) -> frozenset[int]:
        """The brokers that may lead: those registered, as far as this controller knows, that are not shutting down."""
        return self.live_or_shutting_down_broker_ids - self.shutting_down_broker_ids

    @property
    def live_or_shutting_down_broker_ids(self) -> frozenset[int]:
        """The registered brokers, as far as this controller knows; they all get requests."""
        return frozenset(self.live_brokers)

    def replicas_on(self, brokers: frozenset[int]) -> list[tuple[TopicPartition, int]]:
        """The replicas that are assigned to one of these brokers."""
        known = self.partition_replica_assignment.items()
        return [(tp, r) for tp, ar in known for r in dict.fromkeys(ar) if r in brokers]

    def partitions_of(self, topic: str) -> tuple[TopicPartition, ...]:
        """The partitions of a topic that have an assignment, in their order."""
        return tuple(sorted(tp for tp in self.partition_replica_assignment if tp.topic == topic))

    def replicas_of(self, topic: str) -> list[tuple[TopicPartition, int]]:
        """The assigned replicas of a topic."""
        known = self.partition_replica_assignment.items()
        return [(tp, r) for tp, ar in known if tp.topic == topic for r in dict.fromkeys(ar)]

    def is_busy(self, topic: str) -> bool:
        """Whether a partition of the topic is being reassigned, or has an election under way."""
        electing = (partition.topic == topic for partition in self.partitions_undergoing_election)
        return self.is_reassigned(topic) or any(electing)

    def is_reassigned(self, topic: str) -> bool:
        """Whether a partition of the topic is being reassigned."""
        return any(partition.topic == topic for partition in self.partitions_being_reassigned)

    def forget_topic(self, topic: str) -> None:
        """`removeTopic`: nothing is known of the topic any more."""
        self.all_topics -= {topic}
        for known in (self.partition_replica_assignment, self.partition_leadership_info):
            for partition in [tp for tp in known if tp.topic == topic]:
                del known[partition]

    def keep_topics(self, of: Self) -> None:
        """What another context has cached of topics, their partitions and leadership is cached here."""
        self.all_topics = of.all_topics
        self.partition_replica_assignment = of.partition_replica_assignment
        self.partition_leadership_info = of.partition_leadership_info

    def fork(self) -> Self:
        """A copy that goes its own way."""
        twin = shallow_copy(self)
        twin.topic_ids = dict(self.topic_ids)
        twin.partition_replica_assignment = dict(self.partition_replica_assignment)
        twin.partition_leadership_info = dict(self.partition_leadership_info)
        twin.partitions_being_reassigned = dict(self.partitions_being_reassigned)
        manager = self.controller_channel_manager
        twin.controller_channel_manager = None if manager is None else manager.fork()
        return twin


@dataclass
class Deleting:
    """The topic deletion manager's memory; its sets are replaced, not changed.

    `partitions` are those that a queued topic had when it was queued (`partitionsToBeDeleted`). The thread has
    something to do where it is `woken` and something is queued.
    """

    queued: frozenset[str] = frozenset()
    ineligible: frozenset[str] = frozenset()
    partitions: frozenset[TopicPartition] = frozenset()
    woken: bool = False


@dataclass(frozen=True)
class Shutdown:
    """The controlled shutdown that is in work: of which broker, and which of its partitions are still to be handled.

    It has `failed` where an exception has ended it, and the answer is an error.
    """

    broker: int
    to_move: frozenset[TopicPartition]
    failed: bool = False


@dataclass
class Machine(Generic[K, S]):
    """The states of one of the two state machines; what is not there is NonExistent."""

    states: dict[K, S] = field(default_factory=dict)
    has_started: bool = False

    def fork(self) -> "Machine[K, S]":
        """A copy that goes its own way."""
        return Machine(dict(self.states), self.has_started)


@dataclass
class RequestBatch:
    """The three maps of pending requests; the controller and each of its state machines have a batch of their own.

    `is_whole`: its UpdateMetadata is of all partitions, and says so where that is fixed (S10). `is_left`: a send of it
    failed, and what is in it will never be sent.
    """

    leader_and_isr: dict[int, dict[TopicPartition, PartitionLeadership]] = field(default_factory=dict)
    stop_replica: dict[int, list[tuple[TopicPartition, bool, bool]]] = field(default_factory=dict)
    metadata: dict[TopicPartition, PartitionLeadership] = field(default_factory=dict)
    metadata_receivers: set[int] = field(default_factory=set)
    is_whole: bool = False
    is_left: bool = False

    @property
    def is_dirty(self) -> bool:
        """Whether an earlier call has left anything that forbids a new batch."""
        return bool(self.leader_and_isr or self.stop_replica or self.metadata_receivers)

    def new_batch(self) -> None:
        """Begin a batch; DirtyBatch names what an earlier one left."""
        if self.is_dirty:
            raise DirtyBatch(
                f"not sent: LeaderAndIsr to {sorted(self.leader_and_isr)}, StopReplica to {sorted(self.stop_replica)},"
                f" UpdateMetadata to {sorted(self.metadata_receivers)}"
            )

    def add_stop_replica(
        self, brokers: Iterable[int], partition: TopicPartition, *, delete: bool, calls_back: bool = False
    ) -> None:
        """Tell these brokers to stop fetching a partition, or to delete it, and perhaps call back when it has."""
        for broker_id in brokers:
            if broker_id >= 0:
                self.stop_replica.setdefault(broker_id, []).append((partition, delete, calls_back))

    def fork(self) -> "RequestBatch":
        """A copy that goes its own way."""
        if not self.is_dirty:
            return RequestBatch()
        twin = shallow_copy(self)
        twin.leader_and_isr = {broker_id: dict(states) for broker_id, states in self.leader_and_isr.items()}
        twin.stop_replica = {broker_id: list(entries) for broker_id, entries in self.stop_replica.items()}
        twin.metadata, twin.metadata_receivers = dict(self.metadata), set(self.metadata_receivers)
        return twin


@dataclass(frozen=True)
class Activity:
    """What the running handler is about, for whoever looks in from outside.

    `handler` is why partitions are being brought online; `dead` are the brokers whose failure is, or is to be, handled,
    and `lost_leader` says that one of them led a partition; `returned` are those of them that are back, each with its
    broker epoch. `created` are the topics that were found new, `creating` partitions whose replicas become new, `asked`
    those of the requested election that is running. `due` is RAR of the partitions whose reassignment is still to be
    begun with, `reassigning` the one that is in work; `leaving` are its replicas that are to go, `outside` those of RAR
    that AR does not have before step 7. `topic` is the one that the deletion thread is busy with, `turns` are those
    that it has yet to turn to, `retried` the replicas that failed and are taken Offline again. `resuming` are topics
    that are no more held back once this handler is over. `taken` are the ISR change notifications that are yet to be
    deleted.
    """

    handler: Handler = Handler.NONE
    dead: frozenset[int] = frozenset()
    lost_leader: bool = False
    returned: tuple[tuple[int, int], ...] = ()
    in_failover: bool = False
    created: frozenset[str] = frozenset()
    creating: frozenset[TopicPartition] = frozenset()
    asked: frozenset[TopicPartition] = frozenset()
    due: tuple[tuple[TopicPartition, tuple[int, ...]], ...] = ()
    reassigning: TopicPartition | None = None
    leaving: frozenset[int] = frozenset()
    outside: frozenset[int] = frozenset()
    topic: str | None = None
    turns: frozenset[str] = frozenset()
    retried: frozenset[tuple[TopicPartition, int]] = frozenset()
    resuming: frozenset[str] = frozenset()
    taken: frozenset[str] = frozenset()
