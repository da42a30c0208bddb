"""A replica goes Offline, or does not: what the controller logs of it (PROTOCOL.md section 5)."""

import pytest

from spec.logs.state_change_lines import ReplicaChangeFailed
from spec.scopes import scope
from spec.tables.replica_states import ReplicaState
from spec.variants import AS_CODED, Switch, Switches
from tests.spec.stepping import Run

BORN_WITHOUT_LEADER = (
    "crash(b=2)", "end_orphaned_session(b=2)", "on_broker_change(c=1)", "create_topic(t=0)", "on_topic_change(c=1)",
    "read_for_new_replica(c=1, p=0, r=2)", "request_deletion(t=0)", "on_deletion_change(c=1)",
)  # fmt: skip


@pytest.mark.parametrize(("switches", "is_told"), [(AS_CODED, False), (frozenset({Switch.IGNORE_WHO_IS_NEW}), True)])
def test_before_0_9_0_1_want_of_leadership_is_a_failure_also_where_the_topic_goes(
    switches: Switches, *, is_told: bool
) -> None:
    """`ReplicaStateMachine.handleStateChange` 0.8.2.2 throws; from 0.9.0.1 on it asks `isPartitionToBeDeleted`."""
    bounds = scope("leaderless_deletion")
    run = Run(bounds, switches, **dict(bounds.budgets))
    run.do(*BORN_WITHOUT_LEADER)
    step = run.system.step(run.now, "delete_queued_topic", {"c": 1, "t": 0})
    assert step is not None
    failed = [one.fields["target"] for one in step.said if one.line is ReplicaChangeFailed]
    assert (ReplicaState.OFFLINE in failed) == is_told
