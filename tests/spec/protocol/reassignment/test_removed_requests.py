"""What comes of a reassignment whose request, and then /controller, somebody deletes by hand (D59, D13)."""

from dataclasses import replace

import pytest

from spec.scopes import scope
from spec.variants import AS_CODED, FENCED, Switch, Switches
from tests.spec.stepping import Run

BOUNDS = replace(scope("withdrawn_move"), requests=(((2,),), ((1,),)))
"""Broker 1 has the one replica, and is the controller; it is to move to broker 2."""
PROGRESS = (
    "on_",
    "read_",
    "write_",
    "accept_",
    "start_new",
    "deliver_request(",
    "elect_",
    "increment_",
    "subscribe",
    "finish_",
)
TO_THE_END = (*PROGRESS, "deliver_deletion(", "expand_isr")


def moving(switches: Switches = AS_CODED) -> Run:
    """Both brokers are told of the union."""
    run = Run(BOUNDS, switches, reassignments=2, move_withdrawals=1, controller_removals=1)
    run.do("request_reassignment(k=0)")
    run.drain(*PROGRESS)
    assert run["zookeeper.assigned[0]"] == "[2, 1]"
    return run


def test_a_removed_request_is_carried_out_all_the_same() -> None:
    run = moving()
    run.do("withdraw_reassignment()")
    run.drain(*TO_THE_END)
    assert (run["zookeeper.assigned[0]"], run["controllers[1].reassigned[0]"]) == ("[2]", "[]")


def test_the_next_request_is_dropped_with_the_end_of_the_removed_one() -> None:
    run = moving()
    run.do("withdraw_reassignment()", "request_reassignment(k=1)")
    run.drain(*TO_THE_END)
    assert (run["zookeeper.assigned[0]"], run["zookeeper.requested[0]"]) == ("[2]", "[]")


@pytest.mark.parametrize(
    ("switches", "assigned"), [(AS_CODED, "[2]"), (AS_CODED | {Switch.CLEAR_CONTEXT}, "[2, 1]"), (FENCED, "[2, 1]")]
)
def test_the_same_broker_goes_on_as_the_next_controller_unless_it_forgets(switches: Switches, assigned: str) -> None:
    run = moving(switches)
    run.do("withdraw_reassignment()", "remove_controller()")
    run.drain(*TO_THE_END)
    assert (run["zookeeper.controller"], run["zookeeper.epoch"]) == ("1", "2")
    assert run["zookeeper.assigned[0]"] == assigned


def test_only_what_stands_can_be_removed() -> None:
    run = Run(BOUNDS, reassignments=1, move_withdrawals=2, controller_removals=2)
    assert not run.can("withdraw_reassignment()")
    run.do("request_reassignment(k=0)", "withdraw_reassignment()", "remove_controller()")
    assert not run.can("withdraw_reassignment()")
    assert not run.can("remove_controller()")
