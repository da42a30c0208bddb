"""Assigned replicas (AR): what a controller holds as a partition's AR, and the topic's znode that it writes it to.

Where nothing is reassigned or added, a partition's AR is the scope's while its topic is known, and costs no variable.
Where something is, the topic's znode and each controller have one of their own. A controller writes the *whole* topic
from its memory, asking neither for the znode's version nor for its existence: what another has written meanwhile is
lost (D2, D39), and a deleted topic is there again (D52).

Kafka 0.10.2.2: `KafkaController.updateAssignedReplicasForPartition`, `ZkUtils.updatePersistentPath`. PROTOCOL.md
sections 2 and 8.
"""

from spec.language.rules import observe, reset, when
from spec.language.terms import Value, flag
from spec.model import Model
from spec.protocol.leadership_cache import assigned_replicas
from spec.protocol.zookeeper import acts, notify, topic_changed
from spec.state.cluster import State
from spec.variants import Switch


def assigned_set(s: State, m: Model, c: int, p: int) -> Value:
    """A partition's AR as a controller holds it, as a set."""
    return m.brokers.members(assigned_replicas(s, m, c, p))


def is_there(s: State, m: Model, c: int, p: int) -> Value:
    """Whether a topic that a controller knows has this partition: one that it lacks has no replicas."""
    return flag(assigned_replicas(s, m, c, p) != ()) if m.keeps_assignments else flag(True)


def stored_set(s: State, m: Model, p: int) -> Value:
    """A partition's AR as ZooKeeper holds it, as a set."""
    if not m.keeps_assignments:
        return m.brokers.set_kind.constant(m.first_assigned(p))
    return m.brokers.members(s.zookeeper.assigned[p])


def read_assignments(s: State, m: Model, c: int, t: int) -> None:
    """A controller takes over the AR of a topic's partitions; a topic that is not there has none."""
    for p in m.partitions_of(t):
        s.controllers[c].partitions[p].assigned = s.zookeeper.assigned[p]


def forget_assignments(s: State, m: Model, c: int, t: int) -> None:
    """A controller knows a topic no more."""
    s.controllers[c].topics[t] = False
    for p in m.partitions_of(t):
        reset(s.controllers[c].partitions[p], "assigned")


def write_assignment(s: State, m: Model, c: int, p: int, replicas: Value) -> None:
    """A controller writes the whole topic, this for one partition, for the others what it holds; and holds this."""
    write_topic(s, m, c, p, replicas)
    s.controllers[c].partitions[p].assigned = replicas


def write_topic(s: State, m: Model, c: int, p: int, replicas: Value) -> None:
    """The znode's part of that: what it writes when the answer is lost, too."""
    zookeeper, partitions, topic = s.zookeeper, s.controllers[c].partitions, m.topic_of(p)
    if "changing_topics" in m.features:
        with when(~zookeeper.topics[topic]):
            zookeeper.topics[topic] = True
            notify(s, m, "topics")
    zookeeper.assigned[p] = replicas
    others = () if m.fixes(Switch.KEEP_OTHERS_ASSIGNMENTS) else (q for q in m.partitions_of(topic) if q != p)
    for q in others:
        zookeeper.assigned[q] = partitions[q].assigned
    topic_changed(s, m, topic)
    acts(s, m, c)
    observe(f"controller {c}", "write assignment", partition=p, replicas=replicas)
