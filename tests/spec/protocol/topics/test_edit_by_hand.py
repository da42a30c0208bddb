"""Somebody writes other replicas into a topic's znode: who hears of it, when, and what undoes it (D73)."""

from spec.scopes import scope
from spec.variants import AS_CODED
from tests.spec.stepping import Run

EDIT = "edit_assignment(e=0)"


def go_on(run: Run) -> Run:
    """All that goes on by itself comes to its end."""
    while steps := [one for one in run.enabled() if not one.startswith(("crash", "remove_controller", "shrink"))]:
        run.do(steps[0])
    return run


def edited(**budgets: int) -> Run:
    """Replica 2 is added by hand, and the listener has been called."""
    run = Run(scope("edited_assignment"), AS_CODED, **budgets)
    run.do(EDIT, "on_partition_modifications(c=1, t=0)")
    return run


def test_the_listener_takes_no_notice() -> None:
    run = edited(edits=1)
    assert run["zookeeper.assigned[0]"] == "[1, 2]"
    assert run["controllers[1].partitions[0].assigned"] == "[1]"
    assert run["brokers[2].partitions[0].leader_epoch"] == "-1"
    assert run["controllers[1].topic_watching[0]"] == "yes"


def test_a_failover_starts_what_was_added_and_its_leader_takes_no_fetch_of_it() -> None:
    """The leader ignores the LeaderAndIsr of its own leader epoch, and AR with it."""
    run = edited(edits=1, controller_removals=1)
    run.do("remove_controller()")
    go_on(run)
    assert run["controllers[1].partitions[0].assigned"] == "[1, 2]"
    assert run["brokers[2].partitions[0].leader_epoch"] == run["brokers[1].partitions[0].leader_epoch"] == "0"
    assert (run["brokers[1].partitions[0].assigned"], run["brokers[2].partitions[0].assigned"]) == ("{1}", "{1,2}")
    assert run["zookeeper.state[0].isr"] == "[1]"


def test_a_new_leader_epoch_takes_it_in() -> None:
    run = edited(edits=1, crashes=1)
    run.do("crash(b=1)")
    go_on(run)
    assert run["zookeeper.state[0].isr"] == "[1, 2]"


def test_a_move_writes_what_the_controller_knows() -> None:
    """Step 1 takes broker 3 out again, which the request did not ask for."""
    run = Run(scope("edited_move"), AS_CODED, edits=1, reassignments=1)
    run.do(EDIT, "on_partition_modifications(c=1, t=0)", "request_reassignment(k=0)")
    run.drain("on_reassignment_request", "accept_reassignment", "read_whether_caught_up", "write_union")
    assert run["zookeeper.assigned[0]"] == "[2, 1]"
    assert run["history.original[0]"] == "[1, 3]"
