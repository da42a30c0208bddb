"""Where an exploration starts: with nothing running, or with a cluster that has settled.

The settled start is the state in which controller 1 finished its first failover with every broker registered, every
partition (if the topic is there) led by the first of its assigned replicas with all of them in sync, and every request
answered. It is reachable from nothing running, which a test shows.
"""

from collections.abc import Iterator

from spec.language.rules import Shape, Variable
from spec.language.views import leaves
from spec.model import Model
from spec.state.enumerations import DeletionThread, Session
from spec.state.listeners import listened_paths
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState
from spec.variants import Switch

FIRST_CONTROLLER = 1


def running(m: Model, tree: Shape) -> tuple[Variable, ...]:
    """The variables with the initial values of a settled cluster."""
    values, variables = dict(_settled(m)), tuple(leaves(tree))
    unknown = values.keys() - {one.name for kept in (True, False) for one in leaves(tree, kept=kept)}
    if unknown:
        raise KeyError(f"the settled start names variables that do not exist: {', '.join(sorted(unknown))}")
    return tuple(
        Variable(one.name, one.kind, one.kind.encode(values[one.name]) if one.name in values else one.initial)
        for one in variables
    )


def _settled(m: Model) -> Iterator[tuple[str, object]]:
    everybody = tuple(m.brokers.ids)
    yield "zookeeper.controller", FIRST_CONTROLLER
    yield "zookeeper.epoch", 1
    yield "zookeeper.registered", everybody
    yield "history.acted[1]", True
    for b in m.brokers.ids:
        yield f"processes[{b}].session", Session.LIVE
        yield f"brokers[{b}].alive", everybody if _hears(m) else ()
        if _hears(m):
            yield f"brokers[{b}].controller_epoch", 1
    for c in m.controllers:
        yield f"controllers[{c}].leader_id", FIRST_CONTROLLER
        yield f"controllers[{c}].watching.controller", True
    yield from _first_controller(m, everybody)
    if m.topics_stand:
        for p in m.partitions:
            if p not in m.scope.added:
                yield from _settled_partition(m, p)


def _hears(m: Model) -> bool:
    """Whether a request with the first epoch has reached every broker: with a topic, or metadata of none since 0.9."""
    return m.topics_stand or (m.has("metadata") and not m.reintroduces(Switch.TELL_ONLY_THE_NEW))


def _first_controller(m: Model, everybody: tuple[int, ...]) -> Iterator[tuple[str, object]]:
    path = f"controllers[{FIRST_CONTROLLER}]"
    yield f"{path}.epoch", 1
    yield f"{path}.active", True
    yield f"{path}.acted", True
    yield f"{path}.live", everybody
    yield f"{path}.channels", everybody
    yield f"{path}.deletion", DeletionThread.RUNNING
    yield f"{path}.started", True
    for listened in listened_paths(m):
        yield f"{path}.watching.{listened}", True
        yield f"{path}.listening.{listened}", True
    for t in m.topics if m.topics_stand else ():
        yield f"{path}.topic_watching[{t}]", True
        yield f"{path}.topic_listening[{t}]", True
    for b in everybody:
        yield f"{path}.seen[{b}]", True


def _settled_partition(m: Model, p: int) -> Iterator[tuple[str, object]]:
    """Znode, controller's cache and the brokers' memories agree."""
    replicas = m.first_assigned(p)
    leadership = {"leader": replicas[0], "leader_epoch": 0, "isr": replicas, "version": 0, "controller_epoch": 1}
    cached = f"controllers[{FIRST_CONTROLLER}].partitions[{p}]"
    yield f"controllers[{FIRST_CONTROLLER}].topics[{m.topic_of(p)}]", True
    yield f"{cached}.state", PartitionState.ONLINE
    for name, value in leadership.items():
        yield f"zookeeper.state[{p}].{name}", value
        yield f"{cached}.{name}", value
        for r in replicas:
            yield f"brokers[{r}].partitions[{p}].{name}", () if name == "isr" and r != replicas[0] else value
    for b in m.brokers.ids:
        yield f"brokers[{b}].partitions[{p}].cached_epoch", 0
    yield f"{cached}.assigned", replicas
    for r in replicas:
        yield f"brokers[{r}].partitions[{p}].assigned", replicas
    yield from _settled_replicas(m, p, cached)


def _settled_replicas(m: Model, p: int, cached: str) -> Iterator[tuple[str, object]]:
    """Every replica is online, and has a log."""
    for r in m.first_assigned(p):
        yield f"{cached}.replicas[{r}]", ReplicaState.ONLINE
        yield f"logs[{r}][{p}]", True
    yield f"controllers[{FIRST_CONTROLLER}].modified[{m.topic_of(p)}]", True
