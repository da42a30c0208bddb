"""The ways out of being controller: the elector's `resign()`, and taking everything down.

`resign()` only forgets being leader and deletes /controller, whoever owns it by then (D3); the controller, half-started
or at work, stays (D4).

Kafka 0.10.2.2: `ZookeeperLeaderElector.resign`, `KafkaController.onControllerResignation`. PROTOCOL.md section 6.
"""

from __future__ import annotations

from reference.context import ControllerContext, Deleting, Machine
from reference.controller import KafkaController
from reference.effects import ResignDelete
from reference.journal import Milestone
from reference.procedures import Procedure
from reference.request_batch import RequestBatch
from spec.kafka_types import NO_LEADER
from spec.logs.controller_log.failover import Resigned
from spec.state import DeletionThread
from spec.variants import Switch


def resign(controller: KafkaController) -> Procedure[None]:
    """Forget being leader, and delete /controller."""
    if controller.mends(Switch.RESIGN_CLEANS_UP):
        take_down(controller)
    controller.leader_id = NO_LEADER
    yield from ResignDelete(only_own=controller.mends(Switch.FENCED_RESIGN))


def on_controller_moved(controller: KafkaController) -> None:
    """A fenced write, or read, was refused: somebody else is controller (`ControllerMovedException`, 2.1.0)."""
    take_down(controller)
    controller.leader_id = NO_LEADER
    controller.to_reassign = {}


def take_down(controller: KafkaController) -> None:
    """Listeners, state machines, channels, epoch: everything goes."""
    controller.deletion, controller.deleting = DeletionThread.NONE, Deleting()
    controller.listeners, controller.topic_listeners = frozenset(), frozenset()
    controller.imbalanced, controller.shutdown = frozenset(), None
    controller.partition_machine, controller.replica_machine = Machine(), Machine()
    controller.partition_batch, controller.replica_batch = RequestBatch(), RequestBatch()
    manager = controller.context.controller_channel_manager
    if manager is not None:
        manager.shutdown()
    controller.reach(Milestone.RESIGNED)
    controller.report(Resigned)
    kept = controller.context
    controller.context = ControllerContext()
    if controller.mends(Switch.CLEAR_CONTEXT):
        controller.batch = RequestBatch()
    else:
        controller.context.partitions_undergoing_preferred_election = kept.partitions_undergoing_preferred_election
        controller.context.partitions_being_reassigned = kept.partitions_being_reassigned
