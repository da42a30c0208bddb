"""What a step of a reassignment writes to controller.log: where it is, and what it found.

Kafka tells nearly every step of `onPartitionReassignment`, on the thread that holds the controller's lock. That the
watch of a state znode has fired is passed over: between ZkClient's setting it again and the listener's own read, which
the specification takes for one, it may fire for what the listener then sees already. For the same reason a callback may
find once more that some replicas are not in sync yet, which is no step (`spurious_callbacks.py`).

Kafka 0.10.2.2: `KafkaController`, `PartitionsReassignedListener`, `ReassignedPartitionsIsrChangeListener`. PROTOCOL.md
sections 8 and 12.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from model_check.judging.lines.controller_step import ControllerStep, Expected
from model_check.recordings.recording import Cluster
from model_check.stepping.open_system import OpenSystem
from model_check.stepping.plain_state import PlainState
from spec.formats import znode_paths as paths
from spec.formats.kafka_types import TopicPartition
from spec.formats.znode_paths import Path as ZnodePath
from spec.formats.znodes import parse_payload
from spec.logs.controller_log.reassignment import (
    AllCaughtUp,
    AssignmentUpdated,
    LeaderEpochUpdated,
    LeaderEpochUpdating,
    LeaderNotReassigned,
    LeaderReassignedAlive,
    LeaderReassignedDead,
    NotCaughtUp,
    ReassignedIsrError,
    ReassignmentFailed,
    ReassignmentRemoved,
    ReassignmentRequested,
    ReassignmentsDone,
    ReassignmentsFound,
    ReassignmentSkipped,
    ReassignmentsResumed,
    ReassignmentStarted,
    SomeBehind,
    WaitingForNewReplicas,
)
from spec.logs.log_lines import Line
from spec.state.enumerations import At, Handler

AT_WORK: Final = frozenset({At.BUMP_READ, At.BUMP_WRITE, At.START_READ})
"""Where a controller is between steps 2 and 4."""


def found_in_sync(system: OpenSystem, cluster: Cluster, c: int, p: int, state: PlainState) -> Expected | None:
    """What the listener on a state znode says of the replicas that are wanted; nothing, if none is."""
    view = system.view(state)
    wanted = system.model.brokers.lists[view.controllers[c].reassigned[p].raw]
    if not wanted or not view.zookeeper.state[p].version.raw:
        return None  # ZkClient tells the listener that the znode was deleted, which it does not mind
    isr = system.model.brokers.lists[view.zookeeper.state[p].isr.raw]
    behind = frozenset(cluster.broker_ids[r - 1] for r in wanted if r not in isr)
    told = {"partition": cluster.partitions[p], "all": len(wanted), "caught_up": len(wanted) - len(behind)}
    return (SomeBehind, told | {"behind": behind}) if behind else (AllCaughtUp, told)


def are_of(line: Line, fields: Mapping[str, object]) -> bool:
    """Whether a line's fields hold this, collections as sets."""
    values = {name: _requested(line) if name == "requested" else getattr(line, name) for name in fields}
    return {name: frozenset(one) if isinstance(one, tuple) else one for name, one in values.items()} == fields


def _requested(line: Any) -> tuple[object, ...]:
    """RAR by partition, as the data of /admin/reassign_partitions says it."""
    payload: Any = parse_payload(ZnodePath(paths.REASSIGN_PARTITIONS), line.data)
    return tuple((TopicPartition(one.topic, one.partition), one.replicas) for one in payload.partitions)


class ReassignmentReporting(ControllerStep):
    """A step of a controller, and what it writes of reassignments."""

    def reassignments_found(self) -> Iterator[Expected]:
        """A failover has read what is to be reassigned, and dropped what is done, which is in ZooKeeper no more."""
        if self.handler(self.after) is Handler.NONE and self.place(self.after) is At.REASSIGN_NEXT:
            return
        if self.rule == "read_reassignments":
            wanted = self._wanted_in_zookeeper()
            yield ReassignmentsFound, {"reassigned": wanted}
            yield ReassignmentsDone, {"partitions": frozenset()}
            yield ReassignmentsResumed, {"reassigned": wanted}
        elif self.rule == "write_remaining" and self.is_dropping:
            yield ReassignmentsFound, {}
            yield ReassignmentsDone, {}
            yield ReassignmentsResumed, {}

    def _wanted_in_zookeeper(self) -> frozenset[Any]:
        requested = self._view(self.before).requested
        return frozenset((self._name(p), self._ids_of(requested[p])) for p in self._partitions if requested[p].raw)

    def of_a_reassignment(self) -> Iterator[Expected]:
        """What the steps of a reassignment tell."""
        if self.rule in TOLD:
            yield from TOLD[self.rule](self)
        ends = self.place(self.after) not in AT_WORK and not self.fails_reassignment
        if self.rule in {"write_bump", "start_new_replica"} and ends:
            yield WaitingForNewReplicas, self._said(new_replicas=self._wanted())
        yield from self._failure()

    def request(self) -> Iterator[Expected]:
        """What was asked for."""
        if requested := self._wanted_in_zookeeper():
            yield ReassignmentRequested, {"requested": requested}

    def acceptance(self) -> Iterator[Expected]:
        """There is something to reassign."""
        yield ReassignmentStarted, self._said(new_replicas=self._wanted())

    def progress(self) -> Iterator[Expected]:
        """What a callback on a state znode finds."""
        p = self.parameters["p"]
        found = found_in_sync(self.system, self.cluster, self.parameters["c"], p, self.before)
        yield from () if found is None else (found,)

    def assignment(self) -> Iterator[Expected]:
        """Steps 1 and 10; after step 1 comes step 2."""
        assigned = self._controller(self.after).partitions[self.parameters["p"]].assigned
        yield AssignmentUpdated, self._said(replicas=frozenset(self._ids_of(assigned)))
        if self.place(self.after) is At.BUMP_READ:
            yield LeaderEpochUpdating, self._said()

    def bump(self) -> Iterator[Expected]:
        """Steps 2 and 7, where nobody is elected."""
        if self.is_done and not self.moves:
            epoch = self._view(self.after).state[self.parameters["p"]].leader_epoch.raw - 1
            yield LeaderEpochUpdated, self._said(leader_epoch=epoch)

    def completion(self) -> Iterator[Expected]:
        """Step 11."""
        if self.place(self.before) is At.COMPLETE_WRITE:
            yield ReassignmentRemoved, self._said()

    def phase(self) -> Iterator[Expected]:
        """Phase A begins, if only to fail for want of AR, or what step 7 finds, after the steps 5 and 6.

        Where the latter find no AR, or no leadership in the cache, nothing is said before that ends the run.
        """
        found = found_in_sync(self.system, self.cluster, self.parameters["c"], self.parameters["p"], self.after)
        if self.fails_reassignment and found and found[0] is AllCaughtUp and not self._stops_at_step_7:
            return
        if self.place(self.after) is not At.MOVE_READ and not self._stops_at_step_7:
            yield NotCaughtUp, self._said(new_replicas=self._wanted())
        else:
            leader = self._controller(self.before).partitions[self.parameters["p"]].leader.raw
            name = self.cluster.broker_ids[leader - 1] if leader else -1
            kind = LeaderNotReassigned if name not in self._wanted() else LeaderReassignedDead
            yield kind if self.moves else LeaderReassignedAlive, self._said(leader=name, new_replicas=self._wanted())
            if not self.moves and not self._stops_at_step_7:
                yield LeaderEpochUpdating, self._said()

    @property
    def _stops_at_step_7(self) -> bool:
        """Whether AR is RAR, in memory, when the run ends with an exception: it has found its batch dirty."""
        controllers = [self._controller(state) for state in (self.before, self.after)]
        p = self.parameters["p"]
        known = controllers[0].partitions[p].leader_epoch.raw and controllers[1].partitions[p].assigned.raw
        dirty = self.system.model.loses_topics and controllers[0].dirty.raw
        return bool(self.fails_reassignment and dirty and known)

    def refusal(self) -> Iterator[Expected]:
        """A request is refused: for a deletion, where that is asked, or else with an exception."""
        handler = self.handler(self.before)
        if self.place(self.before) is not At.REASSIGN_NEXT or handler is Handler.NONE:
            return
        topic = self.system.model.topic_of(self.parameters["p"])
        queued = self.system.model.has("deletion") and self._controller(self.before).queued[topic].raw
        skipped = queued and handler is Handler.REASSIGNMENT
        yield ReassignmentSkipped if skipped else ReassignmentFailed, self._said()

    def _failure(self) -> Iterator[Expected]:
        """A run ends with an exception."""
        for one in self.seen:
            if one.kind == "fail reassignment" and self.handler(self.before) is Handler.ISR_CHANGE:
                yield ReassignedIsrError, {}
            elif one.kind == "fail reassignment" and self.handler(self.before) is not Handler.BROKER_STARTUP:
                yield ReassignmentFailed, {"partition": self._name(one.fields["partition"].raw)}

    # ---------------------------------------------------------------------------------------------------- in its words

    def _said(self, **fields: object) -> Mapping[str, object]:
        return {"partition": self._name(self.parameters["p"]), **fields}

    def _wanted(self) -> frozenset[int]:
        """RAR of the step's partition, before or, where it has just been accepted, after it."""
        p = self.parameters["p"]
        either = (self._controller(state).reassigned[p] for state in (self.after, self.before))
        return frozenset(next((self._ids_of(one) for one in either if one.raw), ()))

    def _ids_of(self, brokers: Any) -> tuple[int, ...]:
        return tuple(self.cluster.broker_ids[r - 1] for r in self.system.model.brokers.lists[brokers.raw])

    def _view(self, state: PlainState) -> Any:
        return self.system.view(state).zookeeper

    @property
    def _partitions(self) -> range:
        return self.system.model.partitions


TOLD: Final[Mapping[str, Callable[[ReassignmentReporting], Iterator[Expected]]]] = {
    "on_reassignment_request": ReassignmentReporting.request,
    "accept_reassignment": ReassignmentReporting.acceptance,
    "on_state_change": ReassignmentReporting.progress,
    "read_whether_caught_up": ReassignmentReporting.phase,
    "write_union": ReassignmentReporting.assignment,
    "write_bump": ReassignmentReporting.bump,
    "write_move": ReassignmentReporting.bump,
    "write_target": ReassignmentReporting.assignment,
    "read_remaining": ReassignmentReporting.refusal,
    "write_remaining": ReassignmentReporting.completion,
}
"""What the steps of a reassignment tell, by their rules."""
