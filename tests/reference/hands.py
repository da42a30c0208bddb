"""Handlers of the controller led by the hand: a procedure is run effect by effect, each answered by the test.

Nothing runs here but the generators themselves: no ZooKeeper, no scheduler.
"""

from collections.abc import Sequence
from typing import Any

from reference.controller.context import Registration
from reference.controller.controller import Configuration, KafkaController
from reference.controller.effects import (
    ElectCreate,
    ElectRead,
    EpochZnode,
    IncrementEpoch,
    ReadBrokers,
    ReadEpoch,
    Subscribe,
)
from reference.deletion.requests import ReadDeletions
from reference.elections.requested import NOTHING_ASKED, FinishFailover, ReadElectionRequest
from reference.failover.election import elect
from reference.journal import Entry, Milestone, Reached, RequestSent
from reference.leadership.effects import ReadState
from reference.procedures import Effect, Procedure, Raised
from reference.reassignment import effects
from reference.reassignment.effects import ReadReassignments
from reference.scripts import Found
from reference.topics.creation import ListenToTopics, ReadTopics, Topics
from spec.formats.kafka_types import TopicPartition
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.formats.znodes import BrokerPayload
from spec.variants import Switch
from tests.leaderships import led

TP = TopicPartition("t", 0)


class Hand:
    """Runs a procedure effect by effect, and keeps what it asked for; to listen to a topic is no step of its own."""

    def __init__(self, procedure: Procedure[Any]) -> None:
        self.procedure = procedure
        self.ended = False
        self.options: tuple[Effect[Any], ...] = ()
        self._take(None)

    @property
    def pending(self) -> Effect[Any] | None:
        """What it waits for; the first of several."""
        return None if self.ended else self.options[0]

    def _take(self, answer: Any) -> None:
        try:
            self.options = self.procedure.send(answer).effects
            while isinstance(self.pending, ListenToTopics):
                self.options = self.procedure.send((0, None)).effects
        except StopIteration:
            self.options, self.ended = (), True

    def expect(self, kind: type[Effect[Any]], result: object, **chosen: object) -> Effect[Any]:
        """The next effect is of this kind; answer it, or the one of several that has these fields."""
        options = enumerate(self.options)
        index = next(i for i, one in options if all(getattr(one, name) == chosen[name] for name in chosen))
        effect = self.options[index]
        assert isinstance(effect, kind)
        self._take((index, result))
        return effect

    def fail(self, kind: type[Effect[Any]], error: Exception) -> None:
        """The next effect is of this kind; it raises."""
        assert isinstance(self.pending, kind)
        self._take((0, Raised(error)))


def controller(*switches: Switch) -> tuple[KafkaController, list[Entry]]:
    journal: list[Entry] = []
    return KafkaController(Configuration(1, frozenset(switches)), journal.append), journal


def registered(*brokers: int) -> dict[int, Registration]:
    return {b: Registration(BrokerPayload(4, f"h{b}", 9092, timestamp=0), 100 + b) for b in brokers}


def znode(
    leader: int, isr: Sequence[int], *, leader_epoch: int = 0, epoch: int = 1, version: int = 0
) -> LeaderIsrAndControllerEpoch:
    return led(leader, leader_epoch, tuple(isr), epoch, version)


def failed_over(
    one: KafkaController, brokers: Sequence[int], states: Sequence[Found] = (), deletions: frozenset[str] = frozenset()
) -> Hand:
    """A failover up to where the machines start; `states` are the partitions' state znodes, all with AR [1, 2, 3]."""
    hand = Hand(elect(one))
    hand.expect(ElectRead, -1)
    hand.expect(ElectCreate, True)
    hand.expect(ReadEpoch, EpochZnode(4, 3))
    hand.expect(IncrementEpoch, 4)
    hand.expect(Subscribe, None)
    hand.expect(ReadBrokers, registered(*brokers))
    topics = {"t": dict.fromkeys(range(len(states)), (1, 2, 3))} if states else {}
    hand.expect(ReadTopics, Topics(frozenset(topics), topics))
    for state in states:
        hand.expect(ReadState, state)
    if isinstance(hand.pending, ReadElectionRequest):  # the channels are open
        hand.expect(ReadElectionRequest, NOTHING_ASKED)
        hand.expect(ReadReassignments, effects.NOTHING_ASKED)
        hand.expect(ReadDeletions, deletions)
    return hand


def requests(journal: list[Entry], kind: type) -> list[tuple[int, Any]]:
    """The requests of a kind that were queued, each with its broker."""
    sent = [entry for entry in journal if isinstance(entry, RequestSent) and entry.queued]
    return [(entry.broker, entry.request.request) for entry in sent if isinstance(entry.request.request, kind)]


def milestones(journal: list[Entry]) -> list[Milestone]:
    return [entry.milestone for entry in journal if isinstance(entry, Reached)]


def working(brokers: Sequence[int], state: LeaderIsrAndControllerEpoch) -> tuple[KafkaController, list[Entry]]:
    """A controller at work, and a fresh journal."""
    one, journal = controller()
    hand = failed_over(one, brokers, [state])
    hand.expect(FinishFailover, None)
    journal.clear()
    return one, journal
