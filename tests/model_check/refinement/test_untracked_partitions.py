"""A partition that the machine does not track stays as it is when its leader dies: both side by side.

A failover on top of an earlier one's left-over channels (D56) reads the topics, and breaks off before it brings the
machines up anew. So they do not know what was created meanwhile, and their table refuses to take it Offline.
Kafka 0.10.2.2: `PartitionStateMachine.handleStateChange`, OfflinePartition.
"""

from reference.journal import StateChange
from spec.logs.state_change_lines import PartitionChangeFailed
from spec.scopes import scope
from tests.model_check.side_by_side import SideBySide


def elected(c: int, *ends: str) -> list[str]:
    return [
        *(f"{step}(c={c})" for step in ("elect_read", "elect_create", "read_epoch", "increment_epoch", "subscribe")),
        *(f"{step}(c={c})" for step in ("read_brokers", "read_topics")), *ends,
    ]  # fmt: skip


def test_what_was_created_since_the_machine_came_up_stays_as_it_is() -> None:
    both = SideBySide(scope("proof_creation"), exceptions=1, creations=1, crashes=1, controller_removals=2)
    first = elected(1, "finish_failover(c=1)")
    first.insert(first.index("increment_epoch(c=1)") + 1, "create_epoch(c=1)")
    both.do(
        "start_process(b=3)", "register_broker(b=3)", "start_process(b=1)", *first, "register_broker(b=1)",
        "start_process(b=2)", "elect_read(c=2)", "register_broker(b=2)", "remove_controller()",
        "on_controller_change(c=2)", *elected(2, "fail_failover(c=2)", "resign_delete(c=2)"),
        "create_topic(t=0)", "on_controller_change(c=2)", *elected(2, "read_state(c=2, p=0)", "resign_delete(c=2)"),
        "on_controller_change(c=1)", *elected(1, "read_state(c=1, p=0)", "create_state(c=1, p=0)"),
        "remove_controller()", "on_topic_change(c=2)", "on_controller_change(c=2)",
        *elected(2, "read_state(c=2, p=0)", "crash(b=1)", "end_orphaned_session(b=1)", "resign_delete(c=2)"),
        "start_process(b=1)", "elect_read(c=1)", "elect_create(c=1)", "on_controller_change(c=2)",
        "on_broker_change(c=2)",
    )  # fmt: skip
    assert both["controllers[2].partitions[0].leader"] == "1"
    assert both["controllers[2].partitions[0].state"] == "NON_EXISTENT"
    lines = [one.line for one in both.cluster.entries if isinstance(one, StateChange)]
    assert [one for one in lines if isinstance(one, PartitionChangeFailed) and one.controller == 2]
