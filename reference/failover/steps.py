"""Failover: from winning /controller to being the working controller, in the order of 0.10.2.

Two things in it are Kafka's slips and are kept as they are. A conflict on the epoch's write is raised and swallowed in
the same method, so the failover goes on in the epoch that it *read* (D1). And after creating /controller_epoch the data
version is taken for 1, although it is 0; that does no harm, since every failover reads it again.

Kafka 0.10.2.2: `KafkaController.onControllerFailover`, `incrementControllerEpoch`, `initializeControllerContext`.
PROTOCOL.md section 6.
"""

from reference.controller.context import Activity
from reference.controller.controller import KafkaController
from reference.controller.controller_batch import send_update_metadata
from reference.controller.effects import CreateEpoch, EpochZnode, IncrementEpoch, ReadBrokers, ReadEpoch, Subscribe
from reference.deletion.requests import initialize_topic_deletion
from reference.deletion.thread import start_deletion_thread
from reference.elections.requested import FinishFailover, load_pending_elections, run_pending_elections
from reference.journal import Milestone
from reference.leadership.effects import ReadState
from reference.leadership.partitions import start_partition_machine
from reference.leadership.replicas import start_replica_machine
from reference.procedures import ControllerMoved, LeftOverChannel, Procedure, UnexpectedFailure, any_of
from reference.reassignment.requests import initialize_partition_reassignment, resume_reassignments
from reference.requests.connections import ControllerChannelManager
from reference.scripts import topic_path
from reference.topics.creation import ReadTopics, listen_to_topics
from reference.zookeeper.api import NoNode, ZookeeperError
from spec.formats.kafka_types import TopicPartition
from spec.logs.controller_log import failover as lines
from spec.logs.controller_log.state_machines import PartitionMachineStarted
from spec.variants import Switch

INITIAL_CONTROLLER_EPOCH = 1
INITIAL_CONTROLLER_EPOCH_ZK_VERSION = 1


def on_controller_failover(controller: KafkaController, elected: EpochZnode | None = None) -> Procedure[None]:
    """Become the working controller; an atomic election brings its epoch along."""
    controller.is_about(in_failover=True)
    controller.report(lines.BecomingController)
    try:
        if elected is None:
            yield from _read_controller_epoch(controller)
            yield from _increment_controller_epoch(controller)
        else:
            controller.context.epoch, controller.context.epoch_zk_version = elected.epoch, elected.version
        yield from Subscribe(controller.configuration.paths)
        controller.listeners |= set(controller.configuration.paths)
        yield from _initialize_controller_context(controller)
        if not controller.reintroduces(Switch.METADATA_LAST):
            yield from send_update_metadata(controller)
        yield from start_replica_machine(controller)
        yield from start_partition_machine(controller)
        controller.report(PartitionMachineStarted, states=tuple(controller.partition_machine.states.items()))
        if not controller.fixes(Switch.LISTEN_BEFORE_READING):
            yield from listen_to_topics(controller, controller.context.all_topics)
        controller.report(lines.ReadyToServe, epoch=controller.context.epoch)
        yield from resume_reassignments(controller)
        yield from run_pending_elections(controller)
        yield from FinishFailover.by(controller)
        if controller.reintroduces(Switch.METADATA_LAST):
            yield from send_update_metadata(controller)
        start_deletion_thread(controller)
        controller.reach(Milestone.READY)
    except UnexpectedFailure:
        controller.reach(Milestone.FAILOVER_FAILED)
        raise
    finally:
        controller.activity = Activity()


def _read_controller_epoch(controller: KafkaController) -> Procedure[None]:
    found = yield from ReadEpoch()
    if found is not None:
        controller.context.epoch, controller.context.epoch_zk_version = found.epoch, found.version
        controller.report(lines.EpochRead, epoch=found.epoch, epoch_zk_version=found.version)


def _increment_controller_epoch(controller: KafkaController) -> Procedure[None]:
    """Write the next epoch on the version read, or create the first; only the create's conflict ends the failover."""
    context = controller.context
    try:
        version = yield from IncrementEpoch(context.epoch + 1, context.epoch_zk_version)
    except NoNode:
        version = None
    except ZookeeperError:  # which `conditionalUpdatePersistentPathIfExists` takes for a conflict
        version = -1
    if version is None:
        yield from CreateEpoch()
        context.epoch = INITIAL_CONTROLLER_EPOCH
        # Later versions begin with the true one, without which their fence would keep the first controller out.
        context.epoch_zk_version = 0 if controller.fence is not None else INITIAL_CONTROLLER_EPOCH_ZK_VERSION
    elif version >= 0:
        context.epoch, context.epoch_zk_version = context.epoch + 1, version
    else:
        controller.reach(Milestone.EPOCH_CONFLICT)
        controller.report(lines.EpochIncrementFailed)
        if controller.fixes(Switch.RESIGN_ON_EPOCH_CONFLICT):
            raise ControllerMoved("another controller has incremented the epoch")
    controller.report(lines.EpochIncremented, epoch=context.epoch)


def _initialize_controller_context(controller: KafkaController) -> Procedure[None]:
    """Read everything; then open the channels, which left-over ones of an earlier term forbid (D56)."""
    context = controller.context
    context.live_brokers = yield from ReadBrokers()
    context.shutting_down_broker_ids = frozenset()
    listens = controller.configuration.listens_to_topics and controller.fixes(Switch.LISTEN_BEFORE_READING)
    topics = yield from ReadTopics(listens)
    context.all_topics = topics.names
    context.topic_ids = dict(topics.ids)
    if listens:
        controller.listeners |= {topic_path(topic) for topic in topics.names}
    context.partition_replica_assignment = {
        TopicPartition(topic, partition): replicas
        for topic, assignment in topics.assignments.items()
        for partition, replicas in assignment.items()
    }
    context.partition_leadership_info = {}
    yield from _update_leader_and_isr_cache(controller)
    _start_channel_manager(controller)
    yield from load_pending_elections(controller)
    yield from initialize_partition_reassignment(controller)
    yield from initialize_topic_deletion(controller)
    controller.report(lines.ActiveBrokers, brokers=tuple(sorted(controller.live)))
    controller.report(lines.ShuttingDownBrokers, brokers=tuple(sorted(context.shutting_down_broker_ids)))
    controller.report(lines.CurrentTopics, topics=tuple(sorted(context.all_topics)))


def _update_leader_and_isr_cache(controller: KafkaController) -> Procedure[None]:
    """Read every state znode into the cache."""
    context = controller.context
    left = frozenset(context.partition_replica_assignment)
    while left:
        partition, found = yield from any_of({one: ReadState(one, controller.read_fence, left) for one in left})
        if found is not None:
            context.partition_leadership_info[partition] = found
        left -= {partition}


def _start_channel_manager(controller: KafkaController) -> None:
    context = controller.context
    replaced = context.controller_channel_manager
    left_over = controller.abandoned | (replaced.queues if replaced is not None else {})
    try:
        joined = left_over if controller.opens_channels_twice else None
        started = ControllerChannelManager.started(sorted(controller.live), controller.metrics, joined)
    except LeftOverChannel:
        controller.reach(Milestone.LEFT_OVER_CHANNELS)
        raise
    context.controller_channel_manager = started
    controller.abandoned = left_over
