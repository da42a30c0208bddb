"""Controlled shutdown: a broker that is told to stop has the controller move its leaderships away first.

The broker's side is a `Departure`: the controller that is asked, how often still, and whether the broker may go. The
controller's side is a request handler's. It takes the lock to count the broker as shutting down, then for each of the
broker's partitions by itself, and last to say what the broker still leads; so it is three functions, and what is
between them is kept as `controller.shutdown`. A broker that leads a partition has another elected by the selector for
this; one that follows is told to stop, and taken out of the ISR.

When the term ends in the middle, the handler goes on with what is cached: a state machine that is down elects nobody,
and a StopReplica that cannot be sent has the elector resign once more, and is answered with an error.

Kafka 0.10.2.2: `KafkaController.shutdownBroker`, `KafkaApis.handleControlledShutdownRequest`,
`KafkaServer.controlledShutdown`. PROTOCOL.md section 7.2.
"""

from dataclasses import dataclass, replace
from typing import Self

from reference.controller.context import Activity, ControllerContext, Shutdown
from reference.controller.controller import KafkaController
from reference.controller.controller_batch import send_stop_replica
from reference.controller.effects import EpochZnode, present_epoch, read_controller_id
from reference.controller.resignation import fail_shutdown, on_controller_moved
from reference.journal import ShutdownAnswered, ShutdownBegun
from reference.leadership.partitions import bring_online
from reference.leadership.replicas import is_spared, set_offline
from reference.procedures import THROWABLE, Effect, FencedOff, Procedure
from spec.formats.error_codes import ErrorCode
from spec.formats.kafka_types import TopicPartition
from spec.formats.request_schemas import ControlledShutdownResponse
from spec.logs.controller_log.broker_changes import AllLeaders, AllShuttingDown, LiveBrokers, ShuttingDownBroker
from spec.logs.logged_values import printed
from spec.state.enumerations import Handler
from spec.variants import Switch

# ---------------------------------------------------------------------------------------------------- the broker's side


class RequestShutdown(Effect[int]):
    """The broker reads the id in /controller, -1 if there is none, to ask that one."""

    script = staticmethod(read_controller_id)


@dataclass(frozen=True)
class Departure:
    """A broker that is to stop: the `tries` that it has left, whom it has `asked` and waits for, whether it may go.

    It stops once this has ended, and where nobody is controller.
    """

    tries: int
    asked: int | None = None
    may_go: bool = False

    def asking(self, controller_id: int) -> Self:
        """After a request to this controller."""
        return replace(self, tries=self.tries - 1, asked=controller_id)

    def answered(self, response: ControlledShutdownResponse | None) -> Self:
        """After the answer, or when there will be none: it may go if it leads nothing any more."""
        good = response is not None and response.error_code is ErrorCode.NONE and not response.partitions_remaining
        return replace(self, asked=None, may_go=good)

    @property
    def has_ended(self) -> bool:
        """Whether the broker asks no more: it may go, or its tries are used up."""
        return self.may_go or (self.asked is None and not self.tries)


# ------------------------------------------------------------------------------------------------ the controller's side


class AnswerShutdown(Effect["EpochZnode | None"]):
    """Where that is fixed, the answerer reads /controller_epoch, to know whether it is the latest controller still."""

    script = staticmethod(present_epoch)


def begin_shutdown(controller: KafkaController, broker: int) -> ErrorCode:
    """The broker counts as shutting down from now on; another code than 0 is the answer that refuses it."""
    refusal = _refusal(controller, broker)
    if controller.is_active:
        controller.report(ShuttingDownBroker, broker=broker)
    if refusal is not ErrorCode.NONE:
        controller.journal(ShutdownAnswered(controller.broker_id, broker, ControlledShutdownResponse(refusal)))
        return refusal
    context = controller.context
    context.shutting_down_broker_ids |= {broker}
    controller.report(AllShuttingDown, brokers=tuple(sorted(context.shutting_down_broker_ids)))
    controller.report(LiveBrokers, brokers=tuple(sorted(context.live_broker_ids)))
    replicas = context.partition_replica_assignment
    controller.shutdown = Shutdown(broker, frozenset(tp for tp in replicas if broker in _replicated(controller, tp)))
    controller.journal(ShutdownBegun(controller.broker_id, broker))
    return ErrorCode.NONE


def _refusal(controller: KafkaController, broker: int) -> ErrorCode:
    """11 (ControllerMoved) while not active, 8 for a broker that is not registered; else 0."""
    if not controller.is_active:
        return ErrorCode.STALE_CONTROLLER_EPOCH
    known = broker in controller.context.live_or_shutting_down_broker_ids
    return ErrorCode.NONE if known else ErrorCode.BROKER_NOT_AVAILABLE


def _replicated(controller: KafkaController, partition: TopicPartition) -> tuple[int, ...]:
    """The assigned replicas, of a partition that has several."""
    replicas = controller.context.partition_replica_assignment.get(partition, ())
    return replicas if len(replicas) > 1 else ()


def move_partition(controller: KafkaController, partition: TopicPartition) -> Procedure[None]:
    """Under the lock, one partition: elect another leader, or stop the follower and take it out of the ISR.

    Where that is fixed, nobody is elected for a topic that is being deleted.
    """
    if controller.shutdown is None:
        return
    broker, left = controller.shutdown.broker, controller.shutdown.to_move - {partition}
    controller.shutdown = replace(controller.shutdown, to_move=left)
    known = controller.context.partition_leadership_info.get(partition)
    try:
        if known is not None and known.leader == broker:
            if not is_spared(controller, partition):
                yield from bring_online(controller, (partition,), Handler.SHUTDOWN)
        elif known is not None:
            controller.is_about(handler=Handler.SHUTDOWN)
            yield from send_stop_replica(controller, broker, partition)
            yield from set_offline(controller, ((partition, broker),), Handler.SHUTDOWN)
    except FencedOff:
        on_controller_moved(controller)
    except THROWABLE:
        fail_shutdown(controller)
    finally:
        controller.activity = Activity()


def answer_shutdown(controller: KafkaController, latest: EpochZnode | None) -> ControlledShutdownResponse:
    """All are handled: what the broker still leads of the partitions that have several replicas.

    It is an error where an exception came before, or the broker leads what is of no topic any more, which raises one.
    Where that is fixed, `latest` is what /controller_epoch holds: a controller that is no longer the latest takes
    itself down, and refuses. What was cached only for this is of no use any more, where the term has ended.
    """
    if controller.shutdown is None:
        return ControlledShutdownResponse(ErrorCode.STALE_CONTROLLER_EPOCH)
    shutdown, controller.shutdown = controller.shutdown, None
    moved = latest is None or latest.epoch != controller.context.epoch
    if moved and controller.fixes(Switch.FENCED_ANSWERS):
        response = ControlledShutdownResponse(ErrorCode.STALE_CONTROLLER_EPOCH)
        if controller.is_active:
            on_controller_moved(controller)
    else:
        response = _answer(controller, shutdown)
        controller.journal(ShutdownAnswered(controller.broker_id, shutdown.broker, response))
    if not controller.is_active:
        controller.context.keep_topics(ControllerContext())  # which knows none
    return response


def _answer(controller: KafkaController, shutdown: Shutdown) -> ControlledShutdownResponse:
    """What the broker still leads, for all that is cached."""
    broker, failed = shutdown.broker, shutdown.failed
    cached, assigned = controller.context.partition_leadership_info, controller.context.partition_replica_assignment
    if not failed:
        controller.report(AllLeaders, leaders=tuple((tp, printed(known)) for tp, known in cached.items()))
    led = [tp for tp, one in cached.items() if one.leader == broker]
    remaining = tuple(sorted(tp for tp in led if _replicated(controller, tp)))
    if failed or not assigned.keys() >= set(led):
        return ControlledShutdownResponse(ErrorCode.UNKNOWN)
    return ControlledShutdownResponse(ErrorCode.NONE, remaining)
