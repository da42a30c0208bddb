"""Claims that something has come about, asked at moments at which nothing moves any more.

Clocks are off by `SKEW` at most, so ZooKeeper may have been a few writes before or behind such a moment: a break counts
only if it is there wherever the moment is put. Nothing is asked of a broker that was killed, paused or stopped, nor of
the partitions of a topic that is to be deleted; nor of what is left to the brokers, such as to catch up.

Kafka: `KafkaController`, 0.10.2.2. PROTOCOL.md sections 6 to 8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from model_check.monitors.acts import Rest
from model_check.monitors.arrivals import Arrival, Received
from model_check.monitors.claims import Answers, Break, Needs, monitored
from model_check.monitors.contents import State
from model_check.monitors.history import History, state_path
from model_check.recordings.recorded_tracks import SKEW
from spec.formats.error_codes import ErrorCode
from spec.formats.request_schemas import ApiKey
from spec.kafka_types import TopicPartition

Shown: TypeAlias = Iterator[tuple[str, Break | None]]
"""What is found, each under a name by which it is known again where the moment is put elsewhere."""


@dataclass(frozen=True)
class Moment:
    """A rest, put behind the first `number` writes."""

    history: History
    rest: Rest
    number: int

    def is_up(self, broker: int) -> bool:
        """Whether a broker is registered, and was not done anything to since."""
        registration = self.history.registered(broker, self.number)
        down = self.rest.down.get(broker)
        return registration is not None and (down is None or registration.ms > down + SKEW)

    @cached_property
    def controller(self) -> int | None:
        """The broker in office, if it is up."""
        owner = self.history.office(self.number).owner
        return owner.broker if owner is not None and owner.broker is not None and self.is_up(owner.broker) else None

    def partitions(self) -> Iterator[tuple[TopicPartition, tuple[int, ...], State | None]]:
        """The partitions that stay, with AR and state."""
        for partition, replicas in self.history.partitions(self.number):
            if not self.history.is_doomed(partition.topic, self.number):
                yield partition, replicas, self.history.state(partition, self.number)

    def received(self, broker: int) -> list[Arrival] | None:
        """What the present process of a broker has received by then, if all of that is known."""
        received = self.history.arrivals.whole(broker)
        if received is None:
            return None
        lives = self._lives(received, broker)
        return [one for one in received.requests if one.incarnation in lives and one.ms <= self.rest.ms + SKEW]

    def _lives(self, received: Received, broker: int) -> set[int]:
        """The numbers of the processes that may be the present one."""
        if received.starts is None:
            registration = self.history.registered(broker, self.number)
            return {registration.author.incarnation} if registration else set()
        early, late = (sum(one <= self.rest.ms + off for one in received.starts) for off in (-SKEW, SKEW))
        return set(range(max(1, early), max(1, late) + 1))


def at_rest(history: History, ask: Callable[[Moment], Shown]) -> Answers:
    """What is found at each moment of rest, wherever it is put."""
    for rest in history.acts.rests:
        everywhere = [dict(ask(Moment(history, rest, number))) for number in history.cuts(rest)]
        for name, found in everywhere[-1].items():
            if all(name in other for other in everywhere):
                is_broken = all(other[name] is not None for other in everywhere)
                yield found if is_broken else None


@monitored(needs=Needs.REST)
def eventually_one_working_controller(history: History) -> Answers:
    """Asked while a broker is up: one of those that are is in office, and has raised the epoch since."""

    def ask(at: Moment) -> Shown:
        office = history.office(at.number)
        if office.owner is None:
            up = sorted(broker for broker in _brokers(history) if at.is_up(broker))
            text = f"nobody is controller, and broker {_shown(up)} runs"
            yield "office", Break(at.rest.place, text) if up else None
        elif at.controller is not None:
            won, raised = history.writes[office.since].place, office.raised > office.since
            text = f"{office.owner} has had /controller since {won}, and has not raised /controller_epoch"
            is_its = raised and office.raised_by is not None and office.raised_by.broker == office.owner.broker
            yield "epoch", None if is_its else Break(at.rest.place, text, "D1" if _has_conflicted(at) else "")

    return at_rest(history, ask)


def _brokers(history: History) -> set[int]:
    return {one.author.broker for one in history.writes if one.author.broker is not None}


def _has_conflicted(at: Moment) -> bool:
    """Whether the owner of /controller has failed on a version since it has it."""
    office = at.history.office(at.number)
    owner = office.owner.session if office.owner else None
    return any(one.session == owner and office.since <= one.number <= at.number for one in at.history.conflicts)


@monitored(needs=Needs.REST)
def eventually_partitions_are_led(history: History) -> Answers:
    """Asked of partitions with a replica that is up, while a controller is."""

    def ask(at: Moment) -> Shown:
        for partition, replicas, state in at.partitions():
            if at.controller is not None and any(map(at.is_up, replicas)):
                text = f"{partition} has no state znode, although broker {_shown(filter(at.is_up, replicas))} runs"
                yield str(partition), Break(at.rest.place, text, "D17-unseen") if state is None else None

    return at_rest(history, ask)


@monitored(needs=Needs.REST)
def eventually_leaders_can_lead(history: History) -> Answers:
    """Asked of partitions with an assigned replica in sync that is up, while a controller is: so is their leader."""

    def ask(at: Moment) -> Shown:
        for partition, replicas, state in at.partitions():
            in_sync = [one for one in (state.isr if state else ()) if at.is_up(one) and one in replicas]
            if state is not None and in_sync and at.controller is not None:
                text = f"{partition} has {state}, and broker {_shown(in_sync)} runs"
                yield str(partition), None if at.is_up(state.leader) else Break(at.rest.place, text, "D51")

    return at_rest(history, ask)


@monitored(needs=Needs.REST_AND_REQUESTS)
def eventually_live_replicas_are_informed(history: History) -> Answers:
    """Asked of replicas that are up, while a controller is: each has received the leader epoch of the state znode."""

    def ask(at: Moment) -> Shown:
        for partition, replicas, state in at.partitions():
            for broker in replicas if state is not None and at.controller is not None else ():
                received = at.received(broker) if at.is_up(broker) else None
                if received is not None and state is not None:
                    yield f"{partition} {broker}", _uninformed(at, received, partition, broker, state)

    return at_rest(history, ask)


def _uninformed(
    at: Moment, received: list[Arrival], partition: TopicPartition, broker: int, state: State
) -> Break | None:
    told = [_accepted(one, partition) for one in received if one.kind is ApiKey.LEADER_AND_ISR]
    highest = max(told, default=-1)
    if highest >= state.leader_epoch:
        return None
    written = at.history.last(state_path(partition), at.number)
    place = written.place if written else ""
    heard = "no LeaderAndIsr of it" if highest < 0 else f"no later leader epoch of it than {highest}"
    text = f"{partition} has {state} ({place}), and broker {broker}, which runs, has accepted {heard}"
    return Break(at.rest.place, text, _row_of_uninformed(at, highest, partition))


def _row_of_uninformed(at: Moment, highest: int, partition: TopicPartition) -> str:
    """Nobody has noticed this process (D12); or a term that had ended, or ended then, wrote the state (D5)."""
    written = at.history.last(state_path(partition), at.number)
    office = at.history.office(at.number)
    if written is not None and office.owner is not None and written.author.broker != office.owner.broker:
        return "D5"
    return "D12" if highest < 0 else ""


def _accepted(request: Arrival, partition: TopicPartition) -> int:
    """The leader epoch that a request tells of a partition; -1 if it does not, or is refused for it."""
    told = request.states.get(partition)
    code = ErrorCode.NONE if request.answer is None else request.answer.codes.get(partition, ErrorCode.NONE)
    return told.leader_epoch if told is not None and not request.is_refused and code == ErrorCode.NONE else -1


@monitored(needs=Needs.REST_AND_REQUESTS, kind="eventually", source="PROTOCOL.md sections 7 and 9")
def eventually_live_brokers_know_the_leaders(history: History) -> Answers:
    """Every live broker has received UpdateMetadata of each partition's leader and leader epoch."""

    def ask(at: Moment) -> Shown:
        up = {broker: at.received(broker) for broker in _brokers(history) if at.is_up(broker)}
        for partition, _, state in at.partitions():
            for broker, received in up.items():
                if state is not None and received is not None and at.controller is not None:
                    told = [one for one in received if one.kind is ApiKey.UPDATE_METADATA and not one.is_refused]
                    yield f"{partition} {broker}", _unaware(at, told, partition, broker, state)

    return at_rest(history, ask)


def _unaware(at: Moment, told: list[Arrival], partition: TopicPartition, broker: int, state: State) -> Break | None:
    epochs = [one.states[partition].leader_epoch for one in told if partition in one.states]
    highest = max(epochs, default=-1)
    if highest >= state.leader_epoch:
        return None
    heard = "nothing of it" if highest < 0 else f"no later leader epoch of it than {highest}"
    text = f"{partition} has {state}, and broker {broker}, which runs, has been told {heard} by UpdateMetadata"
    is_moved = len(set(_assignments(at, partition))) > 1
    row = "D18" if is_moved and highest >= 0 else _row_of_uninformed(at, highest, partition)
    return Break(at.rest.place, text, row)


def _assignments(at: Moment, partition: TopicPartition) -> Iterator[frozenset[int]]:
    """What has been assigned to a partition."""
    for one in at.history.of(f"/brokers/topics/{partition.topic}"):
        replicas = at.history.replicas(partition, one.number + 1)
        if one.number < at.number and replicas is not None:
            yield frozenset(replicas)


def _shown(brokers: Iterable[int]) -> str:
    return ", ".join(map(str, brokers))


CLAIMS = (
    eventually_one_working_controller,
    eventually_partitions_are_led,
    eventually_leaders_can_lead,
    eventually_live_replicas_are_informed,
    eventually_live_brokers_know_the_leaders,
)
