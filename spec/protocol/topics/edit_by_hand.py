"""Edits by hand: somebody writes other assigned replicas of a topic's partitions into its znode, past the controller.

An old recipe for more replicas, or for others. The controller is called, looks for partitions that it does not know,
and takes no notice of others: it goes by the AR that it has until the next failover, whose reads take over what is
written (D73). Until then a replica that was added is started by nobody, one that was taken away is stopped by nobody,
and whatever writes the topic from a controller's memory, as each reassignment does, undoes the edit (D73-move). A
failover starts what was added, and yet the leader takes no fetch of it: it has AR from the LeaderAndIsr that made it
leader, and ignores one of the same leader epoch (D73-fetch). A leader that was taken away leads until it restarts, and
nobody takes its place then (D73-leader); its log outlives the topic (D38-edited).

Scopes name the edits that somebody may make (`edited`); each writes the partitions that it names and leaves the others
as they are. Left out: that an edit takes a partition away, or names a broker twice, or none; and that in 0.10.2 a fetch
request fails as a whole that names a replica which the leader does not know, so that others fall out of their ISRs.

Kafka 0.10.2.2: `PartitionStateMachine.PartitionModificationsListener`, `KafkaController.onControllerFailover`.
PROTOCOL.md section 7.3.
"""

from spec.language.rules import action, observe, require, when
from spec.model import Model
from spec.protocol.zookeeper import topic_changed
from spec.state.cluster import State, target


@action(
    actor="admin", source="zookeeper-shell.sh set /brokers/topics/T (KAFKA-12493)", budget="edits", parts=("addition",)
)
def edit_assignment(s: State, m: Model, e: int) -> None:
    """Somebody writes a topic's assignment: the partitions that he names, those that are new to it among them."""
    edited = m.edited(e)
    t = m.topic_of(next(iter(edited)))
    require(s.zookeeper.topics[t])
    for p, replicas in edited.items():
        s.zookeeper.assigned[p] = replicas
        if m.has("reassignment"):
            with when(target(s, m, p) != ()):
                s.history.original[p] = replicas
        observe("admin", "edit assignment", partition=p)
    topic_changed(s, m, t)
