"""A controller's module amid its work, by plain calls: `reference.module({"broker": 1, "live": [1, 2, 3]})`.

It is a cluster (`reference.face.cluster`) in which one broker is the controller and the others are registered. What is
given is in its caches and its state machines; what is not has the value of a controller that has just come to work, and
ZooKeeper holds what the caches say. `transition` and `callback` run one handler to its end, and nothing else.

Kafka 0.10.2.2: `KafkaController`, `PartitionStateMachine`, `ReplicaStateMachine`. PROTOCOL.md sections 3 to 7.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from reference.broker_events.controlled_shutdown import answer_shutdown, begin_shutdown, move_partition
from reference.brokers.broker import Partition
from reference.controller.batch import send_batch
from reference.controller.context import RequestBatch
from reference.controller.controller import KafkaController
from reference.face import givens
from reference.face.batches import added
from reference.face.cluster import Cluster
from reference.face.view import Json, partition_name, shutdown_to_json
from reference.face.znodes import partition_named, refuse_no_path, write_by_hand
from reference.leadership import partitions as partition_leadership
from reference.leadership import replicas as replica_transitions
from reference.leadership.leader_selection import Select, select_reassigned
from reference.leadership.leader_selectors import Election, elect_no_op
from reference.memory import steps
from reference.memory.process import Running
from reference.procedures import Procedure
from reference.scripts import (
    CONTROLLER_EPOCH,
    REASSIGN_PARTITIONS,
    delete_topic_path,
    state_data,
    state_path,
    topic_path,
)
from reference.threads import CALLBACK_OF, event_of, on_callback
from reference.zookeeper.api import Exists, GetChildren
from reference.zookeeper.tree import WatchKind
from spec.errors import BadInput, UnknownName, Where
from spec.formats.error_codes import ErrorCode
from spec.formats.kafka_types import TopicPartition
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.formats.request_schemas import ControlledShutdownResponse
from spec.formats.znodes import PartitionReassignment, ReassignPartitionsPayload, TopicPayload
from spec.state.enumerations import Handler
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState

SELECTORS: Final = {
    "offline": Handler.FAILOVER, "preferred": Handler.REQUESTED_ELECTION, "controlled-shutdown": Handler.SHUTDOWN,
}  # fmt: skip
"""The selectors by name, and for whom they are asked."""
OTHER_SELECTORS: Final = ("reassigned", "no-op")
"""Those that are given something else: RAR, and nothing."""
Key = str | tuple[str, int] | list[Any]


class Module(Cluster):
    """A controller that knows what is given.

    | key | is |
    |---|---|
    | `broker` | its id |
    | `live`, `shutting_down` | the registered brokers that may lead, and those that are shutting down |
    | `epoch` | its epoch, 1 if not given |
    | `assignment` | AR by partition: `{"orders-0": [1, 2, 3]}` |
    | `leadership` | by partition: `leader`, `isr`, `leader_epoch`, `controller_epoch`, `zk_version` |
    | `partition_states` | by partition; those with a live leader are Online, with another Offline, without New |
    | `replica_states` | by partition, by broker; those on live brokers are Online, others Offline |
    | `reassigning`, `electing` | RAR by partition; partitions |
    | `deleting`, `ineligible` | topics that are queued for deletion, and those of them that wait |
    | `told` | the partitions whose leadership their brokers know, too; of the others they have heard nothing yet |
    | `znodes` | data by path, in place of what the caches say; null: there is none |
    | `settings`, `release`, `variant` | as for a cluster |
    """

    def __init__(self, told: Mapping[str, Any]) -> None:
        given = givens.Given(told)
        self.broker = given.require("broker", givens.number)
        live = given.get("live", givens.numbers, [self.broker])
        leaving = given.get("shutting_down", givens.numbers, [])
        assignment = given.get("assignment", givens.by_partition(givens.numbers), {})
        wanted = given.get("reassigning", givens.by_partition(givens.numbers), {})
        if self.broker not in {*live, *leaving}:
            raise BadInput(f"the controller is broker {self.broker}, which is not live; name it among `live`")
        named = (broker for ids in (*assignment.values(), *wanted.values()) for broker in ids)
        super().__init__(
            dict.fromkeys((*live, *leaving, *named)), settings=given.get("settings", givens.mapping, {}),
            release=given.get("release", givens.text, "0.10.2"), variant=given.get("variant", givens.text, "AS_CODED"),
        )  # fmt: skip
        self._come_to_work(given.get("epoch", givens.number, 1), (*live, *leaving))
        self._listen_to({tp.topic for tp in assignment})
        self._know(given, assignment, live)
        one = self.one
        one.context.shutting_down_broker_ids = frozenset(leaving)
        self._reassign(wanted)
        one.context.partitions_undergoing_election = frozenset(given.get("electing", givens.partitions, []))
        self._delete(given.get("deleting", givens.texts, []), given.get("ineligible", givens.texts, []))
        self._tell(given.get("told", givens.partitions, []))
        for path, data in given.get("znodes", givens.mapping, {}).items():
            if data is not None or path in self._cluster.zookeeper.tree:
                self._unheard(partial(self.by_hand, path, data))
        given.refuse_others()
        self._cluster.entries.clear()
        self._happened.forget()
        self._taken.clear()

    @property
    def one(self) -> KafkaController:
        """The controller."""
        return self._cluster.processes[self.broker].own_controller

    # --------------------------------------------------------------------------------------------------- what is given

    def _come_to_work(self, epoch: int, brokers: Iterable[int]) -> None:
        """The others register, the controller is elected, and everything that this causes comes to rest."""
        if not 1 <= epoch < givens.MOST:
            raise BadInput(f"given.epoch: {epoch} is no epoch of a controller; the first is 1")
        if epoch > 1:
            self.by_hand(CONTROLLER_EPOCH, str(epoch - 1))
        for b in brokers:
            if b != self.broker:
                process = self._cluster.change(b)
                process.session, process.starting = self._cluster.zookeeper.open_session(), True
                steps.register(self._cluster, b=b)
        self.start(self.broker)
        for process in self._cluster.processes.values():
            process.broker.partitions.clear()

    def _listen_to(self, topics: Iterable[str]) -> None:
        one = self.one
        for topic in topics:
            one.topic_listeners |= {topic}
            one.listeners |= {topic_path(topic)}

    def _know(
        self, given: givens.Given, assignment: dict[TopicPartition, tuple[int, ...]], live: Sequence[int]
    ) -> None:
        """The caches and the machines, and znodes that say the same."""
        one, known = self.one, given.get("leadership", givens.by_partition(givens.leadership), {})
        if lost := [tp for tp in known if tp not in assignment]:
            raise BadInput(f"given.leadership: {partition_name(lost[0])} has no AR; name it in `assignment`, too")
        one.context.all_topics = frozenset(tp.topic for tp in assignment)
        one.context.partition_replica_assignment, one.context.partition_leadership_info = assignment, known
        states = {tp: _state_of(known.get(tp), live) for tp in assignment}
        read = givens.by_partition(givens.one_of(PartitionState))
        one.partition_machine.states = {**states, **_of_known("partition_states", given, read, assignment)}
        for tp, replicas in assignment.items():
            for broker in replicas:
                state = ReplicaState.ONLINE if broker in live else ReplicaState.OFFLINE
                one.replica_machine.states[tp, broker] = state
        by_broker = givens.by_partition(lambda told, where: dict(givens.mapping(told, where)))
        for tp, by_id in _of_known("replica_states", given, by_broker, assignment).items():
            where = Where("given", f"replica_states.{partition_name(tp)}")
            for name, told in by_id.items():
                broker = _id(name, where)
                if broker not in self._cluster.processes:
                    where.refuse(f"there is no broker {broker}; name it in `live` or in an AR")
                one.replica_machine.states[tp, broker] = givens.one_of(ReplicaState)(told, where)
        self._unheard(partial(self._write, assignment, known))

    def _write(
        self,
        assignment: Mapping[TopicPartition, tuple[int, ...]],
        known: Mapping[TopicPartition, LeaderIsrAndControllerEpoch],
    ) -> None:
        for topic in dict.fromkeys(tp.topic for tp in assignment):
            replicas = {tp.partition: ids for tp, ids in assignment.items() if tp.topic == topic}
            self.by_hand(topic_path(topic), str(TopicPayload(partitions=replicas)))
        for tp, leadership in known.items():
            data = (state_data(leadership) or b"").decode()
            write_by_hand(self._cluster, state_path(tp), data, leadership.zk_version)

    def _delete(self, topics: Sequence[str], ineligible: Sequence[str]) -> None:
        """Topics are queued for deletion, and the requests for that exist."""
        one = self.one
        one.deleting.queued, one.deleting.ineligible = frozenset(topics), frozenset(ineligible)
        assigned = one.context.partition_replica_assignment
        one.deleting.partitions = frozenset(tp for tp in assigned if tp.topic in topics)
        for topic in topics:
            self._unheard(partial(self.by_hand, delete_topic_path(topic), ""))

    def _tell(self, told: Iterable[TopicPartition]) -> None:
        """The registered brokers of AR lead and follow as the caches say."""
        context = self.one.context
        for tp in told:
            known = context.partition_leadership_info.get(tp)
            if known is None:
                raise BadInput(f"given.told: {partition_name(tp)} has no leadership; name it in `leadership`")
            replicas = context.partition_replica_assignment[tp]
            for b in context.live_or_shutting_down_broker_ids.intersection(replicas):
                isr = known.isr if b == known.leader else ()
                broker = self._cluster.change(b).broker
                broker.partitions[tp] = Partition(replace(known, isr=isr), replicas)
                broker.logs |= {tp}

    def _reassign(self, wanted: Mapping[TopicPartition, tuple[int, ...]]) -> None:
        """Partitions are being reassigned: the request exists, and their state znodes are listened to."""
        self.one.context.partitions_being_reassigned = dict(wanted)
        self.one.listeners |= {state_path(tp) for tp in wanted}
        entries = tuple(PartitionReassignment(tp.topic, tp.partition, ids) for tp, ids in wanted.items())
        if entries:
            request = str(ReassignPartitionsPayload(partitions=entries))
            self._unheard(partial(self.by_hand, REASSIGN_PARTITIONS, request))

    def _unheard(self, write: Callable[[], None]) -> None:
        """Write something that fires no listener; all listen on."""
        cluster, process = self._cluster, self._cluster.processes[self.broker]
        assert process.session is not None  # noqa: S101 - the controller runs
        paths, before = process.own_controller.listeners, cluster.watches(process)
        before |= {(WatchKind.NODE, path) for path in paths if path not in CALLBACK_OF}
        waiting = list(process.events)
        write()
        for b in cluster.processes.values():
            if b.session is not None:
                cluster.zookeeper.take_watch_events(b.session)
        process = cluster.change(self.broker)
        process.events[:] = waiting
        for kind, path in before - cluster.watches(process):
            operation: Any = GetChildren(path, watch=True) if kind is WatchKind.CHILDREN else Exists(path, watch=True)
            cluster.zookeeper.execute(process.session or 0, operation)

    # ----------------------------------------------------------------------------------------------------- what it does

    def transition(
        self, machine: str, keys: Sequence[Key], target: str, selector: str = "offline", reassigned: Sequence[int] = ()
    ) -> list[Json]:
        """`handleStateChanges`: take partitions, or replicas such as `("orders-0", 2)`, to a state; what happened.

        Of partitions that go Online from Online or Offline, `selector` is asked: `offline`, `preferred`,
        `controlled-shutdown`, `reassigned`, which takes RAR, or `no-op`, which is what Kafka asks if nothing else is
        said. What a transition is refused for is in the log, as in Kafka.
        """
        if machine == "partition":
            state = _named(PartitionState, target)
            if givens.text(selector, Where("selector")) not in {*SELECTORS, *OTHER_SELECTORS}:
                raise UnknownName("selector", selector, [*SELECTORS, *OTHER_SELECTORS])
            named, wanted = givens.partitions(keys, Where("keys")), givens.numbers(reassigned, Where("reassigned"))
            return self._run(lambda one: _partitions(one, named, state, selector, wanted))
        if machine == "replica":
            state = _named(ReplicaState, target)
            replicas = tuple(_replica(key) for key in givens.listed(keys, Where("keys")))
            return self._run(lambda one: _replicas(one, replicas, state))
        raise UnknownName("machine", givens.text(machine, Where("machine")), ["partition", "replica"])

    def callback(self, path: str) -> list[Json]:
        """What the listener of a path does, which is called whether or not anything has changed; what happened."""
        refuse_no_path(path)
        return self._run(lambda one: on_callback(one, event_of(path)))

    def shut_down(self, broker: int) -> Json:
        """ControlledShutdown of a broker: its partitions one by one, then the answer, as the definitions have it."""
        refusal = begin_shutdown(self.one, broker)
        if refusal is ErrorCode.NONE:
            shutdown = self.one.shutdown
            for tp in sorted(shutdown.to_move if shutdown is not None else ()):
                self._run(partial(move_partition, partition=tp))
            answer = answer_shutdown(self.one, None)
        else:
            answer = ControlledShutdownResponse(refusal)
        self._note(self.broker)
        return shutdown_to_json(answer, self.release)

    def send(self, adds: Sequence[Mapping[str, Any]]) -> list[Json]:
        """A batch of requests: what is added, in order, then all of it is sent; what happened.

        `{"kind": "LeaderAndIsr", "brokers": [1], "partition": "orders-0"}` tells of the cached leadership,
        `{"kind": "UpdateMetadata", "brokers": [1], "partitions": ["orders-0"]}` of all and all brokers in the place of
        null, and `{"kind": "StopReplica", "brokers": [1], "partition": "orders-0", "delete": true}` calls back.
        """
        since, one, batch = self.now, self.one, RequestBatch()
        for number, told in enumerate(adds):
            added(one, batch, givens.Given(told, Where("adds").item(number)))
        send_batch(one, batch)
        self._note(self.broker)
        return self.happened(since=since)

    def _run(self, begin: Callable[[KafkaController], Procedure[None]]) -> list[Json]:
        """Run a handler to its end, and nothing else."""
        since, cluster = self.now, self._cluster
        process = cluster.change(self.broker)
        process.running = Running(begin, process.own_controller)
        steps.settle(cluster, process)
        while (process := cluster.processes[self.broker]).running is not None:
            steps.carry_out(cluster, c=self.broker, index=0)
        self._note(self.broker)
        self._interventions.tell_what_broke()
        return self.happened(since=since)


def _of_known(
    key: str, given: givens.Given, read: Callable[[Any, Where], dict[TopicPartition, Any]], known: Collection[Any]
) -> dict[TopicPartition, Any]:
    """What is given of partitions; BadInput for one that has no AR."""
    found = given.get(key, read, {})
    if lost := [tp for tp in found if tp not in known]:
        raise BadInput(f"given.{key}: {partition_name(lost[0])} has no AR; name it in `assignment`, too")
    return found


def _state_of(known: LeaderIsrAndControllerEpoch | None, live: Sequence[int]) -> PartitionState:
    if known is None:
        return PartitionState.NEW
    return PartitionState.ONLINE if known.leader in live else PartitionState.OFFLINE


def _partitions(
    one: KafkaController,
    named: Sequence[TopicPartition],
    target: PartitionState,
    selector: str,
    wanted: tuple[int, ...],
) -> Procedure[None]:
    match target:
        case PartitionState.ONLINE:
            asks: dict[str, Callable[[TopicPartition], Select]] = {
                "reassigned": lambda tp: partial(select_reassigned, one, tp, wanted), "no-op": partial(_keeps, one),
            }  # fmt: skip
            reason = SELECTORS.get(selector, Handler.FAILOVER)
            yield from partition_leadership.bring_online(one, named, reason, asks.get(selector))
        case PartitionState.NEW:
            partition_leadership.set_new(one, named)
        case _:
            partition_leadership.lose_leaders(one, named, target)


def _replicas(
    one: KafkaController, replicas: Sequence[tuple[TopicPartition, int]], target: ReplicaState
) -> Procedure[None]:
    match target:
        case ReplicaState.NEW:
            yield from replica_transitions.set_new(one, replicas)
        case ReplicaState.ONLINE:
            replica_transitions.set_online(one, replicas)
        case ReplicaState.OFFLINE:
            yield from replica_transitions.set_offline(one, replicas)
        case ReplicaState.DELETION_STARTED:
            replica_transitions.set_deletion_started(one, replicas, calls_back=True)
        case ReplicaState.NON_EXISTENT:
            replica_transitions.set_non_existent(one, replicas)
        case _:
            replica_transitions.set_deletion_ended(one, replicas, target)


def _keeps(one: KafkaController, tp: TopicPartition) -> Select:
    """The no-op selector of a partition."""

    def keep(found: LeaderIsrAndControllerEpoch) -> Procedure[Election]:
        yield from ()
        return elect_no_op(one.context.partition_replica_assignment.get(tp), found.leader, found.isr)

    return keep


def _replica(key: Key) -> tuple[TopicPartition, int]:
    match key:
        case (str(name), int(broker)):
            return partition_named(name), broker
    raise BadInput(f"{key!r} is no replica; expected a partition and a broker, as in ['orders-0', 2]")


def _id(broker: str, where: Any) -> int:
    return int(broker) if str(broker).isdecimal() else where.refuse(f"{broker!r} is no broker id")


def _named(kind: Any, name: str) -> Any:
    known = {str(one): one for one in kind}
    if givens.text(name, Where("target")) not in known:
        raise UnknownName("state", name, known)
    return known[name]
