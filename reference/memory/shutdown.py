"""Controlled shutdowns of the cluster in memory: what may happen next, and making it happen.

A broker is told to stop, asks, waits, and leaves; a controller refuses or takes up the request, handles the partitions
in any order, and answers. A request and its answer are on no queue: a broker waits for whom it has asked, until that
one answers or is gone.

Kafka 0.10.2.2: `KafkaServer.shutdown`, `KafkaController.shutdownBroker`. PROTOCOL.md section 7.2.
"""

from collections.abc import Iterator
from functools import partial

from reference.broker_events.controlled_shutdown import (
    AnswerShutdown,
    Departure,
    RequestShutdown,
    answer_shutdown,
    begin_shutdown,
    move_partition,
)
from reference.controller.controller import KafkaController
from reference.journal import Fate, FateMet, ShutdownRequested
from reference.memory.choices import Choice, choice
from reference.memory.cluster import MemoryCluster
from reference.memory.process import MemoryProcess
from reference.memory.steps import forget, settle, take_lock
from reference.scripts import CONTROLLER, parsed
from spec.formats.error_codes import ErrorCode
from spec.formats.kafka_types import NO_LEADER
from spec.formats.request_schemas import ControlledShutdownResponse
from spec.formats.znodes import ControllerPayload
from spec.variants import Switch


def choices(cluster: MemoryCluster, process: MemoryProcess) -> Iterator[Choice]:
    """What a running process may do next about shutdowns: its own, and one that it is asked for as controller."""
    if "shutdown" in cluster.scope.parts:
        yield from _departing(cluster, process)
        if process.controller is not None and process.running is None:
            yield from _handling(cluster, process, process.controller)


# -------------------------------------------------------------------------------------------------------- the broker


def _departing(cluster: MemoryCluster, process: MemoryProcess) -> Iterator[Choice]:
    """A broker that is up is told to stop, asks the controller, gives a lost one up, or stops."""
    departure, b = process.departure, process.broker_id
    if departure is None:
        waits_to_register = process.controller is None and process.events
        if not (process.starting or waits_to_register):
            yield choice("stop_broker", tell_to_stop, b=b)
        return
    standing = _controller_id(cluster)
    if departure.has_ended or (departure.asked is None and standing == NO_LEADER):
        yield choice("leave_cluster", leave, b=b)
    elif departure.asked is None:
        if cluster.can_operate(process):
            yield Choice("request_shutdown", (("b", b), ("c", standing)), partial(request, b=b))
    elif not cluster.processes[departure.asked].is_running:
        give_up = partial(answer, b=b, response=None)
        yield Choice("lose_shutdown_request", (("b", b), ("c", departure.asked)), give_up)


def _controller_id(cluster: MemoryCluster) -> int:
    """Whose id is in /controller; -1 if there is none."""
    node = cluster.zookeeper.tree.get(CONTROLLER)
    return NO_LEADER if node is None else parsed(ControllerPayload, CONTROLLER, node.data).brokerid


def tell_to_stop(cluster: MemoryCluster, *, b: int) -> None:
    """SIGTERM."""
    cluster.change(b).departure = Departure(cluster.scope.shutdown_tries)
    cluster.record(FateMet(b, Fate.TOLD_TO_STOP))


def request(cluster: MemoryCluster, *, b: int) -> None:
    """The broker reads who is controller, and asks."""
    process = cluster.change(b)
    controller_id = cluster.carry_out(process, RequestShutdown())
    if process.departure is not None:
        process.departure = process.departure.asking(controller_id)
        cluster.record(ShutdownRequested(b, controller_id))


def answer(cluster: MemoryCluster, *, b: int, response: ControlledShutdownResponse | None) -> None:
    """The broker has its answer, or knows that there will be none."""
    process = cluster.change(b)
    if process.departure is not None:
        process.departure = process.departure.answered(response)


def leave(cluster: MemoryCluster, *, b: int) -> None:
    """The broker stops, and closes its session, if that lives."""
    process = cluster.change(b)
    session = process.session if cluster.can_operate(process) else None
    forget(cluster, b)
    cluster.record(FateMet(b, Fate.STOPPED))
    if session is not None:
        cluster.end_session(session, b, closed=True)


# ----------------------------------------------------------------------------------------------------- the controller


def _handling(cluster: MemoryCluster, process: MemoryProcess, controller: KafkaController) -> Iterator[Choice]:
    """A request handler takes the lock: for the one shutdown in work, or to begin one."""
    c, work = process.broker_id, controller.shutdown
    registered = controller.context.live_or_shutting_down_broker_ids
    for b in _waiting_for(cluster, c):
        if work is None or not (controller.is_active or work.broker == b):
            rule = "accept_shutdown" if controller.is_active and b in registered else "refuse_shutdown"
            yield choice(rule, begin, c=c, b=b)
    if work is None:
        return
    cached = controller.context.partition_leadership_info
    for tp in work.to_move:
        if not cluster.can_operate(process) and tp in cached and cached[tp].leader == work.broker:
            continue  # an election begins with a read
        p = cluster.partitions.index(tp)
        move = partial(take_lock, c=c, p=p, treat=move_partition)
        yield Choice("move_partition", (("c", c), ("p", p), ("r", work.broker)), move)
    asks = controller.fixes(Switch.FENCED_ANSWERS)
    if not work.to_move and (cluster.can_operate(process) or not asks):
        yield choice("answer_shutdown", finish, c=c, b=work.broker)


def _waiting_for(cluster: MemoryCluster, c: int) -> list[int]:
    """The brokers that wait for this controller's answer."""
    waiting = {b: process.departure for b, process in cluster.processes.items()}
    return [b for b, departure in waiting.items() if departure is not None and departure.asked == c]


def begin(cluster: MemoryCluster, *, c: int, b: int) -> None:
    """The request is taken up, or refused."""
    refusal = begin_shutdown(cluster.change(c).own_controller, b)
    if refusal is not ErrorCode.NONE:
        answer(cluster, b=b, response=ControlledShutdownResponse(refusal))


def finish(cluster: MemoryCluster, *, c: int, b: int) -> None:
    """The handler answers; a broker that has given up hope, or was started anew, does not hear it."""
    process = cluster.change(c)
    asks = process.own_controller.fixes(Switch.FENCED_ANSWERS)
    response = answer_shutdown(process.own_controller, cluster.carry_out(process, AnswerShutdown()) if asks else None)
    if b in _waiting_for(cluster, c):
        answer(cluster, b=b, response=response)
    settle(cluster, process)
