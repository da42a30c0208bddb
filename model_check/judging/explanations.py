"""Which actions may be what was observed: a table from observations to rules with their parameters.

The likelier come first, and not all of them are enabled. Whether one that is shows exactly what was recorded, others
decide: `recorded_trees` for ZooKeeper's transactions, `deliveries` for requests, `writing` for lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from model_check.judging.hidden_steps import Candidate, part, place_of
from model_check.recordings.processes import (
    ProcessKilled,
    ProcessStopping,
    ReplicaStopped,
    RequestHandled,
    StopReplicaRefused,
)
from model_check.recordings.recording import Observed
from model_check.recordings.zookeeper import (
    AssignmentRead,
    AssignmentWritten,
    BrokerRegistered,
    ConfigurationDeleted,
    ControllerCreated,
    ControllerDeleted,
    DeletionAsked,
    ElectionRequestDeleted,
    ElectionRequested,
    EpochWritten,
    NotificationCreated,
    NotificationDeleted,
    ReassignmentRequested,
    ReassignmentsWritten,
    RequestDeleted,
    SessionBegan,
    SessionEnded,
    StateDeleted,
    StateWritten,
    TopicCreated,
    TopicDeleted,
    WriteConflicted,
)
from model_check.stepping.open_system import ADDITION, RECREATION
from model_check.stepping.plain_state import PlainState
from spec.model import Model
from spec.state.brokers import Stage
from spec.state.enumerations import At


def candidates(m: Model, one: Observed, state: PlainState) -> Iterable[Candidate]:
    """The actions that may be what was observed, the likelier first."""
    return TABLE[type(one)](m, one, state) if type(one) in TABLE else ()


def _session_began(_m: Model, one: SessionBegan, _state: PlainState) -> Iterator[Candidate]:
    renewed = [("renew_session", {"b": one.by})]
    started = [(rule, {"b": one.by}) for rule in ("start_process", "start_process_early")]
    yield from started if one.first else renewed
    if one.is_guess:
        yield from renewed if one.first else started


def _session_ended(m: Model, one: SessionEnded, state: PlainState) -> Iterator[Candidate]:
    if one.by_client:
        yield "leave_cluster", {"b": one.by}
        yield "close_failed_startup", {"b": one.by}
        return
    yield "end_orphaned_session", {"b": one.by}
    if not one.superseded:
        controller = part(state, "controllers", one.by)
        all_lost = range(len(part(controller, "callbacks")) + 1)
        # Events that wait although the thread is free were on their way when the connection broke.
        for lost in all_lost if controller.get("at") else reversed(all_lost):
            yield "expire_session", {"b": one.by, "lost": lost}
        for heard in (1, 2) if one.by in m.controllers else ():
            yield "expire_session_heard", {"b": one.by, "heard": heard}


def _controller_created(_m: Model, one: ControllerCreated, _state: PlainState) -> Iterator[Candidate]:
    yield "elect_create", {"c": one.by}
    if one.may_be_unanswered:
        yield "elect_create_unanswered", {"c": one.by}


def _registered(_m: Model, one: BrokerRegistered, _state: PlainState) -> Iterator[Candidate]:
    yield "register_broker", {"b": one.by}
    if one.may_be_unanswered:
        yield "register_broker_unanswered", {"b": one.by}


def _epoch_written(_m: Model, one: EpochWritten, _state: PlainState) -> Iterator[Candidate]:
    for rule in ("increment_epoch", "create_epoch", "increment_epoch_unanswered", "create_epoch_unanswered"):
        yield rule, {"c": one.by}


def _state_written(m: Model, one: StateWritten, state: PlainState) -> Iterator[Candidate]:
    """A leader's change of its ISR, or a controller's creation, election or removal."""
    visit = {"c": one.by, "p": one.partition}
    if one.by_leader:
        yield from _isr_change(m, one, part(state, "zookeeper", "state", one.partition))
    elif one.state.zk_version == 0:
        yield from [("create_state", visit), ("create_state_unanswered", visit)]
    else:
        yield from [("write_elected_leader", visit), ("write_elected_leader_unanswered", visit)]
        if place_of(part(state, "controllers", one.by)) in REASSIGNING:
            rule = REASSIGNING[place_of(part(state, "controllers", one.by))]
            yield from [(rule, visit), (f"{rule}_unanswered", visit)]
        replica = part(state, "controllers", one.by).get("replica", 0)
        if replica:
            removal = {**visit, "r": replica}
            yield from [("write_removal", removal), ("write_removal_unanswered", removal)]


REASSIGNING: Final[Mapping[At, str]] = {
    At.WRITE_UNION: "write_union",
    At.BUMP_WRITE: "write_bump",
    At.MOVE_WRITE: "write_move",
    At.WRITE_TARGET: "write_target",
    At.COMPLETE_WRITE: "write_remaining",
    At.REFUSE_WRITE: "write_remaining",
}
"""Where a reassignment writes, and which rule that is."""


def _assigned(m: Model, one: AssignmentWritten, state: PlainState) -> Iterable[Candidate]:
    if one.addition is None:
        return _reassigned(m, one, state)
    return [("write_addition", {"t": one.topic, ADDITION: one.addition})]


def _reassigned(m: Model, one: AssignmentWritten | ReassignmentsWritten, state: PlainState) -> Iterator[Candidate]:
    """A write of the partition that a controller works on; what it writes may be what was there, of any topic."""
    controller = part(state, "controllers", one.by)
    p = controller.get("reassigning", 0)
    its_own = isinstance(one, ReassignmentsWritten) or m.topic_of(p) == one.topic
    if its_own and place_of(controller) in REASSIGNING:
        rule, parameters = REASSIGNING[place_of(controller)], {"c": one.by, "p": p}
        yield from [(rule, parameters), (f"{rule}_unanswered", parameters)]


def _isr_change(m: Model, one: StateWritten, znode: PlainState) -> Iterator[Candidate]:
    old = set(m.brokers.lists[znode.get("isr", 0)])
    for r in sorted(old ^ set(one.state.isr)):
        parameters = {"b": one.by, "p": one.partition, "r": r}
        if r in old:
            yield from [("shrink_isr", parameters), ("shrink_isr_unanswered", parameters)]
        else:
            yield from [("expand_isr", parameters), ("expand_isr_unanswered", parameters)]


def _topic_created(_m: Model, one: TopicCreated, _state: PlainState) -> Iterator[Candidate]:
    again = {} if one.recreation is None else {RECREATION: one.recreation}
    yield "create_topic", {"t": one.topic, **again}


def _state_deleted(_m: Model, one: StateDeleted, _state: PlainState) -> Iterator[Candidate]:
    """By a controller, or by hand."""
    yield ("delete_state", {"c": one.by, "p": one.partition}) if one.by else ("remove_state", {"p": one.partition})


def _topic_deleted(_m: Model, one: TopicDeleted, _state: PlainState) -> Iterator[Candidate]:
    """By a controller, or by hand."""
    yield ("delete_topic", {"c": one.by, "t": one.topic}) if one.by else ("remove_topic", {"t": one.topic})


CONFLICTS: Final[Mapping[At, tuple[str, tuple[str, ...]]]] = {
    At.INCREMENT_EPOCH: ("increment_epoch", ("c",)),
    At.ONLINE_WRITE: ("write_elected_leader", ("c", "p")),
    At.REMOVE_WRITE: ("write_removal", ("c", "p", "r")),
    At.BUMP_WRITE: ("write_bump", ("c", "p")),
    At.MOVE_WRITE: ("write_move", ("c", "p")),
}
"""Where a controller's conditional write may fail, and which rule that is."""


def _conflicted(m: Model, one: WriteConflicted, state: PlainState) -> Iterator[Candidate]:
    """A write that fails on its version changes nothing in ZooKeeper, but its writer goes another way."""
    controller = part(state, "controllers", one.by)
    if place_of(controller) in CONFLICTS:
        rule, names = CONFLICTS[place_of(controller)]
        values = {"c": one.by, "p": controller.get("partition", 0), "r": controller.get("replica", 0)}
        yield rule, {name: values[name] for name in names}
    for p in m.partitions:
        if part(state, "brokers", one.by, "partitions", p).get("retrying", 0):
            yield "rewrite_isr", {"b": one.by, "p": p}


def leads_with_stale_version(m: Model, b: int, state: PlainState) -> bool:
    """Whether a broker believes that it leads a partition, and its next ISR write must fail: that is no step."""
    for p in m.partitions:
        known, znode = part(state, "brokers", b, "partitions", p), part(state, "zookeeper", "state", p)
        if known.get("leader") == b and known.get("version") != znode.get("version"):
            return True
    return False


STAGES: Final = list(Stage)
DELIVERY = "deliver_request", "deliver_request_unanswered"
DELETION = "deliver_deletion", "deliver_deletion_unanswered"


def _delivered(_m: Model, one: RequestHandled, _state: PlainState) -> Iterator[Candidate]:
    for rule in DELIVERY:
        yield rule, {"c": one.controller, "b": one.broker}


def _stopped(m: Model, one: ReplicaStopped, state: PlainState) -> Iterator[Candidate]:
    """Whose request it was is not said: any controller's with such a request at the head of its queue."""
    stage, rule = (Stage.DELETE_REPLICA, DELETION) if one.delete else (Stage.STOP_REPLICA, DELIVERY)
    named = {"p": one.partition} if one.delete else {}
    for c in m.controllers:
        if STAGES[part(state, "connections", c, one.broker, 0).get("stage", 0)] is stage:
            yield from ((name, {"c": c, "b": one.broker, **named}) for name in rule)
        if one.delete and part(state, "late", c, one.broker, one.partition):
            yield "execute_late_copy", {"c": c, "b": one.broker, **named}


def _stop_refused(m: Model, one: StopReplicaRefused, state: PlainState) -> Iterator[Candidate]:
    for c in m.controllers:
        head = part(state, "connections", c, one.broker, 0)
        if STAGES[head.get("stage", 0)] is Stage.STOP_REPLICA:
            yield from ((name, {"c": c, "b": one.broker}) for name in DELIVERY)
        for p in part(head, "delete") if STAGES[head.get("stage", 0)] is Stage.DELETE_REPLICA else ():
            yield from ((name, {"c": c, "b": one.broker, "p": p}) for name in DELETION)


def _request_deleted(_m: Model, one: ElectionRequestDeleted, _state: PlainState) -> Iterator[Candidate]:
    if one.by:
        yield "delete_election_request", {"c": one.by}
        yield "finish_failover", {"c": one.by}
    else:
        yield "withdraw_preferred_election", {}


TABLE: Final[Mapping[type[Observed], Callable[[Model, Any, PlainState], Iterable[Candidate]]]] = {
    SessionBegan: _session_began,
    SessionEnded: _session_ended,
    ControllerCreated: _controller_created,
    ControllerDeleted: lambda _m, one, _state: [
        (rule, {"c": one.by}) for rule in ("resign_delete", "resign_delete_unanswered")
    ],
    EpochWritten: _epoch_written,
    BrokerRegistered: _registered,
    TopicCreated: _topic_created,
    DeletionAsked: lambda _m, one, _state: [
        (rule, {"t": one.topic}) for rule in ("request_deletion", "request_stray_deletion")
    ],
    StateDeleted: _state_deleted,
    TopicDeleted: _topic_deleted,
    ConfigurationDeleted: lambda _m, one, _state: [("delete_configuration", {"c": one.by, "t": one.topic})],
    RequestDeleted: lambda _m, one, _state: [
        (rule, {"c": one.by, "t": one.topic}) for rule in ("delete_request", "drop_request")
    ],
    StateWritten: _state_written,
    NotificationCreated: lambda _m, one, _state: [("report_isr_changes", {"b": one.by})],
    NotificationDeleted: lambda _m, one, _state: [("delete_notification", {"c": one.by, "n": one.notice})],
    ElectionRequested: lambda _m, one, _state: [
        ("request_preferred_election", {"named": sum(1 << p for p in one.partitions)})
    ],
    ElectionRequestDeleted: _request_deleted,
    WriteConflicted: _conflicted,
    ProcessKilled: lambda _m, one, _state: [("crash", {"b": one.broker})],
    ProcessStopping: lambda _m, one, _state: [("stop_broker", {"b": one.broker})],
    RequestHandled: _delivered,
    AssignmentRead: lambda _m, one, _state: [("read_for_addition", {"t": one.topic})],
    AssignmentWritten: _assigned,
    ReassignmentsWritten: _reassigned,
    ReassignmentRequested: lambda _m, one, _state: [("request_reassignment", {"k": one.request})],
    ReplicaStopped: _stopped,
    StopReplicaRefused: _stop_refused,
}
"""What may be observed, and what it may have been. Lines of a controller come with its steps, not by themselves."""
