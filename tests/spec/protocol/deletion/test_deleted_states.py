"""A zombie creates a deleted state znode anew (D2), as coded: its versions and leader epochs come again."""

import pytest

from spec.scopes import Scope
from spec.variants import AS_CODED
from tests.spec.stepping import Run

FAILOVER = (
    "elect_read", "elect_create", "read_epoch", "increment_epoch", "create_epoch", "subscribe", "read_brokers",
    "read_topics", "read_state",
)  # fmt: skip
STATE_MACHINES = ("read_deletions", "create_state", "finish_failover")
DELETION = (
    "read_deletions", "finish_failover", "on_deletion_change", "delete_queued_topic", "read_for_removal",
    "write_removal", "deliver_request", "deliver_deletion", "on_replica_deleted", "delete_state",
)  # fmt: skip
STATE = "zookeeper.state[0]"


def within(*, cold: bool) -> Scope:
    return Scope(
        name="deleted states",
        statement="A topic is deleted while controllers go and come.",
        brokers=4,
        controllers=3,
        assigned=((4, 2),),
        parts=frozenset({"partitions", "connections", "deletion"}),
        callback_capacity=12,
        connection_capacity=6,
        versions=15,
        cold=cold,
    )


def go_on(run: Run, c: int, *actions: str) -> None:
    """A controller takes these actions, in whatever order, until none is enabled."""
    run.drain(*(f"{one}(c={c}" for one in actions))


def starts(run: Run, b: int) -> None:
    run.do(f"start_process(b={b})")
    run.drain(f"elect_read(c={b}")
    run.do(f"register_broker(b={b})")


def dies(run: Run, b: int) -> None:
    run.do(f"crash(b={b})", f"end_orphaned_session(b={b})")


def created_anew(first: tuple[int, ...], second: tuple[int, ...], *, versions: int) -> Run:
    """Controller 1, which has taken the first brokers for live, creates the state znode that controller 2 has deleted.

    It has yet to handle the start of the second ones. Meanwhile controller 3, between two terms of 2, has queued a
    LeaderAndIsr of the old znode to its leader, broker 4; the ISR had been written so often by then. Brokers 2 and 4
    start again, and have forgotten all.
    """
    run = Run(within(cold=True), AS_CODED, deletions=1, expiries=3, crashes=2, shrinks=2)
    run.do("start_process(b=1)")
    go_on(run, 1, *FAILOVER, *STATE_MACHINES)
    run.do("on_controller_change(c=1)", "register_broker(b=1)", "on_broker_change(c=1)")
    for b in first:
        starts(run, b)
    run.do("on_broker_change(c=1)")
    for b in second:
        starts(run, b)
    assert run["controllers[1].at"] == "ONLINE_READ"
    run.do("expire_session(b=1, lost=0)", "on_controller_change(c=2)")
    go_on(run, 2, *FAILOVER, *STATE_MACHINES, "deliver_request")
    run.do(*("shrink_isr(b=4, p=0, r=2)", "expand_isr(b=4, p=0, r=2)")[:versions])
    run.do("expire_session(b=2, lost=0)", "on_controller_change(c=3)")
    go_on(run, 3, *FAILOVER, *STATE_MACHINES)
    run.do("expire_session(b=3, lost=0)", "renew_session(b=2)")
    run.drain("c=2", "register_broker(b=2")
    run.do("request_deletion(t=0)")
    go_on(run, 2, *DELETION)
    assert run["controllers[2].at"] == "DELETE_TOPIC"
    run.do("renew_session(b=1)", "create_state(c=1, p=0)")
    assert (run[f"{STATE}.version"], run[f"{STATE}.controller_epoch"]) == ("0", "1")
    for b in (2, 4):
        dies(run, b)
        run.do(f"start_process(b={b})")
    return run


@pytest.mark.slow
def test_an_old_leader_writes_its_leader_epoch_over_a_higher_one() -> None:
    run = created_anew((2, 4), (3,), versions=2)
    run.drain("on_broker_change(c=1", "election(c=1", "removal(c=1")
    run.do("deliver_request(c=3, b=4)")
    assert run.leadership(STATE) == ("-1", "[4]", "2")
    assert run.leadership("brokers[4].partitions[0]") == ("4", "[4, 2]", "0")
    assert not run.holds("leader_epoch_never_goes_back", "shrink_isr(b=4, p=0, r=2)")


@pytest.mark.slow
def test_the_old_leader_and_the_new_one_lead_in_one_leader_epoch() -> None:
    run = created_anew((2,), (4, 3), versions=0)
    run.do("deliver_request(c=1, b=2)")
    assert run.holds("one_leader_in_a_leader_epoch")
    run.do("deliver_request(c=3, b=4)")
    assert not run.holds("one_leader_in_a_leader_epoch")
    assert [run.leadership(f"brokers[{b}].partitions[0]")[::2] for b in (2, 4)] == [("2", "0"), ("4", "0")]


@pytest.mark.slow
def test_a_leader_that_was_decided_on_the_old_znode_is_written_to_the_new_one() -> None:
    # Controller 1 is about to write that 2 leads when its session ends, controller 3 to delete the topic's znode, and
    # controller 2 to read that its deletion is asked for.
    run = Run(within(cold=False), AS_CODED, deletions=1, expiries=3, crashes=2)
    dies(run, 4)
    run.do("on_broker_change(c=1)", "read_for_election(c=1, p=0)", "expire_session(b=1, lost=0)")
    run.do("start_process(b=4)", "register_broker(b=4)", "request_deletion(t=0)", "on_controller_change(c=3)")
    go_on(run, 3, *FAILOVER, *DELETION)
    dies(run, 2)
    run.do("start_process(b=2)", "expire_session(b=3, lost=0)")
    go_on(run, 2, *FAILOVER)
    run.do("expire_session(b=2, lost=0)", "renew_session(b=3)")
    run.do("delete_topic(c=3, t=0)", "delete_configuration(c=3, t=0)", "delete_request(c=3, t=0)")
    run.do("renew_session(b=2)", "read_deletions(c=2)", "create_state(c=2, p=0)", "renew_session(b=1)")
    assert (run.leadership(STATE), run[f"{STATE}.controller_epoch"]) == (("4", "[4]", "0"), "3")
    assert (run["controllers[1].decided.leader"], run["controllers[1].epoch"]) == ("2", "1")
    for claim in ("clean_leaders_were_in_sync", "writers_epochs_never_go_back"):
        assert not run.holds(claim, "write_elected_leader(c=1, p=0)")
