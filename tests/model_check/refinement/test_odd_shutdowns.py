"""Controlled shutdowns in odd circumstances, side by side: a replica named twice, one that ends by a death, one that
the very first controllers answer.
"""

from dataclasses import replace

from reference.memory.scheduler import choices
from spec.scopes import scope
from spec.variants import AS_CODED, Switch
from tests.model_check.refinement.test_controller_batch import AT, TOPICS, dirtied
from tests.model_check.side_by_side import SideBySide

ODD = scope("odd_targets")
FAILOVER = ("subscribe(c=1)", "read_brokers(c=1)", "read_topics(c=1)", "read_state(c=1, p=0)")


def deliver_all(both: SideBySide) -> None:
    """All that is on the way arrives."""
    while due := [one.name for one in choices(both.cluster) if one.rule == "deliver_request"]:
        both.do(due[0])


def test_a_broker_that_ar_names_twice_counts_as_two_replicas() -> None:
    """`KafkaController.shutdownBroker` 0.10.2.2 asks the length of AR, so it looks for another leader (D62)."""
    bounds = replace(ODD, assigned=((1,),), requests=(((2, 2),),), parts=ODD.parts | {"shutdown"})
    both = SideBySide(bounds, AS_CODED, reassignments=1, shutdowns=1)
    both.do("request_reassignment(k=0)", "on_reassignment_request(c=1)", "accept_reassignment(c=1, p=0)")
    both.do("read_whether_caught_up(c=1, p=0)", "write_union(c=1, p=0)", "read_for_bump(c=1, p=0)")
    both.do("write_bump(c=1, p=0)", "start_new_replica(c=1, p=0, r=2)")
    deliver_all(both)
    both.do("expand_isr(b=1, p=0, r=2)", "on_state_change(c=1, p=0)")
    both.do("read_whether_caught_up(c=1, p=0)", "read_for_move(c=1, p=0)", "write_move(c=1, p=0)")
    both.do("read_for_removal(c=1, p=0, r=1)", "write_removal(c=1, p=0, r=1)", "write_target(c=1, p=0)")
    both.do("read_remaining(c=1, p=0)", "write_remaining(c=1, p=0)")
    assert both["zookeeper.assigned[0]"] == "[2, 2]"
    both.do("stop_broker(b=2)", "request_shutdown(b=2, c=1)", "accept_shutdown(c=1, b=2)")
    assert both["controllers[1].to_move[0]"] == "yes"


def test_with_its_registration_a_shutdown_ends_even_if_it_has_failed() -> None:
    """The next one of the broker's is not answered with the error of this one (D12-outlived)."""
    both = dirtied(frozenset({Switch.BROKER_EPOCHS}), replace(TOPICS, callback_capacity=12), crashes=1)
    both.do("stop_broker(b=2)", "request_shutdown(b=2, c=1)", "accept_shutdown(c=1, b=2)", "crash(b=2)")
    both.do("end_orphaned_session(b=2)", "move_partition(c=1, p=1, r=2)")
    assert (both[AT], both["controllers[1].shutdown_fails"]) == ("RESIGN_DELETE", "no")
    both.do("resign_delete(c=1)", "on_broker_change(c=1)")
    assert (both["controllers[1].shutdown_of"], both["controllers[1].shutdown_fails"]) == ("-1", "no")


def test_who_writes_the_epoch_once_more_answers_in_it() -> None:
    """Where answers are fenced, and writes are not, nothing goes by the version of /controller_epoch after an election.

    It is the epoch that is compared, also where that is not known to be another with each version (the first).
    """
    first = replace(scope("shutdown"), controllers=1, cold=True)
    both = SideBySide(first, frozenset({Switch.FENCED_ANSWERS}), shutdowns=1, controller_removals=1)
    both.do("start_process(b=1)", "start_process(b=2)", "register_broker(b=2)", "elect_read(c=1)", "elect_create(c=1)")
    both.do("read_epoch(c=1)", "increment_epoch(c=1)", "create_epoch(c=1)", *FAILOVER, "create_state(c=1, p=0)")
    both.do("finish_failover(c=1)", "remove_controller()", "on_controller_change(c=1)", "elect_read(c=1)")
    both.do("elect_create(c=1)", "read_epoch(c=1)", "increment_epoch(c=1)", *FAILOVER, "finish_failover(c=1)")
    both.do("stop_broker(b=2)", "request_shutdown(b=2, c=1)", "accept_shutdown(c=1, b=2)")
    both.do("move_partition(c=1, p=0, r=2)")
    assert both.do("answer_shutdown(c=1, b=2)") == ["answer ControlledShutdown"]
