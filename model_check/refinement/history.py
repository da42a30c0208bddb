"""History: what the specification remembers of a run and nobody in the cluster knows.

Which terms have acted, in which epochs, and how a reassignment began, is read from what each step leaves behind.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from reference.forking import Notes
from reference.journal import Entry, Fate, FateMet, Milestone, OperationDone, Reached, RequestSent
from reference.memory.cluster import MemoryCluster
from reference.scripts import BROKER_TOPICS, REASSIGN_PARTITIONS, parsed, state_path, topic_path
from reference.zookeeper.api import Create, Delete, GetData, SetData
from spec.formats.kafka_types import TopicPartition
from spec.formats.znode_paths import ISR_CHANGE, STATE, TOPIC_CONFIG
from spec.formats.znodes import PartitionStatePayload, ReassignPartitionsPayload, TopicPayload
from spec.language.broker_lists import as_listed, plain
from spec.language.lists_in_use import Members
from spec.language.rules import rules_of
from spec.protocol.admin_requests import ADMIN_REQUESTS
from spec.protocol.broker_events.controlled_shutdown import leave_cluster
from spec.protocol.brokers import isr_changes
from spec.protocol.brokers.processes import close_failed_startup, crash
from spec.protocol.controller.epoch_listener import adopt_epoch
from spec.protocol.deletion.requests import request_deletion
from spec.protocol.failover.election import elect_create

BROKER_STEPS = tuple(one.name for one in rules_of(isr_changes))
"""The steps that a process takes as a broker, and not as a controller."""
ENDS_OF_PROCESSES = (crash.name, close_failed_startup.name, leave_cluster.name)
"""Steps after which a process is gone, and its term with it."""

HANDLED = tuple(
    kind.prefix for kind in (ISR_CHANGE, STATE, TOPIC_CONFIG, *(one.kind for one in ADMIN_REQUESTS.values()))
)
"""What the paths begin with of znodes that a controller deletes: messages that it has handled, or a topic's."""


@dataclass(frozen=True)
class Begun:
    """A requested reassignment: the AR with which it began, RAR, and whether the ISR has had all of that since."""

    original: Members = ()
    target: Members = ()
    caught_up: bool = False


@dataclass(frozen=True)
class History:
    """In which controller epochs some term has acted, and whose present terms have.

    `reassignments` are those that were requested; a request that is removed by hand counts on. `doomed` are the
    topics that somebody has asked to delete, and meant these, not ones before them that had their names. `notes` are
    what readers keep of it.
    """

    epochs: frozenset[int] = frozenset()
    terms: frozenset[int] = frozenset()
    reassignments: Mapping[TopicPartition, Begun] = field(default_factory=dict)
    doomed: frozenset[str] = frozenset()
    notes: Notes = field(default_factory=Notes, init=False, compare=False, repr=False)

    def after(self, rule: str, cluster: MemoryCluster) -> "History":
        """The history after a step of this rule, which the cluster has just taken."""
        now, reassignments, doomed = self, self._reassigning(cluster), self._doomed(rule, cluster)
        if (reassignments, doomed) != (self.reassignments, self.doomed):
            now = replace(self, reassignments=reassignments, doomed=doomed)
        for entry in cluster.entries:
            match entry:
                case OperationDone(process=c) | FateMet(process=c) | Reached(controller=c) if _is_another_term(
                    entry, rule, cluster
                ):
                    now = replace(now, terms=now.terms - {c}) if c in now.terms else now
                case RequestSent(controller=c, request=queued, queued=True):
                    now = now.acting(c, queued.controller_epoch)
                case OperationDone(process=c, operation=Create() | SetData() as write, answer=answer):
                    if isinstance(answer, Exception) or rule in BROKER_STEPS:
                        continue
                    if _is_state(write.path):
                        content = parsed(PartitionStatePayload, write.path, write.data)
                        now = now.acting(c, content.leadership.controller_epoch)
                    elif is_of_a_reassignment(write.path):
                        now = now.acting_now(cluster, c)
                case OperationDone(process=c, operation=Delete(path=path), answer=None) if path.startswith(HANDLED):
                    now = now.acting_now(cluster, c)
        return now

    def acting_now(self, cluster: MemoryCluster, c: int) -> "History":
        """The history once c has acted in the epoch that it is in."""
        controller = cluster.processes[c].controller
        return self if controller is None else self.acting(c, controller.context.epoch)

    def _reassigning(self, cluster: MemoryCluster) -> Mapping[TopicPartition, Begun]:
        """The reassignments after a step: asked for, caught up, or out of the request."""
        now = dict(self.reassignments)
        for entry in cluster.entries:
            match entry:
                case FateMet(fate=Fate.REASSIGNMENT_REQUESTED):
                    for tp, rar in requested_reassignments(cluster).items():
                        now[tp] = Begun(assigned_in_zookeeper(cluster, tp), rar, _has_caught_up(cluster, tp, rar))
                case FateMet(fate=Fate.ASSIGNMENT_EDITED, paths=edited):
                    named = {tp: one for tp, one in now.items() if str(tp) in edited}
                    now |= {tp: replace(one, original=assigned_in_zookeeper(cluster, tp)) for tp, one in named.items()}
                case OperationDone(operation=Create(path=path) | SetData(path=path)) if _is_state(path):
                    concerned = [(tp, one) for tp, one in now.items() if state_path(tp) == path]
                    caught_up = (each for each in concerned if _has_caught_up(cluster, each[0], each[1].target))
                    now |= {tp: replace(one, caught_up=True) for tp, one in caught_up}
                case OperationDone(
                    operation=Create(path=path) | Delete(path=path) | SetData(path=path), answer=answer
                ) if path == REASSIGN_PARTITIONS and not isinstance(answer, Exception):
                    left = requested_reassignments(cluster)
                    now = {tp: one for tp, one in now.items() if tp in left}
        return now

    def _doomed(self, rule: str, cluster: MemoryCluster) -> frozenset[str]:
        """The topics that are to go after a step: somebody asks for it while one is there, or it is gone."""
        doomed = self.doomed
        for entry in cluster.entries:
            match entry:
                case FateMet(fate=Fate.DELETION_REQUESTED, paths=topics) if rule == request_deletion.name:
                    doomed = doomed.union(topics)
                case OperationDone(operation=Delete(path=path), answer=None):
                    doomed = frozenset(topic for topic in doomed if topic_path(topic) != path)
        return doomed

    def acting(self, c: int, epoch: int) -> "History":
        """The history once c has acted in an epoch."""
        if epoch in self.epochs and c in self.terms:
            return self
        return replace(self, epochs=self.epochs | {epoch}, terms=self.terms | {c})


def _is_another_term(entry: Entry, rule: str, cluster: MemoryCluster) -> bool:
    """Whether a controller resigned, its process is gone, it was just elected, or it has taken over another's epoch."""
    match entry:
        case Reached(milestone=milestone):
            return milestone is Milestone.RESIGNED
        case OperationDone(process=c, operation=Create(path="/controller")) if rule == elect_create.name:
            controller = cluster.processes[c].controller
            return controller is not None and controller.am_i_leader
        case OperationDone(operation=operation):
            return rule == adopt_epoch.name and isinstance(operation, GetData)
    return rule in ENDS_OF_PROCESSES


def _is_state(path: str) -> bool:
    return path.endswith("/state") and STATE.prefix in path


def is_of_a_reassignment(path: str) -> bool:
    """Whether a znode is one that the controller writes for a reassignment alone: a topic's, or what is requested."""
    return path == REASSIGN_PARTITIONS or (path.count("/") == 3 and path.startswith(BROKER_TOPICS + "/"))


def listed(lists: Mapping[Any, tuple[int, ...]], key: object) -> Members:
    """A list of brokers, if there is one, as the specification has it."""
    return as_listed(lists[key]) if key in lists else ()


def requested_reassignments(cluster: MemoryCluster) -> Mapping[TopicPartition, Members]:
    """RAR by partition, as /admin/reassign_partitions has it."""
    znode = cluster.zookeeper.tree.get(REASSIGN_PARTITIONS)
    entries = () if znode is None else parsed(ReassignPartitionsPayload, REASSIGN_PARTITIONS, znode.data).partitions
    return {TopicPartition(one.topic, one.partition): as_listed(one.replicas) for one in entries}


def assigned_in_zookeeper(cluster: MemoryCluster, partition: TopicPartition) -> Members:
    """AR as a topic's znode has it; empty if it is not there."""
    path = topic_path(partition.topic)
    if not cluster.has_topic(partition.topic):
        return ()
    payload = parsed(TopicPayload, path, cluster.zookeeper.tree[path].data)
    return listed(payload.partitions, partition.partition)


def _has_caught_up(cluster: MemoryCluster, partition: TopicPartition, wanted: Members) -> bool:
    """Whether the ISR has all of these."""
    path = state_path(partition)
    if path not in cluster.zookeeper.tree:
        return not plain(wanted)
    isr = parsed(PartitionStatePayload, path, cluster.zookeeper.tree[path].data).leadership.isr
    return set(plain(wanted)) <= set(isr)
