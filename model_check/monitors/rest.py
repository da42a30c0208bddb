"""Claims about a cluster at rest: somebody is in charge, all have been sent what they need, and what was asked for is
done.

What a broker has been sent is what its present process has received, and has not refused: what an earlier process was
sent is forgotten. A request of an admin's is asked about only where nothing keeps it from being served that brokers are
to do: its replicas are up, and, where they have to catch up, they have; nor does another wait for that which may
rightly be served before it.

Kafka: `KafkaController`, `ControllerBrokerRequestBatch`, `ReplicaStateMachine`, `TopicDeletionManager`,
`PartitionsReassignedListener`, 0.10.2.2. PROTOCOL.md sections 6 to 10.
"""

from collections.abc import Iterable

from model_check.monitors import signatures
from model_check.monitors.arrivals import Arrival
from model_check.monitors.claims import Break, Needs
from model_check.monitors.contents import ELECTIONS, MOVES, Moves, State
from model_check.monitors.deletion import deletions, was_deleted
from model_check.monitors.history import state_path
from model_check.monitors.moments import Moment, Shown, at_rest, running
from model_check.monitors.reassignment import left_at
from model_check.recordings.tracks import SKEW
from spec.formats import znode_paths as paths
from spec.formats.kafka_types import TopicPartition
from spec.formats.request_schemas import ApiKey

# --------------------------------------------------------------------------------------------------- who is in charge


@at_rest()
def eventually_one_working_controller(at: Moment) -> Shown:
    """Asked while somebody is up that may be elected: one is in office, and has raised the epoch since.

    Whoever only controls need not be registered: its process runs.
    """
    history = at.history
    office = history.office(at.number)
    if office.owner is None:
        up = set(filter(at.is_up, {*history.brokers} - history.no_candidates))
        up |= history.controllers & at.rest.running
        yield "office", at.broken(f"nobody is controller, and {running(up)}") if up else None
    elif at.controller is not None:
        won, raised = history.writes[office.since].place, history.has_raised(office)
        text = f"{office.owner} has had /controller since {won}, and has not raised /controller_epoch"
        is_its = raised and office.raised_by is not None and office.raised_by.broker in {office.owner.broker, None}
        yield "epoch", None if is_its else at.broken(text, signatures.of_unraised(at))


@at_rest()
def eventually_partitions_are_led(at: Moment) -> Shown:
    """Asked of partitions with a replica that is up, while a controller is."""
    for partition, replicas, state in at.partitions():
        if at.controller is not None and any(map(at.is_up, replicas)):
            text = f"{partition} has no state znode, although {running(filter(at.is_up, replicas))}"
            is_led = state is not None
            yield str(partition), None if is_led else at.broken(text, signatures.of_unborn(at, partition))


@at_rest()
def eventually_leaders_can_lead(at: Moment) -> Shown:
    """Asked of partitions with an assigned replica in sync that is up, while a controller is: so is their leader."""
    for partition, replicas, state in at.partitions():
        in_sync = [one for one in (state.isr if state else ()) if at.is_up(one) and one in replicas]
        if state is not None and in_sync and at.controller is not None:
            text = f"{partition} has {state}, and {running(in_sync)}"
            is_led = at.is_up(state.leader)
            yield str(partition), None if is_led else at.broken(text, signatures.of_dead_leader(at, partition))


# -------------------------------------------------------------------------------------------------- who has been told


@at_rest(needs=Needs.REST_AND_REQUESTS)
def eventually_live_replicas_are_informed(at: Moment) -> Shown:
    """Asked of replicas that are up, while a controller is: each has received the leader epoch of the state znode."""
    for partition, replicas, state in at.partitions():
        for broker in replicas if state is not None and at.controller is not None else ():
            received = at.received(broker) if at.is_up(broker) else None
            if received is not None and state is not None:
                yield f"{partition} {broker}", _untold(at, received, partition, broker, state)


def _untold(at: Moment, received: list[Arrival], partition: TopicPartition, broker: int, state: State) -> Break | None:
    told = [_accepted(one, partition) for one in received if one.kind is ApiKey.LEADER_AND_ISR]
    highest = max(told, default=-1)
    if highest >= state.leader_epoch:
        return None
    written = at.history.last(state_path(partition), at.number)
    place = written.place if written else ""
    heard = "no LeaderAndIsr of it" if highest < 0 else f"no later leader epoch of it than {highest}"
    text = f"{partition} has {state} ({place}), and broker {broker}, which runs, has accepted {heard}"
    row = signatures.of_edit(at, partition, broker) or signatures.of_silence(at, partition, broker, highest)
    return at.broken(text, row)


def _accepted(request: Arrival, partition: TopicPartition) -> int:
    """The leader epoch that a request tells of a partition; -1 if it does not, or is refused for it."""
    told = request.states.get(partition)
    return -1 if told is None or request.refuses(partition) else told.leader_epoch


@at_rest(needs=Needs.REST_AND_REQUESTS, kind="eventually", source="PROTOCOL.md sections 7 and 9")
def eventually_live_brokers_know_the_leaders(at: Moment) -> Shown:
    """Every live broker has received UpdateMetadata of each partition's leader and leader epoch."""
    up = {broker: at.received(broker) for broker in at.history.brokers if at.is_up(broker)}
    for partition, _, state in at.partitions():
        for broker, received in up.items():
            if state is not None and received is not None and at.controller is not None:
                told = [one for one in received if one.kind is ApiKey.UPDATE_METADATA and not one.is_refused]
                yield f"{partition} {broker}", _unaware(at, told, partition, broker, state)


def _unaware(at: Moment, told: list[Arrival], partition: TopicPartition, broker: int, state: State) -> Break | None:
    epochs = [one.states[partition].leader_epoch for one in told if partition in one.states]
    highest = max(epochs, default=-1)
    if highest >= state.leader_epoch:
        return None
    heard = "nothing of it" if highest < 0 else f"no later leader epoch of it than {highest}"
    text = f"{partition} has {state}, and broker {broker}, which runs, has been sent {heard} by UpdateMetadata"
    return at.broken(text, signatures.of_stale_metadata(at, partition, broker, highest))


@at_rest(needs=Needs.REST_AND_REQUESTS)
def eventually_only_assigned_replicas_have_logs(at: Moment) -> Shown:
    """Asked of brokers that are up, and of partitions that they were made to host, and have not been told to delete.

    A broker that was made to host one so late that it may have been after the moment is not asked, and one that an
    admin took out of AR by hand need not be told to delete it. Whoever is of a documented release keeps a log through a
    restart; others may look what they have as they start.
    """
    history = at.history
    for broker, received in history.arrivals.by_broker.items():
        if not at.is_up(broker) or received.unreadable or at.controller is None:
            continue
        known = received.requests if received.is_documented else at.received(broker) or ()
        for partition, request in _hosted(known, at.rest.ms).items():
            if not history.is_doomed(partition.topic, at.number):
                yield f"{partition} {broker}", _unassigned(at, partition, broker, request)


def _hosted(requests: Iterable[Arrival], ms: int) -> dict[TopicPartition, Arrival]:
    """The partitions that a broker surely hosts at a time, each with the request by which it does."""
    hosted: dict[TopicPartition, Arrival] = {}
    for one in requests:
        if one.ms > ms + SKEW:
            break
        if one.kind is ApiKey.LEADER_AND_ISR and one.ms > ms - SKEW:
            continue
        if one.kind is ApiKey.LEADER_AND_ISR:
            hosted |= {partition: one for partition in one.states if _accepted(one, partition) >= 0}
        elif one.delete and not one.is_refused:
            for partition in one.stopped:
                if not one.refuses(partition):
                    hosted.pop(partition, None)
    return hosted


def _unassigned(at: Moment, partition: TopicPartition, broker: int, request: Arrival) -> Break | None:
    replicas = at.history.replicas(partition, at.number)
    failed = signatures.failed_deletion(at, partition, broker, request.ms)
    told = "was not told to delete it" if failed is None else f"failed to delete it ({failed.place})"
    text = f"broker {broker} hosts {partition} ({request.place}), and {told}"
    if replicas is not None:
        text = f"{text}; its AR is {list(replicas)}"
        left = left_at(at.history, partition, broker, at.number)
        is_fine = broker in replicas or (left is not None and not left.author.is_members)
        return None if is_fine else at.broken(text, signatures.of_stray(at, partition, broker, request))
    is_gone = was_deleted(at.history, partition.topic, at.number)
    row = signatures.of_orphan(at, partition, broker, request)
    return at.broken(f"{text}; its topic was deleted", row) if is_gone else None


# ------------------------------------------------------------------------------------------------- what was asked for


@at_rest()
def eventually_deletions_complete(at: Moment) -> Shown:
    """Asked of topics that are asked to be deleted, all of whose replicas are up, and that wait for no move.

    Where topics are not deleted the request goes (D71-request). Without knowing that they are it is not asked.
    """
    history = at.history
    topics = sorted({one.topic for one in history.of_kind(paths.DELETE_TOPIC)})
    is_enabled = history.acts.is_told or any(deletions(history))
    for topic in topics:
        assignment = history.assignment(topic, at.number)
        replicas = sorted({one for some in (assignment.replicas.values() if assignment else ()) for one in some})
        waits = any(one.topic == topic and _waits(at, one) for one in history.moves(at.number))
        if is_enabled and at.controller is not None and all(map(at.is_up, replicas)) and not waits:
            text = f"/admin/delete_topics/{topic} is left, although all that host the topic run"
            stands = history.is_asked_to_go(topic, at.number)
            yield topic, at.broken(text, signatures.of_deletion(at, topic)) if stands else None


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
    """Whether a request exists that is done, that nobody has begun, or whose topic was deleted by a member."""
    replicas, state = at.history.replicas(partition, at.number), at.history.state(partition, at.number)
    text = f"{MOVES} asks for {list(wanted)} for {partition}"
    if replicas is None:
        topic = at.history.last(f"/brokers/topics/{partition.topic}", at.number)
        by_hand = topic is not None and not topic.author.is_members
        return None if by_hand else at.broken(f"{text}, which is not there", signatures.of_unmoved(at, partition))
    if state is None:
        return None
    if not set(wanted) <= set(replicas):
        waits = any(_waits(at, one) for one in at.history.moves(at.number) if one != partition)
        text = f"{text}, whose AR is {list(replicas)}: nobody has begun"
        return None if waits else at.broken(text, signatures.of_unmoved(at, partition))
    text = f"{text}, whose AR is {list(replicas)}, although all of it is in sync: it has {state}"
    return None if _waits(at, partition) else at.broken(text, signatures.of_unfinished(at, partition))


def _waits(at: Moment, partition: TopicPartition) -> bool:
    """Whether a move waits for its replicas: they are not up, or AR has them, and they are not in sync."""
    wanted, state = at.history.moves(at.number).get(partition, ()), at.history.state(partition, at.number)
    if state is None or not all(map(at.is_up, wanted)):
        return True
    is_begun = set(wanted) <= set(at.history.replicas(partition, at.number) or ())
    return is_begun and not (set(wanted) <= set(state.isr) and at.is_up(state.leader))


@at_rest()
def eventually_elections_come_to_an_end(at: Moment) -> Shown:
    """Asked while a controller is up: no request for elections exists."""
    if at.controller is not None:
        stands = at.history.at(ELECTIONS, at.number) is not None
        yield ("request", at.broken(f"{ELECTIONS} is left", signatures.of_elections(at)) if stands else None)
