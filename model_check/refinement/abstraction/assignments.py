"""The part of the abstraction that assignments have of their own, where they change: additions and reassignments."""

from model_check.refinement.abstraction.leadership import Named, lists
from model_check.refinement.history import Begun, History, assigned_in_zookeeper, listed, requested_reassignments
from reference.controller.controller import KafkaController
from reference.memory.cluster import MemoryCluster
from reference.memory.process import MemoryProcess
from reference.reassignment.effects import WriteRemaining
from reference.scripts import REASSIGN_PARTITIONS
from spec.language.broker_lists import plain
from spec.model import Model


def assigned(m: Model, cluster: MemoryCluster) -> Named:
    """The assignments in ZooKeeper."""
    for p, partition in enumerate(cluster.partitions if m.keeps_assignments else ()):
        yield f"zookeeper.assigned[{p}]", assigned_in_zookeeper(cluster, partition)


def tool(cluster: MemoryCluster) -> Named:
    """What the tool that adds partitions has read of the assignments."""
    topic, read = cluster.adding or (None, {})
    yield "tool.adds", topic is not None
    yield "tool.topic", 0 if topic is None else cluster.topics().index(topic)
    for p, partition in enumerate(cluster.partitions):
        yield f"tool.assigned[{p}]", listed(read, partition.partition) if partition.topic == topic else ()


def known_assignments(m: Model, cluster: MemoryCluster, controller: KafkaController, path: str) -> Named:
    """The assignments as a controller holds them."""
    for p, partition in enumerate(cluster.partitions if m.keeps_assignments else ()):
        known = controller.context.partition_replica_assignment
        replicas = listed(known, partition)  # which a deletion takes out one by one: what it leaves is no odd list
        yield f"{path}.partitions[{p}].assigned", replicas if m.scope.odd_targets else plain(replicas)


def requested(cluster: MemoryCluster) -> Named:
    """What is to become of the assignments in ZooKeeper."""
    wanted = requested_reassignments(cluster)
    for p, partition in enumerate(cluster.partitions):
        yield f"zookeeper.requested[{p}]", wanted.get(partition, ())


def begun(cluster: MemoryCluster, history: History) -> Named:
    """How the reassignments that were requested began."""
    for p, partition in enumerate(cluster.partitions):
        one = vars(history.reassignments.get(partition, Begun()))
        yield from ((f"history.{name}[{p}]", value) for name, value in one.items())


def is_between_partitions(process: MemoryProcess) -> bool:
    """Whether nobody has the controller lock, and the listener on requests is to take it for the next partition."""
    return process.running is None and process.controller is not None and bool(process.controller.to_reassign)


def has_read_remaining(cluster: MemoryCluster, process: MemoryProcess) -> bool:
    """Whether the request in ZooKeeper was read for the write that is due; another controller's write may end that."""
    written = _due_write(process)
    return written is not None and cluster.stands(REASSIGN_PARTITIONS, written.remaining.czxid)


def _due_write(process: MemoryProcess) -> WriteRemaining | None:
    """The write of what remains of a request that a controller is about to make."""
    return process.next_effect if isinstance(process.next_effect, WriteRemaining) else None


def reassignments(cluster: MemoryCluster, process: MemoryProcess, controller: KafkaController, path: str) -> Named:
    """What a controller is reassigning, and which of it the running handler is at."""
    context, activity = controller.context, controller.activity
    due = dict(controller.to_reassign) | dict(activity.due)
    written = _due_write(process)
    remaining = {} if written is None else dict(written.remaining.wanted)
    asked = context.partitions_being_reassigned
    yield from lists(path, cluster.partitions, reassigned=asked, due=due, remaining=remaining)
    working = 0 if activity.reassigning is None else cluster.partitions.index(activity.reassigning)
    yield f"{path}.reassigning", working
    yield f"{path}.leaving", activity.leaving
    yield f"{path}.outside", activity.outside
