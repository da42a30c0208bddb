"""A deleted topic is there again before its old listener is heard, which creates its partitions: both side by side.

The listener on the topic's znode goes with the deletion, but what it was to hear of waits in the queue. Then the
listener on topics finds the topic new, and all of its partitions (D17).

Kafka 0.10.2.2: `PartitionModificationsListener`, `TopicChangeListener`, and `PartitionStateMachine.handleStateChange`,
which elects for who is Online already.
"""

import pytest

from spec.model import Model
from spec.scopes import scope
from spec.state.controller import Controller
from spec.variants import AS_CODED, FENCED
from tests.model_check.side_by_side import SideBySide

AT, EPOCH = "controllers[1].at", "zookeeper.state[0].leader_epoch"

ADDED_WHILE_DELETED = (
    "read_for_addition(t=0)",
    "request_deletion(t=0)",
    "on_deletion_change(c=1)",
    "write_addition(t=0)",
)

DELETED = (
    "delete_queued_topic(c=1, t=0)", "read_for_removal(c=1, p=0, r=1)", "write_removal(c=1, p=0, r=1)",
    "deliver_request(c=1, b=1)", "deliver_deletion(c=1, b=1, p=0)", "on_replica_deleted(c=1, b=1, p=0)",
    "delete_queued_topic(c=1, t=0)", "delete_state(c=1, p=0)", "delete_topic(c=1, t=0)",
    "delete_configuration(c=1, t=0)",
)  # fmt: skip


def elected_again(both: SideBySide, partitions: int) -> None:
    """The listener on the topic's znode creates the partitions, then that on topics has them elected for once more."""
    both.do("delete_request(c=1, t=0)", "on_partition_modifications(c=1, t=0)")
    both.do(*(f"read_for_new_replica(c=1, p={p}, r=1)" for p in range(partitions)))
    both.do(*(f"create_state(c=1, p={p})" for p in range(partitions)))
    assert (both[AT], both[EPOCH]) == ("IDLE", "0")
    both.do("on_topic_change(c=1)")
    assert (both[AT], both["controllers[1].handler"]) == ("ONLINE_READ", "CREATION")
    for p in range(partitions):
        both.do(f"read_for_election(c=1, p={p})", f"write_elected_leader(c=1, p={p})")
    assert (both[AT], both[EPOCH], both["controllers[1].created[0]"]) == ("IDLE", "1", "no")


def test_one_that_is_created_again_is_elected_for_once_more() -> None:
    both = SideBySide(scope("addition_deletion"), additions=1, deletions=1, creations=1)
    both.do(*ADDED_WHILE_DELETED, *DELETED, "create_topic(t=0)")
    elected_again(both, partitions=1)


def test_one_that_the_tool_writes_back_is_elected_for_once_more() -> None:
    both = SideBySide(scope("addition_deletion"), additions=2, deletions=1)
    both.do(*ADDED_WHILE_DELETED, "read_for_addition(t=0)", *DELETED, "write_addition(t=0)")
    elected_again(both, partitions=2)


@pytest.mark.parametrize(
    ("name", "again"),
    [
        ("addition_deletion", True),
        ("recreation", False),
        ("addition_reassignment", False),
        ("foreign_recreation", True),
    ],
)
def test_where_something_may_be_known_of_a_new_topic(name: str, *, again: bool) -> None:
    assert Model(scope(name), AS_CODED).keeps(Controller.created) is again
    assert Model(scope(name), FENCED).keeps(Controller.created) is again
