"""A whole cluster in memory: ZooKeeper, the broker processes, and what the world may do to them.

Deterministic: nothing happens by itself. A scheduler (`memory.scheduler`) chooses among what may happen next, down to
each effect of each handler, every crash, expiry, delivery and lost answer. One choice is one step of the specification:
a handler's effect is carried out at once, and the handler goes on to its next one; what it queues for brokers on the
way is queued within that step.

A cluster can be forked; the processes are shared between the forks until one of them has to change one.

Left out on purpose: what the scope leaves out. Without the part `connections` nothing that is queued is kept, without
`metadata` no UpdateMetadata is, and brokers take every leader as known; without `dead_replicas` no failover takes the
dead Offline, without the budget `late_copies` no StopReplica has a leader epoch, without `removals` topics have no ids,
and where nobody loses topics nothing goes with one that vanished, even where that is fixed. And, always, that the
create of a state znode puts the znode of a topic that was removed back, without an assignment: nobody hears of it or
finds it in a list.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, Final, Self

from reference.broker_events.controlled_shutdown import RequestShutdown
from reference.brokers.broker import Broker
from reference.controller.controller import Configuration, KafkaController
from reference.forking import Notes, shallow_copy
from reference.journal import Entry, Fate, FateMet, Journal, OperationDone, nowhere
from reference.leadership.effects import CreateState, IsrWrite, ReadUnclean, StateRead, StateWrite
from reference.memory.process import MemoryProcess
from reference.memory.zookeeper import MemoryZookeeper
from reference.procedures import AskSession, Effect, PastZkClient, SessionView
from reference.reassignment.effects import ReadReassignments
from reference.requests.connections import QueuedRequest
from reference.scripts import BROKER_IDS, BROKER_TOPICS, COMMON_PATHS, CONTROLLER, broker_path, topic_path
from reference.threads import event_of
from reference.topics.creation import Assignment, ListenToTopics
from reference.zookeeper.api import (
    AnyOperation,
    Children,
    Create,
    Delete,
    Exists,
    GetChildren,
    GetData,
    NodeExists,
    NoNode,
    OperationRefused,
    SetData,
    parent_path,
)
from reference.zookeeper.tree import WatchKind
from spec.formats.kafka_types import TopicPartition
from spec.formats.request_schemas import LeaderAndIsrRequest, Request, StopReplicaRequest, UpdateMetadataRequest
from spec.model import Model
from spec.scopes import Scope
from spec.state.listeners import IN_ORDER, LISTENED, listened
from spec.variants import AS_CODED, Switch, Switches

LACKING = frozenset({"delayed_operations"})
"""Parts. The purgatory of delayed operations is there, but apart from the cluster: see `purgatory`."""


def lacking(scope: Scope) -> str:
    """What a scope has and the reference cluster has not; empty if there is nothing."""
    return ", ".join(sorted(scope.features & LACKING))


BROKERS_CHANGED: Final = (WatchKind.CHILDREN, BROKER_IDS)
"""The watch that the end of a registration fires."""


Way = tuple[int, int, TopicPartition | None]
"""From which controller to which broker a request goes; one to delete a replica has a way for each partition."""


class AnswerLost(Exception):
    """A write was applied, but its answer never arrived."""


class MemoryCluster:
    """The state of everything: `budget`, how often each kind of fault may still happen; `entries`, of the last step."""

    def __init__(self, scope: Scope, switches: Switches = AS_CODED, broker_ids: Sequence[int] | None = None) -> None:
        self.switches = switches
        self.bind(scope)
        self.partitions: Sequence[TopicPartition] = scope.partition_names
        """The partitions of the scope, by number."""
        self._topics: Sequence[str] = tuple(dict.fromkeys(partition.topic for partition in self.partitions))
        self.zookeeper = MemoryZookeeper()
        self.admin_session = self.zookeeper.open_session()
        self.budget = {name: limit for name, limit in scope.budgets if limit}
        self.entries: list[Entry] = []
        self.record: Journal = self.entries.append
        """Something happened. It is no method, or a process would hold the cluster, and no fork were ever freed."""
        self.late: Mapping[Way, QueuedRequest] = {}
        """Copies of requests that stayed behind on an old connection."""
        self.adding: tuple[str, Assignment] | None = None
        """The topic that a tool is adding partitions to, as it has read it."""
        self.notifiers: dict[str, int] = {}
        """The place of each notification of an ISR change among those of the scope, which says who created it."""
        self.created: Mapping[str, tuple[int, ...]] = {}
        """The zxids of the creations of each topic, which tell the topics of a name apart."""
        self.processes = {b: self.new_process(b) for b in broker_ids or range(1, scope.brokers + 1)}
        self.own = set(self.processes)
        """The processes that no fork shares with this cluster."""
        self.set_up_common_paths()

    def set_up_common_paths(self) -> None:
        """`setupCommonPaths`: create what is missing of the fixed paths, as each process does that starts."""
        for path in COMMON_PATHS:
            if path not in self.zookeeper.tree:
                self.create_as_admin(path, None)

    def bind(self, scope: Scope) -> None:
        """Be bound by a scope from now on."""
        self.scope, self.model = scope, Model(scope, self.switches)
        """What the scope and the switches decide."""
        self.carried = carried(self.model)
        """The requests that connections of this scope carry."""

    # ----------------------------------------------------------------------------------------------------- the parties

    def new_process(self, broker_id: int) -> MemoryProcess:
        """A broker process that does not run, with nothing in its memory."""
        left_out = set() if "dead_replicas" in self.scope.parts else {Switch.TAKE_THE_DEAD_OFFLINE}
        left_out |= set() if self.scope.budget("late_copies") else {Switch.STOP_REPLICA_HAS_LEADER_EPOCH}
        left_out |= set() if self.scope.budget("removals") else {Switch.TOPIC_IDS}
        left_out |= set() if self.model.loses_topics else {Switch.FORGET_THE_VANISHED}
        left_out |= set() if {"deletion", "cached_leaderships"} <= self.scope.parts else {Switch.FULL_METADATA}
        configuration = Configuration(
            broker_id, self.switches - left_out, self.model.unclean, listened_paths(self.scope, self.switches),
            self.scope.imbalance_percentage, self._hosts(), "failed_removals" in self.scope.parts,
            "addition" in self.scope.parts, deletes_topics=self.scope.deletes_topics, left_behind=self._left_behind(),
        )  # fmt: skip
        eligible = broker_id <= self.scope.controllers
        controller = KafkaController(configuration, self.record) if eligible else None
        alive = frozenset[int]() if "metadata" in self.scope.parts else None
        broker = Broker(
            broker_id, alive, self.record, compares_epochs=Switch.COMPARE_METADATA_EPOCHS in self.switches,
            compares_content=Switch.COMPARE_NO_CONTENT not in self.switches,
            asks_its_cache=Switch.TELL_ONLY_THE_NEW not in self.switches,
            keeps_undeleted=Switch.KEEP_UNDELETED_LOGS in self.switches,
        )  # fmt: skip
        return MemoryProcess(broker_id, controller, broker)

    def _hosts(self) -> Mapping[TopicPartition, frozenset[int]] | None:
        """The brokers that may ever have a replica of a partition: all of its AR, and of what may be asked for."""
        m = self.model
        return {tp: frozenset(m.assigned(p) if m.stops_replicas else ()) for p, tp in enumerate(self.partitions)}

    def _left_behind(self) -> tuple[TopicPartition, ...]:
        """The partitions whose replicas may outlive their topic: where they move, which leaves replicas to delete."""
        return tuple(self.partitions) if self.model.topics_vanish and self.model.moves_replicas else ()

    def topics(self) -> Sequence[str]:
        """The topics of the scope, by number, whether or not they exist."""
        return self._topics

    def change(self, broker_id: int, *, goes_on: bool = False) -> MemoryProcess:
        """A process, to be changed: it is this cluster's own from now on. Its handler may be one that `goes_on`."""
        process = self.processes[broker_id]
        if broker_id not in self.own:
            process = self.processes[broker_id] = process.fork(self.record, goes_on=goes_on)
            self.own.add(broker_id)
        else:
            process.notes = Notes()
            if goes_on:
                process.go_on()
        return process

    def fork(self) -> Self:
        """A second cluster in the same state, from which the two go their own ways."""
        twin = shallow_copy(self)
        twin.zookeeper = self.zookeeper.fork()
        twin.processes, twin.budget = dict(self.processes), dict(self.budget)
        twin.notifiers = dict(self.notifiers)
        twin.entries = []
        twin.record = twin.entries.append
        twin.own, self.own = set(), set()
        return twin

    # ------------------------------------------------------------------------------------------------------- ZooKeeper

    def can_operate(self, process: MemoryProcess) -> bool:
        """Whether ZooKeeper does what a process asks: it runs, and its session lives."""
        return process.session is not None and self.zookeeper.is_live(process.session)

    def watches(self, process: MemoryProcess) -> frozenset[tuple[WatchKind, str]]:
        """The watches of a process's session that have not fired yet."""
        return frozenset() if process.session is None else self.zookeeper.watches(process.session)

    def carry_out(self, process: MemoryProcess, effect: Effect[Any], *, lose_answer: bool = False) -> Any:
        """Run an effect's script to its end, and give its result or raise what it raises.

        With `lose_answer` it ends in AnswerLost as soon as its write is applied; a script whose write is refused
        cannot lose it.
        """
        script, rearms = effect.script(), self._rearms(effect)
        give, value = script.send, None
        while True:
            try:
                operation = give(value)
            except StopIteration as end:
                return end.value
            try:
                answer = self._answer(process, operation, rearms=rearms)
            except OperationRefused as refusal:
                give, value = script.throw, refusal.with_traceback(None)
                continue
            if lose_answer and isinstance(operation, Create | SetData | Delete) and operation.path == effect.written:
                raise AnswerLost(operation.path)
            give, value = script.send, answer

    def would_apply(self, process: MemoryProcess, effect: Effect[Any]) -> bool:
        """Whether an effect's write would be applied now; nothing is changed by asking."""
        trial = shallow_copy(self)
        trial.zookeeper, trial.record, trial.processes = self.zookeeper.fork(), nowhere, {}
        try:
            trial.carry_out(process, effect, lose_answer=True)
        except AnswerLost:
            return True
        except Exception:  # noqa: BLE001 - whatever a script raises, its write was not applied
            return False
        return False

    def _answer(
        self, process: MemoryProcess, operation: AnyOperation | AskSession | PastZkClient, *, rearms: bool
    ) -> Any:
        """Do an operation under a process's session; a read of a path with a listener sets the watch again."""
        assert process.session is not None  # noqa: S101 - only a running process operates
        if isinstance(operation, AskSession):
            return SessionView(process.session, self.zookeeper.time_ms)
        if isinstance(operation, PastZkClient):
            operation = operation.operation
        elif isinstance(operation, Exists | GetData | GetChildren) and rearms and process.listens_to(operation.path):
            operation = type(operation)(operation.path, watch=True)
        try:
            answer = self._execute(process.session, operation)
        except OperationRefused as refusal:
            self.record(OperationDone(process.broker_id, operation, refusal))
            raise
        self.record(OperationDone(process.broker_id, operation, answer))
        self.tell_watchers()
        return answer

    def _execute(self, session: int, operation: AnyOperation) -> Any:
        """Do an operation; a topic's znode that is there as a parent only is not a topic."""
        if isinstance(operation, Create) and operation.data is None and parent_path(operation.path) == BROKER_TOPICS:
            return self.zookeeper.create_unheard(session, operation.path)
        answer = self.zookeeper.execute(session, operation)
        if isinstance(answer, Children) and operation.path == BROKER_TOPICS:
            return replace(answer, names=tuple(name for name in answer.names if self.has_topic(name)))
        return answer

    def has_topic(self, topic: str) -> bool:
        """Whether a topic exists: its znode is there, and holds an assignment."""
        znode = self.zookeeper.tree.get(topic_path(topic))
        return znode is not None and znode.data is not None

    def stands(self, path: str, czxid: int | None) -> bool:
        """Whether the znode that was read, which had this czxid, still exists."""
        znode = self.zookeeper.tree.get(path)
        return znode is not None and znode.czxid == czxid

    def incarnation(self, topic: str, topic_id: int | None) -> int:
        """Which topic of that name has this id: the first is 0, and so is one that was there from the start."""
        ids = self.created.get(topic, ())
        return ids.index(topic_id) if topic_id in ids else 0

    def tell_watchers(self) -> None:
        """Queue the listeners of every watch that fired, each in its process."""
        for b, process in self.processes.items():
            if process.session is None:
                continue
            for event in self.zookeeper.take_watch_events(process.session):
                if process.listens_to(event.path):
                    self.change(b).events.append(event_of(event.path))

    def own_events(self, process: MemoryProcess) -> int:
        """How many events a client would have of the end of its own session, if it heard of it."""
        if process.session is None:
            return 0
        watches, tree = self.zookeeper.watches(process.session), self.zookeeper.tree
        watched = {CONTROLLER: (WatchKind.NODE, CONTROLLER), broker_path(process.broker_id): BROKERS_CHANGED}
        own = [watched[path] for path in watched if path in tree and tree[path].ephemeral_owner == process.session]
        return sum(one in watches and process.listens_to(one[1]) for one in own)

    def end_session(self, session: int, broker_id: int, *, closed: bool = False, hears_of_it: bool = False) -> None:
        """ZooKeeper ends a session: of a process, or of an earlier incarnation."""
        owned = tuple(path for path, znode in self.zookeeper.tree.items() if znode.ephemeral_owner == session)
        self.record(FateMet(broker_id, Fate.SESSION_ENDED, owned))
        if closed:
            self.zookeeper.close_session(session)
        else:
            self.zookeeper.expire_session(session, hears_of_it=hears_of_it)
        self.tell_watchers()

    def create_as_admin(self, path: str, data: bytes | None) -> None:
        """Create a znode, and what is missing above it."""
        try:
            self.zookeeper.execute(self.admin_session, Create(path, data))
        except NoNode:
            self.create_as_admin(parent_path(path), None)
            self.create_as_admin(path, data)
        except NodeExists:
            pass

    # ------------------------------------------------------------------------------------------------------ connections

    def _rearms(self, effect: Effect[Any]) -> bool:
        """Whether what is read for an effect sets the watch again; of a state znode after a failed write it does not.

        Nor does what a handler reads amidst its work, unless the scope says so. In both it is as in the specification.
        """
        if isinstance(effect, StateWrite | CreateState | IsrWrite | RequestShutdown):
            return False
        return self.scope.reads_rearm or not isinstance(effect, StateRead | ReadReassignments)

    def is_no_step(self, effect: Effect[Any]) -> bool:
        """Whether an effect is no step of its own in this scope, but done with the one before."""
        return isinstance(effect, ListenToTopics | ReadUnclean) or not effect.parts <= self.scope.parts

    def drop_what_is_left_out(self, controller: KafkaController) -> None:
        """Take requests that this scope leaves out off a controller's queues."""
        manager = controller.context.controller_channel_manager
        if manager is not None:
            for queue in manager.queues.values():
                kept = [queued for queued in queue if isinstance(queued.request, self.carried)]
                pairs = zip_longest(kept, kept[1:])
                queue[:] = [one for one, following in pairs if following is None or not _is_for_nothing(one, following)]


def carried(m: Model) -> tuple[type[Request], ...]:
    """The requests that connections of a model carry."""
    if not m.has("connections"):
        return ()
    optional = ((m.stops_replicas, StopReplicaRequest), (m.has("metadata"), UpdateMetadataRequest))
    return (LeaderAndIsrRequest, *(request for is_carried, request in optional if is_carried))


def _is_for_nothing(queued: QueuedRequest, following: QueuedRequest) -> bool:
    """Whether this is the StopReplica of no partition that goes before the deletion manager's deletions."""
    is_empty = isinstance(queued.request, StopReplicaRequest) and not queued.request.partitions
    return is_empty and following.calls_back and following.batch == queued.batch


def listened_paths(scope: Scope, switches: Switches) -> tuple[str, ...]:
    """The paths that an active controller listens to, in the order of their callbacks after an expiry."""
    order = IN_ORDER if scope.fires_by_hash else LISTENED
    known = listened(switches, deletes_topics=scope.deletes_topics, parts=scope.parts, order=order)
    return tuple(one.path for one in known.values())
