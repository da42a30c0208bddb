"""A choice of the scheduler: a step that may happen next, named as the specification names it.

Which faults count against which budget is said here once more, for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from reference.memory.cluster import MemoryCluster

BUDGETS: Final[Mapping[str, str]] = {
    "crash": "crashes",
    "expire_session": "expiries",
    "expire_session_heard": "heard_expiries",
    "fail_failover": "exceptions",
    "shrink_isr": "shrinks",
    "shrink_isr_jointly": "joint_shrinks",
    "expand_isr_on_a_stale_fetch": "stale_fetches",
    "report_isr_changes_without": "slow_notes",
    "report_isr_changes_before": "slow_notes",
    "deliver_request_unanswered": "resends",
    "deliver_deletion_unanswered": "resends",
    "start_process_early": "early_starts",
    "create_topic": "creations",
    "request_deletion": "deletions",
    "request_stray_deletion": "stray_deletions",
    "read_for_addition": "additions",
    "remove_topic": "removals",
    "remove_state": "state_removals",
    "leave_late_copy": "late_copies",
    "request_preferred_election": "elections",
    "request_reassignment": "reassignments",
    "withdraw_preferred_election": "withdrawals",
    "withdraw_reassignment": "move_withdrawals",
    "remove_controller": "controller_removals",
    "stop_broker": "shutdowns",
    "elect_create_unanswered": "losses",
    "register_broker_unanswered": "losses",
    "increment_epoch_unanswered": "losses",
    "create_epoch_unanswered": "losses",
    "resign_delete_unanswered": "losses",
    "create_state_unanswered": "losses",
    "write_elected_leader_unanswered": "losses",
    "write_removal_unanswered": "losses",
    "write_union_unanswered": "move_losses",
    "write_bump_unanswered": "move_losses",
    "write_move_unanswered": "move_losses",
    "write_target_unanswered": "move_losses",
    "write_remaining_unanswered": "move_losses",
    "expand_isr_unanswered": "losses",
    "shrink_isr_unanswered": "losses",
    "shrink_isr_jointly_unanswered": "losses",
}
"""The budget that a fault draws on; what is not here is progress."""


@dataclass(frozen=True)
class Choice:
    """Something that may happen next; `do` makes it happen in the cluster that is given."""

    rule: str
    parameters: tuple[tuple[str, int], ...]
    do: Callable[[MemoryCluster], None]

    @property
    def name(self) -> str:
        """As the specification names its step: `elect_read(c=1)`."""
        return f"{self.rule}({', '.join(f'{name}={value}' for name, value in self.parameters)})"

    @property
    def is_fault(self) -> bool:
        """Whether it draws on a budget."""
        return self.rule in BUDGETS
