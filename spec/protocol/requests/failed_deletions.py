"""A broker that is told to delete a replica cannot remove its files: the answer has an error, and nothing goes on.

The replica is forgotten before the log is deleted, and the log by the log manager before its folder is renamed (until
0.10.1: before its files are removed). What fails then is raised as a `KafkaStorageException`, which in the era is a
RuntimeException: the process lives on, and the answer has code -1 for every partition of the request, of which a
StopReplica with delete has one. The deletion manager takes the replica to ReplicaDeletionIneligible and holds the topic
back until a broker with a replica of it starts (D72). If it is sent the StopReplica again before its own restart, the
broker finds neither replica nor log, and answers 0; the files stay, and are a log again when it restarts, or the log of
a topic that is created anew (D72-log). Whoever ends a reassignment does not look at the answer.

Left out: that such an answer is lost, and that a late copy fails, after which nobody knows of the log, either; an
`IOException`, which halts the process, and is a crash; an error of authorisation (code 31), which the controller takes
in the same way, and which leaves the broker as it was; and that up to 0.10.1 some of the files may be gone.

Kafka 0.10.2.2: `ReplicaManager.stopReplica`, `Partition.delete`, `LogManager.asyncDelete`; `KafkaApis.handle`.
PROTOCOL.md sections 7.4 and 10.
"""

from spec.language.rules import action, observe, require
from spec.language.terms import either, flag
from spec.model import Model
from spec.protocol.requests.connections import answer_deletion, close_older
from spec.protocol.requests.handling import forget_replica, is_stale_registration
from spec.state.brokers import Slot, Stage
from spec.state.cluster import State
from spec.state.enumerations import Session
from spec.variants import Switch


@action(
    actor="broker {b}", source="ReplicaManager.stopReplicas 0.10.2.2", budget="failed_deletions",
    parts=("stopped_replicas",),
)  # fmt: skip
def deliver_failing_deletion(s: State, m: Model, c: int, b: int, p: int) -> None:
    """A broker executes a StopReplica with delete, and cannot remove the log; the answer says so."""
    close_older(s, m, c, b)
    head, broker = s.connections[c][b][0], s.brokers[b]
    known = broker.partitions[p]
    require(s.processes[b].session != Session.NONE, head.stage == Stage.DELETE_REPLICA, head.delete[p])
    require(~is_stale_registration(s, m, c, b), head.epoch >= broker.controller_epoch, known.retrying == ())
    if m.keeps(Slot.delete_epoch):
        require(either(known.leader_epoch == -1, known.leader_epoch < head.delete_epoch[p]))
    require(s.logs[b][p], ~known.abandoned)
    broker.controller_epoch = head.epoch
    forget_replica(s, b, p)
    known.abandoned = not m.fixes(Switch.KEEP_UNDELETED_LOGS)
    observe(f"broker {b}", "fail StopReplica", controller=c, epoch=head.epoch, partition=p)
    answer_deletion(s, m, c, b, p, flag(False), failed=True)
