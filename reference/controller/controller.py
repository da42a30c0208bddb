"""The controller module of a broker: its memory, and the handlers that run under its one lock.

Every broker has one and starts it; being the controller is a state of it. Its handlers are procedures: `startup`,
`on_callback`, each run to its end by a driver before the next one begins. The rest of the files in this folder that
bear the names of the protocol's parts hold what the handlers do.

Kafka 0.10.2.2: `KafkaController`. Left out on purpose: its metrics.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Self

from reference.controller.context import Activity, ControllerContext, Deleting, Machine, RequestBatch, Shutdown
from reference.controller.machines import InvalidTransition, TableKind, check_transition
from reference.forking import changed, shallow_copy
from reference.journal import Journal, Milestone, Reached, Report, StateChange, nowhere
from reference.requests.connections import ControllerChannelManager, Queue
from reference.scripts import Fence
from spec.formats.kafka_types import NO_LEADER, TopicPartition
from spec.logs.controller_request_lines import ControllerLine
from spec.logs.log_lines import Line
from spec.state.enumerations import DeletionThread
from spec.state.listeners import IN_ORDER, LISTENED
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState
from spec.variants import AS_CODED, Switch, Switches

LISTENED_PATHS = tuple(LISTENED[name].path for name in IN_ORDER)
"""The paths whose children, or data, only the active controller listens to, in ZkClient's order after an expiry."""


@cache
def is_permitted(kind: TableKind, source: Any, target: Any) -> bool:
    """Whether a state machine may move so; each pair of states is put to its chart once."""
    try:
        check_transition(kind, "anything", source, target)
    except InvalidTransition:
        return False
    return True


@dataclass(frozen=True)
class Configuration:
    """What a controller is configured with.

    `switches` fix the era's defects, or reintroduce what older releases did; `unclean` is
    `unclean.leader.election.enable`; `paths` are those whose children, or data, it listens to while it is active;
    `imbalance_percentage` is `leader.imbalance.per.broker.percentage`. `hosts`, where it is given, are the brokers that
    may ever have a replica of a partition: others are sent no request to delete one that nobody assigned them.
    `left_behind`: the partitions whose replicas may outlive their topic, of which a controller knows in no other way.
    `caches_failed_removals`: a removal that fails to write overwrites the cache all the same, as the era does.
    `listens_to_topics`: it listens to the topics' own znodes, too. `deletes_topics` is `delete.topic.enable`.
    """

    broker_id: int
    switches: Switches = AS_CODED
    unclean: bool = False
    paths: tuple[str, ...] = LISTENED_PATHS
    imbalance_percentage: int = 10
    hosts: Mapping[TopicPartition, frozenset[int]] | None = None
    caches_failed_removals: bool = True
    listens_to_topics: bool = True
    deletes_topics: bool = True
    left_behind: tuple[TopicPartition, ...] = ()


@dataclass
class KafkaController:
    """The memory of a controller module.

    `leader_id` is what it last read or wrote as the controller's id, -1 for none. `listeners` are the paths that it
    has subscribed to, `topic_listeners` the topics whose own znodes it has, `metrics` the brokers to which the process
    has a channel, whoever may still know of it, and `abandoned` the queues of channels that were replaced without
    having been closed. `to_reassign` is RAR of the partitions that the listener on requests has still to take the lock
    for; it is replaced, not changed. `elects`: a listener has resigned, and is to take the lock again to elect.
    `resigns`: a listener is to, and has stopped deletions before it takes the lock for the rest.
    `send_fails`: the next send of a state machine is to raise.
    """

    configuration: Configuration
    journal: Journal = nowhere
    leader_id: int = NO_LEADER
    context: ControllerContext = field(default_factory=ControllerContext)
    partition_machine: Machine[TopicPartition, PartitionState] = field(default_factory=Machine)
    replica_machine: Machine[tuple[TopicPartition, int], ReplicaState] = field(default_factory=Machine)
    deletion: DeletionThread = DeletionThread.NONE
    deleting: Deleting = field(default_factory=Deleting)
    topic_listeners: frozenset[str] = frozenset()
    listeners: frozenset[str] = frozenset()
    metrics: set[int] = field(default_factory=set)
    abandoned: dict[int, Queue] = field(default_factory=dict)
    batch: RequestBatch = field(default_factory=RequestBatch)
    partition_batch: RequestBatch = field(default_factory=RequestBatch)
    replica_batch: RequestBatch = field(default_factory=RequestBatch)
    activity: Activity = field(default_factory=Activity)
    imbalanced: frozenset[TopicPartition] = frozenset()
    to_reassign: Mapping[TopicPartition, tuple[int, ...]] = field(default_factory=dict)
    shutdown: Shutdown | None = None
    elects: bool = False
    resigns: bool = False
    send_fails: bool = False
    batches_sent: int = 0

    @property
    def broker_id(self) -> int:
        """The broker that this is the controller module of."""
        return self.configuration.broker_id

    @property
    def is_active(self) -> bool:
        """Being active is having a channel manager."""
        return self.context.controller_channel_manager is not None

    @property
    def am_i_leader(self) -> bool:
        """Whether this broker takes itself for the controller."""
        return self.leader_id == self.broker_id

    @property
    def live(self) -> frozenset[int]:
        """The brokers that may lead, as far as this controller knows."""
        return self.context.live_broker_ids

    def fixes(self, switch: Switch) -> bool:
        """Whether a fix is switched on."""
        return switch in self.configuration.switches

    def reintroduces(self, switch: Switch) -> bool:
        """Whether what an older release did is reintroduced."""
        return switch in self.configuration.switches

    def is_doomed(self, partition: TopicPartition) -> bool:
        """Whether a partition is being deleted (`isPartitionToBeDeleted`); none is where topics are not deleted."""
        return self.configuration.deletes_topics and partition in self.deleting.partitions

    @property
    def compares_content(self) -> bool:
        """Whether a write that fails on its version, but finds its very content, counts as done (KAFKA-1382)."""
        return not self.reintroduces(Switch.COMPARE_NO_CONTENT)

    @property
    def fence(self) -> Fence | None:
        """The check that goes with every write, where writes are fenced."""
        return Fence(self.context.epoch_zk_version) if self.fixes(Switch.FENCED_WRITES) else None

    @property
    def read_fence(self) -> Fence | None:
        """The check that goes with every read of a leadership for the cache, where those are fenced, too."""
        return self.fence if self.fixes(Switch.FENCED_READS) else None

    # ----------------------------------------------------------------------------------------------------- what it says

    def log_state_change(self, line: type[ControllerLine], **values: Any) -> None:
        """Write a line to state-change.log, in the name and epoch of this controller."""
        written: Line = line(controller=self.broker_id, epoch=self.context.epoch, **values)
        self.journal(StateChange(written))

    def report(self, line: Callable[..., Line], **values: Any) -> None:
        """Write a line to controller.log, in the name of this controller."""
        self.note(line(controller=self.broker_id, **values))

    def note(self, line: Line) -> None:
        """Write a line to controller.log in which no controller is named."""
        self.journal(Report(line))

    def reach(self, milestone: Milestone, **brokers: frozenset[int]) -> None:
        """Record in the journal where the controller is."""
        self.journal(Reached(self.broker_id, milestone, self.context.epoch, **brokers))

    def is_about(self, **what: Any) -> None:
        """Keep for outsiders what the running handler is about."""
        self.activity = changed(self.activity, **what)

    def known_broker_epochs(self) -> dict[int, int]:
        """The broker epochs of the registrations as read, also of brokers that are taken for dead first."""
        live = {one: registration.broker_epoch for one, registration in self.context.live_brokers.items()}
        return live | dict(self.activity.returned)

    def queue_to(self, broker_id: int) -> Queue:
        """The requests that wait to be sent to a broker, head first; empty where there is no channel."""
        manager = self.context.controller_channel_manager
        if manager is not None and broker_id in manager.queues:
            return manager.queues[broker_id]
        return self.abandoned.get(broker_id, Queue())

    @property
    def opens_channels_twice(self) -> bool:
        """Whether channels are opened beside left-over ones, as before 0.9.0.0 by a controller beside another (D7)."""
        return self.reintroduces(Switch.IGNORE_WHO_IS_NEW)

    def open_channels(self, manager: ControllerChannelManager, broker_ids: Iterable[int]) -> None:
        """Open channels to more brokers; LeftOverChannel where a left-over one is in the way (D56)."""
        manager.add_brokers(broker_ids, self.abandoned if self.opens_channels_twice else None)

    def fork(self) -> Self:
        """A copy that goes its own way; no handler runs in it."""
        twin = shallow_copy(self)
        twin.context, twin.deleting = self.context.fork(), shallow_copy(self.deleting)
        twin.partition_machine, twin.replica_machine = self.partition_machine.fork(), self.replica_machine.fork()
        twin.batch, twin.partition_batch = self.batch.fork(), self.partition_batch.fork()
        twin.replica_batch = self.replica_batch.fork()
        twin.metrics = set(self.metrics)
        twin.abandoned = {broker_id: queue.fork() for broker_id, queue in self.abandoned.items()}
        if twin.context.controller_channel_manager is not None:
            twin.context.controller_channel_manager.metrics = twin.metrics
        return twin
