"""What a partition machine that is not of this term makes of a partition that the cache knows: both side by side.

A failover on top of an earlier one's left-over channels (D56) reads the topics, and breaks off before it brings the
machines up anew. So they do not know what was created meanwhile, and their table refuses to move it. And what is New,
since a create of theirs found the znode there, stays so, though its leadership is cached by then: who is to bring it
online creates the znode, and does not elect. Kafka 0.10.2.2: `PartitionStateMachine.handleStateChange`.
"""

from collections.abc import Iterator
from dataclasses import replace

from reference.journal import StateChange
from spec.logs.state_change_lines import PartitionChangeFailed, StateZnodeExists
from spec.scopes import Scope, scope
from spec.variants import AS_CODED
from tests.model_check.side_by_side import SideBySide

BUDGETS = {"exceptions": 1, "creations": 1, "crashes": 1, "controller_removals": 2, "losses": 1}
PARTITION = "controllers[2].partitions[0]"


def elected(c: int, *ends: str) -> list[str]:
    return [
        *(f"{step}(c={c})" for step in ("elect_read", "elect_create", "read_epoch", "increment_epoch", "subscribe")),
        *(f"{step}(c={c})" for step in ("read_brokers", "read_topics")), *ends,
    ]  # fmt: skip


def left_over(bounds: Scope, **budgets: int) -> SideBySide:
    """Controller 2's failover has ended in an exception, when its channels were open."""
    both = SideBySide(bounds, AS_CODED, **BUDGETS | budgets)
    first = elected(1, "finish_failover(c=1)")
    first.insert(first.index("increment_epoch(c=1)") + 1, "create_epoch(c=1)")
    both.do(
        "start_process(b=3)", "register_broker(b=3)", "start_process(b=1)", *first, "register_broker(b=1)",
        "start_process(b=2)", "elect_read(c=2)", "register_broker(b=2)", "remove_controller()",
        "on_controller_change(c=2)", *elected(2, "fail_failover(c=2)"),
    )  # fmt: skip
    return both


def untracked(bounds: Scope, *dies: str, **budgets: int) -> SideBySide:
    """Controller 2's machine does not track a partition that controller 1 has created, and its cache knows."""
    both = left_over(bounds, **budgets)
    both.do(
        "resign_delete(c=2)", "create_topic(t=0)", "on_controller_change(c=2)",
        *elected(2, "read_state(c=2, p=0)", "resign_delete(c=2)"),
        "on_controller_change(c=1)", *elected(1, "read_state(c=1, p=0)", "create_state(c=1, p=0)"),
        "remove_controller()", "on_topic_change(c=2)", "on_controller_change(c=2)",
        "elect_read(c=2)", "elect_create(c=2)", *dies,
        *elected(2, "read_state(c=2, p=0)")[2:],
    )  # fmt: skip
    return both


def new(bounds: Scope, **budgets: int) -> SideBySide:
    """A partition is New at controller 2, which has read its leadership since: the answer to its create was lost."""
    both = left_over(bounds, **budgets)
    both.do(
        "create_topic(t=0)", "resign_delete(c=2)", "on_controller_change(c=1)", "elect_read(c=1)", "elect_create(c=1)",
        "on_controller_change(c=2)", "on_topic_change(c=2)",
        "read_for_new_replica(c=2, p=0, r=1)", "read_for_new_replica(c=2, p=0, r=2)",
        "create_state_unanswered(c=2, p=0)", "create_state(c=2, p=0)", "remove_controller()",
        "on_controller_change(c=2)", "elect_read(c=2)", "elect_create(c=2)",
    )  # fmt: skip
    return both


def read_again(both: SideBySide) -> None:
    both.do(*elected(2, "read_state(c=2, p=0)", "resign_delete(c=2)")[2:])
    assert both[f"{PARTITION}.leader"] == "1"


def lines_of_two(both: SideBySide) -> Iterator[object]:
    """What controller 2 wrote to state-change.log with its last step."""
    lines = (one.line for one in both.cluster.entries if isinstance(one, StateChange))
    return (one for one in lines if getattr(one, "controller", 0) == 2)


def refusals(both: SideBySide) -> list[str]:
    """What controller 2 wrote of a partition that was refused to go elsewhere, with the last step."""
    return [str(one).partition(" from ")[2] for one in lines_of_two(both) if isinstance(one, PartitionChangeFailed)]


def test_what_was_created_since_the_machine_came_up_stays_as_it_is() -> None:
    both = untracked(scope("proof_creation"))
    both.do(
        "crash(b=1)", "end_orphaned_session(b=1)", "resign_delete(c=2)",
        "start_process(b=1)", "elect_read(c=1)", "elect_create(c=1)", "on_controller_change(c=2)",
        "on_broker_change(c=2)",
    )  # fmt: skip
    assert both[f"{PARTITION}.leader"] == "1"
    assert both[f"{PARTITION}.state"] == "NON_EXISTENT"
    assert refusals(both)


SHUTDOWN = replace(scope("proof_creation"), parts=scope("proof_creation").parts | {"shutdown"})
ASKED = ("stop_broker(b=1)", "request_shutdown(b=1, c=2)")


def test_nobody_is_elected_by_a_shutdown_for_what_is_not_tracked() -> None:
    both = untracked(SHUTDOWN, *ASKED, shutdowns=1)
    both.do("resign_delete(c=2)", "accept_shutdown(c=2, b=1)", "move_partition(c=2, p=0, r=1)")
    assert refusals(both) == ["NonExistentPartition to OnlinePartition failed"]
    assert both["zookeeper.state[0].leader"] == "1"
    assert both["controllers[2].at"] == "IDLE"


def test_nobody_is_elected_by_a_shutdown_for_what_is_new() -> None:
    both = new(SHUTDOWN, shutdowns=1)
    both.do(*ASKED)
    read_again(both)
    both.do("accept_shutdown(c=2, b=1)")
    assert both.do("move_partition(c=2, p=0, r=1)") == ["fail to create state"]
    assert [type(one) for one in lines_of_two(both)] == [StateZnodeExists, PartitionChangeFailed]
    assert both[f"{PARTITION}.state"] == "NEW"
    assert both["zookeeper.state[0].leader"] == "1"


def test_what_is_new_is_created_by_a_shutdown_where_the_znode_has_gone() -> None:
    both = new(SHUTDOWN, shutdowns=1, state_removals=1)
    both.do(*ASKED)
    read_again(both)
    both.do("accept_shutdown(c=2, b=1)", "remove_state(p=0)")
    assert "create state" in both.do("move_partition(c=2, p=0, r=1)")
    assert both["zookeeper.state[0].leader"] == "2"
    assert both["controllers[2].at"] == "IDLE"
