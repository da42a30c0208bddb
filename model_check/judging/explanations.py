"""Which actions may be what was observed: of a controller those of its place, of others what a table says.

The likelier come first, and not all of them are enabled. Whether one that is shows exactly what was recorded, others
decide: `recorded_trees` for ZooKeeper's transactions, `deliveries` for requests, `writing` for lines.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from model_check.judging.positions import DELETION, DELIVERY, FAILING, SINGLE_STOP
from model_check.recordings import seen
from model_check.recordings.recording import Observed
from model_check.stepping.enabled import Candidate, ControllerSteps
from model_check.stepping.open_system import ADDITION, RECREATION
from model_check.stepping.plain_state import PlainState, part
from spec.language.rules import Rule
from spec.model import Model
from spec.protocol.admin_requests import ADMIN_REQUESTS
from spec.protocol.broker_events.controlled_shutdown import leave_cluster, stop_broker
from spec.protocol.broker_events.isr_notification import report_isr_changes
from spec.protocol.brokers import isr_changes, processes
from spec.protocol.deletion.completion import delete_configuration
from spec.protocol.elections.allowed import change_unclean_election
from spec.protocol.failover.election import remove_controller
from spec.protocol.requests.late_copies import execute_late_copy, execute_late_request
from spec.protocol.topics.addition import read_for_addition, write_addition
from spec.protocol.topics.creation import create_topic
from spec.protocol.topics.edit_by_hand import edit_assignment
from spec.protocol.topics.removal_by_hand import remove_state, remove_topic
from spec.state.brokers import Stage

STAGES: Final = list(Stage)
SHRINKS: Final = isr_changes.shrink_isr, isr_changes.shrink_isr_unanswered
EXPANSIONS: Final = isr_changes.expand_isr, isr_changes.expand_isr_unanswered, isr_changes.expand_isr_on_a_stale_fetch
KINDS: Final = {"UpdateMetadata": Stage.UPDATE_METADATA, "LeaderAndIsr": Stage.LEADER_AND_ISR}
"""The stage at which a batch is whose request is of a kind."""
NAMED_BY: Final = {Stage.STOP_REPLICA: "stop", Stage.DELETE_REPLICA: "delete"}
"""The partitions that a StopReplica at the head names."""


def candidates(m: Model, steps: ControllerSteps, one: Observed, state: PlainState) -> Iterator[Candidate]:
    """The actions that may be what was observed, the likelier first."""
    by_leader = isinstance(one, seen.StateWritten) and one.by_leader
    if isinstance(one, seen.ZooKeeperChange) and one.by and type(one) in OF_CONTROLLERS and not by_leader:
        only = (delete_configuration.name,) if isinstance(one, seen.ConfigurationDeleted) else ()
        yield from (each for each in steps.enabled(state, one.by) if not only or each[0] in only)
        answered = isinstance(one, seen.ControllerCreated) and not one.may_be_unanswered
        yield from () if answered or only else steps.faults(state, one.by)
    if type(one) in TABLE:
        yield from ((rule.name, parameters) for rule, parameters in TABLE[type(one)](m, one, state))


Row = Iterator[tuple[Rule, Mapping[str, int]]]


def _each(rules: Iterable[Rule], **parameters: int) -> Row:
    yield from ((rule, parameters) for rule in rules)


def _session_began(_m: Model, one: seen.SessionBegan, _state: PlainState) -> Row:
    started, renewed = (processes.start_process, processes.start_process_early), (processes.renew_session,)
    yield from _each(started if one.first else renewed, b=one.by)
    if one.is_guess:
        yield from _each(renewed if one.first else started, b=one.by)


def _session_ended(m: Model, one: seen.SessionEnded, state: PlainState) -> Row:
    if one.by_client:
        yield from _each((leave_cluster, processes.close_failed_startup), b=one.by)
        return
    yield from _each((processes.end_orphaned_session,), b=one.by)
    if not one.superseded:
        controller = part(state, "controllers", one.by)
        all_lost = range(len(part(controller, "callbacks")) + 1)
        # Events that wait although the thread is free were on their way when the connection broke.
        for lost in all_lost if controller.get("at") else reversed(all_lost):
            yield processes.expire_session, {"b": one.by, "lost": lost}
        for heard in (1, 2) if one.by in m.controllers else ():
            yield processes.expire_session_heard, {"b": one.by, "heard": heard}


def _registered(_m: Model, one: seen.BrokerRegistered, _state: PlainState) -> Row:
    yield processes.register_broker, {"b": one.by}
    if one.may_be_unanswered:
        yield processes.register_broker_unanswered, {"b": one.by}


def _state_written(m: Model, one: seen.StateWritten, state: PlainState) -> Row:
    """A leader's change of its ISR."""
    old = set(m.brokers.lists[part(state, "zookeeper", "state", one.partition).get("isr", 0)])
    changed = sorted(old ^ set(one.state.isr)) if one.by_leader else []
    if len(changed) > 1:
        lagging = sum(1 << r - 1 for r in changed)
        jointly = isr_changes.shrink_isr_jointly, isr_changes.shrink_isr_jointly_unanswered
        yield from _each(jointly, b=one.by, p=one.partition, lagging=lagging)
    for r in changed if len(changed) == 1 else ():
        rules = SHRINKS if r in old else EXPANSIONS
        yield from _each(rules, b=one.by, p=one.partition, r=r)


def _assigned(_m: Model, one: seen.AssignmentWritten, _state: PlainState) -> Row:
    if one.addition is not None:
        yield write_addition, {"t": one.topic, ADDITION: one.addition}
    if one.edit is not None:
        yield edit_assignment, {"e": one.edit}


def _topic_created(_m: Model, one: seen.TopicCreated, _state: PlainState) -> Row:
    again = {} if one.recreation is None else {RECREATION: one.recreation}
    yield create_topic, {"t": one.topic, **again}


def _by_hand(rule: Rule | None, one: seen.ZooKeeperChange, **parameters: int) -> Row:
    """What somebody does by hand, where no controller does it; no rule where nobody does."""
    if rule is not None and not one.by:
        yield rule, parameters


def _handled(_m: Model, one: seen.RequestHandled, state: PlainState) -> Row:
    """The head of its controller's queue, or what stayed behind, where that is of its kind and epoch."""
    c, b = one.controller, one.broker
    late = part(state, "late_requests", c, b), [execute_late_request]
    for request, rules in (part(state, "connections", c, b, 0), DELIVERY), late:
        if (STAGES[request.get("stage", 0)], request.get("epoch", 0)) == (KINDS[one.kind], one.epoch):
            yield from _each(rules, c=c, b=b)


def _stopped(m: Model, one: seen.ReplicaStopped, state: PlainState) -> Row:
    """Whose request it was is not said: any controller's with such a request at the head of its queue, or late."""
    stage = Stage.DELETE_REPLICA if one.delete else Stage.STOP_REPLICA
    for c in m.controllers:
        is_due = STAGES[part(state, "connections", c, one.broker, 0).get("stage", 0)] is stage
        if is_due and one.may_be_done:
            yield from _stops(m, c, one.broker, stage, [one.partition])
        if is_due and one.may_have_failed:
            yield from _each(FAILING, c=c, b=one.broker, p=one.partition)
        if one.delete and part(state, "late", c, one.broker, one.partition):
            yield execute_late_copy, {"c": c, "b": one.broker, "p": one.partition}
        if not one.delete and one.partition in _late_stop(state, c, one.broker):
            yield execute_late_request, {"c": c, "b": one.broker}


def _late_stop(state: PlainState, c: int, b: int) -> frozenset[int]:
    """The partitions that a StopReplica names that has stayed behind."""
    return frozenset(part(state, "late_requests", c, b, "stop"))


def _stops(m: Model, c: int, b: int, stage: Stage, partitions: Iterable[int]) -> Row:
    """The deliveries of StopReplica requests that name one of these partitions: one for each, or one for all."""
    if stage is Stage.STOP_REPLICA and not m.stops_one_by_one:
        yield from _each(DELIVERY, c=c, b=b)
    else:
        for p in partitions:
            yield from _each(DELETION if stage is Stage.DELETE_REPLICA else SINGLE_STOP, c=c, b=b, p=p)


def _stop_refused(m: Model, one: seen.StopReplicaRefused, state: PlainState) -> Row:
    for c in m.controllers:
        head = part(state, "connections", c, one.broker, 0)
        stage = STAGES[head.get("stage", 0)]
        if stage in NAMED_BY:
            yield from _stops(m, c, one.broker, stage, part(head, NAMED_BY[stage]))
        if _late_stop(state, c, one.broker):
            yield execute_late_request, {"c": c, "b": one.broker}


OF_CONTROLLERS: Final = frozenset({
    seen.ControllerCreated, seen.ControllerDeleted, seen.EpochWritten, seen.StateWritten, seen.StateDeleted,
    seen.TopicDeleted, seen.ConfigurationDeleted, seen.RequestWritten, seen.NotificationDeleted,
    seen.AssignmentWritten, seen.WriteConflicted,
})  # fmt: skip
"""What a controller may have done; which of its steps that is, its place says."""

TABLE: Final[Mapping[type[Observed], Callable[[Model, Any, PlainState], Row]]] = {
    seen.SessionBegan: _session_began,
    seen.SessionEnded: _session_ended,
    seen.BrokerRegistered: _registered,
    seen.TopicCreated: _topic_created,
    seen.TopicDeleted: lambda _m, one, _state: _by_hand(remove_topic, one, t=one.topic),
    seen.StateWritten: _state_written,
    seen.StateDeleted: lambda _m, one, _state: _by_hand(remove_state, one, p=one.partition),
    # A write that fails on its version changes nothing in ZooKeeper, but its writer goes another way.
    seen.WriteConflicted: lambda m, one, _state: (
        (isr_changes.rewrite_isr, {"b": one.by, "p": p}) for p in m.partitions
    ),
    seen.UncleanChanged: lambda _m, one, _state: _each((change_unclean_election,), t=one.topic),
    seen.NotificationCreated: lambda _m, one, _state: _each((report_isr_changes,), b=one.by),
    seen.RequestMade: lambda _m, one, _state: _each(ADMIN_REQUESTS[one.part].asked_by, **one.parameters),
    seen.RequestWritten: lambda _m, one, _state: _by_hand(ADMIN_REQUESTS[one.part].withdrawn_by, one),
    seen.ControllerDeleted: lambda _m, one, _state: _by_hand(remove_controller, one),
    seen.AssignmentRead: lambda _m, one, _state: _each((read_for_addition,), t=one.topic),
    seen.AssignmentWritten: _assigned,
    seen.ProcessKilled: lambda _m, one, _state: _each((processes.crash,), b=one.broker),
    seen.ProcessStopping: lambda _m, one, _state: _each((stop_broker,), b=one.broker),
    seen.RequestHandled: _handled,
    seen.ReplicaStopped: _stopped,
    seen.StopReplicaRefused: _stop_refused,
}
"""What brokers, processes and admins may have done. Lines of a controller come with its steps, not by themselves."""


def leads_with_stale_version(m: Model, one: seen.WriteConflicted, state: PlainState) -> bool:
    """Whether a broker believes that it leads a partition, and its next ISR write must fail: that is no step."""
    b = one.by
    for p in m.partitions if one.of_leader is None else [one.of_leader]:
        known, znode = part(state, "brokers", b, "partitions", p), part(state, "zookeeper", "state", p)
        if known.get("leader") == b and known.get("version") != znode.get("version"):
            return True
    return False
