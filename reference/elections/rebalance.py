"""Automatic rebalance: giving partitions back to their preferred replicas where a broker has lost too many of them.

The rebalance thread looks at the partitions of each preferred broker, and where the share that others lead is more than
the percentage it runs an election for each of these, taking the lock for each anew.

Kafka 0.10.2.2: `KafkaController.checkAndTriggerPartitionRebalance`. PROTOCOL.md section 7.6. Left out on purpose: the
thread's period, and that the partitions are grouped by broker once for a whole check.
"""

from reference.controller.context import Activity
from reference.controller.controller import KafkaController
from reference.controller.resignation import on_controller_moved
from reference.elections.requested import tell_outcome, tell_start
from reference.leadership.partitions import bring_online
from reference.procedures import FencedOff, Procedure
from reference.scripts import ISR_CHANGES
from spec.formats.kafka_types import TopicPartition
from spec.logs.controller_log.elections import ImbalanceRatio
from spec.state.enumerations import DeletionThread, Handler
from spec.variants import Switch


def is_running(controller: KafkaController) -> bool:
    """Whether the rebalance scheduler was started: the last but one thing that a failover does.

    The last is the deletion thread, whose end by an exception (D37) leaves the scheduler alone.
    """
    return controller.is_active and controller.deletion in {DeletionThread.RUNNING, DeletionThread.ENDED}


def brokers_to_lead(controller: KafkaController) -> list[int]:
    """The brokers that are the first assigned replica of some partition."""
    if _lacks_head(controller):
        return []
    return sorted({replicas[0] for replicas in controller.context.partition_replica_assignment.values() if replicas})


def _lacks_head(controller: KafkaController) -> bool:
    """Whether a partition that is to stay has an empty AR: to ask for its first broker ends the whole check (D61)."""
    assigned = controller.context.partition_replica_assignment.items()
    return any(not replicas for tp, replicas in assigned if tp.topic not in controller.deleting.queued)


def find_imbalance(controller: KafkaController, broker: int) -> frozenset[TopicPartition]:
    """The partitions that are to be given back to a broker; none if the share that it lost is not beyond the limit."""
    lost, ratio = _lost(controller, broker)
    if ratio <= controller.configuration.imbalance_percentage / 100:
        return frozenset()
    if controller.fixes(Switch.REBALANCE_ONLY_TO_IN_SYNC) and ISR_CHANGES in controller.configuration.paths:
        known = controller.context.partition_leadership_info
        return frozenset(tp for tp in lost if broker in known[tp].isr and broker in controller.live)
    return lost


def begin_rebalance(controller: KafkaController, broker: int) -> None:
    """The check has found an imbalance: it tells the share, and goes on with the partitions one by one."""
    controller.report(ImbalanceRatio, broker=broker, ratio=round(_lost(controller, broker)[1], 6))
    controller.imbalanced = find_imbalance(controller, broker)


def _lost(controller: KafkaController, broker: int) -> tuple[frozenset[TopicPartition], float]:
    """The partitions of a broker that others lead, and their share in all that it is to lead."""
    context = controller.context
    headed = [tp for tp, replicas in context.partition_replica_assignment.items() if replicas[:1] == (broker,)]
    own = [tp for tp in headed if tp.topic not in controller.deleting.queued]
    known = context.partition_leadership_info
    lost = frozenset(tp for tp in own if tp in known and known[tp].leader != broker)
    return lost, len(lost) / len(own) if own else 0.0


def may_rebalance(controller: KafkaController, partition: TopicPartition) -> bool:
    """Whether the first replica lives, nothing is reassigned or elected by request, and the topic is to stay."""
    context = controller.context
    if partition.topic not in context.all_topics or partition.topic in controller.deleting.queued:
        return False
    busy = bool(context.partitions_undergoing_election or context.partitions_being_reassigned)
    return not busy and not controller.live.isdisjoint(context.partition_replica_assignment[partition][:1])


def rebalance_partition(controller: KafkaController, partition: TopicPartition) -> Procedure[None]:
    """Elect for one of them, as the check found it, if nothing forbids it now."""
    controller.imbalanced -= {partition}
    if not may_rebalance(controller, partition):
        return
    try:
        tell_start(controller, frozenset({partition}))
        yield from bring_online(controller, (partition,), Handler.REBALANCE)
        tell_outcome(controller, frozenset({partition}))
    except FencedOff:
        on_controller_moved(controller)
    finally:
        controller.activity = Activity()
