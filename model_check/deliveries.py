"""Requests that brokers handled, compared with the queues of the specification: the same request, the same outcome."""

from __future__ import annotations

from typing import Any, Final

from model_check.hidden_steps import part
from model_check.open_system import OpenSystem
from model_check.plain_rules import Seen
from model_check.plain_state import PlainState
from model_check.recorded import RequestHandled
from model_check.recorded_tracks import Place, Tracks
from model_check.recorded_trees import raw_leadership
from spec.request_batch import FIELDS
from spec.state import Stage

STAGES: Final = list(Stage)
OUTCOMES: Final = {
    "become leader": "leader",
    "become follower": "follower",
    "cannot become follower": "unavailable",
    "ignore LeaderAndIsr": "ignored",
}
"""What the specification's broker is seen to do, in the words of a recording."""


class Deliveries:
    """What brokers handled, against the connections of an open system."""

    def __init__(self, system: OpenSystem, tracks: Tracks) -> None:
        self.system = system
        self.tracks = tracks

    def agrees(self, one: RequestHandled, before: PlainState, seen: tuple[Seen, ...]) -> bool:
        """Whether executing the head of the queue is what the broker did."""
        head = self.system.view(before).connections[one.controller][one.broker][0]
        if head.epoch.raw != one.epoch:
            return False
        kinds = {event.kind for event in seen}
        if one.kind == "UpdateMetadata":
            return ("refuse UpdateMetadata" if one.refused else "cache metadata") in kinds
        if one.kind != "LeaderAndIsr" or list(Stage)[head.stage.raw] is not Stage.LEADER_AND_ISR:
            return False
        return self._says_the_same(head, one) and self._ends_the_same(one, seen)

    def _says_the_same(self, head: Any, one: RequestHandled) -> bool:
        """The same partitions, with the same leadership and version."""
        ordered = {p: head.partitions[p] for p in self.system.model.partitions if head.partitions[p].ordered.raw}
        said = {p: raw_leadership(self.system.model, state) for p, state in one.states.items()}
        return said == {
            p: {name: state[name].raw for name in FIELDS if state[name].raw} for p, state in ordered.items()
        }

    @staticmethod
    def _ends_the_same(one: RequestHandled, seen: tuple[Seen, ...]) -> bool:
        """The same decision on each partition whose fate was logged."""
        if one.refused:
            return any(event.kind == "refuse LeaderAndIsr" for event in seen)
        outcomes = {event.fields["partition"].raw: OUTCOMES[event.kind] for event in seen if event.kind in OUTCOMES}
        return all(outcomes.get(p) == outcome for p, outcome in one.outcomes.items())

    def comes_again(self, one: RequestHandled, place: Place) -> bool:
        """Whether the next request of this controller to this broker, in this life of it or a later, is the same."""
        later = (other for other in self.tracks.later_requests(place, one.broker) if other.controller == one.controller)
        after = next(later, None)
        return after is not None and (after.kind, after.epoch, after.states) == (one.kind, one.epoch, one.states)

    def may_be_unlogged(self, state: PlainState, c: int, b: int) -> bool:
        """Whether the request at the head of a queue is one that may leave no line: an UpdateMetadata."""
        head = part(state, "connections", c, b, 0)
        return STAGES[head.get("stage", 0)] is Stage.UPDATE_METADATA

    def are_lost(self, before: PlainState, after: PlainState, place: Place) -> bool:
        """Whether a step drops a queue from which a broker will yet be seen to handle a request."""
        old, new = part(before, "connections"), part(after, "connections")
        if old is new:
            return False
        dropped = [(c, b, queue) for c, queues in old.items() for b, queue in queues.items() if b not in part(new, c)]
        return any(self._comes_yet(c, b, part(queue, 0).get("epoch"), place) for c, b, queue in dropped)

    def _comes_yet(self, c: int, b: int, epoch: int, place: Place) -> bool:
        """Whether a broker will be seen to handle a request of this channel: of a later one, if ids begin anew."""
        last = self.tracks.last_request(place, b, c)
        for one in self.tracks.requests(place, b):
            if (one.controller, one.epoch) == (c, epoch):
                return last is None or one.correlation_id > last.correlation_id
        return False
