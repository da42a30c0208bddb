"""The reference with a slip, by its name, as somebody's controller: it does all that the era's does, but for this.

    python -m tests.model_check.live.controllers.slips prefers_whoever_lives --broker 1 --role controller ...

The other words are those of `reference.live.broker_process`. Each slip is one that somebody may make and hardly see. It
is put in from here, into the process's own copy of the reference, which has no such hook.
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any, Final

from reference.broker_events import broker_changes, isr_notification
from reference.controller import batch
from reference.controller.controller import KafkaController
from reference.deletion import thread
from reference.leadership import leader_selection, replicas
from reference.leadership.leader_selectors import Election, elect_offline, elect_preferred
from reference.live import shutdown
from reference.live.broker_process import main
from reference.procedures import Procedure
from spec.formats.error_codes import ErrorCode
from spec.formats.kafka_types import NO_LEADER, TopicPartition
from spec.formats.request_schemas import (
    ControlledShutdownResponse,
    LeaderAndIsrRequest,
    LiveBroker,
    Request,
    UpdateMetadataRequest,
)
from spec.tables.replica_states import ReplicaState


def plant(module: ModuleType, **others: Callable[..., Any]) -> None:
    """Put something in the place of what a module has by a name; AssertionError where it has nothing."""
    for name, other in others.items():
        assert name in vars(module), f"{module.__name__} has no {name}"
        setattr(module, name, other)


def nothing(*_: Any, **__: Any) -> Procedure[None]:
    """A procedure that does nothing."""
    yield from ()


def prefers_whoever_lives() -> None:
    """A preferred election does not ask whether the first replica is in the ISR."""

    def elect(ar: Any, isr: Any, live: Any, *, cached_leader: int | None) -> Election:
        chosen = elect_preferred(ar, (*isr, *ar[:1]), live, cached_leader=cached_leader)
        return replace(chosen, isr=tuple(dict.fromkeys((*isr, chosen.leader))))

    plant(leader_selection, elect_preferred=elect)


def prefers_the_dead() -> None:
    """A preferred election asks neither whether the first replica is in sync, nor whether it lives."""

    def elect(ar: Any, isr: Any, live: Any, *, cached_leader: int | None) -> Election:
        chosen = elect_preferred(ar, (*isr, *ar[:1]), {*live, *ar[:1]}, cached_leader=cached_leader)
        return replace(chosen, isr=tuple(dict.fromkeys((*isr, chosen.leader))))

    plant(leader_selection, elect_preferred=elect)


def elects_uncleanly() -> None:
    """Where nobody of the ISR lives it elects whoever does, although unclean election is off."""

    def elect(ar: Any, isr: Any, live: Any, *, unclean_enabled: bool) -> Election:
        del unclean_enabled
        return elect_offline(ar, isr, live, unclean_enabled=True)

    plant(leader_selection, elect_offline=elect)


def empties_the_isr() -> None:
    """It takes the last one out of the ISR, too, although unclean election is off."""

    def read(*_: Any) -> Procedure[bool]:
        yield from ()
        return True

    plant(replicas, read_unclean=read)


def sends(kind: type[Request], change: Callable[[Any], Request]) -> None:
    """Requests of a kind are changed before they are sent."""
    send = batch._send

    def changed(controller: KafkaController, broker_id: int, request: Request, **how: Any) -> None:
        send(controller, broker_id, change(request) if isinstance(request, kind) else request, **how)

    plant(batch, _send=changed)


def hides_the_leaderless() -> None:
    """UpdateMetadata leaves out the partitions that nobody leads."""

    def some(request: UpdateMetadataRequest) -> UpdateMetadataRequest:
        led = tuple(one for one in request.partition_states if one.leadership.leader != NO_LEADER)
        return replace(request, partition_states=led)

    sends(UpdateMetadataRequest, some)


def announces_nobody() -> None:
    """UpdateMetadata has the brokers of the first one that was sent."""
    first: list[tuple[LiveBroker, ...]] = []

    def same(request: UpdateMetadataRequest) -> UpdateMetadataRequest:
        first.append(request.live_brokers)
        return replace(request, live_brokers=first[0])

    sends(UpdateMetadataRequest, same)


def names_no_leaders() -> None:
    """LeaderAndIsr says where no leader listens."""
    sends(LeaderAndIsrRequest, lambda one: replace(one, live_leaders=()))


def calls_the_isr_replicas() -> None:
    """LeaderAndIsr tells the ISR in the place of the assigned replicas."""

    def changed(request: LeaderAndIsrRequest) -> LeaderAndIsrRequest:
        states = tuple(replace(one, replicas=one.leadership.isr) for one in request.partition_states)
        return replace(request, partition_states=states)

    sends(LeaderAndIsrRequest, changed)


def deaf_to_deaths() -> None:
    """Nothing is done when a broker dies."""
    plant(broker_changes, on_broker_failure=nothing)


def keeps_notifications() -> None:
    """Announcements of ISR changes are not deleted."""
    plant(isr_notification, _delete=nothing)


def keeps_isrs_to_itself() -> None:
    """Announcements of ISR changes are read and deleted, and nobody is told."""
    plant(isr_notification, send_update_metadata=nothing)


def lets_everybody_go() -> None:
    """Who is to stop may go at once, whatever it leads."""

    def move(controller: KafkaController, partition: TopicPartition) -> Procedure[None]:
        assert controller.shutdown is not None
        controller.shutdown = replace(controller.shutdown, to_move=controller.shutdown.to_move - {partition})
        yield from ()

    def answer(controller: KafkaController, _latest: Any) -> ControlledShutdownResponse:
        controller.shutdown = None
        return ControlledShutdownResponse(ErrorCode.NONE, ())

    plant(shutdown, move_partition=move, answer_shutdown=answer)


def deletes_without_the_dead() -> None:
    """A topic is deleted although one of its replicas is down, who is never told."""

    def is_deleted(controller: KafkaController, topic: str) -> bool:
        keys = [key for key in controller.context.replicas_of(topic) if key[1] in controller.live]
        states = controller.replica_machine.states
        return all(states.get(key) is ReplicaState.DELETION_SUCCESSFUL for key in keys)

    plant(thread, is_deleted=is_deleted, hold_back=lambda *_: None)


SLIPS: Final = {
    one.__name__: one
    for one in (
        prefers_whoever_lives,
        prefers_the_dead,
        elects_uncleanly,
        empties_the_isr,
        hides_the_leaderless,
        announces_nobody,
        names_no_leaders,
        calls_the_isr_replicas,
        deaf_to_deaths,
        keeps_notifications,
        keeps_isrs_to_itself,
        lets_everybody_go,
        deletes_without_the_dead,
    )
}

if __name__ == "__main__":
    SLIPS[sys.argv[1]]()
    main(sys.argv[2:])
