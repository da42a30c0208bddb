"""Which known defect it is the signature of that something has not come about, as far as it shows from outside.

Each function names a row of `spec/defects`, or nothing. It does not decide what is a break; whoever is excused a row
has that defect by its release, and everybody else reads the name as a hint. So a row is named only where that happened
which brings its defect about: a lost answer, a broker that was back before anybody looked, a controller's end.

Kafka: as PROTOCOL.md section 12 tells of each row.
"""

from collections.abc import Collection

from model_check.monitors.arrivals import Arrival
from model_check.monitors.contents import ELECTIONS, Elections, State, is_in_sync
from model_check.monitors.controllers import decides, raisers, removed_by_others
from model_check.monitors.deletion import deletions, is_left_half_way
from model_check.monitors.history import History, Write, state_path
from model_check.monitors.moments import Moment
from model_check.monitors.reassignment import asked_at, joined_at, known_replicas, left_at
from model_check.recordings.tracks import SKEW
from spec.formats import znode_paths as paths
from spec.formats.kafka_types import NO_LEADER, TopicPartition
from spec.formats.request_schemas import ApiKey

FAILOVER = 30_000
"""Milliseconds that a controller may take to come to work."""
NOTICED = 500
"""Milliseconds after which a controller that runs, and has nothing to do, has seen that a broker is gone."""
SETTLED = 1_500
"""Milliseconds after the last write of anybody until a controller that runs has nothing to do."""


def of_unraised(at: Moment) -> str:
    """A broker that has /controller and has not raised the epoch has failed to, and goes on (D1)."""
    office = at.history.office(at.number)
    refused = (one for one in at.history.refusals if one.error == "BadVersion")
    is_its = (one.author == office.owner and office.since <= one.number <= at.number for one in refused)
    return "D1" if any(is_its) else ""


def of_idleness(at: Moment) -> str:
    """The controller has done nothing since a broker died that was told to delete a replica (D50)."""
    history, owner = at.history, at.history.office(at.number).owner
    done = [one.number for one in history.writes[: at.number] if owner and one.author.session == owner.session]
    since = max(done, default=0)
    ended = [one for one in history.of_kind(paths.BROKER) if one.dropped and since < one.number < at.number]
    told = {one.broker for one in history.arrivals.all() if one.kind is ApiKey.STOP_REPLICA and one.delete}
    return "D50" if any(one.path is not None and one.path.broker in told for one in ended) else ""


def of_start(at: Moment) -> str:
    """A broker started in this term, and that raises: for a topic that is gone, or was never led (D51)."""
    history, number = at.history, at.number
    since = history.office(number).since
    started = any(since < one.number < number and one.is_create for one in history.of_kind(paths.BROKER))
    moves = [one for one, _ in history.moves(number).items() if history.state(one, number) is None]
    return "D51" if started and (moves or removed_by_others(history, number)) else ""


def _is_left(at: Moment, partition: TopicPartition) -> bool:
    """Whether the partition's topic was to be deleted, and a lost answer has left it half way (D70)."""
    return is_left_half_way(at.history, partition.topic, at.number)


def of_unnamed(at: Moment) -> str:
    """Brokers are sent nothing of each other's starts, nor of deaths that took no leader (D60); or nothing any more."""
    return of_idleness(at) or of_unraised(at) or of_start(at) or "D60"


def of_dead_leader(at: Moment, partition: TopicPartition) -> str:
    """A zombie decided (D5), a move had nobody to lead (D48), or the leader's death was passed over (D51)."""
    if _is_left(at, partition):
        return "D70"
    history, state = at.history, at.history.state(partition, at.number)
    decided = _decision(history, partition, at.number)
    if decided is None or state is None:
        return ""
    if _is_unread(at, decided):
        return "D5"
    is_moved = partition in history.moves(decided.number)
    if state.leader == NO_LEADER and is_moved and decided.office.owner is not None:
        return "D48"
    return of_idleness(at) or of_unraised(at) or of_start(at) or _of_creation(at, decided)


def of_unborn(at: Moment, partition: TopicPartition) -> str:
    """A partition that was added to a topic while a controller came to work has not been noticed (D17)."""
    if _is_left(at, partition):
        return "D70"
    history, office = at.history, at.history.office(at.number)
    born = history.birth(partition.topic, at.number)
    is_added = born is not None and history.replicas(partition, born.number + 1) is None
    came, added = history.writes[office.since], _added(history, partition, at.number)
    is_amid = added is not None and office.since < added.number and added.ms - came.ms <= FAILOVER
    return of_idleness(at) or ("D17-unseen" if is_added and is_amid else "") or of_start(at)


def _added(history: History, partition: TopicPartition, number: int) -> Write | None:
    """The write that made a partition part of its topic."""
    written = history.until(f"/brokers/topics/{partition.topic}", number)
    added = [one for one in written if history.replicas(partition, one.number) is None]
    return added[-1] if added else None


def of_edit(at: Moment, partition: TopicPartition, broker: int) -> str:
    """A broker is of AR only by an edit by hand, of which the controller in office has not heard (D73)."""
    known = known_replicas(at.history, partition, at.number)
    return "D73" if known is not None and broker not in known else ""


def of_silence(at: Moment, partition: TopicPartition, broker: int, highest: int) -> str:
    """No broker is sent a state, or this one is not; `highest` is the leader epoch that it was sent."""
    history = at.history
    if _is_left(at, partition):
        return "D70"
    decided = _decision(history, partition, at.number)
    office = history.office(at.number)
    if decided is None or office.owner is None:
        return ""
    if row := _of_creation(at, decided):
        return row
    assigned = history.last(f"/brokers/topics/{partition.topic}", at.number)
    if assigned is not None and not assigned.is_create and assigned.is_a_zombies:
        return "D2-assignment"
    if _is_unread(at, decided):
        return "D5"
    is_cached = highest >= 0 and _is_cached(at, decided) and _was_away(at, broker, decided.number)
    row = "D18" if is_cached else "D12" if highest < 0 and _is_bounced(at, broker, decided) else ""
    return of_idleness(at) or of_unraised(at) or row or of_start(at)


def _decision(history: History, partition: TopicPartition, number: int) -> Write | None:
    """The last decision about a partition."""
    return next(filter(decides, reversed(history.until(state_path(partition), number))), None)


def _is_unread(at: Moment, decided: Write) -> bool:
    """Whether the controller in office may have read the state before somebody else decided."""
    office = at.history.office(at.number)
    return decided.author != office.owner and decided.number > office.raised


def _of_creation(at: Moment, decided: Write) -> str:
    """The create of a state znode was repeated at once, and refused, for its answer was lost (D54)."""
    refused = (one.number for one in at.history.refusals if one.author == decided.author and one.error == "NodeExists")
    first = next((number for number in refused if decided.number < number <= at.number), decided.number)
    between = at.history.writes[decided.number + 1 : first]
    is_repeated = first > decided.number and all(one.author != decided.author for one in between)
    return "D54" if decided.is_create and is_repeated else ""


def _is_bounced(at: Moment, broker: int, decided: Write) -> bool:
    """Whether a broker left and came back in this term, unnoticed, and the decision is from before that.

    A controller that takes it out of any ISR in between has noticed; one that could have noticed, and has not, has
    another fault.
    """
    history = at.history
    ids = history.until(f"/brokers/ids/{broker}", at.number)
    gone = [one.number for one in ids if one.after is None]
    since = max(history.office(at.number).since, decided.number)
    if not gone or ids[-1].after is None or not since < gone[-1] < ids[-1].number:
        return False
    if _could_notice(at, history.writes[gone[-1]], ids[-1]):
        return False
    between = history.writes[gone[-1] : ids[-1].number]
    return not any(decides(one) and is_in_sync(one.before, broker) > is_in_sync(one.after, broker) for one in between)


def _could_notice(at: Moment, gone: Write, back: Write) -> bool:
    """Whether the controller in office had nothing to wait for, and time, between a broker's end and its return.

    It was not stopped, as far as clocks tell, and nothing had been written for `SETTLED` when the broker ended; or the
    cluster is known to have been at rest while the broker was away, or before, if nothing was written since.
    """
    history, owner = at.history, at.history.office(at.number).owner
    if owner is None or owner.broker is None or back.ms - gone.ms < NOTICED:
        return False
    earlier = next((one for one in reversed(history.writes[: gone.number]) if one.zxid != gone.zxid), None)
    last = max(earlier.ms if earlier else 0, history.writes[history.office(at.number).since].ms)
    is_settled = gone.ms - last >= SETTLED
    if history.acts.is_stopped(owner.broker, (last if is_settled else gone.ms) - SKEW, back.ms + SKEW):
        return False
    quiet = earlier.number + 1 if earlier else 0
    at_rest = (quiet <= min(cuts) <= max(cuts) <= back.number for cuts in map(history.cuts, history.acts.rests))
    return is_settled or any(at_rest)


def of_stale_metadata(at: Moment, partition: TopicPartition, broker: int, highest: int) -> str:
    """A failover found a request to delete what stays (D71), or the controller's cache lacks a raised epoch (D18)."""
    history = at.history
    if not history.deletes_topics and history.is_asked_to_go(partition.topic, history.office(at.number).raised):
        return "D71"
    decided = _decision(history, partition, at.number)
    is_cached = decided is not None and _is_cached(at, decided) and not _is_left(at, partition)
    return "D18" if is_cached and highest >= 0 else of_silence(at, partition, broker, highest)


def of_older(history: History, request: Arrival, newer: Write) -> str:
    """A reassignment raised the leader epoch alone (D18), or somebody decided after the sender had read (D5)."""
    if newer.author.broker == request.controller:
        return "D18" if _is_bump(newer) else ""
    raised = raisers(history).get(-1 if request.epoch is None else request.epoch, [])
    return "D5" if raised and raised[0].author.broker == request.controller and raised[0].number < newer.number else ""


def of_left_in_cache(at: Moment, topic: str) -> str:
    """The controller that had begun to delete a topic came to its end before (S10)."""
    begun = at.history.asked_to_delete(topic, at.number)
    return "S10" if begun and at.history.office(at.number).since > begun[-1].number else ""


def _is_cached(at: Moment, decided: Write) -> bool:
    """Whether the controller in office raised the leader epoch alone, which its cache does not have."""
    return _is_bump(decided) and decided.author == at.history.office(at.number).owner


def _is_bump(decided: Write) -> bool:
    """Whether a decision only raised the leader epoch, as a reassignment does before it tells of other replicas."""
    before, after = decided.before, decided.after
    if not isinstance(before, State) or not isinstance(after, State):
        return False
    return (before.leader, set(before.isr)) == (after.leader, set(after.isr))


def failed_deletion(at: Moment, partition: TopicPartition, broker: int, since: int) -> Arrival | None:
    """The request, since a time (ms), by which a broker was to delete a replica and could not, if that was the last."""
    received = at.history.arrivals.by_broker.get(broker)
    requests = received.requests if received is not None else ()
    told = [one for one in requests if since <= one.ms <= at.rest.ms and one.delete and partition in one.stopped]
    return told[-1] if told and told[-1].fails_to_delete(partition) else None


def of_stray(at: Moment, partition: TopicPartition, broker: int, request: Arrival) -> str:
    """A log that its broker could not delete (D72-move), that a zombie had assigned to it and a later write of the
    cached AR took away (D2-assignment), or that a reassignment left behind as its broker died or its term ended (D38;
    D47 if it leads).
    """
    history = at.history
    if failed_deletion(at, partition, broker, request.ms) is not None:
        return "D72-move"
    left = left_at(history, partition, broker, at.number)
    if left is None:
        return ""
    if _is_taken_back(history, partition, broker, left):
        return "D2-assignment"
    office = history.office(at.number)
    has_died = office.owner != left.author or office.since > left.number
    if not has_died and not _was_away(at, broker, asked_at(history, partition, left.number)):
        return ""
    return "D47" if request.states[partition].leader == broker else "D38"


def _is_taken_back(history: History, partition: TopicPartition, broker: int, left: Write) -> bool:
    """Whether a zombie had brought a broker into AR, and its successor, which does not know, writes the AR that it has.

    That was in office before, and has written no assignment of the topic in between.
    """
    joined = joined_at(history, partition, broker, left.number)
    if joined is None or not joined.is_a_zombies or not left.is_in_office or left.office.raised > joined.number:
        return False
    written = history.until(f"/brokers/topics/{partition.topic}", left.number)
    return not any(one.is_in_office for one in written if one.number > joined.number)


def _was_away(at: Moment, broker: int, number: int) -> bool:
    """Whether a broker has registered anew since the write of a number, or is not registered."""
    registered = at.history.registered(broker, at.number)
    return registered is None or registered.number > number


def of_orphan(at: Moment, partition: TopicPartition, broker: int, request: Arrival) -> str:
    """A log of a deleted topic: a request made it anew as that was deleted (D57), or it was forgotten before (D38)."""
    history = at.history
    asked = history.asked_to_delete(partition.topic, at.number)
    if asked and asked[-1].ms <= request.ms:
        came = history.of_kind(paths.BROKER, paths.CONTROLLER)
        return "D57" if any(one.is_create and asked[-1].number < one.number < at.number for one in came) else ""
    return "D38-deletion" if of_stray(at, partition, broker, request) in {"D38", "D47"} else ""


def of_deletion(at: Moment, topic: str) -> str:
    """What is known to keep a deletion from its end."""
    assignment, history = at.history.assignment(topic, at.number), at.history
    partitions = [TopicPartition(topic, number) for number in (assignment.replicas if assignment else ())]
    since = history.office(at.number).since
    gone = (one.write.number for one in deletions(history) if one.write.topic == topic)
    known = {
        "D37": _is_left_over(at),
        "D16": any(not isinstance(history.state(one, at.number), State) for one in partitions),
        "D44": any(one in history.moves(at.number) for one in partitions),
        "D50": bool(of_idleness(at)),
        "D72": _has_failed(at, partitions),
        "D46": _is_refused(at, topic),
        "D45": any(since < number < at.number for number in gone),
        "D71-request": not history.deletes_topics,
    }
    return next((row for row, is_so in known.items() if is_so), "")


def _is_left_over(at: Moment) -> bool:
    """Whether the controller came to work while a request stood for a topic that was gone."""
    history, raised = at.history, at.history.office(at.number).raised
    topics = {one.topic for one in history.of_kind(paths.DELETE_TOPIC)}
    return any(history.is_asked_to_go(one, raised) and history.assignment(one, raised) is None for one in topics)


def _has_failed(at: Moment, partitions: Collection[TopicPartition]) -> bool:
    """Whether a broker could not delete a replica of a topic, and since then no broker with one has started, nor has
    another controller come: either would have begun anew.
    """
    history = at.history
    assigned = [(tp, b) for tp in partitions for b in history.replicas(tp, at.number) or ()]
    started = [one.ms for _, b in assigned if (one := history.registered(b, at.number)) is not None]
    since = max([*started, history.writes[history.office(at.number).since].ms])
    return any(failed_deletion(at, tp, b, since) for tp, b in assigned)


def _is_refused(at: Moment, topic: str) -> bool:
    """Whether a StopReplica was refused since the deletion was asked for."""
    asked = at.history.last(f"/admin/delete_topics/{topic}", at.number)
    requests = (one for one in at.history.arrivals.all() if one.kind is ApiKey.STOP_REPLICA and one.is_refused)
    return asked is not None and any(one.ms >= asked.ms for one in requests)


def of_unmoved(at: Moment, partition: TopicPartition) -> str:
    """A topic was deleted while it was being reassigned, and the request stays (D44)."""
    gone = [one.write for one in deletions(at.history) if one.write.topic == partition.topic]
    gone = [one for one in gone if one.number < at.number]
    return "D44" if any(partition in at.history.moves(one.number) for one in gone) else of_idleness(at)


def of_unfinished(at: Moment, partition: TopicPartition) -> str:
    """A leader was dead when its move began, and is sent the epoch of before, now that it is back (D18)."""
    state, since = at.history.state(partition, at.number), asked_at(at.history, partition, at.number)
    is_back = state is not None and _was_away(at, state.leader, since)
    return of_unmoved(at, partition) or ("D18-stuck" if is_back else "")


def of_elections(at: Moment) -> str:
    """The request has named a partition that was not led (D49)."""
    history = at.history
    asked, request = history.last(ELECTIONS, at.number), history.at(ELECTIONS, at.number)
    if asked is None or not isinstance(request, Elections):
        return ""
    unled = (one for one in request.partitions if not _is_led_since(at, one, asked.number))
    return "D49" if any(unled) else of_idleness(at)


def _is_led_since(at: Moment, partition: TopicPartition, number: int) -> bool:
    """Whether a partition has had a state znode all the time since the write of a number."""
    written = (one.after for one in at.history.until(state_path(partition), at.number) if number < one.number)
    return all(isinstance(one, State) for one in (at.history.state(partition, number), *written))
