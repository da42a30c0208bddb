"""Requests that come late: a copy over an old connection is executed behind what was sent after it.

When a connection breaks while a request is in flight, the send thread sends the same request again over a new one. The
first copy may still lie with the broker, to be executed at any time. What LeaderAndIsr says is fenced by the leader
epoch that the broker remembers; a deletion takes that away, so a late one brings back a replica that was deleted (D69).
StopReplica has no leader epoch, so a late copy deletes a replica that has been assigned again meanwhile (D22). The fix
gives StopReplica the leader epoch that its controller knows: a replica that has been sent a newer one stays.

UpdateMetadata has none that counts, so a late one brings back the brokers that lived then (D69); our fix closes the
older connections as something comes through a newer one. And a broker that was paused carries out what lies with it
although its controller has removed its channel since, opened a new one, and sent it everything again.

Scopes have copies of StopReplica with delete by the budget `late_copies`, one for a replica at a time, and those of
other requests by `late_requests`, one for a broker at a time. Left out: that a broker refuses the latter where they
name an older registration of it (BROKER_EPOCHS).

Kafka 0.10.2.2: `RequestSendThread.doWork`, `ReplicaManager.stopReplicas`; KIP-570. PROTOCOL.md sections 9 and 10.
"""

from spec.language.rules import action, require, reset, when
from spec.language.terms import either, flag
from spec.model import Model
from spec.protocol.requests.connections import execute
from spec.protocol.requests.handling import handle_deletion
from spec.state.brokers import LateCopy, Stage
from spec.state.cluster import State
from spec.state.enumerations import Session

PARTS = ("stopped_replicas",)


@action(actor="broker {b}", source="RequestSendThread.doWork 0.10.2.2", budget="late_copies", parts=PARTS)
def leave_late_copy(s: State, m: Model, c: int, b: int, p: int) -> None:
    """The connection breaks while a StopReplica with delete is in flight: it is sent again, and a copy stays behind."""
    head, late = s.connections[c][b][0], s.late[c][b][p]
    require(s.processes[b].session != Session.NONE, head.stage == Stage.DELETE_REPLICA, head.delete[p], ~late.waits)
    late.waits = True
    late.epoch = head.epoch
    late.leader_epoch = head.delete_epoch[p]


@action(actor="broker {b}", source="KafkaApis.handleStopReplicaRequest 0.10.2.2", parts=("late_copies",))
def execute_late_copy(s: State, m: Model, c: int, b: int, p: int) -> None:
    """A broker executes the copy that stayed behind, once no ISR write holds the partition; nobody waits for that."""
    late = s.late[c][b][p]
    require(s.processes[b].session != Session.NONE, late.waits)
    require(s.brokers[b].partitions[p].retrying == ())
    handle_deletion(s, m, c, b, p, late, late.leader_epoch if m.keeps(LateCopy.leader_epoch) else None)
    reset(late)


@action(actor="broker {b}", source="RequestSendThread.doWork 0.10.2.2", budget="late_requests", parts=("connections",))
def leave_late_request(s: State, m: Model, c: int, b: int) -> None:
    """The connection breaks while a request other than a deletion is in flight.

    It stays behind, and is also sent again if the channel stays open.
    """
    head = s.connections[c][b][0]
    together = () if m.stops_one_by_one else (Stage.STOP_REPLICA,)
    mobile = (Stage.LEADER_AND_ISR, Stage.UPDATE_METADATA, *together)
    require(s.processes[b].session != Session.NONE, either(*(head.stage == one for one in mobile)))
    stay_behind(s, c, b)


def stay_behind(s: State, c: int, b: int) -> None:
    """The request at the head stays behind; of its batch no other does."""
    late = s.late_requests[c][b]
    require(late.stage == Stage.EMPTY)
    s.late_requests[c][b] = s.connections[c][b][0]
    reset(late, "delete", "delete_epoch", "calls_back")
    with when(late.stage == Stage.LEADER_AND_ISR):
        reset(late, "metadata", "alive", "told", "told_epoch")
    with when(late.stage != Stage.STOP_REPLICA):
        reset(late, "stop")


@action(actor="broker {b}", source="KafkaApis.handle 0.10.2.2", parts=("late_requests",))
def execute_late_request(s: State, m: Model, c: int, b: int) -> None:
    """A broker executes what stayed behind; nobody waits for that."""
    late = s.late_requests[c][b]
    require(s.processes[b].session != Session.NONE, late.stage != Stage.EMPTY)
    execute(s, m, c, b, late, stale=flag(False))
    reset(late)
