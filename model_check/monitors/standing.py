"""Claims that what an admin has asked for is done, and the request gone, once the cluster has come to rest.

A request is asked about only where nothing keeps it from being served that brokers are to do: its replicas are up, and,
where they have to catch up, they have.

Kafka: `TopicDeletionManager`, `PartitionsReassignedListener`, `PreferredReplicaElectionListener`, 0.10.2.2. PROTOCOL.md
sections 7.4, 7.5 and 8.
"""

from __future__ import annotations

from model_check.monitors.claims import Answers, Break, Needs, monitored
from model_check.monitors.contents import Moves
from model_check.monitors.deletion import deletions
from model_check.monitors.history import ELECTIONS, MOVES, History
from model_check.monitors.moments import Moment, Shown, at_rest
from model_check.monitors.signatures import row_of_deletion
from spec.formats import znode_paths as paths
from spec.kafka_types import TopicPartition


@monitored(needs=Needs.REST)
def eventually_deletions_complete(history: History) -> Answers:
    """Asked of topics to be deleted all of whose replicas are up, where deletion is known to be enabled."""
    topics = sorted({one.topic for one in history.of_kind(paths.DELETE_TOPIC)})
    is_enabled = history.acts.is_told or any(deletions(history))

    def ask(at: Moment) -> Shown:
        for topic in topics:
            assignment = history.assignment(topic, at.number)
            replicas = sorted({one for some in (assignment.replicas.values() if assignment else ()) for one in some})
            if is_enabled and at.controller is not None and all(map(at.is_up, replicas)):
                text = f"/admin/delete_topics/{topic} stands, although all that host the topic run"
                stands = history.is_doomed(topic, at.number)
                yield topic, Break(at.rest.place, text, row_of_deletion(at, topic)) if stands else None

    return at_rest(history, ask)


@monitored(needs=Needs.REST)
def eventually_reassignments_complete(history: History) -> Answers:
    """Asked of partitions that were to be reassigned: AR has RAR once that is up, and is RAR once that is in sync."""
    moves = [one.after for one in history.of(MOVES) if isinstance(one.after, Moves)]
    partitions = sorted({partition for one in moves for partition in one.replicas})

    def ask(at: Moment) -> Shown:
        for partition in partitions:
            wanted = history.moves(at.number).get(partition)
            if at.controller is None or history.is_doomed(partition.topic, at.number):
                continue
            if wanted is None:
                yield str(partition), None
            elif all(map(at.is_up, wanted)):
                yield str(partition), _unmoved(at, partition, wanted)

    return at_rest(history, ask)


def _unmoved(at: Moment, partition: TopicPartition, wanted: tuple[int, ...]) -> Break | None:
    """Whether a request stands that is done, that nobody has begun, or whose partition is not there."""
    replicas, state = at.history.replicas(partition, at.number), at.history.state(partition, at.number)
    text = f"{MOVES} asks for {list(wanted)} for {partition}"
    if replicas is None:
        return Break(at.rest.place, f"{text}, which is not there", "D44")
    if state is None:
        return Break(at.rest.place, f"{text}, which has no state znode", "S8")
    if not set(wanted) <= set(replicas):
        return Break(at.rest.place, f"{text}, whose AR is {list(replicas)}: nobody has begun")
    is_due = set(wanted) <= set(state.isr) and at.is_up(state.leader)
    text = f"{text}, whose AR is {list(replicas)}, although all of it is in sync: it has {state}"
    return Break(at.rest.place, text, "D18-stuck") if is_due else None


@monitored(needs=Needs.REST)
def eventually_elections_come_to_an_end(history: History) -> Answers:
    """Asked while a controller is up: no request for a preferred election stands."""

    def ask(at: Moment) -> Shown:
        if at.controller is not None:
            stands = history.at(ELECTIONS, at.number) is not None
            yield "request", Break(at.rest.place, f"{ELECTIONS} stands", "D49") if stands else None

    return at_rest(history, ask)


CLAIMS = (
    eventually_deletions_complete,
    eventually_reassignments_complete,
    eventually_elections_come_to_an_end,
)
