"""Requests that brokers handled, compared with the queues of the specification: the same request, the same outcome."""

import operator
from collections.abc import Callable, Iterator
from enum import Enum, auto
from typing import Any, Final, TypeGuard

from model_check.judging.explanations import STAGES
from model_check.judging.positions import OF_CHANNELS, OF_DELETIONS, Position
from model_check.judging.recorded_trees import raw_leadership
from model_check.recordings.seen import Handled, ReplicaStopped, RequestHandled, StopReplicaRefused
from model_check.recordings.tracks import SKEW, Place, Tracks
from model_check.stepping.enabled import Candidate
from model_check.stepping.open_system import OpenSystem
from model_check.stepping.plain_rules import Seen
from model_check.stepping.plain_state import PlainState, part
from spec.formats.kafka_types import V0102, V082
from spec.formats.leadership import NO_VERSION
from spec.protocol.requests.batch import FIELDS
from spec.protocol.requests.late_copies import leave_late_request
from spec.protocol.requests.single_stops import leave_late_stop
from spec.state.brokers import Stage

NAMED: Final = {Stage.UPDATE_METADATA: "told", Stage.STOP_REPLICA: "stop"}
"""The partitions that such a request names; of none, its broker writes no line."""
OUTCOMES: Final = {
    "become leader": "leader",
    "become follower": "follower",
    "cannot become follower": "unavailable",
    "ignore LeaderAndIsr": "ignored",
    "is not assigned": "unassigned",
}
"""What the specification's broker is seen to do, in the words of a recording."""


class Certainty(Enum):
    """Whether an observation is of a certain kind, as far as is known from what was explained before it."""

    NO = auto()
    MAYBE = auto()
    LIKELY = auto()
    YES = auto()


class Deliveries:
    """What brokers handled, against the connections of an open system."""

    def __init__(self, system: OpenSystem, tracks: Tracks) -> None:
        self.system = system
        self.tracks = tracks

    def agrees(self, one: RequestHandled, at: Position, after: PlainState, events: tuple[Seen, ...]) -> bool:
        """Whether executing the head of the queue, or what stayed behind, is what the broker did."""
        c, b, view = one.controller, one.broker, self.system.view(at.state)
        is_late = part(at.state, "late_requests", c, b) != part(after, "late_requests", c, b)
        compare = operator.le if self.is_the_last(one, at.place) else operator.eq  # it may not tell all
        head = view.late_requests[c][b] if is_late else view.connections[c][b][0]
        kinds = {event.kind for event in events}
        if one.kind == "UpdateMetadata":
            is_so = ("refuse UpdateMetadata" if one.refused else "cache metadata") in kinds
            return is_so and (one.refused or self._tells_the_same(head, one, compare))
        return self._says_the_same(head, one, compare) and self._ends_the_same(one, events)

    def _says_the_same(self, head: Any, one: RequestHandled, compare: Callable[[Any, Any], bool]) -> bool:
        """The same partitions, with the same leadership and assigned replicas, and version, where that is printed."""
        model = self.system.model
        ordered = {p: head.partitions[p] for p in model.partitions if head.partitions[p].ordered.raw}
        if model.has("reassignment"):
            replicas = {p: model.brokers.set_kind.encode(brokers) for p, brokers in one.replicas.items()}
            if not compare(replicas.items(), {p: state.assigned.raw for p, state in ordered.items()}.items()):
                return False
        said = {p: raw_leadership(model, state) for p, state in one.states.items()}
        return compare(said.keys(), ordered.keys()) and all(
            ordered[p][name].raw == leadership.get(name, 0)
            for p, leadership in said.items()
            for name in FIELDS
            if name != "version" or one.states[p].zk_version != NO_VERSION
        )

    def _tells_the_same(self, head: Any, one: RequestHandled, compare: Callable[[Any, Any], bool]) -> bool:
        """The same partitions, with the same leader epochs; or none, of those that are removed."""
        model = self.system.model
        if not model.has("cached_leaderships"):
            return True
        told = {p: head.told_epoch[p].raw for p in model.partitions if head.told[p].raw}
        epochs = {p: raw_leadership(model, state).get("leader_epoch", 0) for p, state in one.told.items()}
        return compare((epochs | dict.fromkeys(one.removed, 0)).items(), told.items())

    @staticmethod
    def _ends_the_same(one: RequestHandled, events: tuple[Seen, ...]) -> bool:
        """The same decision on each partition whose fate was logged."""
        if one.refused:
            return any(event.kind == "refuse LeaderAndIsr" for event in events)
        outcomes = {event.fields["partition"].raw: OUTCOMES[event.kind] for event in events if event.kind in OUTCOMES}
        return all(outcomes.get(p) == outcome for p, outcome in one.outcomes.items())

    def is_the_last(self, one: Handled, place: Place) -> bool:
        """Whether it is the last that a process handled before it died: some of its lines may be missing."""
        return self.tracks.dies(place, one.broker) and len(self.tracks.handled(place, one.broker)) == 1

    def is_a_last_deletion(self, one: Handled, place: Place) -> bool:
        """Whether it is that, and a replica's deletion: its answer may have been lost."""
        return isinstance(one, ReplicaStopped) and one.delete and self.is_the_last(one, place)

    def stopped(self, one: Handled, place: Place, events: tuple[Seen, ...]) -> int | None:
        """How many of a broker's next observations are those of a StopReplica; None if they are not.

        A request that stops several replicas does so in any order; a process that ends may not come to all.
        """
        if isinstance(one, StopReplicaRefused):
            refused = [event.fields["epoch"].raw for event in events if event.kind == "refuse StopReplica"]
            return 1 if refused == [one.epoch] else None
        if any(event.kind == "fail StopReplica" for event in events):
            return 1 if isinstance(one, ReplicaStopped) and one.may_have_failed else None
        wanted = {
            (event.fields["partition"].raw, bool(event.fields["delete"].raw))
            for event in events
            if event.kind == "stop replica"
        }
        next_ones = self.tracks.handled(place, one.broker)[: len(wanted)]
        told = {(other.partition, other.delete) for other in next_ones if isinstance(other, ReplicaStopped)}
        return len(next_ones) or None if told <= wanted and len(told) == len(next_ones) else None

    def is_of_nothing(self, one: StopReplicaRefused, at: Position) -> Certainty:
        """Whether a broker refuses the request to stop nothing that comes before deletions.

        Kafka 0.10.2 begins the StopReplica requests of each batch with one of all replicas to be stopped, empty or not
        (PROTOCOL.md, section 9). What the specification queues with stops and deletions is two batches of Kafka's: of
        the second, the empty request is no step. Only a broker that knows a newer controller refuses it (section 10);
        one that refused the stop before it refuses this one, too.
        """
        known = part(at.state, "brokers", one.broker).get("controller_epoch", 0)
        if one.incarnation != self.tracks.life(at.place, one.broker) or known <= one.epoch:
            return Certainty.NO
        heads = {c: part(at.state, "connections", c, one.broker, 0) for c in self.system.model.controllers}
        deleting = [
            c
            for c, head in heads.items()
            if self.tracks.releases.get(c) is V0102
            and (STAGES[head.get("stage", 0)], head.get("epoch")) == (Stage.DELETE_REPLICA, one.epoch)
        ]
        found = {self._comes_after_a_stop(c, one, at) for c in deleting}
        if found == {Certainty.YES}:
            return Certainty.YES
        if found <= {Certainty.NO}:
            return Certainty.NO
        queued = sum(len(part(at.state, "connections", c, one.broker)) for c in deleting)
        later = self.tracks.handled(at.place, one.broker)
        left = sum(isinstance(other, StopReplicaRefused) and other.epoch == one.epoch for other in later)
        return Certainty.LIKELY if left > queued else Certainty.MAYBE

    @staticmethod
    def _comes_after_a_stop(c: int, one: StopReplicaRefused, at: Position) -> Certainty:
        """Whether the last request of a controller's channel was a stop, and nothing has been refused since.

        It is certain where the broker has refused that stop, and open where it has not.
        """
        channel = {"c": c, "b": one.broker}
        for before, step, _ in at.way_back():
            is_refused = any(
                isinstance(other, StopReplicaRefused)
                and (other.broker, other.incarnation, other.epoch) == (one.broker, one.incarnation, one.epoch)
                for other in step.observations
            )
            if step.rule in OF_CHANNELS and channel.items() <= step.parameters.items():
                if not part(before.state, "connections", c, one.broker, 0, "stop"):
                    return Certainty.NO
                return Certainty.YES if is_refused else Certainty.MAYBE
            if is_refused:
                return Certainty.NO
        return Certainty.NO

    def may_be_unlogged(self, at: Position, c: int, b: int) -> bool:
        """Whether the head of a queue may leave no line, and has a number between requests that left one."""
        return _leaves_none(at, c, b) and ((left := self._numbers_before_next(at, c, b)) is None or left > 0)

    def _numbers_before_next(self, at: Position, c: int, b: int) -> int | None:
        """How many numbers there are before that of the next request from the term of the queue's head, if known."""
        epoch = part(at.state, "connections", c, b, 0).get("epoch")
        following = self.tracks.next_request(at.place, b, c, epoch)
        return self._numbers_left(at, following) if following is not None else None

    def skips_numbers(self, one: RequestHandled, at: Position) -> bool:
        """Whether a request's number says that others came before it, of which the head of the queue may be one."""
        left = self._numbers_left(at, one) if _leaves_none(at, one.controller, one.broker) else None
        return left is not None and left > 0

    def _numbers_left(self, at: Position, following: RequestHandled) -> int | None:
        """How many requests of a channel came before one, by its number, and are not delivered at a position.

        They are numbered from 0, with each channel anew, each time that they are sent (`RequestSendThread`). A broker
        that registers anew has another channel, where numbers tell nothing. Before 0.10.2 each replica that is stopped
        takes a number of its own, which is not counted here.
        """
        if self.tracks.releases[following.controller] is not V0102:
            return None
        if self.tracks.registers(at.place, following.broker, following.time + SKEW):
            return None
        c, b = following.controller, following.broker
        last, count, comes_deletion = -1, 0, False
        for before, step, after in at.way_back():
            if not _has_channel(after.state, c, b):
                break
            told = (one for one in step.observations if isinstance(one, RequestHandled) and one.broker == b)
            numbers = [one.correlation_id for one in told if _is_from(one, c, following.epoch)]
            if numbers:
                last = numbers[0]
                break
            if step.rule in OF_CHANNELS and {"c": c, "b": b}.items() <= step.parameters.items():
                # The StopReplica of nothing that Kafka sends before deletions (`is_of_nothing`) has a number, too.
                stops = part(before.state, "connections", c, b, 0, "stop")
                count += 2 if stops and comes_deletion else 1
                comes_deletion = step.rule in OF_DELETIONS
        return 1 if following.correlation_id <= last else following.correlation_id - last - 1 - count

    def is_overdue(self, at: Position, c: int, b: int) -> bool:
        """Whether what comes first in a queue may leave no line, and the broker will not be seen to refuse it."""
        if not _leaves_none(at, c, b):
            return False
        left, queue = self._numbers_before_next(at, c, b), part(at.state, "connections", c, b)
        if left is not None:
            return left > 0
        later = (one for one in self.tracks.requests(at.place, b) if one.refused and one.controller == c)
        return bool(len(queue) > sum(one.epoch == part(queue, 0).get("epoch") for one in later))

    def are_lost(self, before: PlainState, after: PlainState, place: Place) -> bool:
        """Whether a step drops a queue from which a broker will yet be seen to handle a request."""
        old, new = part(before, "connections"), part(after, "connections")
        if old is new:
            return False
        return any(
            self._comes_yet(c, b, part(queue, 0).get("epoch"), place, late=bool(part(before, "late_requests", c, b)))
            for c, queues in old.items()
            for b, queue in queues.items()
            if not part(new, c, b) and not _has_channel(after, c, b)
        )

    def _comes_yet(self, c: int, b: int, epoch: int, place: Place, *, late: bool) -> bool:
        """Whether the broker will be seen to refuse a request of that epoch, or to handle a later one, from here on.

        The first may be one that stayed behind; of 0.8.2, where a controller numbers all its requests, a later one may
        come through another channel.
        """
        last = self.tracks.last_request(place, b, c, epoch)
        for one in self.tracks.handled(place, b):
            if isinstance(one, StopReplicaRefused) and one.epoch == epoch:
                return True
            if _is_from(one, c, epoch):
                if late:
                    late = False
                    continue
                anew = self.tracks.releases[c] is V082 and self.tracks.registers(place, b, one.time)
                return not anew and (last is None or one.correlation_id > last.correlation_id)
        return False

    def that_stay_behind(self, at: Position, c: int, b: int) -> Iterator[Candidate]:
        """What a broker that is stopped may have in hand of what a controller has sent it, and will carry out."""
        head = part(at.state, "connections", c, b, 0)
        if b not in at.stopped or part(at.state, "late_requests", c, b):
            return
        following = next(self.tracks.requests(at.place, b), None)
        is_its = following is not None and _is_from(following, c, head.get("epoch"))
        if is_its or _may_be_its_stop(head, next(iter(self.tracks.handled(at.place, b)), None)):
            yield from self._left(head, c, b)

    def that_outlive(self, at: Position, c: int) -> Iterator[Candidate]:
        """What a controller that resigns has in flight, where its broker will yet be seen to handle that."""
        for b, queue in part(at.state, "connections", c).items():
            head, handled = part(queue, 0), self.tracks.handled(at.place, b)
            following = self.tracks.next_request(at.place, b, c, head.get("epoch"))
            is_refused = following is not None and following.refused and following.kind == "UpdateMetadata"
            is_its = following is not None and (is_refused or not _leaves_none(at, c, b))
            comes_yet = is_its or any(_may_be_its_stop(head, one) for one in handled)
            if comes_yet and not part(at.state, "late_requests", c, b):
                yield from self._left(head, c, b)

    def _left(self, head: PlainState, c: int, b: int) -> Iterator[Candidate]:
        """The request at the head of a queue stays behind, or one stop of it."""
        yield leave_late_request.name, {"c": c, "b": b}
        stops = part(head, "stop") if self.system.model.stops_one_by_one else ()
        yield from ((leave_late_stop.name, {"c": c, "b": b, "p": p}) for p in stops)


def _may_be_its_stop(head: PlainState, following: Handled | None) -> bool:
    """Whether a request of a queue stops replicas, and what was handled may be that, or its refusal."""
    if STAGES[head.get("stage", 0)] is not Stage.STOP_REPLICA:
        return False
    match following:
        case ReplicaStopped(partition=p, delete=False):
            return p in part(head, "stop")
        case StopReplicaRefused(epoch=epoch):
            return bool(epoch == head.get("epoch"))
        case _:
            return False


def _has_channel(state: PlainState, c: int, b: int) -> bool:
    return bool(part(state, "controllers", c).get("channels", 0) >> b - 1 & 1)


def _leaves_none(at: Position, c: int, b: int) -> bool:
    """Whether the request at the head of a queue may leave no line: an UpdateMetadata, or a stop, of nothing."""
    head = part(at.state, "connections", c, b, 0)
    stage = STAGES[head.get("stage", 0)]
    return stage in NAMED and not part(head, NAMED[stage])


def _is_from(one: Handled, c: int, epoch: int | None) -> TypeGuard[RequestHandled]:
    return isinstance(one, RequestHandled) and (one.controller, one.epoch) == (c, epoch)
