"""What leaders do about their ISRs in the cluster in memory: shrink, expand, write again, and announce.

A leader drops a follower at will, and takes in a live one of its own leader epoch. It notes a change with the write; as
it is another thread that announces what is noted, the last change may be noted just behind an announcement.

Kafka 0.10.2.2: `Partition.updateIsr`, `ReplicaManager.maybePropagateIsrChanges`. PROTOCOL.md sections 7.7 and 10.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from reference.broker_events.isr_notification import ReportIsrChanges, maybe_propagate_isr_changes
from reference.leadership.effects import IsrWrite, Partitions, ShrinkIsr
from reference.memory.choices import Choice
from reference.memory.cluster import AnswerLost, MemoryCluster
from reference.memory.process import MemoryProcess
from reference.procedures import Procedure
from reference.scripts import state_data, state_path
from reference.zookeeper.api import ANY_VERSION
from spec.formats.kafka_types import TopicPartition
from spec.variants import Switch


def choices(cluster: MemoryCluster, process: MemoryProcess) -> Iterator[Choice]:
    """What a broker may do about the ISRs of the partitions that it leads."""
    if not cluster.can_operate(process):
        return
    b = process.broker_id
    if "notifications" in cluster.scope.parts:
        yield from _announcements(cluster, process)
    for tp, known in process.broker.partitions.items():
        if tp in process.isr_writes:
            parameters = (("b", b), ("p", cluster.partitions.index(tp)))
            yield Choice("rewrite_isr", parameters, partial(rewrite_isr, b=b, partition=tp))
        elif known.leadership.leader == b:
            for replica in sorted(_may_fetch(cluster, process, tp)):
                yield from _isr_change(cluster, process, tp, replica)


def _announcements(cluster: MemoryCluster, process: MemoryProcess) -> Iterator[Choice]:
    """A leader may announce its ISR changes, also before it has noted the last one, which it announces once more."""
    b, changes = process.broker_id, process.broker.isr_changes
    if changes:
        yield Choice("report_isr_changes", (("b", b),), partial(report_isr_changes, b=b, named=changes))
    for late in sorted(changes if cluster.scope.budget("slow_notes") else ()):
        report = partial(report_isr_changes, b=b, noted_later=frozenset({late}))
        parameters = (("b", b), ("p", cluster.partitions.index(late)))
        if changes - {late}:
            yield Choice("report_isr_changes_without", parameters, partial(report, named=changes - {late}))
        yield Choice("report_isr_changes_before", parameters, partial(report, named=changes))


def _isr_change(cluster: MemoryCluster, process: MemoryProcess, tp: TopicPartition, replica: int) -> Iterator[Choice]:
    """Drop a follower from the ISR at will, or take in a live one of the same leader epoch."""
    rule, b = _change_of(cluster, process, tp, replica), process.broker_id
    if rule is None or (rule == "shrink_isr" and not cluster.scope.budget("shrinks")):
        return
    parameters = (("b", b), ("p", cluster.partitions.index(tp)), ("r", replica))
    do = partial(change_isr, b=b, partition=tp, replica=replica, name=rule)
    _, write = begin_change(process, tp, replica, rule)
    if _would_succeed(cluster, process, write):
        yield Choice(rule, parameters, do)
    if cluster.budget.get("losses", 0) and cluster.would_apply(process, write):
        yield Choice(f"{rule}_unanswered", parameters, partial(do, answered=False))


def _may_fetch(cluster: MemoryCluster, leader: MemoryProcess, tp: TopicPartition) -> set[int]:
    """The replicas whose fetches a leader counts: those of AR; before 0.8.1 it did not know AR (D20)."""
    known = leader.broker.partition(tp)
    anybody = Switch.TAKE_ANY_FOLLOWER in cluster.switches
    return {*known.leadership.isr, *(cluster.processes if anybody else known.assigned_replicas)}


def _would_succeed(cluster: MemoryCluster, leader: MemoryProcess, write: IsrWrite) -> bool:
    """Whether an ISR write would find the version that it expects, or its own content.

    Where topics have ids, who writes for an earlier topic of that name finds only its own content.
    """
    znode = cluster.zookeeper.tree.get(state_path(write.partition))
    expected, content = write.leadership.zk_version, state_data(write.leadership)
    counts = write.compares_content and znode is not None and znode.data == content
    topic, known = write.partition.topic, leader.broker.partition(write.partition)
    last = known.topic_id is None or known.topic_id == cluster.created[topic][-1]
    return znode is not None and ((last and expected in (znode.version, ANY_VERSION)) or counts)


def _change_of(cluster: MemoryCluster, leader: MemoryProcess, tp: TopicPartition, replica: int) -> str | None:
    """Which of the two a leader may do about a replica.

    A fetch names no leader epoch. Every follower is sent the next one and is taken in then, but one that is shut
    down is not sent it, and is taken in as it is; so only there the epochs may differ.
    """
    known = leader.broker.partition(tp)
    if replica == leader.broker_id:
        return None
    if replica in known.leadership.isr:
        return "shrink_isr"
    follower = cluster.processes[replica]
    follows = follower.broker.partition(tp)
    if follows.is_idle:
        return None
    any_epoch = "shutdown" in cluster.scope.parts or Switch.TAKE_ANY_FOLLOWER in cluster.switches
    same_epoch = any_epoch or follows.leadership.leader_epoch == known.leadership.leader_epoch
    fetches = follower.is_running and follows.leadership.leader == leader.broker_id and same_epoch
    return "expand_isr" if fetches else None


# ----------------------------------------------------------------------------------------------------------- the steps


def change_isr(
    cluster: MemoryCluster, *, b: int, partition: TopicPartition, replica: int, name: str, answered: bool = True
) -> None:
    """A leader writes its ISR, and remembers it if it could."""
    process = cluster.change(b)
    procedure, effect = begin_change(process, partition, replica, name)
    try:
        result = cluster.carry_out(process, effect, lose_answer=not answered)
    except AnswerLost:
        process.isr_writes[partition] = effect
        return
    finish(procedure, result)


def begin_change(
    process: MemoryProcess, tp: TopicPartition, replica: int, name: str
) -> tuple[Procedure[bool], IsrWrite]:
    """The procedure, and the write that it asks for."""
    begin = process.broker.maybe_shrink_isr if name == "shrink_isr" else process.broker.maybe_expand_isr
    procedure = begin(tp, replica)
    effect = next(procedure)
    if not isinstance(effect, IsrWrite):
        raise TypeError(f"{name} asks for {effect}")
    return procedure, effect


def rewrite_isr(cluster: MemoryCluster, *, b: int, partition: TopicPartition) -> None:
    """A leader's ISR write is repeated; its procedure is taken up where it was, since nothing it knew has changed."""
    process = cluster.change(b)
    effect = process.isr_writes.pop(partition)
    procedure, repeated = begin_change(
        process, partition, effect.replica, "shrink_isr" if isinstance(effect, ShrinkIsr) else "expand_isr"
    )
    if repeated != effect:
        raise RuntimeError(f"the repeated ISR write is not {effect}")
    finish(procedure, cluster.carry_out(process, effect))


def report_isr_changes(
    cluster: MemoryCluster, *, b: int, named: Partitions, noted_later: Partitions = frozenset()
) -> None:
    """A leader announces the ISR changes that it wrote."""
    process = cluster.change(b)
    procedure = maybe_propagate_isr_changes(process.broker, named, noted_later)
    effect = next(procedure)
    if isinstance(effect, ReportIsrChanges):
        place = _free_place(cluster, b)
        path = cluster.carry_out(process, effect)
        cluster.notifiers[path] = place
        finish(procedure, path)


def _free_place(cluster: MemoryCluster, b: int) -> int:
    """The first place for notifications of a broker in which none stands, or its first, whose number is its own."""
    taken = {place for path, place in cluster.notifiers.items() if path in cluster.zookeeper.tree}
    brokers, capacity = cluster.scope.brokers, cluster.scope.notification_capacity
    return next((place for place in range(b, brokers * capacity + 1, brokers) if place not in taken), b)


def finish(procedure: Procedure[object], result: object) -> None:
    """Give a procedure the result of its last effect."""
    try:
        procedure.send(result)
    except StopIteration:
        return
    raise RuntimeError("an ISR change goes on after its write")
