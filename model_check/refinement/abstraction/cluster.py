"""What the specification's variables are in a state of the reference.

The functions here read the cluster in memory, which is to say the znodes, the memories of controllers and brokers, the
queues, and the effects that handlers wait for, and give the variables of the specification by name. They never look
into a generator. What the specification keeps as history (which terms have acted in which epoch) nobody in the cluster
knows; a `History` is kept beside it, from what happened.

Everything that the specification has and the reference spells otherwise is settled here: a queue of requests is a queue
of batches there; a registration that waits in the event queue is something the process owes; a watch counts only while
a listener is subscribed to its path.
"""

from collections.abc import Sequence
from typing import Any

from model_check.refinement.abstraction.assignments import (
    assigned,
    has_read_remaining,
    is_between_partitions,
    known_assignments,
    reassignments,
    requested,
)
from model_check.refinement.abstraction.connections import connection, known_to_broker
from model_check.refinement.abstraction.elections import asked_elections, read_elections, requested_elections
from model_check.refinement.abstraction.leadership import (
    NOBODY,
    Named,
    flags,
    found,
    informs_of_removal,
    leadership,
    lists,
)
from model_check.refinement.abstraction.threads import on_the_way_out, other_threads
from model_check.refinement.abstraction.topics import after_removals, deletion_manager, kept_of_topics
from reference.broker_events.isr_notification import ReadNotification
from reference.controller.controller import KafkaController
from reference.controller.effects import ElectCreate
from reference.leadership.effects import StateWrite
from reference.memory.cluster import MemoryCluster
from reference.memory.process import MemoryProcess, Repeated
from reference.procedures import Effect
from reference.reassignment.effects import ReassignmentRequest, WriteRemaining
from reference.scripts import (
    CHILD_PATHS,
    CONTROLLER,
    CONTROLLER_EPOCH,
    broker_path,
    leadership_in,
    parsed,
    state_path,
    topic_path,
)
from reference.threads import PATH_OF, Event, callback_of
from reference.zookeeper.tree import WatchKind
from spec.formats.kafka_types import NO_LEADER, TopicPartition
from spec.formats.leadership import NO_LEADERSHIP
from spec.formats.znode_paths import ISR_CHANGE
from spec.formats.znodes import ControllerPayload, PartitionsPayload
from spec.model import Model
from spec.state.enumerations import At, Callback, Handler, Owes, Session
from spec.state.listeners import watched_paths
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState
from spec.variants import Switch


def memory_of(m: Model, cluster: MemoryCluster, process: MemoryProcess) -> Named:
    """What is in the memory of a process and nowhere else."""
    b = process.broker_id
    if process.controller is not None:
        yield from _controller(m, cluster, process, process.controller)
    yield from known_to_broker(m, cluster, process)
    if m.has("connections") and process.controller is not None:
        for other in cluster.processes:
            yield from connection(m, cluster, f"connections[{b}][{other}]", process.controller.queue_to(other))


def zookeeper(m: Model, cluster: MemoryCluster) -> Named:
    """What is in ZooKeeper's tree; of ephemeral znodes, whether they are of a session that outlived its process."""
    tree = cluster.zookeeper.tree
    orphans = {b: process.orphan for b, process in cluster.processes.items()}
    controller, orphaned = NOBODY, False
    if CONTROLLER in tree:
        controller = parsed(ControllerPayload, CONTROLLER, tree[CONTROLLER].data).brokerid
        orphaned = tree[CONTROLLER].ephemeral_owner == orphans[controller]
    yield "zookeeper.controller", controller
    yield "zookeeper.controller_orphaned", orphaned
    yield "zookeeper.epoch", int(tree[CONTROLLER_EPOCH].data or b"0") if CONTROLLER_EPOCH in tree else 0
    yield "zookeeper.epoch_version", tree[CONTROLLER_EPOCH].version if CONTROLLER_EPOCH in tree else 0
    registered = {b: tree[broker_path(b)] for b in cluster.processes if broker_path(b) in tree}
    yield "zookeeper.registered", frozenset(registered)
    owners = {b: znode.ephemeral_owner for b, znode in registered.items()}
    yield "zookeeper.registered_orphaned", frozenset(b for b in owners if owners[b] == orphans[b])
    for p, partition in enumerate(cluster.partitions):
        znode = tree.get(path := state_path(partition))
        known = None if znode is None else leadership_in(path, znode.data, znode.version)
        yield from leadership(f"zookeeper.state[{p}]", known)
    notices = {path: one for path, one in tree.items() if path.startswith(ISR_CHANGE.prefix)}
    standing = {path: parsed(PartitionsPayload, path, one.data) for path, one in notices.items()}
    for p, partition in enumerate(cluster.partitions):
        named = (cluster.notifiers[path] for path, notice in standing.items() if partition in notice.partitions)
        yield f"zookeeper.notified[{p}]", frozenset(named)
    yield from asked_elections(cluster)
    yield from kept_of_topics(cluster)
    yield from assigned(m, cluster)
    yield from requested(cluster)


def session(cluster: MemoryCluster, process: MemoryProcess) -> Named:
    """Whether a process runs, its session lives, and it is on its way in or out."""
    path = f"processes[{process.broker_id}]"
    session = Session.LIVE if cluster.can_operate(process) else Session.EXPIRED
    yield f"{path}.session", session if process.is_running else Session.NONE
    yield f"{path}.orphan", process.orphan is not None
    at_start = Owes.AFTER_ELECTION if process.electing else Owes.AT_START
    waits = process.controller is None and bool(process.events)
    after_expiry = Owes.AFTER_EXPIRY if waits else Owes.NOTHING
    yield f"{path}.owes", Owes.GIVES_UP if process.gives_up else at_start if process.starting else after_expiry
    yield from on_the_way_out(process)


# ---------------------------------------------------------------------------------------------------------- controller


def _controller(m: Model, cluster: MemoryCluster, process: MemoryProcess, controller: KafkaController) -> Named:
    path, context = f"controllers[{process.broker_id}]", controller.context
    manager = context.controller_channel_manager
    channels = frozenset(manager.queues if manager is not None else ())
    yield f"{path}.at", _at(process)
    yield f"{path}.leader_id", NOBODY if controller.leader_id == NO_LEADER else controller.leader_id
    yield f"{path}.epoch", context.epoch
    yield f"{path}.active", controller.is_active
    yield f"{path}.live", context.live_or_shutting_down_broker_ids
    yield f"{path}.channels", channels
    yield f"{path}.stranded", frozenset(controller.metrics) - channels
    yield f"{path}.deletion", controller.deletion
    yield f"{path}.listed", getattr(process.next_effect, "listed", frozenset())
    counts = m.fixes(Switch.FENCED_WRITES) or _at(process) is At.INCREMENT_EPOCH
    yield f"{path}.epoch_version", context.epoch_zk_version if counts else 0
    yield from after_removals(cluster, process, controller, path)
    yield f"{path}.send_fails", controller.send_fails
    yield f"{path}.partition_batch_left", controller.partition_batch.is_left
    yield f"{path}.replica_batch_left", controller.replica_batch.is_left
    yield from flags(path, cluster.topics(), allowed=process.allowed, topics=context.all_topics)
    yield from _callbacks(m, cluster, process, path)
    yield from _given(cluster, process, path)
    yield from _handler(cluster, process, controller, path)
    for p, partition in enumerate(cluster.partitions):
        yield from _cached_partition(process, controller, f"{path}.partitions[{p}]", partition, m.assigned(p))
        yield from found(m, _at(process), controller, f"{path}.partitions[{p}].found", p, partition)
    yield from requested_elections(cluster, process, controller, path)
    yield from reassignments(cluster, process, controller, path)
    yield from known_assignments(m, cluster, controller, path)
    yield from deletion_manager(cluster, process, controller, path)
    yield from other_threads(cluster, controller, path)


def _notifications(cluster: MemoryCluster, process: MemoryProcess) -> Named:
    """The notifications that a handler has yet to delete: those that exist, and those that are gone."""
    handled: frozenset[str] = getattr(process.next_effect, "taken", process.own_controller.activity.taken)
    standing = frozenset(path for path in handled if path in cluster.zookeeper.tree)
    path = f"controllers[{process.broker_id}]"
    yield f"{path}.taken", frozenset(cluster.notifiers[notice] for notice in standing)
    unread: frozenset[str] = getattr(process.next_effect, "unread", frozenset())
    yield f"{path}.unread", frozenset(cluster.notifiers[notice] for notice in unread)
    yield f"{path}.gone", frozenset(cluster.notifiers[notice] for notice in handled - standing)


CREATING = {
    Repeated.NO: At.ELECT_CREATE,
    Repeated.UNDER_ITS_SESSION: At.ELECT_CREATE_AGAIN,
    Repeated.WITHOUT_ITS_SESSION: At.ELECT_SESSION_LOST,
}
"""How far the create of /controller is."""


def _at(process: MemoryProcess) -> At:
    effect = process.next_effect
    if is_between_partitions(process):
        return At.REASSIGN_NEXT
    if effect is None or process.running is None:
        return At.ELECT_READ if process.controller is not None and process.controller.elects else At.IDLE
    return CREATING[process.running.create] if isinstance(effect, ElectCreate) else effect.at


def watches(m: Model, cluster: MemoryCluster, process: MemoryProcess) -> Named:
    """The listeners, on paths of their own, topics and state znodes, and whether their watches are set."""
    path, armed = f"controllers[{process.broker_id}]", cluster.watches(process)
    znodes = {f"{path}.{{}}.{name}": PATH_OF[callback] for name, callback in watched_paths(m).items()}
    znodes |= {f"{path}.topic_{{}}[{t}]": topic_path(topic) for t, topic in enumerate(cluster.topics())}
    znodes |= {f"{path}.isr_{{}}[{p}]": state_path(partition) for p, partition in enumerate(cluster.partitions)}
    for name, znode in znodes.items():
        kind, listening = WatchKind.CHILDREN if znode in CHILD_PATHS else WatchKind.NODE, process.listens_to(znode)
        yield name.format("watching"), listening and (kind, znode) in armed
        if znode != CONTROLLER:  # to which every controller listens
            yield name.format("listening"), listening


def read_before(m: Model, cluster: MemoryCluster, process: MemoryProcess) -> Named:
    """Which of the registrations and requests in ZooKeeper were read, and which notifications are yet to be deleted."""
    controller, path = process.own_controller, f"controllers[{process.broker_id}]"
    yield from _notifications(cluster, process)
    known = controller.known_broker_epochs()
    yield from read_elections(cluster, process, controller, path)
    yield f"{path}.remaining_read", has_read_remaining(cluster, process)
    for b in m.brokers.ids:
        yield f"{path}.seen[{b}]", cluster.stands(broker_path(b), known.get(b))


def _callbacks(m: Model, cluster: MemoryCluster, process: MemoryProcess, path: str) -> Named:
    """The callbacks in the queue, with the partition, or the topic, that each is about; 0 where it is about none."""
    for place in range(m.scope.callback_capacity):
        event = process.events[place] if place < len(process.events) else Callback.NONE
        yield f"{path}.callbacks[{place}]", callback_of(event)
        names: Sequence[Event] = cluster.topics() if isinstance(event, str) else cluster.partitions
        yield f"{path}.concerns[{place}]", 0 if isinstance(event, Callback) else names.index(event)


def _given(cluster: MemoryCluster, process: MemoryProcess, path: str) -> Named:
    """What the listener that is next has been given before it has the lock."""
    given, head = process.given, process.events[0] if process.events else None
    children = given if isinstance(given, frozenset) else frozenset[str]()
    yield f"{path}.given", given is not None
    yield f"{path}.given_id", given if isinstance(given, int) and given != NO_LEADER else NOBODY
    yield f"{path}.given_brokers", frozenset(map(int, children if head is Callback.BROKERS else ()))
    yield f"{path}.stopped", process.controller is not None and process.controller.resigns
    moves = given.wanted if isinstance(given, ReassignmentRequest) else {}
    yield from lists(path, cluster.partitions, given_moves=moves)
    topics, requests = (children if head is one else () for one in (Callback.TOPICS, Callback.DELETIONS))
    yield from flags(path, cluster.topics(), given_topics=topics, given_requests=requests)


def _handler(cluster: MemoryCluster, process: MemoryProcess, controller: KafkaController, path: str) -> Named:
    """The locals of the running handler."""
    activity, effect = controller.activity, process.next_effect
    yield f"{path}.handler", Handler.REASSIGNMENT if is_between_partitions(process) else activity.handler
    yield f"{path}.dead", activity.dead
    yield f"{path}.lost_leader", activity.lost_leader
    yield f"{path}.returned", frozenset(dict(activity.returned))
    write = effect if isinstance(effect, StateWrite) else None
    yield f"{path}.partition", 0 if write is None else cluster.partitions.index(write.partition)
    yield f"{path}.replica", getattr(write, "replica", NOBODY)
    decided = NO_LEADERSHIP if write is None else write.leadership
    yield f"{path}.read_version", decided.zk_version
    yield f"{path}.decided.leader", NOBODY if decided.leader == NO_LEADER else decided.leader
    yield f"{path}.decided.leader_epoch", -1 if write is None else decided.leader_epoch - 1
    yield f"{path}.decided.isr", decided.isr


def _to_be_visited(effect: Effect[Any] | None) -> frozenset[Any]:
    """What a handler is to visit yet: partitions, or replicas of them."""
    match effect:
        case WriteRemaining():  # of which the remaining are what is to be written
            return frozenset()
        case ReadNotification(named=named):
            return named
    return getattr(effect, "remaining", frozenset())


def _cached_partition(
    process: MemoryProcess, controller: KafkaController, path: str, partition: TopicPartition, assigned: tuple[int, ...]
) -> Named:
    yield from leadership(path, controller.context.partition_leadership_info.get(partition))
    yield f"{path}.state", controller.partition_machine.states.get(partition, PartitionState.NON_EXISTENT)
    for r in assigned:
        state = controller.replica_machine.states.get((partition, r), ReplicaState.NON_EXISTENT)
        yield f"{path}.replicas[{r}]", state
    remaining = _to_be_visited(process.next_effect)
    yield f"{path}.todo", partition in remaining or partition in controller.activity.creating
    yield f"{path}.visiting", frozenset(key[1] for key in remaining if isinstance(key, tuple) and key[0] == partition)
    batches = (batch for batch in (controller.partition_batch, controller.replica_batch) if not batch.is_left)
    told = (b for batch in batches for b, states in batch.leader_and_isr.items() if partition in states)
    yield f"{path}.batched", frozenset(told)
    yield f"{path}.named", partition in getattr(process.next_effect, "named", ())
    yield f"{path}.informed", informs_of_removal(controller, _at(process), partition)
