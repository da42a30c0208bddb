"""The connections from a controller to the brokers: one queue each, one request in flight, sent until it is answered.

A queue lives in its controller: it dies with the controller's process, with its resignation, and when the controller
removes the broker; it does not die with the broker, so a request may reach the broker's next incarnation. The head is
sent again whenever its answer is lost, so a broker may execute it more than once. A place of the queue holds a batch
and how far it is.

Left out: copies that arrive late over an old connection, behind requests that were sent after them.

Kafka 0.10.2.2: `ControllerChannelManager`, `RequestSendThread`. PROTOCOL.md section 9.
"""

from __future__ import annotations

from typing import Any

from spec.broker_requests import (
    handle_leader_and_isr,
    handle_update_metadata,
    is_stale_registration,
    waits_for_isr_write,
)
from spec.language import action, require, reset, when
from spec.model import Model
from spec.state import Session, Stage
from spec.terms import Value, both, choose, either, flag


@action(actor="broker {b}", source="RequestSendThread.doWork 0.10.2.2; KafkaApis", parts=("connections",))
def deliver_request(s: Any, m: Model, c: int, b: int) -> None:
    """A broker executes the request at the head of a controller's queue, and its answer comes back."""
    execute_head(s, m, c, b)
    answer_head(s, m, c, b)


@action(actor="broker {b}", source="RequestSendThread.doWork 0.10.2.2", budget="resends", parts=("connections",))
def deliver_request_unanswered(s: Any, m: Model, c: int, b: int) -> None:
    """A broker executes the request at the head of a controller's queue, but the answer is lost: it will come again."""
    execute_head(s, m, c, b)


def execute_head(s: Any, m: Model, c: int, b: int) -> None:
    """The broker's side of the request at the head."""
    head = s.connections[c][b][0]
    require(s.processes[b].session != Session.NONE, head.stage != Stage.EMPTY)
    stale = is_stale_registration(s, m, c, b)
    require(either(stale, head.stage != Stage.LEADER_AND_ISR, ~waits_for_isr_write(s, m, b, head)))
    with when(both(head.stage == Stage.LEADER_AND_ISR, ~stale)):
        handle_leader_and_isr(s, m, c, b, head)
    if m.has("metadata"):
        with when(both(head.stage == Stage.UPDATE_METADATA, ~stale)):
            handle_update_metadata(s, m, c, b, head)


def answer_head(s: Any, m: Model, c: int, b: int) -> None:
    """The request at the head is answered: the next one of its batch is due, or the next batch."""
    queue = s.connections[c][b]
    done = _is_last_of_batch(m, queue[0])
    with when(~done):
        for p in m.partitions:
            reset(queue[0].partitions[p])
        queue[0].stage = Stage.UPDATE_METADATA
    with when(done):
        for k in m.slots[:-1]:
            queue[k] = queue[k + 1]
        reset(queue[m.slots[-1]])


def _is_last_of_batch(m: Model, head: Any) -> Value:
    if not m.has("metadata"):
        return flag(True)
    return either(head.stage == Stage.UPDATE_METADATA, ~head.metadata)


def drop_channels(s: Any, m: Model, c: int, gone: Value) -> None:
    """The controller removes brokers: their channels are closed and what is queued for them is lost."""
    controller = s.controllers[c]
    closed = m.brokers.intersection(controller.channels, gone)
    controller.channels = m.brokers.difference(controller.channels, gone)
    if not m.has("connections"):
        return
    for b in m.brokers.ids:
        with when(m.brokers.in_set(b, closed)):
            reset(s.connections[c][b])


def openable(m: Model, wanted: Value, left_over: Value) -> Value:
    """Those of the wanted channels that are opened, in order of broker id, before a left-over one is in the way."""
    opened, reached = m.brokers.empty_set(), flag(True)
    for b in m.brokers.ids:
        is_wanted = m.brokers.in_set(b, wanted)
        reached = reached & ~(is_wanted & m.brokers.in_set(b, left_over))
        more = m.brokers.union(opened, m.brokers.set_kind.constant((b,)))
        opened = choose(both(reached, is_wanted), more, opened)
    return opened


def open_channels(s: Any, m: Model, c: int, new: Value) -> Value:
    """The controller adds brokers, each gets an empty queue; whether a left-over channel ended that with an exception.

    A channel that the controller has itself stays as it is.
    """
    controller = s.controllers[c]
    opened = openable(m, new, controller.stranded)
    controller.channels = m.brokers.union(controller.channels, opened)
    return ~m.brokers.is_subset(new, controller.channels)


RULES = (deliver_request, deliver_request_unanswered)
