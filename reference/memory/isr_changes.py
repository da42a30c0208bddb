"""What leaders do about their ISRs in the cluster in memory: shrink, expand, write again, and announce.

A leader drops followers at will, and takes in a live one, mostly of its own leader epoch (D58). It notes a change with
the write; as it is another thread that announces what is noted, the last change may be noted just behind an
announcement.

Kafka 0.10.2.2: `Partition.updateIsr`, `ReplicaManager.maybePropagateIsrChanges`. PROTOCOL.md sections 7.7 and 10.
"""

from collections.abc import Iterator
from functools import partial
from itertools import combinations

from reference.broker_events.isr_notification import maybe_propagate_isr_changes
from reference.brokers.isr import maybe_expand_isr, maybe_shrink_isr
from reference.leadership.effects import IsrWrite, Partitions, ShrinkIsr
from reference.memory.choices import BUDGETS, Choice, choice, is_left
from reference.memory.cluster import AnswerLost, MemoryCluster
from reference.memory.process import MemoryProcess
from reference.procedures import Procedure
from reference.scripts import state_data, state_path
from reference.zookeeper.api import ANY_VERSION, NoNode
from spec.formats.kafka_types import TopicPartition
from spec.variants import Switch

STALE = "expand_isr_on_a_stale_fetch"


def choices(cluster: MemoryCluster, process: MemoryProcess) -> Iterator[Choice]:
    """What a broker may do about the ISRs of the partitions that it leads."""
    if not cluster.can_operate(process):
        return
    b = process.broker_id
    if "notifications" in cluster.scope.parts:
        yield from _announcements(cluster, process)
    for tp, known in process.broker.partitions.items():
        if tp in process.isr_writes:
            yield choice("rewrite_isr", rewrite_isr, b=b, p=cluster.partitions.index(tp))
        elif known.leadership.leader == b:
            for replica in sorted(_may_fetch(cluster, process, tp)):
                rule = _change_of(cluster, process, tp, replica)
                if rule is not None and (rule not in BUDGETS or cluster.scope.budget(BUDGETS[rule])):
                    yield from _write(cluster, process, tp, rule, (replica,), ("r", replica))
            if cluster.scope.budget("joint_shrinks"):
                yield from _joint_shrinks(cluster, process, tp)


def _announcements(cluster: MemoryCluster, process: MemoryProcess) -> Iterator[Choice]:
    """A leader may announce its ISR changes, also before it has noted the last one, which it announces once more.

    Before 0.9.0.0 it announces none (D65).
    """
    b, changes = process.broker_id, process.broker.isr_changes
    if Switch.ANNOUNCE_NO_ISR in cluster.switches:
        return
    if changes:
        yield choice("report_isr_changes", partial(report_isr_changes, named=changes), b=b)
    for late in sorted(changes if cluster.scope.budget("slow_notes") else ()):
        report = partial(report_isr_changes, b=b, noted_later=frozenset({late}))
        parameters = (("b", b), ("p", cluster.partitions.index(late)))
        if changes - {late}:
            yield Choice("report_isr_changes_without", parameters, partial(report, named=changes - {late}))
        yield Choice("report_isr_changes_before", parameters, partial(report, named=changes))


def _joint_shrinks(cluster: MemoryCluster, process: MemoryProcess, tp: TopicPartition) -> Iterator[Choice]:
    """Drop several followers from the ISR at once."""
    brokers, isr = sorted(cluster.processes), process.broker.partition(tp).leadership.isr
    followers = [r for r in brokers if r in isr and r != process.broker_id]
    for size in range(2, len(followers) + 1):
        for lagging in combinations(followers, size):
            bits = sum(1 << brokers.index(r) for r in lagging)
            yield from _write(cluster, process, tp, "shrink_isr_jointly", lagging, ("lagging", bits))


def _write(
    cluster: MemoryCluster,
    process: MemoryProcess,
    tp: TopicPartition,
    rule: str,
    replicas: tuple[int, ...],
    which: tuple[str, int],
) -> Iterator[Choice]:
    """The write of a changed ISR, where it would succeed; and with its answer lost."""
    b, unanswered = process.broker_id, f"{rule}_unanswered"
    if not (is_left(cluster, rule) or is_left(cluster, unanswered)):
        return
    parameters = (("b", b), ("p", cluster.partitions.index(tp)), which)
    shrinks = rule in {"shrink_isr", "shrink_isr_jointly"}
    do = partial(change_isr, b=b, partition=tp, replicas=replicas, shrinks=shrinks)
    _, write = begin_change(process, tp, replicas, shrinks=shrinks)
    if _would_succeed(cluster, process, write):
        yield Choice(rule, parameters, do)
    if rule != STALE and cluster.budget.get("losses", 0) and cluster.would_apply(process, write):
        yield Choice(unanswered, parameters, partial(do, answered=False))


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
    """What a leader may do about a replica: drop a follower from the ISR at will, or take in a live one.

    A fetch names no leader epoch. Every follower is sent the next one and is mostly taken in then, but one that is shut
    down is not sent it, and is taken in as it is. Else one of another epoch counts as a fault.
    """
    known = leader.broker.partition(tp)
    if replica == leader.broker_id:
        return None
    if replica in known.leadership.isr:
        return "shrink_isr"
    follower = cluster.processes.get(replica)
    if follower is None or follower.broker.partition(tp).is_idle:  # an id that no broker has may be assigned, too
        return None
    follows = follower.broker.partition(tp)
    if not (follower.is_running and follows.leadership.leader == leader.broker_id):
        return None
    names_epoch = Switch.FETCH_EPOCHS in cluster.switches
    any_epoch = "shutdown" in cluster.scope.parts or Switch.TAKE_ANY_FOLLOWER in cluster.switches
    if follows.leadership.leader_epoch == known.leadership.leader_epoch or (any_epoch and not names_epoch):
        return "expand_isr"
    return None if names_epoch else STALE


# ----------------------------------------------------------------------------------------------------------- the steps


def change_isr(
    cluster: MemoryCluster,
    *,
    b: int,
    partition: TopicPartition,
    replicas: tuple[int, ...],
    shrinks: bool,
    answered: bool = True,
) -> None:
    """A leader writes its ISR, and remembers it if it could."""
    process = cluster.change(b)
    procedure, effect = begin_change(process, partition, replicas, shrinks=shrinks)
    try:
        result = cluster.carry_out(process, effect, lose_answer=not answered)
    except AnswerLost:
        process.isr_writes[partition] = effect
        return
    finish(procedure, result)


def begin_change(
    process: MemoryProcess, tp: TopicPartition, replicas: tuple[int, ...], *, shrinks: bool
) -> tuple[Procedure[bool], IsrWrite]:
    """The procedure, and the write that it asks for."""
    broker = process.broker
    procedure = maybe_shrink_isr(broker, tp, *replicas) if shrinks else maybe_expand_isr(broker, tp, *replicas)
    effect = next(procedure).effects[0]
    if not isinstance(effect, IsrWrite):
        raise TypeError(f"a change of the ISR asks for {effect}")
    return procedure, effect


def rewrite_isr(cluster: MemoryCluster, *, b: int, p: int) -> None:
    """A leader's ISR write is repeated; its procedure is taken up where it was, since nothing it knew has changed."""
    process, partition = cluster.change(b), cluster.partitions[p]
    effect = process.isr_writes.pop(partition)
    procedure, repeated = begin_change(process, partition, effect.replicas, shrinks=isinstance(effect, ShrinkIsr))
    if repeated != effect:
        raise RuntimeError(f"the repeated ISR write is not {effect}")
    finish(procedure, cluster.carry_out(process, effect))


def report_isr_changes(
    cluster: MemoryCluster, *, b: int, named: Partitions, noted_later: Partitions = frozenset()
) -> None:
    """A leader announces the ISR changes that it wrote; without the parent it fails, and tries again later."""
    process = cluster.change(b)
    procedure, place = maybe_propagate_isr_changes(process.broker, named, noted_later), _free_place(cluster, b)
    try:
        path = cluster.carry_out(process, next(procedure).effects[0])
    except NoNode:
        return  # `KafkaScheduler` logs it
    cluster.notifiers[path] = place
    finish(procedure, path)


def _free_place(cluster: MemoryCluster, b: int) -> int:
    """The first free place for notifications of a broker, or its first, whose number is its own."""
    taken = {place for path, place in cluster.notifiers.items() if path in cluster.zookeeper.tree}
    brokers, capacity = cluster.scope.brokers, cluster.scope.notification_capacity
    return next((place for place in range(b, brokers * capacity + 1, brokers) if place not in taken), b)


def finish(procedure: Procedure[object], result: object) -> None:
    """Give a procedure the result of its last effect."""
    try:
        procedure.send((0, result))
    except StopIteration:
        return
    raise RuntimeError("an ISR change goes on after its write")
