"""Before 0.10.2.0 each replica that is to stop, and not to be deleted, is stopped by a request of its own (KAFKA-4420).

A broker that stops, or hears of a newer controller, may therefore have carried out only some of a batch's stops. Nor
is there a request that stops nothing. They are sent in the order in which they were put into the batch, which is left
open here; those with delete are in spec/protocol/requests/connections.py.

Kafka 0.10.1.1: `ControllerBrokerRequestBatch.sendRequestsToBrokers`. PROTOCOL.md section 9.
"""

from spec.language.rules import action, require, when
from spec.language.terms import either
from spec.model import Model
from spec.protocol.requests.connections import answer_head, close_older
from spec.protocol.requests.handling import handle_stop_replica, is_stale_registration
from spec.protocol.requests.late_copies import stay_behind
from spec.state.brokers import Stage
from spec.state.cluster import State
from spec.state.enumerations import Session

PARTS = ("stopped_replicas", "single_stops")


@action(actor="broker {b}", source="RequestSendThread.doWork 0.10.1.1; KafkaApis", parts=PARTS)
def deliver_stop(s: State, m: Model, c: int, b: int, p: int) -> None:
    """Before 0.10.2.0: a broker executes a StopReplica of one replica, without delete, and its answer comes back."""
    _execute_stop(s, m, c, b, p)
    head = s.connections[c][b][0]
    head.stop[p] = False
    with when(~either(*(head.stop[q] for q in m.partitions))):
        answer_head(s, m, c, b)


@action(actor="broker {b}", source="RequestSendThread.doWork 0.10.1.1", budget="resends", parts=PARTS)
def deliver_stop_unanswered(s: State, m: Model, c: int, b: int, p: int) -> None:
    """Before 0.10.2.0: a broker executes such a StopReplica, but the answer is lost: it will come again."""
    _execute_stop(s, m, c, b, p)


@action(actor="broker {b}", source="RequestSendThread.doWork 0.10.1.1", budget="late_requests", parts=PARTS)
def leave_late_stop(s: State, m: Model, c: int, b: int, p: int) -> None:
    """Before 0.10.2.0: the connection breaks while such a StopReplica is in flight, which stays behind."""
    _require_due(s, c, b, p)
    stay_behind(s, c, b)
    for q in m.partitions:
        if q != p:
            s.late_requests[c][b].stop[q] = False


def _require_due(s: State, c: int, b: int, p: int) -> None:
    head = s.connections[c][b][0]
    require(s.processes[b].session != Session.NONE, head.stage == Stage.STOP_REPLICA, head.stop[p])


def _execute_stop(s: State, m: Model, c: int, b: int, p: int) -> None:
    """The broker's side of a StopReplica without delete at the head."""
    _require_due(s, c, b, p)
    close_older(s, m, c, b)
    with when(~is_stale_registration(s, m, c, b)):
        handle_stop_replica(s, m, c, b, s.connections[c][b][0], (p,))
