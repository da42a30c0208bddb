"""The steps of the cluster in memory: what each thing that the scheduler may choose does.

A step changes only processes that it has made this cluster's own (`MemoryCluster.change`), and ZooKeeper. Whether it is
possible at all, the scheduler has asked before.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from reference.controller.controller import KafkaController
from reference.controller.effects import ElectCreate, RegisterBroker
from reference.deletion.thread import on_replica_deleted
from reference.elections.allowed import elect_where_allowed
from reference.elections.rebalance import begin_rebalance
from reference.failover import election
from reference.journal import Fate, FateMet, ImbalanceFound, RequestHandled
from reference.memory.cluster import AnswerLost, MemoryCluster
from reference.memory.process import MemoryProcess, Repeated, Running
from reference.procedures import Procedure, Raised
from reference.reassignment.requests import take_up
from reference.requests.connections import QueuedRequest
from reference.scripts import broker_path
from reference.threads import on_callback, on_deletion_thread, read_for_listener
from spec.formats.error_codes import ErrorCode
from spec.formats.kafka_types import TopicPartition
from spec.formats.leadership import NO_LEADERSHIP
from spec.formats.request_schemas import LeaderAndIsrRequest, PartitionsResponse, Response, StopReplicaRequest
from spec.state.enumerations import At, Callback
from spec.variants import Switch

# ----------------------------------------------------------------------------------------------- processes and sessions


def start_process(cluster: MemoryCluster, *, b: int) -> None:
    """A process starts with a session of its own; its controller module subscribes to /controller."""
    process = cluster.change(b)
    process.session = cluster.zookeeper.open_session()
    process.starting = True
    cluster.set_up_common_paths()
    cluster.record(FateMet(b, Fate.STARTED))
    if process.controller is not None:
        process.electing = True
        process.running = Running(election.startup, process.controller)
        carry_out(cluster, c=b, index=0)


def crash(cluster: MemoryCluster, *, b: int) -> None:
    """The process is gone with its memory; its session lives on for a while."""
    process = cluster.change(b)
    if process.session is not None and cluster.can_operate(process):
        process.orphan = process.session
    forget(cluster, b)
    cluster.record(FateMet(b, Fate.CRASHED))


def forget(cluster: MemoryCluster, b: int) -> None:
    """A process is no more, and all that was only in its memory; the logs on its disk stay."""
    orphan, logs = cluster.processes[b].orphan, cluster.processes[b].broker.logs
    cluster.processes[b] = cluster.new_process(b)
    cluster.processes[b].orphan, cluster.processes[b].broker.logs = orphan, logs
    cluster.late = {way: copy for way, copy in cluster.late.items() if way[1] != b}


def end_orphaned_session(cluster: MemoryCluster, *, b: int) -> None:
    """ZooKeeper ends the session that a dead process left behind."""
    process = cluster.change(b)
    session, process.orphan = process.orphan, None
    if session is not None:
        cluster.end_session(session, b)


def expire_session(cluster: MemoryCluster, *, b: int, lost: int = 0, heard: int = 0) -> None:
    """ZooKeeper ends the session; the last events had not reached the client, or so many of its own end do.

    The callbacks that the client has queued itself, after an earlier expiry, may be among these, which does not matter:
    it will queue them all again.
    """
    process = cluster.change(b)
    if process.running is not None and process.running.create is Repeated.UNDER_ITS_SESSION:
        process.running.create = Repeated.WITHOUT_ITS_SESSION
    del process.events[len(process.events) - lost :]
    reached = len(process.events) + heard
    if process.session is not None:
        cluster.end_session(process.session, b, hears_of_it=bool(heard))
    del process.events[reached:]


def renew_session(cluster: MemoryCluster, *, b: int) -> None:
    """ZkClient makes a new session and queues its handlers, then a callback for every listener."""
    process = cluster.change(b)
    process.session = cluster.zookeeper.open_session()
    if process.controller is not None:
        process.events.append(Callback.SESSION)
    if not process.starting:
        process.events.append(Callback.REGISTRATION)
    process.events.extend(process.subscribed())
    cluster.record(FateMet(b, Fate.SESSION_RENEWED))


def register(cluster: MemoryCluster, *, b: int, answered: bool = True) -> None:
    """Create /brokers/ids/N; a start-up that finds it taken gives up."""
    process = cluster.change(b)
    try:
        registered = cluster.carry_out(process, RegisterBroker(b), lose_answer=not answered)
    except AnswerLost:
        return  # and ZkClient will create it again
    if process.starting and not registered:
        process.gives_up = True
        return
    if process.controller is None:
        process.events.clear()  # more of the same handler would find the broker registered
    elif not process.starting:
        process.events.pop(0)
    process.starting = False


def close_failed_startup(cluster: MemoryCluster, *, b: int) -> None:
    """A process that has given up closes its session, and is gone."""
    session = cluster.change(b).session
    forget(cluster, b)
    if session is not None:
        cluster.end_session(session, b, closed=True)


# ------------------------------------------------------------------------------------------- handlers of the controller


def take_callback(cluster: MemoryCluster, *, c: int, skipped: bool = False) -> None:
    """Begin a callback, or skip it: what it reads first belongs to this step."""
    process = cluster.change(c)
    callback, given, process.given = process.events.pop(0), process.given, None
    begin(cluster, c=c, handler=partial(on_callback, callback=callback, given=given, skipped=skipped))


def read_early(cluster: MemoryCluster, *, c: int) -> None:
    """ZkClient reads for the first callback, whose listener has to wait for the lock."""
    process = cluster.change(c)
    controller, callback = process.own_controller, process.events[0]
    if isinstance(callback, Callback):
        given = cluster.carry_out(process, read_for_listener(controller, callback))
        if callback is Callback.SESSION and election.is_elected_already(controller, given):
            process.events.pop(0)
        else:
            process.given = given


def stop_deletions(cluster: MemoryCluster, *, c: int) -> None:
    """A listener that is to resign does what it does first, whoever has the lock."""
    cluster.change(c).act(election.stop_deletions)


def begin(cluster: MemoryCluster, *, c: int, handler: Callable[[KafkaController], Procedure[None]]) -> None:
    """A handler of the controller begins: what it does first belongs to this step."""
    process = cluster.change(c)
    process.running = Running(handler, process.own_controller, listens=True)
    carry_out(cluster, c=c, index=0)


def hear_of_allowed(cluster: MemoryCluster, *, c: int, t: int) -> None:
    """A controller hears that a topic may elect who is not in sync now, and may find nothing to do."""
    process, topic = cluster.change(c), cluster.topics()[t]
    process.allowed -= {topic}
    process.running = Running(partial(elect_where_allowed, topic=topic), process.own_controller)
    settle(cluster, process)


def check_imbalance(cluster: MemoryCluster, *, c: int, h: int) -> None:
    """The rebalance thread looks at a broker's partitions, and has some to elect for."""
    begin_rebalance(cluster.change(c).own_controller, h)
    cluster.record(ImbalanceFound(c, h))


def take_lock(cluster: MemoryCluster, *, c: int, p: int, treat: Callable[..., Procedure[None]]) -> None:
    """A thread takes the lock for one of the partitions that it handles one by one, and may find nothing to do.

    What it does first belongs to this step, unless that is to resign, or comes behind the StopReplica of a shutdown.
    """
    process, treated = cluster.change(c), partial(treat, partition=cluster.partitions[p])
    process.running = Running(treated, process.own_controller, listens=treat is take_up)
    if process.running.options and process.running.options[0].at not in {At.RESIGN_DELETE, At.REMOVE_READ}:
        carry_out(cluster, c=c, index=0)
    settle(cluster, process)


def delete_topics(cluster: MemoryCluster, *, c: int, index: int) -> None:
    """The deletion thread takes the lock, and turns to one of the queued topics."""
    process = cluster.change(c)
    process.running = Running(on_deletion_thread, process.own_controller)
    carry_out(cluster, c=c, index=index)


def answer_deletion(cluster: MemoryCluster, *, c: int, b: int) -> None:
    """A sender's callback has the lock: the controller learns what became of a StopReplica with delete."""
    controller = cluster.change(c).own_controller
    queue = controller.queue_to(b)
    if queue[0].answer is not None and isinstance(queue[0].request, StopReplicaRequest):
        on_replica_deleted(controller, b, queue[0].request, queue[0].answer)
        del queue[0]


def carry_out(cluster: MemoryCluster, *, c: int, index: int) -> None:
    """Do an effect, and let its handler go on to the next."""
    process = cluster.change(c, goes_on=True)
    running = process.running
    if running is not None:
        resume(cluster, process, running, index)
        while running.options and cluster.is_no_step(running.options[0]):
            resume(cluster, process, running, 0)
    settle(cluster, process)


def resume(cluster: MemoryCluster, process: MemoryProcess, running: Running, index: int) -> None:
    """Carry out one of the effects that a handler waits for, and give it the result, or what was raised."""
    try:
        came = cluster.carry_out(process, running.choices[index])
    except Exception as error:  # noqa: BLE001 - whatever a script raises is the handler's to catch
        came = Raised(error.with_traceback(None))  # which would hold the cluster
    running.resume(index, came)


def throw(cluster: MemoryCluster, *, c: int, error: Exception) -> None:
    """An exception comes up in place of what a handler waits for."""
    process = cluster.change(c, goes_on=True)
    if process.running is not None:
        process.running.resume(0, Raised(error))
    settle(cluster, process)


def fail_send(cluster: MemoryCluster, *, c: int) -> None:
    """Something is to be raised in the middle of the next send of a state machine."""

    def fails(controller: KafkaController) -> None:
        controller.send_fails = True

    cluster.change(c).act(fails)


def lose_answer(cluster: MemoryCluster, *, c: int, index: int) -> None:
    """Apply an effect's write and lose the answer; its handler goes on waiting, and ZkClient will repeat it."""
    process = cluster.change(c)
    if process.running is None:
        return
    effect = process.running.choices[index]
    with suppress(AnswerLost):
        cluster.carry_out(process, effect, lose_answer=True)
    if isinstance(effect, ElectCreate):
        process.running.create = Repeated.UNDER_ITS_SESSION
    if effect.repeated != effect:
        process.running.unanswered = index


def settle(cluster: MemoryCluster, process: MemoryProcess) -> None:
    """After a handler went on: it may have ended, and it may have queued what this scope leaves out."""
    if process.running is not None and process.running.pending is None:
        process.running, process.electing = None, False
    cluster.drop_what_is_left_out(process.own_controller)


# ----------------------------------------------------------------------------------------------------------- deliveries


def kind_of(cluster: MemoryCluster, queued: QueuedRequest) -> str:
    """What a request is about, in the specification's words: one replica's `deletion` or `stop`, or all that it says.

    Before 0.10.2.0 each replica is stopped by a request of its own (KAFKA-4420).
    """
    match queued.request:
        case StopReplicaRequest(delete_partitions=True):
            return "deletion"
        case StopReplicaRequest() if Switch.RUN_WHEN_NOT_ACTIVE in cluster.switches:
            return "stop"
        case _:
            return "request"


def named(cluster: MemoryCluster, queued: QueuedRequest) -> tuple[tuple[str, int], ...]:
    """The partition that a request is about, where it is about one: a parameter of what becomes of it."""
    request = queued.request
    if kind_of(cluster, queued) == "request" or not isinstance(request, StopReplicaRequest):
        return ()
    return (("p", cluster.partitions.index(request.partitions[0])),)


def due(cluster: MemoryCluster, queue: Sequence[QueuedRequest]) -> Iterator[tuple[int, QueuedRequest]]:
    """The requests that may be sent next, each with its place in a queue: the head, and what may have been before it.

    Those of a batch that are about one partition each come in the order of a hash.
    """
    for place, queued in enumerate(queue):
        if (kind_of(cluster, queued), queued.batch) != (kind_of(cluster, queue[0]), queue[0].batch):
            return
        yield place, queued
        if kind_of(cluster, queued) == "request":
            return


def deliver(
    cluster: MemoryCluster,
    *,
    c: int,
    b: int,
    place: int = 0,
    answered: bool = True,
    reaches: frozenset[TopicPartition] | None = None,
    fails: bool = False,
) -> None:
    """The broker executes the request; answered, it leaves the queue, otherwise it will be sent again.

    It is one of those that are due. With `reaches` an exception ends a LeaderAndIsr behind these partitions; where that
    is fixed, it is begun with anew. A StopReplica with delete may fail.
    """
    queue = cluster.change(c).own_controller.queue_to(b)
    queued, number = queue[place], queue.sent
    queue.sent += 1
    if Switch.CLOSE_OLD_CONNECTIONS in cluster.switches:
        cluster.late = {way: copy for way, copy in cluster.late.items() if way[:2] != (c, b)}
    answer: Response = PartitionsResponse(ErrorCode.STALE_CONTROLLER_EPOCH)
    if not is_stale(cluster, b, queued):
        broken_off = reaches if Switch.TRY_REQUESTS_AGAIN not in cluster.switches else None
        answer = execute(cluster, b, queued, number, broken_off, fails=fails)
    again = fails and not queued.calls_back and Switch.RETRY_FAILED_DELETIONS in cluster.switches
    if answered and not again:
        queue.pop(place)
        if queued.calls_back and isinstance(answer, PartitionsResponse):
            queue.insert(0, replace(queued, answer=answer))


def execute(
    cluster: MemoryCluster,
    b: int,
    queued: QueuedRequest,
    number: int,
    reaches: frozenset[TopicPartition] | None = None,
    *,
    fails: bool = False,
) -> Response:
    """A broker executes a request of this number (its correlation id), and answers it."""
    broker, ids = cluster.change(b).broker, dict(queued.topic_ids or ())
    epoch = queued.leader_epoch
    answer = broker.handle(queued.request, number, epoch, ids, whole=queued.whole, reaches=reaches, fails=fails)
    cluster.record(RequestHandled(b, queued.request, answer))
    return answer


def waits_for_isr_write(cluster: MemoryCluster, b: int, queued: QueuedRequest) -> bool:
    """Whether a request would change a partition whose ISR write is still to be repeated: that one holds its lock."""
    receiver, request = cluster.processes[b], queued.request
    if is_stale(cluster, b, queued):
        return False
    if isinstance(request, StopReplicaRequest):
        return request.delete_partitions and not receiver.isr_writes.keys().isdisjoint(request.partitions)
    if not isinstance(request, LeaderAndIsrRequest):
        return False
    states = [state for state in request.partition_states if state.topic_partition in receiver.isr_writes]
    return any(receiver.broker.would_change(request, state) for state in states)


def may_fail(cluster: MemoryCluster, b: int, queued: QueuedRequest) -> bool:
    """Whether a request has a broker delete a log that its log manager has, which may fail."""
    broker, request = cluster.processes[b].broker, queued.request
    if not isinstance(request, StopReplicaRequest) or not request.delete_partitions or is_stale(cluster, b, queued):
        return False
    (partition,), epoch = request.partitions, queued.leader_epoch
    known = broker.partition(partition).leadership.leader_epoch
    is_newer = epoch is None or known == NO_LEADERSHIP.leader_epoch or known < epoch
    has_log = partition in broker.logs - broker.abandoned
    return has_log and is_newer and request.controller_epoch >= broker.controller_epoch


def is_stale(cluster: MemoryCluster, b: int, queued: QueuedRequest) -> bool:
    """Where broker epochs are on, a request is refused (77) unless it is for the broker's standing registration."""
    return Switch.BROKER_EPOCHS in cluster.switches and not cluster.stands(broker_path(b), queued.broker_epoch)
