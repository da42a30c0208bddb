"""A moment of rest, and how a claim is asked there that something has come about.

Where nothing tells which transaction was the last by then, ZooKeeper may have been a few writes before or behind such a
moment, since clocks are off by `SKEW` at most: a break counts only if it is there wherever the moment is put. Nothing
is asked of a broker that was killed, paused or stopped, of the partitions of a topic that is to be deleted, or of one
whose state an admin has written or deleted by hand; and nothing at all once /controller_epoch was changed by hand, for
brokers may refuse who is elected then.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import TypeAlias

from model_check.monitors.acts import Rest
from model_check.monitors.arrivals import Arrival, Received
from model_check.monitors.claims import Answers, Break, Monitored, Needs, monitored
from model_check.monitors.contents import State
from model_check.monitors.history import History, state_path
from model_check.recordings.tracks import SKEW
from spec.formats.kafka_types import TopicPartition

Shown: TypeAlias = Iterator[tuple[str, Break | None]]
"""What is found, each under a name by which it is known again where the moment is put elsewhere."""


@dataclass(frozen=True)
class Moment:
    """A rest, put behind the first `number` writes."""

    history: History
    rest: Rest
    number: int

    def broken(self, text: str, row: str = "") -> Break:
        """What has not come about by then, and the known defect whose signature that is."""
        return Break(self.rest.place, text, row)

    def is_up(self, broker: int) -> bool:
        """Whether a broker is registered, or in office without being so, and was not done anything to since."""
        came, down = self._came(broker), self.rest.down.get(broker)
        return came is not None and (down is None or came > down + SKEW)

    def _came(self, broker: int) -> int | None:
        """When a broker registered; or won /controller, where a mere controller need not register."""
        registration, office = self.history.registered(broker, self.number), self.history.office(self.number)
        if registration is not None:
            return registration.ms
        is_owner = office.owner is not None and office.owner.broker == broker
        return self.history.writes[office.since].ms if is_owner else None

    @property
    def is_settled(self) -> bool:
        """Whether nobody is still registered to whom something was done; others are yet to find that out."""
        brokers = self.history.brokers
        return all(self.is_up(one) for one in brokers if self.history.registered(one, self.number) is not None)

    @cached_property
    def controller(self) -> int | None:
        """The broker in office, if it is up."""
        owner = self.history.office(self.number).owner
        return owner.broker if owner is not None and owner.broker is not None and self.is_up(owner.broker) else None

    def partitions(self) -> Iterator[tuple[TopicPartition, tuple[int, ...], State | None]]:
        """The partitions that stay, with AR and state."""
        for partition, replicas in self.history.partitions(self.number):
            written = self.history.last(state_path(partition), self.number)
            born = self.history.birth(partition.topic, self.number)
            is_of_it = written is not None and born is not None and written.number > born.number
            is_by_hand = written is not None and is_of_it and not written.author.is_members
            if not is_by_hand and not self.history.is_doomed(partition.topic, self.number):
                yield partition, replicas, self.history.state(partition, self.number)

    def received(self, broker: int) -> list[Arrival] | None:
        """What the present process of a broker has received by then, if all of that is known."""
        received = self.history.arrivals.whole(broker)
        if received is None:
            return None
        lives = self._lives(received, broker)
        return [one for one in received.requests if one.incarnation in lives and one.ms <= self.rest.ms + SKEW]

    def _lives(self, received: Received, broker: int) -> set[int]:
        """The numbers of the processes that may be the present one: none before the one that is registered.

        That is known by numbers where each process that wrote is among the `starts`, by clocks where it may not be.
        """
        registration = self.history.registered(broker, self.number)
        registered = registration.author.incarnation if registration else 0
        if received.starts is None:
            return {registered} if registration else set()
        early, late = (sum(one <= self.rest.ms + off for one in received.starts) for off in (-SKEW, SKEW))
        if len(received.starts) == self.history.processes[broker]:
            early = max(early, registered)
        return set(range(max(1, early), max(1, late) + 1))


def at_rest(
    *, kind: str = "step", source: str = "", needs: Needs = Needs.REST
) -> Callable[[Callable[[Moment], Shown]], Monitored]:
    """Declare a monitor that asks of each moment of rest; the rest is as of any other (`monitored`)."""

    def declare(ask: Callable[[Moment], Shown]) -> Monitored:
        @wraps(ask)
        def asked(history: History) -> Answers:
            return _at_each_rest(history, ask)

        return monitored(kind=kind, source=source, needs=needs)(asked)

    return declare


def _at_each_rest(history: History, ask: Callable[[Moment], Shown]) -> Answers:
    """What is found at each moment of rest, wherever it is put; what the last one found, too, is reported once."""
    known = set[str]()
    for rest in history.acts.rests:
        moments = [Moment(history, rest, number) for number in history.cuts(rest)]
        if not all(one.is_settled and one.number <= history.epochs_end for one in moments):
            continue
        everywhere = [dict(ask(one)) for one in moments]
        asked = {name for name in everywhere[-1] if all(name in other for other in everywhere)}
        broken = {name for name in asked if all(other[name] is not None for other in everywhere)}
        yield from (everywhere[-1][name] for name in everywhere[-1] if name in broken - known)
        yield from (None for _ in asked - broken)
        known = broken | (known - asked)


def running(brokers: Iterable[int]) -> str:
    """That these brokers run: `broker 2 runs`, `brokers 2, 3 run`."""
    first, *others = sorted(brokers)
    return f"brokers {', '.join(map(str, (first, *others)))} run" if others else f"broker {first} runs"
