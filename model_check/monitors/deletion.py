"""Claims about the deletion of topics: on request only, replicas first, and the request last.

They are asked of what brokers delete: an admin may remove a topic by hand, and then no controller is to blame. The
znodes below a topic go before it; its own delete is the moment that counts.

Kafka: `TopicDeletionManager`, 0.10.2.2. PROTOCOL.md section 7.4.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from model_check.monitors.arrivals import Arrival
from model_check.monitors.claims import Answers, Break, Needs, monitored
from model_check.monitors.contents import Assignment, State
from model_check.monitors.history import History, Write, state_path
from model_check.monitors.reassignment import asked_at, had, known_replicas, left_at
from model_check.recordings.tracks import SKEW
from spec.formats import znode_paths as paths
from spec.formats.kafka_types import TopicPartition


@dataclass(frozen=True)
class Deletion:
    """A broker deletes a topic that was created, at last, by the write `born`; `asked` is the last request for it."""

    write: Write
    born: Write
    asked: Write | None

    @property
    def is_asked(self) -> bool:
        """Whether the deletion was asked for while the topic was there."""
        return self.asked is not None and self.asked.number > self.born.number

    @property
    def since(self) -> int:
        """The number of the write since which it may have been going on."""
        return max(self.born.number, self.asked.number if self.asked else 0)


def deletions(history: History) -> Sequence[Deletion]:
    """Each deletion of a topic by a broker."""
    return history.once(_deletions)


def _deletions(history: History) -> Sequence[Deletion]:
    found = []
    for one in history.of_kind(paths.BROKER_TOPIC):
        if one.is_delete and one.author.is_members:
            born = history.birth(one.topic, one.number)
            asked = history.asked_to_delete(one.topic, one.number)
            if born is not None:
                found.append(Deletion(one, born, asked[-1] if asked else None))
    return found


@monitored()
def topics_are_deleted_on_request(history: History) -> Answers:
    """Asked of each topic that a broker deletes; where topics are not deleted (delete.topic.enable), none is."""
    for one in deletions(history):
        if not history.deletes_topics:
            text = f"{one.write.author} deleted {one.write.name}, where delete.topic.enable is off"
            yield Break(one.write.place, text)
        elif one.is_asked:
            yield None
        elif one.asked is None:
            yield Break(one.write.place, f"{one.write.author} deleted {one.write.name}, and nobody had asked for that")
        else:
            text = f"{one.write.author} deleted {one.write.name}, created at {one.born.place}"
            text = f"{text}: that was asked for ({one.asked.place}) of the topic of this name before it"
            yield Break(one.write.place, text, _row_of_unasked(history, one.write))


def _row_of_unasked(history: History, write: Write) -> str:
    """A request was left for the topic before (D37), or a former controller deletes it (D2)."""
    if history.is_asked_to_go(write.topic, write.number):
        return "D37-unasked"
    return "D2" if write.is_a_zombies else ""


@monitored(source="PROTOCOL.md sections 2 and 7.4; TopicDeletionManager.completeDeleteTopic")
def states_go_with_their_topic(history: History) -> Answers:
    """The state znode of a partition is deleted only if the deletion of its topic was asked for.

    Where the topic itself goes right behind it, that is what is reported.
    """
    for one in history.of_kind(paths.STATE):
        is_topics = history.at(f"/brokers/topics/{one.topic}", one.number) is not None
        if one.is_delete and one.author.is_members and is_topics:
            text = f"{one.author} deleted {one.name}, and nobody had asked to delete its topic"
            is_fine = _is_asked(history, one) or _goes_too(history, one)
            yield None if is_fine else Break(one.place, text, "D2" if one.is_a_zombies else "")


def _is_asked(history: History, state: Write) -> bool:
    """Whether the deletion of the topic was asked for since it was created, or is still."""
    born = history.birth(state.topic, state.number)
    asked = history.last(f"/admin/delete_topics/{state.topic}", state.number)
    return asked is not None and (asked.after is not None or born is None or asked.number > born.number)


def _goes_too(history: History, state: Write) -> bool:
    """Whether the topic is deleted next, before its partition gets a state znode again."""
    of_topic = (one for one in history.of(f"/brokers/topics/{state.topic}") if one.number > state.number)
    topic = next(of_topic, None)
    again = next((one for one in history.of(state.name) if one.number > state.number), None)
    is_gone = topic is not None and topic.is_delete and topic.author == state.author
    return is_gone and (again is None or topic is None or again.number > topic.number)


@monitored()
def busy_topics_are_not_deleted(history: History) -> Answers:
    """Asked of each topic that a member deletes, and of each StopReplica with delete for a topic that is to be deleted.

    No partition of it has RAR + OAR, with its reassignment standing. A StopReplica counts that reaches a replica of RAR
    of a move that had begun before the deletion was asked for, if no late copy of an earlier one can look like it.
    Elections under way do not show.
    """
    for one in deletions(history):
        number = one.write.number
        moves = [(each, wanted) for each, wanted in history.moves(number).items() if each.topic == one.write.topic]
        busy = [partition for partition, wanted in moves if _is_begun(history, partition, wanted, number)]
        text = f"{one.write.author} deleted {one.write.name} while {', '.join(map(str, busy))} was being reassigned"
        yield Break(one.write.place, text, _row_of_busy(history, busy[0], number)) if busy else None
    for request in history.arrivals.all():
        for partition in sorted(request.stopped) if request.delete else ():
            if history.is_doomed(partition.topic, history.before(request.ms)):
                yield _stopped(history, request, partition)


def _stopped(history: History, request: Arrival, partition: TopicPartition) -> Break | None:
    """Whether a StopReplica for a deletion reached a replica that a move, all the time around that, was bringing."""
    first, past = history.before(request.ms - SKEW), history.before(request.ms + SKEW + 1)
    born, asked = history.birth(partition.topic, first), history.last(f"/admin/delete_topics/{partition.topic}", first)
    wanted = history.moves(first).get(partition, ())
    if born is None or asked is None or asked.after is None or request.broker not in wanted:
        return None
    was_deleted_before = history.until(asked.name, asked.number)
    may_be_late = was_deleted_before or left_at(history, partition, request.broker, past) is not None
    stands = history.moves(past).get(partition) == wanted and asked_at(history, partition, past) < asked.number
    is_begun = all(_is_begun(history, partition, wanted, number) for number in (asked.number, past))
    text = f"{request} is to delete {partition}, which was being reassigned to {list(wanted)}"
    is_wrong = stands and is_begun and not may_be_late
    return Break(request.place, text, _row_of_busy(history, partition, past)) if is_wrong else None


def _is_begun(history: History, partition: TopicPartition, wanted: tuple[int, ...], number: int) -> bool:
    """Whether a reassignment's AR was changed for it in this life of the topic, and is not RAR yet."""
    born = history.birth(partition.topic, number)
    since = max(asked_at(history, partition, number), born.number + 1 if born else 0)
    lists = had(history, partition, since, number)
    return len(set(lists)) > 1 and lists[-1] != wanted and set(wanted) <= set(lists[-1])


def _row_of_busy(history: History, partition: TopicPartition, number: int) -> str:
    """Only if a failover finds both, a move and a deletion, that waits, and until a broker starts (D44)."""
    raised = history.office(number).raised
    is_found = history.is_doomed(partition.topic, raised) and partition in history.moves(raised)
    started = any(one.is_create and raised < one.number < number for one in history.of_kind(paths.BROKER))
    return "" if is_found and not started else "D44"


@monitored(source="PROTOCOL.md section 7.4; TopicDeletionManager.completeDeleteTopic")
def deletions_end_with_their_request(history: History) -> Answers:
    """A deletion takes away the topic first, then its configuration, and the request for it last."""
    for one in history.of_kind(paths.TOPIC_CONFIG):
        if one.is_delete and one.author.is_members:
            is_there = history.at(f"/brokers/topics/{one.topic}", one.number) is not None
            row = "D70" if is_left_half_way(history, one.topic, one.number + 1) else ""
            is_early = is_there and not was_deleted(history, one.topic, one.number)
            yield Break(one.place, f"{one.author} deleted {one.name} before the topic", row) if is_early else None
    for deletion in deletions(history):
        gone = deletion.write
        requests = history.of(f"/admin/delete_topics/{gone.topic}")
        last = next((each for each in requests if each.is_delete and each.number > gone.number), None)
        config = history.last(f"/config/topics/{gone.topic}", last.number) if last else None
        if last is not None and last.author.is_members:
            left = config is not None and config.after is not None and config.number < gone.number
            text = f"{last.author} deleted {last.name} before the topic's configuration"
            yield Break(last.place, text) if left else None


def is_left_half_way(history: History, topic: str, number: int) -> bool:
    """Whether a topic is there whose configuration a broker has deleted, after a delete that found nothing (D70)."""
    gone = history.last(f"/config/topics/{topic}", number)
    is_there = history.at(f"/brokers/topics/{topic}", number) is not None
    is_gone = gone is not None and gone.is_delete and history.is_refused(gone.author.broker, "NoNode", gone.number)
    return is_there and is_gone and not was_deleted(history, topic, number)


def was_deleted(history: History, topic: str, number: int) -> bool:
    """Whether a topic of this name had been deleted by a broker before the write of a number."""
    return history.once(_first_deletions).get(topic, number) < number


def _first_deletions(history: History) -> Mapping[str, int]:
    """The number of the write by which a topic of each name was deleted first."""
    return {one.write.topic: one.write.number for one in reversed(deletions(history))}


@monitored()
def topics_have_their_configuration(history: History) -> Answers:
    """Asked of each configuration that a broker deletes: its topic has not been created again meanwhile."""
    for one in history.of_kind(paths.TOPIC_CONFIG):
        if one.is_delete and one.author.is_members and was_deleted(history, one.topic, one.number):
            topic = history.last(f"/brokers/topics/{one.topic}", one.number)
            is_there = topic is not None and topic.after is not None
            text = f"{one.author} deleted {one.name}, and the topic had been created again"
            yield Break(one.place, f"{text} ({topic.place})", "D55") if topic and is_there else None


@monitored()
def nothing_of_a_deleted_topic_is_left(history: History) -> Answers:
    """Asked of each state znode that a broker creates: its topic has not been deleted by a broker before."""
    for one in history.of_kind(paths.STATE):
        if one.is_create and one.author.is_members:
            topic = history.last(f"/brokers/topics/{one.topic}", one.number)
            parent = None if topic is None or isinstance(topic.after, Assignment) else topic
            is_left = parent is not None and was_deleted(history, one.topic, one.number)
            text = f"{one.author} created {one.name} of a topic that was deleted"
            gone = [each.write for each in deletions(history) if each.write.topic == one.topic]
            is_others = any(each.number < one.number and each.author.broker != one.author.broker for each in gone)
            yield Break(one.place, text, "D52" if is_others else "") if is_left else None


@monitored(source="PROTOCOL.md section 7.4; TopicDeletionManager.onReplicaDeletion", needs=Needs.REQUESTS)
def topics_go_after_their_replicas(history: History) -> Answers:
    """A topic is deleted only after each live assigned replica has been told to delete its log, and has not refused."""
    for one in deletions(history):
        for partition, broker in _replicas(history, one):
            received = history.arrivals.whole(broker)
            if received is None:
                continue
            first, last = one.born.ms - SKEW, one.write.ms + SKEW
            within = (each for each in received.requests if first <= each.ms <= last)
            told = [each for each in within if each.delete and partition in each.stopped]
            text = f"{one.write.author} deleted {one.write.name}, and broker {broker}, which lives,"
            row = "" if one.is_asked else "D37-unasked"
            if not told:
                known = known_replicas(history, partition, one.write.number)
                row = "D73" if known is not None and broker not in known else row
                yield Break(one.write.place, f"{text} has not been told to delete its replica of {partition}", row)
            else:
                refused = all(each.refuses(partition) for each in told)
                text = f"{text} has refused to delete its replica of {partition} ({told[-1].place})"
                yield Break(one.write.place, text, row) if refused else None


def _replicas(history: History, one: Deletion) -> Iterator[tuple[TopicPartition, int]]:
    """The live replicas that were assigned all through a deletion, of partitions that had a state znode."""
    assignment = history.assignment(one.write.topic, one.write.number)
    for number in assignment.replicas if assignment else ():
        partition = TopicPartition(one.write.topic, number)
        lists = had(history, partition, one.since, one.write.number)
        led = any(
            isinstance(each.after, State) and one.born.number < each.number < one.write.number
            for each in history.of(state_path(partition))
        )
        for broker in sorted(set(lists[0]).intersection(*lists[1:])) if lists and led else ():
            if history.registered(broker, one.write.number) is not None:
                yield partition, broker
