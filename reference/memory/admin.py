"""Admin tools on the cluster in memory: which znodes they may write next, and writing them.

A tool writes a request, or a topic, and has nothing more to do with what comes of it. Somebody's hands may take a
request away again, a topic's znodes, or /controller.

Kafka 0.10.2.2: `AdminUtils.createTopic`, `AdminUtils.addPartitions`, `AdminUtils.deleteTopic`,
`ReassignPartitionsCommand`, `PreferredReplicaLeaderElectionCommand`. PROTOCOL.md section 2.
"""

from collections.abc import Iterator
from typing import Final

from reference.elections.requested import ELECTIONS
from reference.journal import Fate, FateMet
from reference.memory.choices import Choice, choice, choice_of
from reference.memory.cluster import MemoryCluster
from reference.scripts import (
    CONTROLLER,
    REASSIGN_PARTITIONS,
    delete_topic_path,
    parsed,
    state_path,
    topic_config_path,
    topic_path,
)
from reference.zookeeper.api import AnyOperation, Create, Delete, SetData
from spec.formats.kafka_types import TopicPartition
from spec.formats.znodes import (
    UNCLEAN,
    PartitionReassignment,
    PartitionsPayload,
    ReassignPartitionsPayload,
    TopicConfigPayload,
    TopicPayload,
)
from spec.language.broker_lists import as_written
from spec.variants import Switch

ADMIN: Final = 0
"""The admin tool, where a process is named."""


def choices(cluster: MemoryCluster) -> Iterator[Choice]:
    """What may be asked for, or taken away, next."""
    tree = cluster.zookeeper.tree
    for t, topic in enumerate(cluster.topics()):
        is_there = cluster.has_topic(topic)
        yield choice_of(remove_topic if is_there else create_topic, t=t)
        yield choice_of(change_unclean_election, t=t)
        if delete_topic_path(topic) not in tree:
            yield choice("request_deletion" if is_there else "request_stray_deletion", request_deletion, t=t)
    for p, partition in enumerate(cluster.partitions):
        if state_path(partition) in tree:
            yield choice_of(remove_state, p=p)
    yield from _assignments(cluster)
    yield from _requests(cluster)
    if CONTROLLER in tree:
        yield choice_of(remove_controller)


def _assignments(cluster: MemoryCluster) -> Iterator[Choice]:
    """The tool adds partitions to a topic, or somebody writes one of the scope's edits into its znode."""
    tree = cluster.zookeeper.tree
    for t, topic in enumerate(cluster.topics() if "addition" in cluster.scope.parts else ()):
        if cluster.adding is not None and cluster.adding[0] == topic:
            yield choice_of(write_addition, t=t)
        elif cluster.adding is None and topic_path(topic) in tree:
            yield choice_of(read_for_addition, t=t)
    for e in range(len(cluster.scope.edited)):
        if topic_path(_edited(cluster, e)[0]) in tree:
            yield choice_of(edit_assignment, e=e)


def _requests(cluster: MemoryCluster) -> Iterator[Choice]:
    """Somebody asks for preferred elections or for a reassignment of the scope's, or deletes the request by hand."""
    tree = cluster.zookeeper.tree
    if ELECTIONS in tree:
        yield choice_of(withdraw_election)
    elif "preferred_election" in cluster.scope.parts:
        yield from (choice_of(request_election, named=n) for n in range(1, 1 << len(cluster.partitions)))
    if REASSIGN_PARTITIONS in tree:
        yield choice_of(withdraw_reassignment)
    else:
        yield from (choice_of(request_reassignment, k=k) for k in range(len(cluster.scope.requests)))


def create_topic(cluster: MemoryCluster, t: int) -> None:
    """A topic's configuration, then the topic with its assignment."""
    topic = cluster.topics()[t]
    payload = TopicPayload(partitions=dict(_assigned(cluster, topic, added=False)))
    cluster.create_as_admin(topic_config_path(topic), TopicConfigPayload(config={}).encode())
    _write(cluster, Create(topic_path(topic), payload.encode()), Fate.TOPIC_CREATED, topic_path(topic))
    ids = (*cluster.created.get(topic, ()), cluster.zookeeper.tree[topic_path(topic)].czxid)
    cluster.created = {**cluster.created, topic: ids}


def is_unclean(cluster: MemoryCluster, topic: str) -> bool:
    """Whether a topic may elect who is not in sync: it says so itself, or else the brokers' configuration does."""
    path, default = topic_config_path(topic), cluster.model.unclean
    znode = cluster.zookeeper.tree.get(path)
    return default if znode is None else parsed(TopicConfigPayload, path, znode.data).is_unclean(default=default)


def change_unclean_election(cluster: MemoryCluster, t: int) -> None:
    """Allow a topic unclean election, or forbid it; where that is fixed, the controllers hear of the former."""
    topic = cluster.topics()[t]
    path, unclean = topic_config_path(topic), not is_unclean(cluster, topic)
    config = {} if unclean == cluster.model.unclean else {UNCLEAN: str(unclean).lower()}
    data = TopicConfigPayload(config=config).encode()
    write = SetData(path, data) if path in cluster.zookeeper.tree else Create(path, data)
    _write(cluster, write, Fate.UNCLEAN_CHANGED, topic)
    for b in cluster.processes if unclean and Switch.ELECT_WHERE_ALLOWED in cluster.switches else ():
        if cluster.processes[b].is_running and cluster.processes[b].controller is not None:
            cluster.change(b).allowed |= {topic}


def _assigned(cluster: MemoryCluster, topic: str, *, added: bool) -> Iterator[tuple[int, tuple[int, ...]]]:
    """The partitions that a topic gets by addition, or has from the start, with their replicas."""
    for number, (tp, replicas) in enumerate(zip(cluster.partitions, cluster.scope.assigned, strict=True)):
        if tp.topic == topic and (number in cluster.scope.added) is added:
            yield tp.partition, replicas


def read_for_addition(cluster: MemoryCluster, t: int) -> None:
    """The tool reads which partitions a topic has."""
    topic = cluster.topics()[t]
    node = cluster.zookeeper.tree[topic_path(topic)]
    cluster.adding = topic, parsed(TopicPayload, topic_path(topic), node.data).partitions
    cluster.record(FateMet(ADMIN, Fate.TOPIC_READ, (topic,)))


def write_addition(cluster: MemoryCluster, t: int) -> None:
    """The tool writes what it read, with the new partitions, whatever is there now (D39), and whether it is (D17).

    Where that is fixed, it does so only if the topic still has the partitions that it read.
    """
    assert cluster.adding is not None  # noqa: S101 - it is what made this a choice
    topic, (_, read), cluster.adding = cluster.topics()[t], cluster.adding, None
    path, tree = topic_path(topic), cluster.zookeeper.tree
    found = parsed(TopicPayload, path, tree[path].data).partitions if path in tree else None
    if found != read and Switch.KEEP_OTHERS_ASSIGNMENTS in cluster.switches:
        return
    data = TopicPayload(partitions={**read, **dict(_assigned(cluster, topic, added=True))}).encode()
    write = Create(path, data) if found is None else SetData(path, data)
    _write(cluster, write, Fate.PARTITIONS_ADDED, topic)


def _edited(cluster: MemoryCluster, e: int) -> tuple[str, dict[int, tuple[int, ...]]]:
    """The topic that one of the scope's edits is of, and the replicas of the partitions that it names."""
    named = {tp: ids for tp, ids in zip(cluster.partitions, cluster.scope.edited[e], strict=True) if ids}
    return next(iter(named)).topic, {tp.partition: ids for tp, ids in named.items()}


def edit_assignment(cluster: MemoryCluster, e: int) -> None:
    """Write other replicas of a topic's partitions by hand."""
    topic, named = _edited(cluster, e)
    path = topic_path(topic)
    found = parsed(TopicPayload, path, cluster.zookeeper.tree[path].data).partitions
    data = TopicPayload(partitions={**found, **named}).encode()
    partitions = (str(TopicPartition(topic, number)) for number in named)
    _write(cluster, SetData(path, data), Fate.ASSIGNMENT_EDITED, *partitions)


def remove_topic(cluster: MemoryCluster, t: int) -> None:
    """Take a topic's znode away by hand, with all that is below."""
    topic = cluster.topics()[t]
    below = sorted(path for path in cluster.zookeeper.tree if path.startswith(topic_path(topic) + "/"))
    for path in reversed(below):
        cluster.zookeeper.execute(cluster.admin_session, Delete(path))
    _write(cluster, Delete(topic_path(topic)), Fate.TOPIC_REMOVED, topic)


def remove_state(cluster: MemoryCluster, p: int) -> None:
    """Take a partition's state znode away by hand."""
    partition = cluster.partitions[p]
    _write(cluster, Delete(state_path(partition)), Fate.STATE_REMOVED, str(partition))


def request_deletion(cluster: MemoryCluster, t: int) -> None:
    """Ask for the deletion of a topic, be it there or not."""
    topic = cluster.topics()[t]
    _write(cluster, Create(delete_topic_path(topic), b""), Fate.DELETION_REQUESTED, topic)


def request_election(cluster: MemoryCluster, named: int) -> None:
    """Ask for a preferred election of the partitions whose numbers are bits of `named`."""
    partitions = tuple(one for number, one in enumerate(cluster.partitions) if named >> number & 1)
    data = PartitionsPayload(partitions=partitions).encode()
    _write(cluster, Create(ELECTIONS, data), Fate.ELECTION_REQUESTED, *map(str, partitions))


def withdraw_election(cluster: MemoryCluster) -> None:
    """Delete the request by hand."""
    _write(cluster, Delete(ELECTIONS), Fate.ELECTION_WITHDRAWN)


def request_reassignment(cluster: MemoryCluster, k: int) -> None:
    """Ask for one of the scope's reassignments."""
    wanted = zip(cluster.partitions, cluster.scope.requests[k], strict=True)
    entries = tuple(PartitionReassignment(tp.topic, tp.partition, as_written(rar)) for tp, rar in wanted if rar)
    data = ReassignPartitionsPayload(partitions=entries).encode()
    _write(cluster, Create(REASSIGN_PARTITIONS, data), Fate.REASSIGNMENT_REQUESTED, str(k))


def withdraw_reassignment(cluster: MemoryCluster) -> None:
    """Delete the request by hand; a controller that has read it is not told to stop."""
    _write(cluster, Delete(REASSIGN_PARTITIONS), Fate.REASSIGNMENT_WITHDRAWN)


def remove_controller(cluster: MemoryCluster) -> None:
    """Delete /controller by hand, so that there is another election."""
    _write(cluster, Delete(CONTROLLER), Fate.CONTROLLER_REMOVED)


def _write(cluster: MemoryCluster, operation: AnyOperation, fate: Fate, *what: str) -> None:
    """Do an operation as the admin, and tell whom it concerns."""
    cluster.zookeeper.execute(cluster.admin_session, operation)
    cluster.record(FateMet(ADMIN, fate, what))
    cluster.tell_watchers()
