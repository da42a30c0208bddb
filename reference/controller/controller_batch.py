"""The controller's own batch: what is sent in it, and what becomes of a handler that finds it dirty.

The controller object has a batch of its own beside those of its state machines: for UpdateMetadata, the LeaderAndIsr of
steps 2 and 7 of a reassignment, and the StopReplica of a controlled shutdown. Where UpdateMetadata cannot be put
together (D53) it stays dirty. A controller that finds it so in a send of UpdateMetadata, or of that StopReplica, has
the elector resign, and so does one that sends either when the term has ended; before 0.9.0.0 nobody did (D28). In any
of these cases an exception ends the handler. Steps 2 and 7 begin the batch themselves, outside of what is caught: they
end with an exception, and nobody resigns.

Kafka 0.10.2.2: `KafkaController.sendUpdateMetadataRequest`, `shutdownBroker`. PROTOCOL.md section 9.
"""

from collections.abc import Collection

from reference.controller.batch import add_update_metadata, is_about_the_unknown, send_batch
from reference.controller.context import Activity, RequestBatch
from reference.controller.controller import KafkaController
from reference.controller.resignation import resign
from reference.journal import Milestone
from reference.procedures import ControllerFailure, DirtyBatch, ForcedResignation, NoAssignment, NoChannels, Procedure
from spec.formats.kafka_types import TopicPartition
from spec.logs.controller_log.channels import StopReplicaNotSent
from spec.logs.controller_log.failover import ForcedToResign
from spec.variants import Switch


def begin_batch(controller: KafkaController) -> Procedure[None]:
    """`newBatch`; ForcedResignation once the elector has resigned for what an earlier exception left in the batch."""
    try:
        controller.batch.new_batch()
    except DirtyBatch as dirty:
        controller.reach(Milestone.DIRTY_BATCH)
        yield from _force_resignation(controller, dirty)


def _force_resignation(controller: KafkaController, failure: ControllerFailure) -> Procedure[None]:
    """What was raised by the batch is taken for a broken controller: it is cleared, and the elector resigns."""
    if controller.reintroduces(Switch.KEEP_DIRTY_BATCH):
        raise failure
    controller.report(ForcedToResign)
    controller.batch = RequestBatch()
    begun = controller.activity  # what it is about that the exception has still to leave, is kept
    controller.activity = Activity(
        begun.handler, in_failover=begun.in_failover, due=begun.due, reassigning=begun.reassigning, taken=begun.taken
    )
    yield from resign(controller)
    raise ForcedResignation(*failure.args) from None


def send_stop_replica(controller: KafkaController, broker: int, partition: TopicPartition) -> Procedure[None]:
    """StopReplica without delete; ForcedResignation, too, where the term has ended, and there are no channels."""
    yield from begin_batch(controller)
    controller.batch.add_stop_replica((broker,), partition, delete=False)
    try:
        send_batch(controller, controller.batch)
    except NoChannels as failure:
        replica = f"[Topic={partition.topic},Partition={partition.partition},Replica={broker}]"
        requests = f"Map({broker} -> List(StopReplicaRequestInfo({replica},false,null)))"
        controller.note(StopReplicaNotSent(requests, str(failure)))
        yield from _fail_to_send(controller, failure)


def _fail_to_send(controller: KafkaController, failure: NoChannels) -> Procedure[None]:
    controller.reach(Milestone.SEND_FAILED)
    yield from _force_resignation(controller, failure)


def send_update_metadata(
    controller: KafkaController,
    partitions: Collection[TopicPartition] | None = None,
    *,
    brokers: frozenset[int] | None = None,
) -> Procedure[None]:
    """`sendUpdateMetadataRequest`: send these brokers, or all that are registered, these partitions, or all, and the
    brokers.

    ForcedResignation, too, where the term has ended (D8): Kafka has the brokers still, but no channels to them.
    """
    yield from begin_batch(controller)
    if is_about_the_unknown(controller, partitions):
        return
    if not controller.is_active:
        controller.batch.metadata_receivers.add(controller.broker_id)  # of those that Kafka still knows
        yield from _fail_to_send(controller, NoChannels())
    try:
        add_update_metadata(controller, controller.batch, partitions, brokers=brokers)
    except NoAssignment:
        controller.reach(Milestone.METADATA_FAILED)
        raise
    send_batch(controller, controller.batch)
