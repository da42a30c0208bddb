"""The part of the abstraction that reassignments have of their own."""

from __future__ import annotations

from model_check.refinement.abstraction.leadership import Named
from model_check.refinement.history import History, requested_reassignments
from reference.controller.controller import KafkaController
from reference.memory.cluster import MemoryCluster
from reference.memory.process import MemoryProcess
from reference.reassignment.effects import WriteRemaining
from reference.scripts import REASSIGN_PARTITIONS, state_path
from reference.zookeeper.tree import WatchKind


def requested(cluster: MemoryCluster, history: History) -> Named:
    """What is to become of the assignments in ZooKeeper, and how that began."""
    wanted, original = requested_reassignments(cluster), dict(history.original)
    for p, partition in enumerate(cluster.partitions):
        yield f"zookeeper.requested[{p}]", wanted.get(partition, ())
        yield f"history.original[{p}]", original.get(partition, ())
        yield f"history.caught_up[{p}]", partition in history.caught_up


def is_between_partitions(process: MemoryProcess) -> bool:
    """Whether nobody has the controller lock, and the listener on requests is to take it for the next partition."""
    return process.running is None and process.controller is not None and bool(process.controller.to_reassign)


def isr_watches(cluster: MemoryCluster, process: MemoryProcess, path: str) -> Named:
    """The listeners on state znodes, and whether their watches are set."""
    armed = cluster.zookeeper.watches(process.session) if process.session is not None else frozenset()
    for p, partition in enumerate(cluster.partitions):
        znode = state_path(partition)
        listening = process.listens_to(znode)
        yield f"{path}.isr_listening[{p}]", listening
        yield f"{path}.isr_watching[{p}]", listening and (WatchKind.NODE, znode) in armed


def has_read_remaining(cluster: MemoryCluster, process: MemoryProcess) -> bool:
    """Whether the request that stands was read for the write that is due; another controller's write may end that."""
    written, request = _due_write(process), cluster.zookeeper.tree.get(REASSIGN_PARTITIONS)
    return written is not None and request is not None and request.czxid == written.remaining.czxid


def _due_write(process: MemoryProcess) -> WriteRemaining | None:
    """The write of what remains of a request that a controller is about to make."""
    effects = () if process.running is None else process.running.options
    return effects[0] if effects and isinstance(effects[0], WriteRemaining) else None


def reassignments(cluster: MemoryCluster, process: MemoryProcess, controller: KafkaController, path: str) -> Named:
    """What a controller is reassigning, and which of it the running handler is at."""
    context, activity = controller.context, controller.activity
    due = dict(controller.to_reassign) | dict(activity.due)
    written = _due_write(process)
    remaining = {} if written is None else dict(written.remaining.wanted)
    for p, partition in enumerate(cluster.partitions):
        yield f"{path}.reassigned[{p}]", context.partitions_being_reassigned.get(partition, ())
        yield f"{path}.due[{p}]", due.get(partition, ())
        yield f"{path}.remaining[{p}]", remaining.get(partition, ())
    working = 0 if activity.reassigning is None else cluster.partitions.index(activity.reassigning)
    yield f"{path}.reassigning", working
    yield f"{path}.leaving", activity.leaving
