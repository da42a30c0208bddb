"""The controller's own batch: what is sent in it, and what becomes of a handler that finds it dirty.

The controller object has a batch of its own beside those of its state machines: for UpdateMetadata, the LeaderAndIsr of
steps 2 and 7 of a reassignment, and the StopReplica of a controlled shutdown. Where UpdateMetadata cannot be put
together (D53) it stays dirty. Who finds it so in a send of UpdateMetadata, or of that StopReplica, has the elector
resign; before 0.9.0.0 nobody did (D28). In either case an exception ends the handler. Steps 2 and 7 begin the batch
themselves, outside of what is caught: they end with an exception, and nobody resigns.

Kafka 0.10.2.2: `KafkaController.sendUpdateMetadataRequest`, `shutdownBroker`. PROTOCOL.md section 9.
"""

from __future__ import annotations

from collections.abc import Iterable

from reference.context import Activity
from reference.controller import KafkaController
from reference.journal import Milestone
from reference.procedures import DirtyBatch, ForcedResignation, NoAssignment, Procedure
from reference.request_batch import RequestBatch
from reference.resignation import resign
from spec.kafka_types import TopicPartition
from spec.logs.controller_log.failover import ForcedToResign
from spec.variants import Switch


def begin_batch(controller: KafkaController) -> Procedure[None]:
    """`newBatch`; ForcedResignation once the elector has resigned for what an earlier exception left in the batch."""
    try:
        controller.batch.new_batch()
    except DirtyBatch as dirty:
        controller.reach(Milestone.DIRTY_BATCH)
        if controller.puts_back(Switch.KEEP_DIRTY_BATCH):
            raise
        controller.report(ForcedToResign)
        controller.batch = RequestBatch()
        controller.activity = _raised_in(controller.activity)
        yield from resign(controller)
        raise ForcedResignation(*dirty.args) from None


def _raised_in(activity: Activity) -> Activity:
    """What the handler is about that the exception has still to leave."""
    return Activity(
        activity.handler, in_failover=activity.in_failover, due=activity.due, reassigning=activity.reassigning,
        taken=activity.taken,
    )  # fmt: skip


def send_update_metadata(
    controller: KafkaController, partitions: Iterable[TopicPartition] | None = None
) -> Procedure[None]:
    """`sendUpdateMetadataRequest`: tell every registered broker of these partitions, or all, and of the brokers."""
    yield from begin_batch(controller)
    try:
        controller.batch.add_update_metadata(controller, partitions)
    except NoAssignment:
        controller.reach(Milestone.METADATA_FAILED)
        raise
    controller.batch.send(controller)
