"""A topic is gone without its controller's doing, led step by step on specification and reference alike.

What is expected is what Kafka 0.10.2.2 does. `TopicChangeListener` does nothing before the machines are up. Of what is
being deleted UpdateMetadata always tells, which is added with each LeaderAndIsr and raises where one of those
partitions has leadership and no AR. `handleStateChange` catches that for each transition, before its state is set, and
what is in the batch by then is sent; `updateLeaderEpochAndSendRequest` does not catch it, and leaves its batch dirty.
"""

from dataclasses import replace

from model_check.refinement.lockstep import Sides
from reference.memory.scheduler import choices
from spec.scopes import scope
from spec.variants import AS_CODED, FENCED, Switch, Switches
from tests.model_check.refinement.test_controller_batch import AT, BUDGETS, LEFT_DIRTY, TOPICS
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
    both.do("move_partition(c=1, p=1, r=2)", "read_for_removal(c=1, p=1, r=2)")
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


def drain(both: SideBySide, *named: str) -> None:
    """Take steps with one of these in their names, always the first, until there is none."""
    while offered := [one.name for one in choices(both.cluster) if any(part in one.name for part in named)]:
        both.do(offered[0])


def overtaken(switches: Switches) -> SideBySide:
    """Controller 1 has still to hear that broker 3 is back, when its session ends and its successor deletes a topic.

    That it has deleted another one itself was its last news of topics.
    """
    scope = replace(TOPICS, brokers=3, controllers=2, assigned=((3,), (2, 3)), callback_capacity=12)
    both = SideBySide(scope, switches, deletions=2, expiries=1, crashes=1)
    both.do("request_deletion(t=0)", "on_deletion_change(c=1)")
    drain(both, "delete_queued_topic(c=1", "removal(c=1")
    both.do("deliver_request(c=1, b=3)", "deliver_deletion(c=1, b=3, p=0)", "on_replica_deleted(c=1, b=3, p=0)")
    drain(both, *(f"delete_{one}(c=1" for one in ("queued_topic", "state", "topic", "configuration", "request")))
    both.do("crash(b=3)", "end_orphaned_session(b=3)", "start_process(b=3)", "register_broker(b=3)")
    both.do("request_deletion(t=1)", "expire_session(b=1, lost=0)", "renew_session(b=1)")
    drain(both, "c=2")
    assert (both["zookeeper.topics[1]"], both["controllers[1].topics[1]"]) == ("no", "yes")
    both.do("on_topic_change(c=1)", "on_deletion_change(c=1)")
    assert (both["controllers[1].active"], both["controllers[1].topics[1]"]) == ("yes", "no")
    return both


def test_what_a_successor_has_deleted_dirties_the_batch_of_who_knows_it_still() -> None:
    both = overtaken(AS_CODED)
    assert both["controllers[1].partitions[1].leader"] == "2"
    assert both.do("on_broker_change(c=1)") == ["read /brokers/ids", "fail to add UpdateMetadata"]
    assert (both[AT], both[LEFT_DIRTY]) == ("IDLE", "yes")


def test_who_forgets_what_a_successor_has_deleted_keeps_its_batch_clean() -> None:
    both = overtaken(AS_CODED | {Switch.FORGET_THE_VANISHED})
    assert both["controllers[1].partitions[1].leader"] == "-1"
    assert both.do("on_broker_change(c=1)") == ["read /brokers/ids"]
    assert both[LEFT_DIRTY] == "no"


AGAIN = replace(scope("foreign_recreation"), assigned=((2,),))
TWICE = {"removals": 2, "creations": 1, "crashes": 1}
FORGOTTEN = (
    "crash(b=2)", "end_orphaned_session(b=2)", "on_broker_change(c=1)", "read_for_election(c=1, p=0)",
    "read_for_removal(c=1, p=0, r=2)", "write_removal(c=1, p=0, r=2)", "remove_topic(t=0)", "on_topic_change(c=1)",
)  # fmt: skip
SECOND = (
    "create_topic(t=0)", "on_topic_change(c=1)", "read_for_new_replica(c=1, p=0, r=2)", "remove_topic(t=0)",
    "on_topic_change(c=1)",
)  # fmt: skip


def test_a_second_topic_that_is_forgotten_is_told_from_the_first() -> None:
    """Nothing else in the controller's memory does; what was read of it after the first one is not read for this."""
    both = Sides(replace(AGAIN, budgets=tuple(TWICE.items())), FENCED)
    last = both.machine.names.index("controllers[1].topic_ids[0]")
    assert [both.after(steps).raw[last] for steps in (FORGOTTEN, FORGOTTEN + SECOND)] == [0, 1]


def test_a_failover_that_does_not_find_a_topic_knows_no_id_of_it() -> None:
    both = SideBySide(TOPICS, FENCED, **TWICE)
    both.do("remove_topic(t=0)", "crash(b=1)", "end_orphaned_session(b=1)", "start_process(b=1)", "elect_read(c=1)")
    both.do("create_topic(t=0)", "remove_topic(t=0)", "elect_create(c=1)", "subscribe(c=1)", "read_brokers(c=1)")
    both.do("read_topics(c=1)")
    assert [both[f"{path}.topic_ids[0]"] for path in ("zookeeper", "controllers[1]")] == ["yes", "no"]
