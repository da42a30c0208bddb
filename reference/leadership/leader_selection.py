"""Which selector is asked for a leader, and what it says of its choice in controller.log.

Kafka 0.10.2.2: `PartitionLeaderSelector` and its classes. PROTOCOL.md section 5.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from reference.controller.controller import KafkaController
from reference.journal import SelectorAsked
from reference.leadership.effects import ReadUnclean
from reference.leadership.leader_selectors import (
    KEY_NOT_FOUND,
    Election,
    StateChangeFailed,
    UncheckedFailure,
    elect_offline,
    elect_on_controlled_shutdown,
    elect_preferred,
    elect_reassigned,
    filtered,
    reads_unclean_config,
)
from reference.procedures import Procedure
from spec.errors import MalformedInput
from spec.formats.kafka_types import TopicPartition
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.logs.controller_log import leader_selection as lines
from spec.logs.logged_values import JSON_LEADERSHIP, LeaderAndIsr
from spec.state.enumerations import PREFERRED_HANDLERS, Handler
from spec.variants import Switch

Select = Callable[[LeaderIsrAndControllerEpoch], Procedure[Election]]
"""A selector: the leader to be, given what was just read."""


def select(
    controller: KafkaController, partition: TopicPartition, reason: Handler, found: LeaderIsrAndControllerEpoch
) -> Procedure[Election]:
    """Ask the selector that goes with the reason."""
    if reason in PREFERRED_HANDLERS:
        _asks(controller, partition, "preferred")
        return _elect_preferred(controller, partition, found)
    if reason is Handler.SHUTDOWN:
        _asks(controller, partition, "controlled-shutdown")
        return _elect_on_controlled_shutdown(controller, partition, found)
    _asks(controller, partition, "offline")
    return (yield from _elect_offline(controller, partition, found))


def select_reassigned(
    controller: KafkaController, partition: TopicPartition, wanted: tuple[int, ...], found: LeaderIsrAndControllerEpoch
) -> Procedure[Election]:
    """Ask the selector of a reassignment, which reads nothing."""
    yield from ()
    _asks(controller, partition, "reassigned")
    return elect_reassigned(wanted, found.isr, controller.live)


def _asks(controller: KafkaController, partition: TopicPartition, selector: str) -> None:
    controller.journal(SelectorAsked(controller.broker_id, partition, selector))


@contextmanager
def _says(partition: TopicPartition, why: str) -> Iterator[None]:
    """What a selector refuses is refused in Kafka's words, or in Scala's, which state-change.log has."""
    try:
        yield
    except UncheckedFailure as error:
        if str(error) == KEY_NOT_FOUND:
            raise UncheckedFailure(f"{error}: {partition}") from error
        raise
    except StateChangeFailed as error:
        raise StateChangeFailed(why) from error


def _elect_preferred(
    controller: KafkaController, partition: TopicPartition, found: LeaderIsrAndControllerEpoch
) -> Election:
    replicas = controller.context.partition_replica_assignment.get(partition)
    known = controller.context.partition_leadership_info.get(partition)
    leader = None if known is None else known.leader
    if leader is not None and replicas and leader != replicas[0]:
        controller.note(lines.PreferredSelected(leader, partition))
    preferred, stands = replicas[0] if replicas else None, JSON_LEADERSHIP.write(LeaderAndIsr.of(found))
    unfit = f"{preferred} for partition {partition} is either not alive or not in the isr"
    with _says(partition, f"Preferred replica {unfit}. Current leader and ISR: [{stands}]"):
        return elect_preferred(replicas, found.isr, controller.live, cached_leader=leader)


def _elect_on_controlled_shutdown(
    controller: KafkaController, partition: TopicPartition, found: LeaderIsrAndControllerEpoch
) -> Election:
    context = controller.context
    replicas = context.partition_replica_assignment.get(partition)
    registered, leaving = context.live_or_shutting_down_broker_ids, context.shutting_down_broker_ids
    by_isr = controller.reintroduces(Switch.SHUTDOWN_FOLLOWS_ISR)
    isr, besides = ",".join(map(str, found.isr)), ",".join(map(str, sorted(leaving)))
    nobody = f"No other replicas in ISR {isr} for {partition} besides shutting down brokers {besides}"
    with _says(partition, nobody):
        election = elect_on_controlled_shutdown(replicas, found.isr, registered, leaving, by_isr=by_isr)
    controller.note(lines.ShutdownSelected(partition, found.leader, election.leader))
    return election


def read_unclean(controller: KafkaController, partition: TopicPartition) -> Procedure[bool]:
    """Whether a partition's topic may elect who is not in sync, as its configuration says by now."""
    try:
        return (yield from ReadUnclean(partition.topic, controller.configuration.unclean))
    except MalformedInput as error:
        raise StateChangeFailed(str(error)) from error


def _elect_offline(
    controller: KafkaController, partition: TopicPartition, found: LeaderIsrAndControllerEpoch
) -> Procedure[Election]:
    replicas, unclean = controller.context.partition_replica_assignment.get(partition), False
    if reads_unclean_config(replicas, found.isr, controller.live):
        unclean = yield from read_unclean(controller, partition)
    if replicas is not None and unclean:
        controller.note(lines.NoneInIsrAlive(partition, filtered(replicas, controller.live)))
    election = elect_offline(replicas, found.isr, controller.live, unclean_enabled=unclean)
    if election.unclean:
        controller.note(lines.UncleanLeader(partition, election.leader, election.receivers))
    else:
        controller.note(lines.CleanLeader(partition, election.leader, election.isr))
    controller.note(
        lines.OfflineSelected(LeaderAndIsr(election.leader, found.leader_epoch + 1, election.isr), partition)
    )
    return election
