"""The automatic rebalance step by step, as PROTOCOL.md section 7.6 tells it: strictly more than the percentage."""

from dataclasses import replace
from typing import Any

import pytest

from model_check.stepping.open_system import OpenSystem
from model_check.stepping.plain_state import Draft
from spec.claims.auto_rebalance import leaders_are_in_balance
from spec.model import Model
from spec.scopes import Scope, scope
from spec.tables.partition_states import PartitionState
from spec.variants import AS_CODED
from tests.spec.stepping import Run

BOUNDS = replace(scope("rebalance"), controllers=1, assigned=((2, 1), (2, 1)), connection_capacity=6)
"""Broker 2 is the preferred replica of both partitions, and leads them; broker 1 is the controller, for good."""
CHECK = "check_imbalance(c=1, h=2)"


def returned(percentage: int, *in_sync: int, bounds: Scope = BOUNDS, deletions: int = 0) -> Run:
    """Broker 2 lost its session and both leaderships, and is back; these partitions have it in sync."""
    run = Run(replace(bounds, imbalance_percentage=percentage), expiries=1, deletions=deletions)
    run.do("expire_session(b=2, lost=0)", "on_broker_change(c=1)")
    for p in (0, 1):
        run.do(f"read_for_election(c=1, p={p})", f"write_elected_leader(c=1, p={p})")
    run.do("read_for_removal(c=1, p=0, r=2)", "read_for_removal(c=1, p=1, r=2)")
    run.do("renew_session(b=2)", "register_broker(b=2)", "on_broker_change(c=1)")
    for b in (1, 2):
        while run.can(f"deliver_request(c=1, b={b})"):
            run.do(f"deliver_request(c=1, b={b})")
    for p in in_sync:
        run.do(f"expand_isr(b=1, p={p}, r=2)")
    return run


def test_each_partition_is_elected_for_on_its_own() -> None:
    run = returned(50, 0, 1)
    assert run.do(CHECK) == [("find imbalance", "2")]
    run.do("rebalance_partition(c=1, p=1)")
    assert not run.can("rebalance_partition(c=1, p=0)"), "the lock is taken"
    run.do("write_elected_leader(c=1, p=1)", "rebalance_partition(c=1, p=0)", "write_elected_leader(c=1, p=0)")
    assert [run[f"zookeeper.state[{p}].leader"] for p in (0, 1)] == ["2", "2"]
    assert not run.can(CHECK)


def test_the_percentage_is_asked_once_for_all_that_is_taken_up() -> None:
    run = returned(50, 0, 1)
    run.do(CHECK, "rebalance_partition(c=1, p=1)", "write_elected_leader(c=1, p=1)")
    run.do("rebalance_partition(c=1, p=0)")
    assert run["controllers[1].at"] == "ONLINE_WRITE", "half is not more than half, but was not asked again"
    assert run.holds("rebalance_elects_live_brokers_one_by_one")


@pytest.mark.parametrize("state", [PartitionState.NON_EXISTENT, PartitionState.NEW])
def test_nobody_is_elected_for_what_the_machine_does_not_track_or_has_as_new(state: PartitionState) -> None:
    run = returned(50, 0, 1)
    run.do(CHECK)
    run.state = {**run.state, "controllers[1].partitions[1].state": list(PartitionState).index(state)}
    before = run.leadership("zookeeper.state[1]")
    run.do("rebalance_partition(c=1, p=1)")
    assert run["controllers[1].at"] == "IDLE"
    assert run["controllers[1].partitions[1].state"] == state.name
    assert run.leadership("zookeeper.state[1]") == before


@pytest.mark.parametrize(("percentage", "acts"), [(50, False), (49, True)])
def test_half_of_two_partitions_is_not_more_than_half(percentage: int, acts: bool) -> None:
    run = returned(percentage, 0)
    run.do(CHECK, "rebalance_partition(c=1, p=0)", "write_elected_leader(c=1, p=0)")
    assert run.do("rebalance_partition(c=1, p=1)") == [("fail election", "1")], "broker 2 is not in sync there"
    assert run.can(CHECK) == acts


def test_a_topic_that_is_to_be_deleted_is_neither_counted_nor_touched() -> None:
    run = returned(50, 0, 1, bounds=replace(BOUNDS, parts=BOUNDS.parts | {"deletion"}), deletions=1)
    run.do(CHECK, "request_deletion(t=0)", "on_deletion_change(c=1)")
    for p in (0, 1):
        assert run.do(f"rebalance_partition(c=1, p={p})") == []
        assert (run["controllers[1].at"], run[f"controllers[1].imbalanced[{p}]"]) == ("IDLE", "no")
    assert not run.can(CHECK)


def test_the_check_goes_on_where_an_exception_has_ended_the_deletion_thread() -> None:
    """The scheduler was started before that thread, and only a resignation shuts it down."""
    run = Run(scope("threadless_rebalance"), deletions=1, stray_deletions=1, expiries=1)
    run.do("request_deletion(t=1)", "on_deletion_change(c=1)")
    removing = ("for_removal", "write_removal", "deliver_")
    run.drain("delete_", *removing, "on_replica_deleted", "on_topic_change", "on_deletion_change")
    run.do("expire_session(b=1, lost=0)", "renew_session(b=1)", "on_new_session(c=1)", "request_stray_deletion(t=1)")
    run.drain("elect", "_epoch", "subscribe", "read_", "finish_failover")
    run.drain("register", "on_broker", "for_election", "write_elected", *removing, "delete_queued")
    run.do("expand_isr(b=2, p=0, r=1)")
    assert (run["controllers[1].deletion"], run["zookeeper.state[0].leader"]) == ("ENDED", "2")
    run.do("check_imbalance(c=1, h=1)", "rebalance_partition(c=1, p=0)", "write_elected_leader(c=1, p=0)")
    assert run["zookeeper.state[0].leader"] == "1"


def test_a_broker_that_is_gone_again_is_given_nothing() -> None:
    run = Run(BOUNDS, expiries=1)
    run.do("expire_session(b=2, lost=0)", "on_broker_change(c=1)")
    for p in (0, 1):
        run.do(f"read_for_election(c=1, p={p})", f"write_elected_leader(c=1, p={p})")
    run.do("read_for_removal(c=1, p=0, r=2)", "read_for_removal(c=1, p=1, r=2)", CHECK)
    assert run.do("rebalance_partition(c=1, p=0)") == []
    assert (run["controllers[1].at"], run["controllers[1].imbalanced[0]"]) == ("IDLE", "no")


@pytest.mark.parametrize(("led", "balanced"), [(36, True), (35, False)])
def test_a_broker_may_head_many_partitions(led: int, balanced: bool) -> None:
    """Four of forty are ten percent, five are more. What is said of them is counted, not looked up in all subsets."""
    scope = replace(BOUNDS, assigned=((2, 1),) * 40, imbalance_percentage=10)
    opened = OpenSystem(Model(scope, AS_CODED))
    state: Any = Draft(opened.layout, opened.initial)
    for p in range(40):
        state.zookeeper.state[p].leader = 2 if p < led else 1
    in_balance = leaders_are_in_balance.function(state, opened.model)
    assert in_balance is not None
    assert bool(in_balance.raw) == balanced


def test_whom_a_reassignment_puts_first_may_lack_what_it_is_to_lead_but_nothing_is_elected_meanwhile() -> None:
    """The check groups partitions by the head of AR in memory, which step 1 changes; the election asks for step 12."""
    moving = scope("move")
    run = Run(replace(moving, parts=moving.parts | {"auto_rebalance"}), reassignments=1)
    assert not run.can("check_imbalance(c=1, h=2)")
    run.do("request_reassignment(k=0)", "on_reassignment_request(c=1)", "accept_reassignment(c=1, p=0)")
    run.do("read_whether_caught_up(c=1, p=0)", "write_union(c=1, p=0)", "read_for_bump(c=1, p=0)")
    run.do("write_bump(c=1, p=0)", "start_new_replica(c=1, p=0, r=2)")
    assert run["controllers[1].partitions[0].assigned"] == "[2, 1]"
    run.do("check_imbalance(c=1, h=2)", "rebalance_partition(c=1, p=0)")
    assert run["controllers[1].at"] == "IDLE"
