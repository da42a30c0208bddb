"""Which known defect it is the signature of that something has not come about, as far as it shows from outside.

Each function names a row of `spec/defects`, or nothing. It does not decide what is a break; whoever is excused a row
has that defect by its release, and everybody else reads the name as a hint.
"""

from __future__ import annotations

from model_check.monitors.arrivals import Arrival
from model_check.monitors.contents import State
from model_check.monitors.controllers import decides
from model_check.monitors.deletion import was_deleted
from model_check.monitors.history import History, Write, state_path
from model_check.monitors.moments import Moment
from spec.formats import znode_paths as paths
from spec.formats.request_schemas import ApiKey
from spec.kafka_types import TopicPartition


def row_of_unraised(at: Moment) -> str:
    """Who has /controller and has not raised the epoch has failed to, and goes on (D1)."""
    office = at.history.office(at.number)
    owner = office.owner.session if office.owner else None
    conflicts = at.history.conflicts
    return "D1" if any(one.session == owner and office.since <= one.number <= at.number for one in conflicts) else ""


def row_of_idleness(at: Moment) -> str:
    """The controller has done nothing since a broker died that was told to delete a replica (D50)."""
    history, owner = at.history, at.history.office(at.number).owner
    done = [one.number for one in history.writes[: at.number] if owner and one.author.session == owner.session]
    since = max(done, default=0)
    ended = [one for one in history.of_kind(paths.BROKER) if one.dropped and since < one.number < at.number]
    told = {one.broker for one in history.arrivals.all() if one.kind is ApiKey.STOP_REPLICA and one.delete}
    return "D50" if any(one.path is not None and one.path.broker in told for one in ended) else ""


def row_of_unborn(at: Moment, partition: TopicPartition) -> str:
    """A partition that was added to a topic has not been noticed (D17)."""
    born = at.history.birth(partition.topic, at.number)
    is_added = born is not None and at.history.replicas(partition, born.number + 1) is None
    return row_of_idleness(at) or ("D17-unseen" if is_added else "")


def row_of_silence(at: Moment, partition: TopicPartition, highest: int) -> str:
    """Nobody is told of a state, or somebody is not; `highest` is the leader epoch that this one has heard of."""
    history = at.history
    decided = _decision(history, partition, at.number)
    office = history.office(at.number)
    if decided is None or office.owner is None:
        return ""
    if decided.is_create and not _is_told_to_anybody(history, partition):
        return "D54"
    assigned = history.last(f"/brokers/topics/{partition.topic}", at.number)
    if assigned is not None and not assigned.is_create and _is_unfenced(assigned):
        return "D2-assignment"
    if decided.author.broker != office.owner.broker:
        return "D5"
    return row_of_idleness(at) or ("D12" if highest < 0 else "")


def _decision(history: History, partition: TopicPartition, number: int) -> Write | None:
    """The last decision about a partition."""
    decided = [one for one in history.of(state_path(partition)) if one.number < number and decides(one)]
    return decided[-1] if decided else None


def _is_told_to_anybody(history: History, partition: TopicPartition) -> bool:
    return any(partition in one.states for one in history.arrivals.all() if one.kind is ApiKey.LEADER_AND_ISR)


def _is_unfenced(write: Write) -> bool:
    """Whether a broker wrote that was not in office."""
    owner = write.office.owner
    return write.author.broker is not None and (owner is None or owner.broker != write.author.broker)


def row_of_stale_metadata(at: Moment, partition: TopicPartition, highest: int) -> str:
    """The leader epoch that a reassignment raised is not in the controller's cache (D18)."""
    written = at.history.of(f"/brokers/topics/{partition.topic}")
    lists = (at.history.replicas(partition, one.number + 1) for one in written if one.number < at.number)
    is_moved = len(set(lists) - {None}) > 1
    return "D18" if is_moved and highest >= 0 else row_of_silence(at, partition, highest)


def row_of_orphan(at: Moment, partition: TopicPartition, request: Arrival) -> str:
    """A log of a deleted topic: a request made it anew as that was deleted (D57), or it was forgotten before (D38)."""
    asked = at.history.last(f"/admin/delete_topics/{partition.topic}", at.number)
    asks = [one.ms for one in at.history.of(asked.name) if one.is_create] if asked else []
    is_anew = any(one <= request.ms for one in asks[-1:])
    return "D57" if is_anew else "D38-deletion"


def row_of_deletion(at: Moment, topic: str) -> str:
    """What is known to keep a deletion from its end."""
    assignment, history = at.history.assignment(topic, at.number), at.history
    partitions = [TopicPartition(topic, number) for number in (assignment.replicas if assignment else ())]
    if assignment is None:
        return "D37"
    if any(not isinstance(history.state(one, at.number), State) for one in partitions):
        return "D16"
    if any(one in history.moves(at.number) for one in partitions):
        return "D44"
    if row_of_idleness(at):
        return "D50"
    if _is_refused(at, topic):
        return "D46"
    return "D45" if was_deleted(history, topic, at.number) else ""


def _is_refused(at: Moment, topic: str) -> bool:
    """Whether a StopReplica was refused since the deletion was asked for."""
    asked = at.history.last(f"/admin/delete_topics/{topic}", at.number)
    requests = (one for one in at.history.arrivals.all() if one.kind is ApiKey.STOP_REPLICA and one.is_refused)
    return asked is not None and any(one.ms >= asked.ms for one in requests)
