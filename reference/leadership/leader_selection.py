"""Which selector is asked for a leader, and what it says of its choice in controller.log.

Kafka 0.10.2.2: `PartitionLeaderSelector` and its classes. PROTOCOL.md section 5.
"""

from collections.abc import Callable
from functools import partial

from reference.controller.controller import KafkaController
from reference.leadership.effects import ReadUnclean
from reference.leadership.leader_selectors import (
    Election,
    StateChangeFailed,
    elect_offline,
    elect_on_controlled_shutdown,
    elect_preferred,
    filtered,
    reads_unclean_config,
)
from reference.procedures import Procedure
from reference.scripts import Found
from spec.errors import MalformedInput
from spec.formats.kafka_types import TopicPartition
from spec.logs.controller_log.leader_selection import (
    CleanLeader,
    NoneInIsrAlive,
    OfflineSelected,
    PreferredSelected,
    ShutdownSelected,
    UncleanLeader,
)
from spec.logs.logged_values import LeaderAndIsr
from spec.state.enumerations import PREFERRED_HANDLERS, Handler
from spec.variants import Switch

Select = Callable[[tuple[int, ...]], Procedure[Election]]
"""A selector: who is to lead, given the ISR that was just read."""


def selector(controller: KafkaController, partition: TopicPartition, found: Found, reason: Handler) -> Select:
    """The selector that goes with the reason."""
    context = controller.context
    if reason in PREFERRED_HANDLERS:
        known = context.partition_leadership_info.get(partition)
        leader = None if known is None else known.leader
        return at_once(partial(_elect_preferred, controller, partition, leader))
    if reason is Handler.SHUTDOWN:
        return at_once(partial(_elect_on_controlled_shutdown, controller, partition, found))
    epoch = 0 if found is None else found.leader_epoch + 1
    return partial(_elect_offline, controller, partition, epoch)


def at_once(choose: Callable[[tuple[int, ...]], Election]) -> Select:
    """A selector that reads nothing."""

    def select(isr: tuple[int, ...]) -> Procedure[Election]:
        yield from ()
        return choose(isr)

    return select


def _elect_preferred(
    controller: KafkaController, partition: TopicPartition, leader: int | None, isr: tuple[int, ...]
) -> Election:
    replicas = controller.context.partition_replica_assignment.get(partition)
    if leader is not None and replicas and leader != replicas[0]:
        controller.note(PreferredSelected(leader, partition))
    return elect_preferred(replicas, isr, controller.live, cached_leader=leader)


def _elect_on_controlled_shutdown(
    controller: KafkaController, partition: TopicPartition, found: Found, isr: tuple[int, ...]
) -> Election:
    context = controller.context
    replicas = context.partition_replica_assignment.get(partition)
    registered, leaving = context.live_or_shutting_down_broker_ids, context.shutting_down_broker_ids
    by_isr = controller.reintroduces(Switch.SHUTDOWN_FOLLOWS_ISR)
    election = elect_on_controlled_shutdown(replicas, isr, registered, leaving, by_isr=by_isr)
    if found is not None:
        controller.note(ShutdownSelected(partition, found.leader, election.leader))
    return election


def read_unclean(controller: KafkaController, partition: TopicPartition) -> Procedure[bool]:
    """Whether a partition's topic may elect who is not in sync, as its configuration says by now."""
    try:
        return (yield from ReadUnclean(partition.topic, controller.configuration.unclean))
    except MalformedInput as error:
        raise StateChangeFailed(str(error)) from error


def _elect_offline(
    controller: KafkaController, partition: TopicPartition, leader_epoch: int, isr: tuple[int, ...]
) -> Procedure[Election]:
    replicas, unclean = controller.context.partition_replica_assignment.get(partition), False
    if reads_unclean_config(replicas, isr, controller.live):
        unclean = yield from read_unclean(controller, partition)
    if replicas is not None and unclean:
        controller.note(NoneInIsrAlive(partition, filtered(replicas, controller.live)))
    election = elect_offline(replicas, isr, controller.live, unclean_enabled=unclean)
    if election.unclean:
        controller.note(UncleanLeader(partition, election.leader, election.receivers))
    else:
        controller.note(CleanLeader(partition, election.leader, election.isr))
    controller.note(OfflineSelected(LeaderAndIsr(election.leader, leader_epoch, election.isr), partition))
    return election
