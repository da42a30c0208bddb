"""A step of a controller as an explanation has it: its rule, the states around it, and what is seen of it.

The rules are gathered by what the controller does in them; `printed` says which lines of its log go with which.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from model_check.open_system import OpenSystem
from model_check.plain_rules import Seen
from model_check.plain_state import PlainState
from model_check.recorded import Cluster
from spec.partition_states import PartitionState
from spec.replica_states import ReplicaState

ELECTIONS = frozenset({"write_elected_leader", "rewrite_elected_leader"})
CREATIONS = frozenset({"create_state"})
VISITS = ELECTIONS | CREATIONS | {"read_for_election"}
VISITS_TO_REPLICAS = frozenset({"read_for_removal", "write_removal", "rewrite_removal", "read_for_new_replica"})
GIVEN_UP = frozenset({"fail to create state", "fail election"})
"""What the specification's controller is seen to do where a partition does not come online."""
START_UP = frozenset({"read_brokers", "read_topics", "read_state"})
FOR_BROKERS = START_UP | {"on_broker_change"}
SILENT = frozenset({
    "deliver_request", "deliver_request_unanswered", "start_process", "start_process_early", "crash", "renew_session",
    "expire_session", "end_orphaned_session", "register_broker", "register_broker_unanswered", "fail_registration",
    "create_topic", "report_isr_changes", "shrink_isr", "shrink_isr_unanswered", "expand_isr", "expand_isr_unanswered",
    "rewrite_isr",
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

    def visits(self, line: Any) -> bool:
        """The line is about the partition that the step visits."""
        return self.parameters.get("p") == self.cluster.partition(line.partition)

    def _stays(self, p: int, r: int) -> bool:
        return self._replica(self.before, p, r) is self._replica(self.after, p, r)

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
