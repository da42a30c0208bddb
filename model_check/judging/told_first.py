"""What a failover has read, by what it tells the brokers first.

A failover reads AR of each topic, then each partition's state znode; with its first LeaderAndIsr it tells both to each
live replica. Others may write meanwhile, as a zombie does that goes on with a reassignment. Whether the failover has
read what was there before or what is there after, its first requests tell.

Kafka 0.10.2.2: `KafkaController.initializeControllerContext`, `ReplicaStateMachine.startup`. PROTOCOL.md section 6.
"""

from collections.abc import Mapping
from itertools import takewhile
from typing import Final

from model_check.judging.positions import Position
from model_check.judging.recorded_trees import raw_leadership
from model_check.recordings.seen import AssignmentWritten, RequestHandled, StateWritten
from model_check.recordings.tracks import REPORTS, Tracks
from model_check.stepping.plain_state import EMPTY, PlainState, part
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.language.broker_lists import plain
from spec.logs.controller_log.failover import ActiveBrokers, EpochIncremented
from spec.model import Model
from spec.protocol.failover.steps import read_state, read_topics
from spec.protocol.requests.batch import FIELDS

READS: Final = frozenset({read_topics.name, read_state.name})
"""What a failover reads of partitions, and then tells every live replica."""


class ToldFirst:
    """What each term tells first of each partition, as far as a recording has it."""

    def __init__(self, tracks: Tracks, model: Model) -> None:
        self.tracks = tracks
        self.model = model

    def is_yet_to_come(self, to: Position, read: Mapping[str, int]) -> bool:
        """Whether a failover tells of a partition what it has not just read, and what somebody is yet to write.

        What nobody is to write is not waited for: a broker may have missed what it was sent first.
        """
        c = read["c"]
        known = part(to.state, "controllers", c, "partitions")
        if "p" in read:
            return self._is_a_later_state(to, c, read["p"], known.get(read["p"], EMPTY))
        lists = self.model.brokers.lists
        assigned = ((p, frozenset(plain(lists[one["assigned"]]))) for p, one in known.items() if one.get("assigned"))
        return any(self._is_a_later_assignment(to, c, p, replicas) for p, replicas in assigned)

    def _is_a_later_state(self, to: Position, c: int, p: int, known: PlainState) -> bool:
        told = self._told(to, c, p) if known.get("leader_epoch") else None  # without a znode nothing was read
        if told is None or self._is_said(told.states[p], known):
            return False
        states = (
            one.state
            for one in self.tracks.transactions(to.place, told.received)
            if isinstance(one, StateWritten) and one.partition == p
        )
        return any(self._is_said(told.states[p], raw_leadership(self.model, one)) for one in states)

    def _is_a_later_assignment(self, to: Position, c: int, p: int, known: frozenset[int]) -> bool:
        told = self._told(to, c, p)
        if told is None or told.replicas.get(p, known) == known:
            return False
        written = self.tracks.transactions(to.place, told.received)
        lists = (one.assigned.get(p, ()) for one in written if isinstance(one, AssignmentWritten))
        return any(frozenset(plain(one)) == told.replicas[p] for one in lists)

    def _is_said(self, told: LeaderIsrAndControllerEpoch, known: PlainState) -> bool:
        """Whether a request says what a record of a state has, its version aside, which not every release prints."""
        said = raw_leadership(self.model, told)
        return all(said.get(name, 0) == known.get(name, 0) for name in FIELDS if name != "version")

    def _told(self, to: Position, c: int, p: int) -> RequestHandled | None:
        """The first of what a failover tells live brokers first, if it comes to that, and if it is of a partition."""
        if not self._goes_on(to, c):
            return None
        controller = part(to.state, "controllers", c)
        brokers, epoch = self.model.brokers.ids_in(controller.get("live", 0)), controller.get("epoch", 0)
        every = (self.tracks.next_requests(to.place, b, c, epoch) for b in brokers)
        firsts = (next((one for one in requests if one.states), None) for requests in every)
        of_it = (one for one in firsts if one is not None and p in one.states)
        return min(of_it, key=lambda one: one.received, default=None)

    def _goes_on(self, to: Position, c: int) -> bool:
        """Whether a failover says what it has read before its controller begins another; one that fails may yet act."""
        lines = (one.line for one in self.tracks.lines(to.place, c, REPORTS))
        of_this = takewhile(lambda line: not isinstance(line, EpochIncremented), lines)
        return any(isinstance(line, ActiveBrokers) for line in of_this)
