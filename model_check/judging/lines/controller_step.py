"""A step of a controller as an explanation has it: its rule, the states around it, and what is seen of it.

The rules are gathered by what the controller does in them; `state_change_log.py` says which lines of its log go with
which.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from model_check.judging.hidden_steps import PLACES
from model_check.recordings.recording import Cluster
from model_check.stepping.open_system import OpenSystem
from model_check.stepping.plain_rules import Seen
from model_check.stepping.plain_state import PlainState
from spec.logs.log_lines import Line
from spec.protocol.context.live_brokers import live_brokers
from spec.state.enumerations import At, DeletionThread, Handler
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState

Expected: TypeAlias = tuple[type[Line], Mapping[str, object]]
"""A line: its kind, and what its fields hold; sets and maps print in any order, so they are compared as such."""

HANDLERS, MANAGERS = list(Handler), list(DeletionThread)

ELECTIONS = frozenset({"write_elected_leader"})
CREATIONS = frozenset({"create_state"})
READS_FOR_ELECTION = frozenset({"read_for_election", "move_partition", "rebalance_partition"})
"""Where an election begins; the two last take the lock for it, and the first of these may begin a removal instead."""
VISITS = ELECTIONS | CREATIONS | READS_FOR_ELECTION | {"read_for_move", "write_move"}
VISITS_TO_REPLICAS = frozenset({
    "read_for_removal", "write_removal", "read_for_new_replica", "start_new_replica", "move_partition",
})  # fmt: skip
GIVEN_UP = frozenset({"fail to create state", "fail election"})
"""What the specification's controller is seen to do where a partition does not come online."""
MOVES = frozenset({"read_whether_caught_up", "read_for_move", "write_move"})
"""The rules of a reassignment that may elect another leader."""
READING = frozenset({
    At.READ_BROKERS, At.READ_TOPICS, At.READ_STATES, At.READ_PREFERRED, At.READ_REASSIGNMENTS, At.READ_DELETIONS,
})  # fmt: skip
"""Where a failover reads what is in ZooKeeper."""
FINDS_DIRTY = "find its batch dirty"
"""What the specification's controller is seen to do where an exception has left something in its own batch."""
FAILS_TO_SEND = "fail to send"
"""What it is seen to do where it has something to send, and its term has ended."""
SILENT = frozenset({
    "deliver_request", "deliver_request_unanswered", "deliver_deletion", "deliver_deletion_unanswered",
    "request_reassignment", "start_process", "start_process_early", "crash", "renew_session", "expire_session",
    "expire_session_heard", "end_orphaned_session", "register_broker", "register_broker_unanswered",
    "fail_registration", "close_failed_startup", "create_topic", "report_isr_changes",
    "report_isr_changes_before", "report_isr_changes_without", "shrink_isr",
    "shrink_isr_unanswered", "expand_isr", "expand_isr_unanswered", "rewrite_isr", "request_deletion",
    "request_stray_deletion", "remove_topic", "remove_state",
    "leave_late_copy", "execute_late_copy", "stop_broker", "request_shutdown", "lose_shutdown_request",
    "leave_cluster", "request_preferred_election", "withdraw_preferred_election", "read_for_addition", "write_addition",
})  # fmt: skip
"""Rules of other roles: the controller's logs have nothing of them."""


@dataclass(frozen=True)
class ControllerStep:
    """A step of a controller, and questions about it; partitions and brokers by their numbers."""

    system: OpenSystem
    cluster: Cluster
    rule: str
    parameters: Mapping[str, int]
    before: PlainState
    after: PlainState
    seen: tuple[Seen, ...]

    @property
    def _states(self) -> tuple[PlainState, PlainState]:
        return self.before, self.after

    @cached_property
    def epoch(self) -> int:
        """The controller epoch of the term whose step this is; a resignation sets it back to 0."""
        epoch: int = self._controller(self.after).epoch.raw or self._controller(self.before).epoch.raw
        return epoch

    def place(self, state: PlainState) -> At:
        """Where the controller is."""
        at: int = self._controller(state).at.raw
        return PLACES[at]

    def handler(self, state: PlainState) -> Handler:
        """Why it changes states."""
        handler: int = self._controller(state).handler.raw
        return HANDLERS[handler]

    @cached_property
    def is_dropping(self) -> bool:
        """Whether it is a failover that takes what is reassigned already from the request, and has done so."""
        return self.place(self.before) is At.REFUSE_WRITE and self.handler(self.before) is Handler.NONE

    @cached_property
    def starts_machines(self) -> bool:
        """Whether a failover has read everything: everybody is told, and the state machines start."""
        after = self._controller(self.after)
        goes_on = self.place(self.after) in READING or self.place(self.after) is At.RESIGN_DELETE
        drops = self.place(self.after) is At.REASSIGN_NEXT and self.handler(self.after) is Handler.NONE
        started = MANAGERS[after.deletion.raw] is DeletionThread.MANAGER_ONLY
        return self._reads_in_failover and started and not goes_on and not drops

    @cached_property
    def has_read_all(self) -> bool:
        """Whether a failover has read everything and opened its channels, if only to find its batch dirty."""
        return self.starts_machines or (self._reads_in_failover and any(one.kind == FINDS_DIRTY for one in self.seen))

    @property
    def _reads_in_failover(self) -> bool:
        return self.place(self.before) in READING or self.is_dropping

    @property
    def for_brokers(self) -> bool:
        """Whether the step is about brokers that are new to the controller."""
        return self.starts_machines or self.rule == "on_broker_change"

    def live(self, state: PlainState) -> int:
        """The brokers that may lead, for all that this controller knows, as a set of bits."""
        live: int = live_brokers(self.system.view(state), self.system.model, self.parameters["c"]).raw
        return live

    @property
    def moves(self) -> bool:
        """Whether the reassignment that is in work moves the leader: the cached one is not of RAR, or is dead."""
        controller = self._controller(self.before)
        p, brokers = self.parameters["p"], self.system.model.brokers
        leader, wanted = controller.partitions[p].leader.raw, brokers.lists[controller.reassigned[p].raw]
        stays = leader in wanted and self.live(self.before) >> leader - 1 & 1
        return self.rule in MOVES and not stays

    @property
    def is_done(self) -> bool:
        """Whether what steps 2 and 7 of a reassignment write counts as written: if not, they read again.

        It does so, too, where the state znode was written before, and only the answer was lost.
        """
        return self.place(self.after) not in {At.BUMP_READ, At.MOVE_READ}

    @property
    def fails_reassignment(self) -> bool:
        """Whether an exception ends the run of a reassignment."""
        return any(one.kind == "fail reassignment" for one in self.seen)

    def visits(self, line: Any) -> bool:
        """The line is about the partition that the step visits."""
        return self.parameters.get("p") == self.cluster.partition(line.partition)

    def _stays(self, p: int, r: int) -> bool:
        return self._replica(self.before, p, r) is self._replica(self.after, p, r)

    def _is_dying(self, partition: Any) -> bool:
        """Whether the topic of a partition is queued for deletion, before this step or after it."""
        if not self.system.model.has("deletion"):
            return False
        t = self.system.model.topic_of(self.cluster.partition(partition))
        return any(self._controller(state).queued[t].raw for state in self._states)

    def _name(self, p: int) -> Any:
        return self.cluster.partitions[p]

    def _controller(self, state: PlainState) -> Any:
        return self.system.view(state).controllers[self.parameters["c"]]

    def _cached(self, state: PlainState, partition: Any) -> Any:
        return self._controller(state).partitions[self.cluster.partition(partition)]

    def _state(self, state: PlainState, p: int) -> PartitionState:
        raw: int = self._controller(state).partitions[p].state.raw
        return list(PartitionState)[raw]

    def _replica(self, state: PlainState, p: int, r: int) -> ReplicaState:
        raw: int = self._controller(state).partitions[p].replicas[r].raw
        return list(ReplicaState)[raw]
