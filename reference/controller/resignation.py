"""The ways out of being controller: the elector's `resign()`, and taking everything down.

`resign()` only forgets being leader and deletes /controller, whoever owns it by then (D3); the controller, half-started
or at work, stays (D4).

Kafka 0.10.2.2: `ZookeeperLeaderElector.resign`, `KafkaController.onControllerResignation`. PROTOCOL.md section 6.
"""

from dataclasses import replace

from reference.controller.context import ControllerContext, Deleting, Machine, RequestBatch
from reference.controller.controller import KafkaController
from reference.controller.effects import ResignDelete
from reference.journal import Milestone
from reference.procedures import Procedure
from reference.scripts import ISR_CHANGES
from spec.formats.kafka_types import NO_LEADER
from spec.logs.controller_log.failover import Resigned
from spec.state.enumerations import DeletionThread, Handler
from spec.variants import Switch


def resign(controller: KafkaController) -> Procedure[None]:
    """Forget being leader, and delete /controller."""
    if controller.fixes(Switch.RESIGN_CLEANS_UP):
        take_down(controller)
    controller.leader_id = NO_LEADER
    yield from ResignDelete(only_own=controller.fixes(Switch.FENCED_RESIGN))


def on_controller_moved(controller: KafkaController) -> None:
    """A fenced write, or read, was refused: somebody else is controller (`ControllerMovedException`, 2.1.0)."""
    take_down(controller)
    controller.partition_batch, controller.replica_batch = RequestBatch(), RequestBatch()
    controller.leader_id = NO_LEADER
    controller.to_reassign = {}


def take_down(controller: KafkaController) -> None:
    """Listeners, state machines, channels, epoch: everything goes."""
    controller.deletion, controller.deleting = DeletionThread.NONE, _left_to_tell(controller)
    controller.listeners, controller.topic_listeners = frozenset(), frozenset()
    controller.imbalanced = frozenset()
    _end_shutdown(controller)
    controller.partition_machine, controller.replica_machine = Machine(), Machine()
    manager = controller.context.controller_channel_manager
    if manager is not None:
        manager.shutdown()
    controller.reach(Milestone.RESIGNED)
    controller.report(Resigned)
    kept = controller.context
    controller.context = ControllerContext()
    if controller.fixes(Switch.CLEAR_CONTEXT):
        controller.batch = RequestBatch()
    else:
        listens = controller.reintroduces(Switch.RUN_WHEN_NOT_ACTIVE)
        reassigns = listens and bool(kept.partitions_being_reassigned)
        notified = listens and ISR_CHANGES in controller.configuration.paths
        shuts_down = controller.shutdown is not None and controller.activity.handler is not Handler.SHUTDOWN
        if reassigns or notified or shuts_down:
            controller.context.keep_topics(kept)
        if reassigns:
            controller.context.live_brokers = kept.live_brokers
        controller.context.partitions_undergoing_election = kept.partitions_undergoing_election
        controller.context.partitions_being_reassigned = kept.partitions_being_reassigned


def _left_to_tell(controller: KafkaController) -> Deleting:
    """Nothing; but before 0.10.2.0, where topics are not deleted, what brokers are sent all the same (D71, D8)."""
    told = not controller.configuration.deletes_topics and controller.reintroduces(Switch.RUN_WHEN_NOT_ACTIVE)
    return Deleting(partitions=controller.deleting.partitions) if told else Deleting()


def _end_shutdown(controller: KafkaController) -> None:
    """A running controlled shutdown outlives the resignation, unless the fix is on or the refused write was its own."""
    if controller.fixes(Switch.SHUTDOWN_ENDS_WITH_TERM):
        controller.shutdown = None
    elif controller.activity.handler is Handler.SHUTDOWN:
        fail_shutdown(controller)


def fail_shutdown(controller: KafkaController) -> None:
    """An exception ends the running shutdown: nothing more of it is done, and the answer is an error."""
    if controller.shutdown is not None:
        controller.shutdown = replace(controller.shutdown, to_move=frozenset(), failed=True)
