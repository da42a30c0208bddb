"""What a listener on ISR change notifications has read, by what its controller tells next.

The listener is given the notifications that exist, reads the state znode of each partition that they name, and sends
every broker these in one UpdateMetadata. A controller that was paused is often called long after it was woken, when
more notifications exist and others have written what these name: what it found, its next lines tell.

Kafka 0.10.2.2: `IsrChangeNotificationListener`. PROTOCOL.md section 7.7.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from math import inf
from typing import Final

from model_check.judging.positions import Explained, Position
from model_check.judging.recorded_trees import raw_leadership
from model_check.recordings.recording import Cluster
from model_check.recordings.seen import (
    ControllerSaid,
    NotificationCreated,
    NotificationDeleted,
    SessionBegan,
    StateWritten,
)
from model_check.recordings.tracks import REPORTS, STATE_CHANGES, Tracks
from model_check.stepping.plain_state import PlainState, part
from spec.formats.kafka_types import LEADER_DURING_DELETE, NO_LEADER, TopicPartition
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.logs.controller_request_lines import UpdateMetadataSending
from spec.model import Model
from spec.protocol.broker_events.isr_notification import on_isr_change, read_notified
from spec.protocol.requests.batch import FIELDS

OF_LEADERS: Final = frozenset({"leader", "leader_epoch"})
"""What UpdateMetadata does not tell of a partition that it tells to be removed."""


class ToldNext:
    """What each call of the listener tells, as far as a recording has it."""

    def __init__(self, tracks: Tracks, model: Model) -> None:
        self.tracks = tracks
        self.model = model

    def is_yet_to_come(self, to: Position, step: Explained) -> bool:
        """Whether a controller tells next of what it has not just listed, or read, and what somebody is yet to write.

        What nobody is to write is not waited for. Nor does it list anything yet where it says so in its next session.
        """
        c = step.parameters.get("c", 0)
        if step.rule == on_isr_change.name:
            return self._lists_more(to, c) or self._has_a_session_before(to, step)
        return step.rule == read_notified.name and self._reads_later(to, c, step.parameters["p"])

    def _has_a_session_before(self, to: Position, listing: Explained) -> bool:
        """Whether another session of a controller begins before it says, by the clocks, that it has listed them.

        It says so right behind that, and listing waits for a session.
        """
        said = [one.time for one in listing.observations]
        begun = self.tracks.transactions(to.place, min(said) - 1) if said else ()
        return any(isinstance(one, SessionBegan) and one.by == listing.parameters["c"] for one in begun)

    def _lists_more(self, to: Position, c: int) -> bool:
        told, until = self._told(to, c)
        taken = part(to.state, "controllers", c).get("taken", 0)
        listed = {p for p, one in part(to.state, "zookeeper", "notified").items() if one & taken}
        more = {p for p, one in told.items() if one.leader != LEADER_DURING_DELETE} - listed
        created = (one for one in self.tracks.transactions(to.place, until) if isinstance(one, NotificationCreated))
        return any(not more.isdisjoint(one.partitions) for one in created)

    def _reads_later(self, to: Position, c: int, p: int) -> bool:
        told, until = self._told(to, c)
        if p not in told or self._is_said(told[p], part(to.state, "controllers", c, "partitions", p)):
            return False
        written = (one for one in self.tracks.transactions(to.place, until) if isinstance(one, StateWritten))
        states = (raw_leadership(self.model, one.state) for one in written if one.partition == p)
        return any(self._is_said(told[p], one) for one in states)

    def _told(self, to: Position, c: int) -> tuple[Mapping[int, LeaderIsrAndControllerEpoch], int]:
        """What the next UpdateMetadata tells of each partition, and when; nothing, if it does something else before."""
        lines = self.tracks.lines(to.place, c, STATE_CHANGES)
        first, epoch = next(iter(lines), None), part(to.state, "controllers", c).get("epoch", 0)
        if first is None or not isinstance(first.line, UpdateMetadataSending) or first.line.epoch != epoch:
            return {}, 0
        if any(one.time < first.time for one in self.tracks.lines(to.place, c, REPORTS)[:1]):
            return {}, 0
        cluster, of_it = self.tracks.cluster, list(_of_one_request(lines))
        end = self._deletes(to, c, max(time for time, _ in of_it))
        told = (one for time, one in of_it if time <= end and one.partition in cluster.partitions)
        known = (one for one in told if _names_known(cluster, one.leadership))
        return {cluster.partition(one.partition): one.leadership for one in known}, first.time

    def _deletes(self, to: Position, c: int, until: int) -> float:
        """When a controller deletes a notification, until a time: behind all that it tells of what it has listed."""
        changes = self.tracks.transactions(to.place, until)
        return next((one.time for one in changes if isinstance(one, NotificationDeleted) and one.by == c), inf)

    def _is_said(self, told: LeaderIsrAndControllerEpoch, known: PlainState) -> bool:
        """Whether a line says what a record of a state has, its version aside, which is not printed."""
        left_out = OF_LEADERS if told.leader == LEADER_DURING_DELETE else frozenset[str]()
        named = replace(told, leader=NO_LEADER) if left_out else told
        said = raw_leadership(self.model, self.tracks.cluster.in_numbers(named))
        return all(said.get(name, 0) == known.get(name, 0) for name in FIELDS if name not in {"version", *left_out})


def _names_known(cluster: Cluster, told: LeaderIsrAndControllerEpoch) -> bool:
    """Whether a line names brokers of the recorded cluster only."""
    return {told.leader, *told.isr} <= {NO_LEADER, LEADER_DURING_DELETE, *cluster.broker_ids}


def _of_one_request(lines: Iterable[ControllerSaid]) -> Iterator[tuple[int, UpdateMetadataSending]]:
    """The UpdateMetadata with which a log goes on, line by line: to the same brokers, and each partition once."""
    brokers, told = None, set[TopicPartition]()
    for one in lines:
        line = one.line
        if not isinstance(line, UpdateMetadataSending) or line.partition in told or brokers not in {None, line.brokers}:
            return
        brokers, told = line.brokers, {*told, line.partition}
        yield one.time, line
