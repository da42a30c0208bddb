"""Claims that what an admin has asked for is done, and the request gone, once the cluster has come to rest.

A request is asked about only where nothing keeps it from being served that brokers are to do: its replicas are up, and,
where they have to catch up, they have; nor does another wait for that which may rightly be served before it.

Kafka: `TopicDeletionManager`, `PartitionsReassignedListener`, `PreferredReplicaElectionListener`, 0.10.2.2. PROTOCOL.md
sections 7.4, 7.5 and 8.
"""

from __future__ import annotations

from model_check.monitors.claims import Break
from model_check.monitors.contents import Moves
from model_check.monitors.deletion import deletions
from model_check.monitors.history import ELECTIONS, MOVES
from model_check.monitors.moments import Moment, Shown, at_rest
from model_check.monitors.signatures import row_of_deletion, row_of_elections, row_of_unfinished, row_of_unmoved
from spec.formats import znode_paths as paths
from spec.formats.kafka_types import TopicPartition


@at_rest()
def eventually_deletions_complete(at: Moment) -> Shown:
    """Asked of topics to be deleted all of whose replicas are up, and that wait for no move, if deletion is enabled."""
    history = at.history
    topics = sorted({one.topic for one in history.of_kind(paths.DELETE_TOPIC)})
    is_enabled = history.acts.is_told or any(deletions(history))
    for topic in topics:
        assignment = history.assignment(topic, at.number)
        replicas = sorted({one for some in (assignment.replicas.values() if assignment else ()) for one in some})
        waits = any(one.topic == topic and _waits(at, one) for one in history.moves(at.number))
        if is_enabled and at.controller is not None and all(map(at.is_up, replicas)) and not waits:
            text = f"/admin/delete_topics/{topic} stands, although all that host the topic run"
            stands = history.is_doomed(topic, at.number)
            yield topic, Break(at.rest.place, text, row_of_deletion(at, topic)) if stands else None


@at_rest()
def eventually_reassignments_complete(at: Moment) -> Shown:
    """Asked of partitions that were to be reassigned: AR has RAR once that is up, and is RAR once that is in sync.

    One that nobody has begun is not asked about while another waits for its replicas: it may be its turn later. Nor is
    one without leadership, nor one that an admin has removed.
    """
    history = at.history
    moves = [one.after for one in history.of(MOVES) if isinstance(one.after, Moves)]
    partitions = sorted({partition for one in moves for partition in one.replicas})
    for partition in partitions:
        wanted = history.moves(at.number).get(partition)
        if at.controller is None or history.is_doomed(partition.topic, at.number):
            continue
        if wanted is None:
            yield str(partition), None
        elif all(map(at.is_up, wanted)):
            yield str(partition), _unmoved(at, partition, wanted)


def _unmoved(at: Moment, partition: TopicPartition, wanted: tuple[int, ...]) -> Break | None:
    """Whether a request stands that is done, that nobody has begun, or whose topic was deleted by a member."""
    replicas, state = at.history.replicas(partition, at.number), at.history.state(partition, at.number)
    text = f"{MOVES} asks for {list(wanted)} for {partition}"
    if replicas is None:
        topic = at.history.last(f"/brokers/topics/{partition.topic}", at.number)
        by_hand = topic is not None and not topic.author.is_members
        return None if by_hand else Break(at.rest.place, f"{text}, which is not there", row_of_unmoved(at, partition))
    if state is None:
        return None
    if not set(wanted) <= set(replicas):
        waits = any(_waits(at, one) for one in at.history.moves(at.number) if one != partition)
        text = f"{text}, whose AR is {list(replicas)}: nobody has begun"
        return None if waits else Break(at.rest.place, text, row_of_unmoved(at, partition))
    text = f"{text}, whose AR is {list(replicas)}, although all of it is in sync: it has {state}"
    return None if _waits(at, partition) else Break(at.rest.place, text, row_of_unfinished(at, partition))


def _waits(at: Moment, partition: TopicPartition) -> bool:
    """Whether a move waits for its replicas: they are not up, or AR has them, and they are not in sync."""
    wanted, state = at.history.moves(at.number).get(partition, ()), at.history.state(partition, at.number)
    if state is None or not all(map(at.is_up, wanted)):
        return True
    is_begun = set(wanted) <= set(at.history.replicas(partition, at.number) or ())
    return is_begun and not (set(wanted) <= set(state.isr) and at.is_up(state.leader))


@at_rest()
def eventually_elections_come_to_an_end(at: Moment) -> Shown:
    """Asked while a controller is up: no request for a preferred election stands."""
    if at.controller is not None:
        stands = at.history.at(ELECTIONS, at.number) is not None
        yield "request", Break(at.rest.place, f"{ELECTIONS} stands", row_of_elections(at)) if stands else None
