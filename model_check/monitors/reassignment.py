"""Claims about reassignments: AR is OAR, then RAR + OAR, then RAR; the old replicas go once the new have caught up.

They are asked of what members write: an admin may write any assignment. A partition that a later release marks as being
moved (2.4.0) has its RAR elsewhere, and is let alone, as is one whose replicas such a release puts in another order,
which it does without a mark; so is one whose request an admin has taken back.

Kafka: `KafkaController.onPartitionReassignment`, 0.10.2.2. PROTOCOL.md section 8.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from model_check.monitors.claims import Answers, Break, Needs, monitored
from model_check.monitors.contents import MOVES, Assignment, Moves, State
from model_check.monitors.controllers import removed_by_others
from model_check.monitors.history import History, Write, state_path
from spec.formats import znode_paths as paths
from spec.formats.kafka_types import TopicPartition
from spec.formats.request_schemas import ApiKey

Brokers = tuple[int, ...]
SHUTDOWN = 30_000
"""Milliseconds that a controlled shutdown may take: three tries, five seconds apart, and then the process's end."""


@dataclass(frozen=True)
class Change:
    """A broker changes a partition's AR; `wanted` is the RAR that is asked for since a write, None if none is."""

    write: Write
    partition: TopicPartition
    old: Brokers
    new: Brokers
    wanted: Brokers | None
    since: int

    def __str__(self) -> str:
        return f"{self.write.author} wrote AR {list(self.new)} of {self.partition}, which was {list(self.old)}"


def rewrites(history: History) -> Iterator[tuple[Write, Assignment, Assignment]]:
    """Each time that a member writes a topic's assignment anew, with that before and after."""
    for one in history.of_kind(paths.BROKER_TOPIC):
        if isinstance(one.before, Assignment) and isinstance(one.after, Assignment) and one.author.is_members:
            yield one, one.before, one.after


def changes(history: History) -> Iterator[Change]:
    """Each change of a partition's AR by a member, but of those that a later release moves on a request of its own."""
    for one, before, after in rewrites(history):
        for number, new in after.replicas.items():
            old, partition = before.replicas.get(number, new), TopicPartition(one.topic, number)
            wanted = history.moves(one.number).get(partition)
            is_reordered = after.is_later and wanted is None and sorted(old) == sorted(new)
            if old != new and number not in before.moving | after.moving and not is_reordered:
                yield Change(one, partition, old, new, wanted, asked_at(history, partition, one.number))


def asked_at(history: History, partition: TopicPartition, number: int) -> int:
    """The number of the write since which /admin/reassign_partitions has asked for this, as it does now."""
    wanted, since = history.moves(number).get(partition), number
    for one in reversed(history.until(MOVES, number)):
        if not isinstance(one.after, Moves) or one.after.replicas.get(partition) != wanted:
            break
        since = one.number
    return since


def had(history: History, partition: TopicPartition, start: int, end: int) -> list[Brokers]:
    """Every AR that a partition has had from the write of one number to that of another."""
    assignments = [history.assignment(partition.topic, start)]
    of_topic = history.until(f"/brokers/topics/{partition.topic}", end)
    assignments += [one.after for one in of_topic if start <= one.number and isinstance(one.after, Assignment)]
    lists = (one.replicas.get(partition.partition) for one in assignments if one is not None)
    return [one for one in lists if one is not None]


@monitored()
def assignments_change_in_order(history: History) -> Answers:
    """Asked of each partition whose AR a broker changes."""
    for one in changes(history):
        if one.wanted is not None:
            yield _out_of_order(history, one)
        elif not _is_taken_back(history, one.write.number):
            text = f"{one}, and nobody asks for that in {MOVES}"
            yield Break(one.write.place, text, _row_of_unasked(history, one))


def _out_of_order(history: History, one: Change) -> Break | None:
    """Whether a change is neither that to RAR + OAR nor, where AR has had all of RAR, that to RAR."""
    wanted = one.wanted or ()
    ever = [*had(history, one.partition, one.since, one.write.number), one.old]
    unions = [set(wanted) | set(replicas) for replicas in ever] + [set(replicas) for replicas in ever]
    has_all = any(set(wanted) <= set(replicas) for replicas in ever)
    if set(one.new) in unions or (one.new == wanted and has_all):
        return None
    text = f"{one}, where {list(wanted)} is asked for"
    carries_on = _is_carried_on(history, one.partition, one.new, one.write.number)
    if one.write.is_a_zombies:
        return Break(one.write.place, text, "D2-assignment")
    return Break(one.write.place, text, _row_of_undoing(history, one) or ("D59" if carries_on else ""))


def _row_of_undoing(history: History, one: Change) -> str:
    """The defect, where a controller writes what its own AR becomes, and another has been written since it read that:
    by hand (D73-move), or by a zombie (D2-assignment).
    """
    if _is_of(one, known_replicas(history, one.partition, one.write.number)):
        return "D73-move"
    own = known_replicas(history, one.partition, one.write.number, but_for_zombies=True)
    return "D2-assignment" if _is_of(one, own) else ""


def _is_of(one: Change, known: Brokers | None) -> bool:
    """Whether this AR, which is not in ZooKeeper, becomes what is written: kept, united with RAR, or left for RAR."""
    wanted = set(one.wanted or ())
    if known is None or known == one.old:
        return False
    return one.new == known or set(one.new) == wanted | {*known} or (one.new == one.wanted and wanted <= {*known})


def _is_carried_on(history: History, partition: TopicPartition, replicas: Brokers, number: int) -> bool:
    """Whether an AR has all of a RAR whose request an admin has taken back before (D59)."""
    for one in history.until(MOVES, number):
        wanted = one.before.replicas.get(partition) if isinstance(one.before, Moves) else None
        if wanted is not None and one.is_delete and not one.author.is_members:
            return set(wanted) <= set(replicas)
    return False


def _is_taken_back(history: History, number: int) -> bool:
    """Whether the last to write the request was no member."""
    last = history.last(MOVES, number)
    return last is not None and not last.author.is_members


def _row_of_unasked(history: History, one: Change) -> str:
    """The defect: a former controller goes on (D2), or one writes what it had read before it did, or
    before somebody wrote by hand (D73), or does again what it had begun once (D13).
    """
    if one.write.is_a_zombies or _is_taken_by_zombie(history, one):
        return "D2-assignment"
    if row := _row_of_undoing(history, one):
        return row
    if len(history.elections(one.write.author.broker, one.write.number)) < 2:
        return ""
    past = (other.after for other in history.until(MOVES, one.write.number))
    return "D13" if any(isinstance(each, Moves) and one.partition in each.replicas for each in past) else ""


def _is_taken_by_zombie(history: History, one: Change) -> bool:
    """Whether a controller not in office took away the request that a controller still goes by."""
    taken = None
    for each in history.until(MOVES, one.write.number):
        before, after = (some.replicas if isinstance(some, Moves) else {} for some in (each.before, each.after))
        if one.partition in before and one.partition not in after:
            taken = each
    return taken is not None and taken.is_a_zombies


@monitored()
def partitions_stay(history: History) -> Answers:
    """Asked of each assignment that a broker writes in the place of another; an admin may take a partition away."""
    for one, before, after in rewrites(history):
        lost = sorted(before.replicas.keys() - after.replicas.keys())
        text = f"{one.author} wrote {one.name} without partition {', '.join(map(str, lost))}, which was there"
        row = "D39" if all(_is_unknown(history, one, TopicPartition(one.topic, number)) for number in lost) else ""
        yield Break(one.place, text, row) if lost else None


def _is_unknown(history: History, write: Write, partition: TopicPartition) -> bool:
    """Whether a partition was added to its topic, and its writer has not yet made it a state znode."""
    born = history.birth(partition.topic, write.number)
    is_added = born is not None and history.replicas(partition, born.number + 1) is None
    made = (one for one in history.until(state_path(partition), write.number) if one.is_create)
    return is_added and all(one.author.broker != write.author.broker for one in made)


@monitored(source="PROTOCOL.md section 8, steps 7 to 10; D48, D61")
def assignments_shrink_after_the_new_caught_up(history: History) -> Answers:
    """AR loses replicas, and becomes RAR, only once all of RAR has been in sync, and while a replica of RAR leads."""
    for one in changes(history):
        if one.wanted is None or one.new != one.wanted or not set(one.new) < set(one.old):
            continue
        state = history.state(one.partition, one.write.number)
        written = history.until(state_path(one.partition), one.write.number)
        later = (each.after for each in written if one.since <= each.number)
        states = (history.state(one.partition, one.since), *later)
        isrs = [set(each.isr) for each in states if isinstance(each, State)]
        text = f"{one}, but never since that was asked for ({history.writes[one.since].place}) all of it was in sync"
        if not any(set(one.wanted) <= isr for isr in isrs):
            yield Break(one.write.place, text)
        elif state is None or state.leader not in one.wanted:
            row = "D48" if all(_may_not_lead(history, one, broker) for broker in one.wanted) else ""
            row = row if one.wanted else "D61"
            yield Break(one.write.place, f"{one}, while its state had {state or 'no znode'}", row)
        else:
            yield None


def _may_not_lead(history: History, one: Change, broker: int) -> bool:
    """Whether a broker was dead at some moment of a reassignment, or went away soon after, and was shutting down."""
    if history.registered(broker, one.since) is None:
        return True
    ids = history.until(f"/brokers/ids/{broker}", history.before(one.write.ms + SHUTDOWN))
    return any(each.after is None and one.since <= each.number for each in ids)


@monitored()
def no_reassignment_ends_halfway(history: History) -> Answers:
    """Asked of each partition that a member takes from the request, unless an admin has written its AR meanwhile."""
    for one in history.of(MOVES):
        before = one.before.replicas if isinstance(one.before, Moves) else {}
        after = one.after.replicas if isinstance(one.after, Moves) else {}
        for partition, wanted in before.items():
            if one.author.is_members and partition not in after:
                yield _halfway(history, one, partition, wanted)


def _halfway(history: History, write: Write, partition: TopicPartition, wanted: Brokers) -> Break | None:
    since = asked_at(history, partition, write.number)
    replicas, original = history.replicas(partition, write.number), history.replicas(partition, since)
    last = history.last(f"/brokers/topics/{partition.topic}", write.number)
    is_excused = replicas in {None, wanted, original} or original is None or last is None or not last.author.is_members
    assignment = history.assignment(partition.topic, write.number)
    is_moving = assignment is not None and partition.partition in assignment.moving
    if is_excused or is_moving or history.is_doomed(partition.topic, write.number):
        return None
    rows = {
        "D41": write.is_a_zombies,
        "D53": _is_dirty(history, write),
        "D14": any(history.registered(broker, write.number) is None for broker in wanted),
        "S8": history.state(partition, write.number) is None,
        "D59": _is_carried_on(history, partition, replicas or (), write.number),
    }
    row = next((name for name, is_it in rows.items() if is_it), "")
    text = f"{write.author} took {partition} from {MOVES}, whose AR was {list(replicas or ())} then"
    text = f"{text}: neither {list(wanted)}, as was asked for, nor {list(original or ())} as before"
    return Break(write.place, text, row)


def _is_dirty(history: History, write: Write) -> bool:
    """Whether a topic was removed by another in the writer's term, and a broker came or went after that (D53)."""
    gone = [one.number for one in removed_by_others(history, write.number) if write.office.since < one.number]
    return any(gone[0] < one.number < write.number for one in history.of_kind(paths.BROKER) if gone)


@monitored(needs=Needs.REQUESTS)
def in_sync_replicas_are_not_deleted(history: History) -> Answers:
    """Asked of each StopReplica with delete that is obeyed, of what ZooKeeper had all the time around its arrival.

    Whose topic is to be deleted is excused, but not where topics are not deleted.
    """
    for request in history.arrivals.all():
        if request.kind is not ApiKey.STOP_REPLICA or not request.delete or request.answer is None:
            continue
        for partition in sorted(request.stopped):
            if request.refuses(partition):
                continue
            around = (request.ms, request.ms)
            assigned = history.during(f"/brokers/topics/{partition.topic}", *around)
            states = history.during(state_path(partition), *around)
            asked = any(history.during(f"/admin/delete_topics/{partition.topic}", *around))
            doomed = asked and history.deletes_topics
            has_it = all(_has(each, partition, request.broker) for each in (*assigned, *states))
            text = f"{request} deleted {partition}, of whose AR and ISR it is: its state has {states[0]}"
            row = "D22" if had_to_go(history, partition, request.broker, history.before(request.ms)) else ""
            yield Break(request.place, text, row) if has_it and not doomed else None


def had_to_go(history: History, partition: TopicPartition, broker: int, number: int) -> bool:
    """Whether a broker has had to delete a partition before: a reassignment took it away, or the topic was doomed."""
    doomed = history.deletes_topics and history.until(f"/admin/delete_topics/{partition.topic}", number)
    return bool(doomed) or left_at(history, partition, broker, number) is not None


def known_replicas(
    history: History, partition: TopicPartition, number: int, *, but_for_zombies: bool = False
) -> Brokers | None:
    """A partition's AR as the controller in office has it before the write of a number, as far as that is known.

    It is what was read at the failover, what the partition got when it came to be since, or what a member has written
    since; not what somebody has written by hand in the place of another (D73), nor, if that is asked, a zombie (D2).
    """
    read = history.office(number).raised
    known = history.replicas(partition, read)
    for one in history.until(f"/brokers/topics/{partition.topic}", number):
        if one.number > read:
            before, after = (
                each.replicas.get(partition.partition) if isinstance(each, Assignment) else None
                for each in (one.before, one.after)
            )
            is_heard = one.author.is_members and not (but_for_zombies and one.is_a_zombies)
            known = after if before is None or after is None or is_heard else known
    return known


def left_at(history: History, partition: TopicPartition, broker: int, number: int) -> Write | None:
    """The last write, before that of a number, by which a broker went from a partition's AR."""
    return _last_change(history, partition, broker, number, gone=True)


def joined_at(history: History, partition: TopicPartition, broker: int, number: int) -> Write | None:
    """The last write, before that of a number, by which a broker came into a partition's AR."""
    return _last_change(history, partition, broker, number, gone=False)


def _last_change(history: History, partition: TopicPartition, broker: int, number: int, *, gone: bool) -> Write | None:
    last = None
    for one in history.until(f"/brokers/topics/{partition.topic}", number):
        if isinstance(one.before, Assignment) and isinstance(one.after, Assignment):
            had_it, has_it = (broker in each.replicas.get(partition.partition, ()) for each in (one.before, one.after))
            last = one if had_it is gone and has_it is not gone else last
    return last


def _has(content: object, partition: TopicPartition, broker: int) -> bool:
    """Whether an assignment or a state has a broker."""
    if isinstance(content, Assignment):
        return broker in content.replicas.get(partition.partition, ())
    return isinstance(content, State) and broker in content.isr
