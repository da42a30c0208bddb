"""The scheduler of the cluster in memory: what may happen next, and making it happen.

`choices` lists everything that is possible: each option of each handler's next effect, the callbacks that wait, faults
while their budget lasts, deliveries, ISR changes, what admin tools do.

What a process can only try in vain (an ISR write whose version is stale) changes nothing and is no choice.
"""

from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Any

from reference.broker_events.isr_notification import DeleteNotification, ReadNotification
from reference.controller.effects import ElectCreate
from reference.controller.epoch_listener import adopt_epoch
from reference.deletion.thread import is_deleted, is_due
from reference.elections.rebalance import (
    brokers_to_lead,
    find_imbalance,
    is_running,
    may_rebalance,
    rebalance_partition,
)
from reference.memory import admin, half_requests, isr_changes, late_copies, shutdown, steps
from reference.memory.choices import BUDGETS, Choice, choice, choice_of, is_left
from reference.memory.cluster import MemoryCluster
from reference.memory.process import MemoryProcess, Repeated
from reference.procedures import Effect, UnexpectedFailure
from reference.reassignment.requests import take_up, verdict
from reference.scripts import CONTROLLER, CONTROLLER_EPOCH, broker_path, parsed
from reference.threads import HANDLERS, Event, callback_of, is_run, may_be_skipped, on_election
from reference.zookeeper.api import SessionExpired
from spec.formats.kafka_types import TopicPartition
from spec.formats.znodes import ControllerEpochPayload
from spec.protocol.failover.steps import FAILOVER
from spec.state.enumerations import At, Callback, DeletionThread, Handler
from spec.state.listeners import LISTENED
from spec.variants import Switch


def choices(cluster: MemoryCluster) -> Iterator[Choice]:
    """Everything that may happen next."""
    return (one for one in chain(of_processes(cluster), admin.choices(cluster)) if is_left(cluster, one.rule))


def step(cluster: MemoryCluster, chosen: Choice) -> None:
    """Make it happen; `cluster.entries` tells of it afterwards."""
    cluster.entries.clear()
    if chosen.is_fault:
        cluster.budget[BUDGETS[chosen.rule]] -= 1
    chosen.do(cluster)


def of_processes(cluster: MemoryCluster) -> Iterator[Choice]:
    """What processes, their sessions and their requests may do, and faults that may happen no more."""
    for process in tuple(cluster.processes.values()):
        yield from _fates(cluster, process)
        if process.is_running:
            yield from _registration(cluster, process)
            yield from _callback(cluster, process)
            yield from _early_read(cluster, process)
            yield from _stopping_deletions(cluster, process)
            yield from _goes_on(cluster, process)
            yield from _new_epoch(cluster, process)
            yield from _rebalance(cluster, process)
            yield from _deletions(cluster, process)
            yield from shutdown.choices(cluster, process)
            yield from _failing_sends(process)
            yield from _allowed_elections(cluster, process)
            yield from _effects(cluster, process)
            yield from isr_changes.choices(cluster, process)
            yield from late_copies.choices(cluster, process)
        yield from _deliveries(cluster, process)


# ------------------------------------------------------------------------------------------- processes and sessions


def _fates(cluster: MemoryCluster, process: MemoryProcess) -> Iterator[Choice]:
    """What the world does to a process and to its sessions."""
    b = process.broker_id
    if process.orphan is not None:
        yield choice_of(steps.end_orphaned_session, b=b)
    if not process.is_running:
        start = "start_process" if process.orphan is None else "start_process_early"
        yield choice(start, steps.start_process, b=b)
        return
    if is_left(cluster, steps.crash.__name__):
        yield choice_of(steps.crash, b=b)
    if not cluster.can_operate(process):
        yield choice_of(steps.renew_session, b=b)
        return
    for lost in range(process.losable + 1) if is_left(cluster, steps.expire_session.__name__) else ():
        yield choice_of(steps.expire_session, b=b, lost=lost)
    for heard in range(1, cluster.own_events(process) + 1) if is_left(cluster, "expire_session_heard") else ():
        yield choice("expire_session_heard", steps.expire_session, b=b, heard=heard)


# ------------------------------------------------------------------------------------------- registration, callbacks


def _is_idle(process: MemoryProcess) -> bool:
    """Whether nobody has the controller lock."""
    return process.running is None


def _has_no_listener(process: MemoryProcess) -> bool:
    """Whether nobody has the lock, and the event thread is in the middle of nothing."""
    return _is_idle(process) and _takes_events(process)


def _takes_events(process: MemoryProcess) -> bool:
    """Whether the event thread is in the middle of nothing; another may have the lock."""
    controller, running = process.controller, process.running
    is_between = controller is not None and bool(controller.to_reassign or controller.elects)
    return not is_between and (running is None or not running.listens)


def _early_read(cluster: MemoryCluster, process: MemoryProcess) -> Iterator[Choice]:
    """ZkClient reads for the first callback, whose listener waits for the lock until it has its turn."""
    if process.given is not None or not _takes_events(process) or not cluster.can_operate(process):
        return
    if any(head in _read_early(cluster, process) for head in process.events[:1]):
        yield choice("read_for_listener", steps.read_early, c=process.broker_id)


def _stopping_deletions(cluster: MemoryCluster, process: MemoryProcess) -> Iterator[Choice]:
    """A listener that has been given what it goes by is to resign, and begins to before it has the lock."""
    controller, parts = process.controller, {"deletion", "shutdown"}
    if controller is None or not parts <= cluster.scope.parts or Switch.RESIGN_UNDER_LOCK in cluster.switches:
        return
    if process.given is None or controller.resigns or not cluster.can_operate(process):
        return
    if controller.deletion not in (DeletionThread.RUNNING, DeletionThread.ENDED):
        return
    expired = process.events[0] is Callback.SESSION
    deposed = process.events[0] is Callback.CONTROLLER and controller.am_i_leader and process.given != process.broker_id
    is_elsewhere = controller.activity.handler in (Handler.SHUTDOWN, Handler.REBALANCE)
    if (_is_idle(process) and (deposed or expired)) or (expired and is_elsewhere):
        yield choice_of(steps.stop_deletions, c=process.broker_id)


def _read_early(cluster: MemoryCluster, process: MemoryProcess) -> Iterator[Event]:
    """The listeners that go by what they are given, and may be given it early."""
    if process.controller is None or Switch.READ_UNDER_LOCK in cluster.switches:
        return
    yield from (Callback.CONTROLLER, Callback.SESSION, Callback.BROKERS)
    parts = cluster.scope.parts
    by_name_only = "deletion" in parts and not parts.isdisjoint({"addition", "reassignment"})
    read = (one.callback for one in LISTENED.values() if one.content is not None)
    yield from (one for one in read if one is not Callback.TOPICS or by_name_only)


def _registration(cluster: MemoryCluster, process: MemoryProcess) -> Iterator[Choice]:
    """Start-up registers the broker, whoever has the lock, once its elect() is over; after an expiry, a callback."""
    if process.gives_up:
        if _is_idle(process) and cluster.can_operate(process):
            yield choice_of(steps.close_failed_startup, b=process.broker_id)
        return
    has_its_turn = _has_no_listener(process) and process.events[:1] == [Callback.REGISTRATION]
    due = not process.electing if process.starting else has_its_turn
    if not (due and cluster.can_operate(process)):
        return
    znode = cluster.zookeeper.tree.get(broker_path(process.broker_id))
    taken = znode is not None and znode.ephemeral_owner != process.session
    yield choice("fail_registration" if taken else "register_broker", steps.register, b=process.broker_id)
    if znode is None:
        yield choice("register_broker_unanswered", partial(steps.register, answered=False), b=process.broker_id)


def _callback(cluster: MemoryCluster, process: MemoryProcess) -> Iterator[Choice]:
    """The event thread takes the first callback of its queue, if the controller lock is free."""
    if process.controller is None or not _has_no_listener(process) or not cluster.can_operate(process):
        return
    head = process.events[0] if process.events else None
    if head is None or head is Callback.REGISTRATION:
        return
    of_controller, take = (("c", process.broker_id),), partial(steps.take_callback, c=process.broker_id)
    callback = callback_of(head)
    if may_be_skipped(process.controller, head):
        parameters = (*of_controller, ("callback", list(Callback).index(callback)))
        yield Choice("skip_callback", parameters, partial(take, skipped=True))
    if not is_run(process.controller, callback):
        return
    if isinstance(head, Callback):
        yield Choice(HANDLERS[head].__name__, of_controller, take)
    elif isinstance(head, str):
        yield Choice("on_partition_modifications", (*of_controller, ("t", cluster.topics().index(head))), take)
    else:
        yield Choice("on_state_change", (*of_controller, ("p", cluster.partitions.index(head))), take)


def _goes_on(cluster: MemoryCluster, process: MemoryProcess) -> Iterator[Choice]:
    """A listener gets the lock again: to elect, or for one of the partitions that are asked to be reassigned."""
    controller, c = process.controller, process.broker_id
    if controller is None or not _is_idle(process) or not cluster.can_operate(process):
        return
    if controller.elects:
        yield choice("elect_read", partial(steps.begin, handler=on_election), c=c)
    for tp, wanted in controller.to_reassign.items():
        first = verdict(controller, tp, wanted, Handler.REASSIGNMENT)
        yield choice(first.action, partial(steps.take_lock, treat=take_up), c=c, p=cluster.partitions.index(tp))


def _failing_sends(process: MemoryProcess) -> Iterator[Choice]:
    """The next batch of a state machine is not to be sent."""
    controller, c = process.controller, process.broker_id
    if controller is not None and controller.is_active and _is_idle(process) and not controller.send_fails:
        yield choice_of(steps.fail_send, c=c)


def _allowed_elections(cluster: MemoryCluster, process: MemoryProcess) -> Iterator[Choice]:
    """A controller hears that a topic may elect who is not in sync."""
    if not _has_no_listener(process) or not cluster.can_operate(process):
        return
    for number, topic in enumerate(cluster.topics()):
        if topic in process.allowed:
            yield choice("elect_where_allowed", steps.hear_of_allowed, c=process.broker_id, t=number)


def _new_epoch(cluster: MemoryCluster, process: MemoryProcess) -> Iterator[Choice]:
    """Before 0.8.2.0 an active controller whose event queue is empty takes over a new epoch."""
    controller, znode = process.controller, cluster.zookeeper.tree.get(CONTROLLER_EPOCH)
    if controller is None or znode is None or not controller.reintroduces(Switch.ADOPT_NEW_EPOCHS):
        return
    rests = _has_no_listener(process) and not process.events and cluster.can_operate(process)
    epoch = parsed(ControllerEpochPayload, CONTROLLER_EPOCH, znode.data).controller_epoch
    if rests and controller.is_active and controller.context.epoch < epoch:
        yield choice("adopt_epoch", partial(steps.begin, handler=adopt_epoch), c=process.broker_id)


def _rebalance(cluster: MemoryCluster, process: MemoryProcess) -> Iterator[Choice]:
    """The rebalance thread checks a broker's partitions, or takes the lock for one that it is to elect for."""
    controller, c = process.controller, process.broker_id
    if "auto_rebalance" not in cluster.scope.parts or controller is None or not _is_idle(process):
        return
    for tp in controller.imbalanced:
        if cluster.can_operate(process) or not may_rebalance(controller, tp):
            elect = partial(steps.take_lock, treat=rebalance_partition)
            yield choice("rebalance_partition", elect, c=c, p=cluster.partitions.index(tp))
    if is_running(controller) and not controller.imbalanced:
        for h in brokers_to_lead(controller):
            if find_imbalance(controller, h):
                yield choice("check_imbalance", steps.check_imbalance, c=c, h=h)


def _deletions(cluster: MemoryCluster, process: MemoryProcess) -> Iterator[Choice]:
    """The deletion thread takes the lock for what is queued, or a sender's callback for an answer that has come."""
    controller, c = process.controller, process.broker_id
    if controller is None or not _is_idle(process):
        return
    for b in cluster.processes:
        for head in controller.queue_to(b)[:1]:
            if head.answer is not None:
                parameters = (("c", c), ("b", b), *steps.named(cluster, head))
                yield Choice("on_replica_deleted", parameters, partial(steps.answer_deletion, c=c, b=b))
    for index, topic in enumerate(sorted(controller.deleting.queued) if is_due(controller) else ()):
        if cluster.can_operate(process) or not is_deleted(controller, topic):
            parameters = (("c", c), ("t", cluster.topics().index(topic)))
            yield Choice("delete_queued_topic", parameters, partial(steps.delete_topics, c=c, index=index))


# ----------------------------------------------------------------------------------------------------------- effects


def _effects(cluster: MemoryCluster, process: MemoryProcess) -> Iterator[Choice]:
    """What the handler that holds the lock may do next."""
    running, c = process.running, process.broker_id
    if running is None or process.controller is None:
        return
    if process.controller.activity.in_failover and running.options[0].at in FAILOVER:
        yield choice("fail_failover", partial(steps.throw, error=UnexpectedFailure()), c=c)
    can_operate = cluster.can_operate(process)
    has_session = can_operate and running.create is not Repeated.WITHOUT_ITS_SESSION
    if isinstance(running.options[0], ElectCreate) and not has_session:
        yield choice("elect_create_without_session", partial(steps.throw, error=SessionExpired(CONTROLLER)), c=c)
        return
    for index, effect in running.choices.items():
        if effect.at is At.DEADLOCKED or (effect.needs_session and not can_operate):
            continue
        parameters = (("c", c), *_parameters(cluster, effect))
        yield Choice(effect.action, parameters, partial(steps.carry_out, c=c, index=index))
        unanswered = f"{effect.action}_unanswered"
        if cluster.budget.get(BUDGETS.get(unanswered, ""), 0) and cluster.would_apply(process, effect):
            yield Choice(unanswered, parameters, partial(steps.lose_answer, c=c, index=index))


def _parameters(cluster: MemoryCluster, effect: Effect[Any]) -> Iterator[tuple[str, int]]:
    partition: TopicPartition | None = getattr(effect, "partition", None)
    if partition is not None:
        yield "p", cluster.partitions.index(partition)
    if hasattr(effect, "replica"):
        yield "r", effect.replica
    if hasattr(effect, "topic"):
        yield "t", cluster.topics().index(effect.topic)
    if isinstance(effect, DeleteNotification | ReadNotification):
        yield "n", cluster.notifiers[effect.path]


# -------------------------------------------------------------------------------------------------------- deliveries


def _deliveries(cluster: MemoryCluster, process: MemoryProcess) -> Iterator[Choice]:
    """The request that is due of each queue of a controller may reach its broker, and its answer may be lost."""
    if process.controller is None:
        return
    c = process.broker_id
    for b, receiver in cluster.processes.items():
        queue = process.controller.queue_to(b)
        calls_back = any(head.answer is not None for head in queue[:1])
        for place, queued in steps.due(cluster, queue) if receiver.is_running and not calls_back else ():
            if not steps.waits_for_isr_write(cluster, b, queued):
                rule = f"deliver_{steps.kind_of(cluster, queued)}"
                deliver = partial(steps.deliver, c=c, b=b, place=place)
                parameters = (("c", c), ("b", b), *steps.named(cluster, queued))
                yield Choice(rule, parameters, deliver)
                yield Choice(f"{rule}_unanswered", parameters, partial(deliver, answered=False))
                if cluster.budget.get("half_requests", 0):
                    yield from half_requests.choices(cluster, c, b, queued)
                if cluster.scope.budget("failed_deletions") and steps.may_fail(cluster, b, queued):
                    yield Choice("deliver_failing_deletion", parameters, partial(deliver, fails=True))
