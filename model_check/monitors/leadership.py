"""Claims about state znodes: their epochs, leaders, ISRs and authors.

A write that changes the leader epoch is a controller's decision, any other the leader's change of its ISR. A topic that
is created again begins a new life, in which nothing is compared with the last one. What an admin writes by hand is not
asked about, nor the ISR of a partition whose AR was last changed by hand.

Kafka: `PartitionStateMachine`, `PartitionLeaderSelector`, `ReplicationUtils`, `Partition`, 0.10.2.2. PROTOCOL.md
sections 1 to 5 and 10.
"""

from collections.abc import Iterable, Iterator

from model_check.monitors.claims import Answers, Break, monitored
from model_check.monitors.contents import Assignment, State, is_in_sync
from model_check.monitors.controllers import decides
from model_check.monitors.history import History, Write, state_path
from model_check.monitors.reassignment import left_at
from spec.formats import znode_paths as paths
from spec.formats.kafka_types import NO_LEADER, TopicPartition


def changes(history: History) -> Iterator[tuple[Write, State, State]]:
    """The writes by which a member changes a state znode, with what it held before and after."""
    for one in history.of_kind(paths.STATE):
        if isinstance(one.before, State) and isinstance(one.after, State) and one.author.is_members:
            yield one, one.before, one.after


def states(history: History) -> Iterator[tuple[Write, State]]:
    """The writes of state znodes by members that leave one there."""
    for one in history.of_kind(paths.STATE):
        if isinstance(one.after, State) and one.author.is_members:
            yield one, one.after


@monitored(source="PROTOCOL.md section 2; spec/formats/znodes.py", kind="always")
def znodes_can_be_read(history: History) -> Answers:
    """What is written to a znode of the protocol is what everybody expects to read there."""
    for one in history.writes:
        reason = getattr(one.after, "reason", None)
        if reason is not None and one.author.is_members:
            row = "D52" if one.path is not None and one.path.kind is paths.BROKER_TOPIC and one.is_create else ""
            yield Break(one.place, f"{one.author} wrote {one.name} so that nobody can read it: {reason}", row)
        elif one.after is not None:
            yield None


@monitored()
def leader_epoch_never_goes_back(history: History) -> Answers:
    """Asked of each change of a state znode."""
    for one, before, after in changes(history):
        then, now = before.leader_epoch, after.leader_epoch
        text = f"{one.author} took the leader epoch of {one.name} back from {then} to {now}"
        yield None if now >= then else Break(one.place, text)


@monitored(source="PROTOCOL.md sections 1 and 5; LeaderAndIsr.initialLeaderEpoch")
def decisions_raise_the_leader_epoch_by_one(history: History) -> Answers:
    """A partition's leader epoch is 0 at first, and each decision adds one; the leader changes with a decision only."""
    for one, after in states(history):
        if not isinstance(one.before, State):
            text = f"{one.author} created {one.name} with leader epoch {after.leader_epoch}, not 0"
            yield None if after.leader_epoch == 0 else Break(one.place, text)
            continue
        before = one.before
        then, now = before.leader_epoch, after.leader_epoch
        if now > then + 1:
            yield Break(one.place, f"{one.author} raised the leader epoch of {one.name} from {then} to {now}")
        elif now == then and after.leader != before.leader:
            text = f"{one.author} made {after.leader} leader in {one.name} in the place of {before.leader}"
            yield Break(one.place, f"{text}, and left the leader epoch at {now}")
        else:
            yield None


@monitored()
def writers_epochs_never_go_back(history: History) -> Answers:
    """Asked of each change of a state znode: the controller epoch in it does not fall."""
    for one, before, after in changes(history):
        if one.number > history.epochs_end:
            break
        now, then = after.controller_epoch, before.controller_epoch
        text = f"{one.author} wrote controller epoch {now} into {one.name}, which had {then}"
        yield None if now >= then else Break(one.place, text)


@monitored()
def clean_leaders_were_in_sync(history: History) -> Answers:
    """Asked of each new leader, unless its topic's election may be unclean, or ever might."""
    for one, before, after in changes(history):
        if after.leader in {before.leader, NO_LEADER} or history.may_be_unclean(one.topic, one.number):
            continue
        text = f"{one.author} made {after.leader} leader in {one.name}, where the ISR was {list(before.isr)}"
        yield None if after.leader in before.isr else Break(one.place, f"{text}, and unclean election is off")


@monitored(source="PROTOCOL.md sections 4 and 5; PartitionLeaderSelector, KafkaController.removeReplicaFromIsr")
def decisions_bring_nobody_into_the_isr(history: History) -> Answers:
    """A controller's decision leaves nobody in the ISR who was not in it, unless unclean election is allowed."""
    for one, before, after in changes(history):
        if decides(one) and not history.may_be_unclean(one.topic, one.number):
            came = sorted({*after.isr} - {*before.isr})
            text = f"{one.author} decided about {one.name}, and took {', '.join(map(str, came))} into the ISR"
            yield Break(one.place, f"{text}, which was {list(before.isr)}") if came else None


@monitored(source="PROTOCOL.md section 13, suggested properties", kind="always")
def leaders_are_in_sync(history: History) -> Answers:
    """The leader in a state znode is in its ISR."""
    for one, after in states(history):
        if after.leader != NO_LEADER:
            text = f"{one.author} wrote {one.name} with leader {after.leader}, who is not in its ISR {list(after.isr)}"
            yield None if after.leader in after.isr else Break(one.place, text)


@monitored()
def isr_is_not_empty(history: History) -> Answers:
    """Asked of each write of a state znode."""
    for one, after in states(history):
        row = "D29" if history.may_be_unclean(one.topic, one.number) else ""
        yield None if after.isr else Break(one.place, f"{one.author} wrote {one.name} with an empty ISR", row)


@monitored()
def isr_is_within_assigned(history: History) -> Answers:
    """Asked of each write of a state znode and of an assignment, where both are there."""
    for one, partition, replicas, state in _both(history):
        outside = [broker for broker in state.isr if broker not in replicas]
        has = f"the ISR of {partition} was {list(state.isr)}, its AR {list(replicas)}"
        text = f"{one.author} wrote {one.name}; then {has}"
        yield Break(one.place, text, _row_of_outsiders(history, partition, one, outside)) if outside else None


@monitored()
def leaders_are_assigned(history: History) -> Answers:
    """Asked of each write of a state znode and of an assignment, where both are there."""
    for one, partition, replicas, state in _both(history):
        has = f"the leader of {partition} was {state.leader}, its AR {list(replicas)}"
        text = f"{one.author} wrote {one.name}; then {has}"
        is_fine = state.leader == NO_LEADER or state.leader in replicas
        yield None if is_fine else Break(one.place, text, _row_of_outsiders(history, partition, one, [state.leader]))


def _row_of_outsiders(history: History, partition: TopicPartition, write: Write, outside: Iterable[int]) -> str:
    """AR is empty, or has been so (D61); or a zombie took these out of AR while they were in the ISR (D19), or before a
    leader took them in again that its successor had informed (S6).
    """
    written = history.until(f"/brokers/topics/{partition.topic}", write.number + 1)
    contents = (one.after for one in written)
    if any(isinstance(one, Assignment) and one.replicas.get(partition.partition) == () for one in contents):
        return "D61"
    if all(_is_left_in_sync(history, partition, broker, write) for broker in outside):
        return "D19"
    return "S6" if all(_is_taken_in_again(history, partition, broker, write) for broker in outside) else ""


def _is_left_in_sync(history: History, partition: TopicPartition, broker: int, write: Write) -> bool:
    """Whether a zombie took a broker out of AR while that was in the ISR."""
    left = left_at(history, partition, broker, write.number + 1)
    state = None if left is None else history.state(partition, left.number)
    return left is not None and left.is_a_zombies and state is not None and broker in state.isr


def _is_taken_in_again(history: History, partition: TopicPartition, broker: int, write: Write) -> bool:
    """Whether a zombie took a broker out of AR that was out of the ISR by then, and a leader took it in by itself."""
    left = left_at(history, partition, broker, write.number + 1)
    if left is None or not left.is_a_zombies:
        return False
    since = [one for one in history.until(state_path(partition), write.number + 1) if left.number < one.number]
    came = [one for one in since if is_in_sync(one.after, broker) > is_in_sync(one.before, broker)]
    return bool(came) and not any(decides(one) for one in came)


def _both(history: History) -> Iterator[tuple[Write, TopicPartition, tuple[int, ...], State]]:
    """Each write by a member that changes state or AR of a partition that has both, with what both are then."""
    for one in history.of_kind(paths.STATE, paths.BROKER_TOPIC):
        if not one.author.is_members:
            continue
        if isinstance(one.after, State):
            replicas = history.replicas(one.topic_partition, one.number)
            if replicas is not None and not history.is_assigned_by_hand(one.topic_partition, one.number):
                yield one, one.topic_partition, replicas, one.after
        if isinstance(one.after, Assignment):
            for number, replicas in one.after.replicas.items():
                partition = TopicPartition(one.topic, number)
                state = history.state(partition, one.number)
                if state is not None and not history.is_assigned_by_hand(partition, one.number):
                    yield one, partition, replicas, state


@monitored(source="PROTOCOL.md section 10; Partition.updateIsr")
def the_leader_changes_its_isr(history: History) -> Answers:
    """Without a decision, an ISR is changed by the partition's leader, or by the controller in office."""
    for one, before, after in changes(history):
        if decides(one) or one.author.broker is None or set(after.isr) == set(before.isr):
            continue
        owner = one.office.owner
        text = f"{one.author} changed the ISR in {one.name} from {list(before.isr)} to {list(after.isr)}"
        text = f"{text}, but its leader was {before.leader}, and {one.office}"
        is_fine = one.author.broker in {before.leader, owner.broker if owner else None}
        yield None if is_fine else Break(one.place, text)
