"""A topic is gone without its controller's doing, led step by step on specification and reference alike.

What is expected is what Kafka 0.10.2.2 does. `TopicChangeListener` does nothing before the machines are up. Of what is
being deleted UpdateMetadata always tells, which is added with each LeaderAndIsr and raises where one of those
partitions has leadership and no AR. `handleStateChange` catches that for each transition, before its state is set, and
what is in the batch by then is sent; `updateLeaderEpochAndSendRequest` does not catch it, and leaves its batch dirty.
"""

from __future__ import annotations

from spec.variants import AS_CODED
from tests.model_check.refinement.test_own_batch import AT, BUDGETS, LEFT_DIRTY, TOPICS
from tests.model_check.side_by_side import SideBySide

NEW_TERM = (
    "expire_session(b=1, lost=0)", "renew_session(b=1)", "on_new_session(c=1)", "elect_read(c=1)", "elect_create(c=1)",
    "read_epoch(c=1)", "increment_epoch(c=1)", "subscribe(c=1)", "read_brokers(c=1)", "read_topics(c=1)",
    "read_state(c=1, p=0)", "read_state(c=1, p=1)",
)  # fmt: skip


def doomed() -> SideBySide:
    """The first topic is queued for deletion, and removed by hand before the thread turns to it."""
    both = SideBySide(TOPICS, AS_CODED, **BUDGETS)
    both.do("request_deletion(t=0)", "on_deletion_change(c=1)", "remove_topic(t=0)", "on_topic_change(c=1)")
    assert (both["controllers[1].doomed[0]"], both["controllers[1].topics[0]"]) == ("yes", "no")
    assert both["controllers[1].partitions[0].leader"] == "1"
    return both


def test_whose_machines_are_not_up_forgets_no_topic() -> None:
    both = SideBySide(TOPICS, AS_CODED, **BUDGETS, exceptions=1, expiries=1)
    both.do(*NEW_TERM, "fail_failover(c=1)", "resign_delete(c=1)", "register_broker(b=1)", "remove_topic(t=0)")
    both.do("on_broker_change(c=1)", "on_topic_change(c=1)")
    known = [both[f"controllers[1].{name}"] for name in ("active", "started", "topics[0]")]
    assert known == ["yes", "no", "yes"]


def test_a_replica_does_not_go_offline_though_it_leaves_the_isr_and_all_is_sent() -> None:
    both = doomed()
    both.do("stop_broker(b=2)", "request_shutdown(b=2, c=1)", "accept_shutdown(c=1, b=2)")
    both.do("move_partition(c=1, p=1, r=2)")
    assert both.do("write_removal(c=1, p=1, r=2)") == ["write state", "queue LeaderAndIsr", "queue StopReplica"]
    assert (both["zookeeper.state[1].isr"], both["controllers[1].partitions[1].replicas[2]"]) == ("[1]", "ONLINE")
    assert (both[AT], both[LEFT_DIRTY]) == ("IDLE", "no")


def test_step_7_raises_behind_its_write_and_leaves_the_batch_dirty() -> None:
    both = doomed()
    both.do("request_reassignment(k=0)", "on_reassignment_request(c=1)", "accept_reassignment(c=1, p=1)")
    both.do("read_whether_caught_up(c=1, p=1)", "read_for_move(c=1, p=1)")
    assert both.do("write_move(c=1, p=1)") == ["write state", "fail reassignment"]
    assert (both[AT], both[LEFT_DIRTY], both["zookeeper.state[1].leader_epoch"]) == ("REFUSE_READ", "yes", "1")


def test_step_2_raises_behind_its_write_and_leaves_the_batch_dirty() -> None:
    both = doomed()
    both.do("shrink_isr(b=1, p=1, r=2)", "request_reassignment(k=0)", "on_reassignment_request(c=1)")
    both.do("accept_reassignment(c=1, p=1)", "read_whether_caught_up(c=1, p=1)", "write_union(c=1, p=1)")
    both.do("read_for_bump(c=1, p=1)")
    assert both.do("write_bump(c=1, p=1)") == ["write state", "fail reassignment"]
    assert (both[AT], both[LEFT_DIRTY]) == ("REFUSE_READ", "yes")
    assert {both[f"connections[1][{b}][0].stage"] for b in (1, 2)} == {"EMPTY"}
