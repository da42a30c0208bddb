"""Steps without a trace of their own that are taken only when something calls for them.

The checks of the automatic rebalance come every few minutes, and mostly find nothing; a broker that is to stop asks
again after a while. Done as soon as they can be, they would be done at once and all the time. So they are done when a
line or a write comes next that follows from them. So are the failures of failovers, which leave no line, either.
"""

from collections.abc import Collection, Iterator
from typing import Final

from model_check.recordings import seen
from model_check.recordings.recording import Cluster, Observed
from model_check.stepping.enabled import Candidate
from model_check.stepping.plain_state import PlainState, part
from spec.language.broker_lists import plain
from spec.logs.controller_log.broker_changes import ShuttingDownBroker
from spec.logs.controller_log.elections import ImbalanceRatio
from spec.logs.controller_log.failover import SessionExpired
from spec.logs.state_change_lines import LeaderElectionStarted, ReplicaChanged, ReplicaChangeFailed
from spec.model import Model
from spec.protocol.broker_events import controlled_shutdown as shutdown
from spec.protocol.elections.rebalance import check_imbalance
from spec.protocol.failover.steps import fail_failover
from spec.state.elections import Leaving

LEAVING: Final = list(Leaving)


def called_for(
    m: Model, cluster: Cluster, one: Observed, state: PlainState, leavers: Collection[int] = ()
) -> Iterator[Candidate]:
    """What may come right before an observation that it leads to; `leavers` may be told to stop, unrecorded."""
    yield from _turns(m, cluster, one, state)
    match one:
        case seen.ControllerSaid(controller=c, line=ImbalanceRatio(broker=broker)):
            yield check_imbalance.name, {"c": c, "h": cluster.broker(broker)}
        case seen.ControllerSaid(controller=c, line=LeaderElectionStarted(partition=partition)):
            yield from _elections(m, state, c, cluster.partition(partition), leavers)
        case seen.StateWritten(by=c, by_leader=False, partition=p) if c:
            yield from _elections(m, state, c, p, leavers)
        case seen.ReplicaStopped(broker=b, delete=False) | seen.StopReplicaRefused(broker=b):
            for c in m.controllers if m.has("shutdown") else ():
                yield from _shutdowns(m, state, c, {b}.intersection(leavers))
        case seen.ControllerSaid(controller=c, line=ShuttingDownBroker(broker=broker)):
            yield from _request(m, state, cluster.broker(broker), c)
        case seen.SessionEnded(by=b, by_client=True):
            for c in m.controllers:
                yield from _request(m, state, b, c)
                yield shutdown.refuse_shutdown.name, {"c": c, "b": b}
                yield shutdown.accept_shutdown.name, {"c": c, "b": b}


def _turns(m: Model, cluster: Cluster, one: Observed, state: PlainState) -> Iterator[Candidate]:
    """A shutdown's turn to a partition: it leads to a StopReplica, which may be refused, and to what becomes of the
    replica; or it ends with an exception, or with the controller's resignation.
    """
    match one:
        case seen.ControllerDeleted(by=c):
            yield from _turns_of(state, c)
        case seen.ControllerSaid(controller=c, line=ReplicaChangeFailed() | ReplicaChanged() as line):
            yield from _turns_of(state, c, cluster.partition(line.partition))
        case seen.ReplicaStopped(broker=b, delete=False) | seen.StopReplicaRefused(broker=b):
            p = one.partition if isinstance(one, seen.ReplicaStopped) else None
            leaving = (c for c in m.controllers if part(state, "controllers", c).get("shutdown_of") == b)
            yield from (turn for c in leaving for turn in _turns_of(state, c, p))


def _turns_of(state: PlainState, c: int, p: int | None = None) -> Iterator[Candidate]:
    """The turns that a controller's shutdown may yet come to: to a partition, or to any."""
    controller = part(state, "controllers", c)
    for left in part(controller, "to_move"):
        if p in {None, left}:
            yield shutdown.move_partition.name, {"c": c, "p": left, "r": controller.get("shutdown_of", 0)}


def _elections(m: Model, state: PlainState, c: int, p: int, leavers: Collection[int]) -> Iterator[Candidate]:
    """What a partition's election follows from: a check of the imbalance, or a shutdown."""
    assigned = m.first_assigned(p)
    if m.keeps_assignments:
        assigned = plain(m.brokers.lists[part(state, "controllers", c, "partitions", p).get("assigned", 0)])
    if m.has("auto_rebalance") and assigned:
        yield check_imbalance.name, {"c": c, "h": assigned[0]}
    yield from _shutdowns(m, state, c, leavers)


def _shutdowns(m: Model, state: PlainState, c: int, leavers: Collection[int]) -> Iterator[Candidate]:
    """A broker asks this controller, or is let begin."""
    for b in m.brokers.ids if m.has("shutdown") else ():
        if b in leavers or part(state, "processes", b).get("leaving", 0):
            yield from _request(m, state, b, c)
            yield shutdown.accept_shutdown.name, {"c": c, "b": b}


def _request(m: Model, state: PlainState, b: int, c: int) -> Iterator[Candidate]:
    """A broker that is to stop asks; where no line has shown that it is to, it is told to stop now.

    One that has asked another, which is controller no more, has its answer from that first.
    """
    if m.has("shutdown"):
        process = part(state, "processes", b)
        leaving, asked = LEAVING[process.get("leaving", 0)], process.get("asked", 0)
        if leaving is Leaving.NO:
            yield shutdown.stop_broker.name, {"b": b}
        elif leaving is Leaving.ASKS:
            yield shutdown.request_shutdown.name, {"b": b, "c": c}
        elif asked not in {0, c}:
            yield shutdown.refuse_shutdown.name, {"c": asked, "b": b}
            yield from _turns_of(state, asked)


def failures(one: Observed) -> Iterator[Candidate]:
    """What a failover may have ended with that its controller does not finish: its elector resigns, or begins anew.

    Only the server's own log tells of the exception ("Error while electing or becoming leader on broker").
    """
    match one:
        case seen.ControllerSaid(controller=c, line=SessionExpired()):
            yield fail_failover.name, {"c": c}
        case seen.ControllerDeleted(by=c) | seen.ControllerCreated(by=c) if c:  # by hand, nothing ends a failover
            yield fail_failover.name, {"c": c}
