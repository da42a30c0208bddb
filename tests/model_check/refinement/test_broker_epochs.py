"""A broker that is back before anybody looks, where broker epochs are on and the handler does not come to its end.

History has no such controller: Kafka 2.2.0, which tells the two registrations apart, knows neither a thread that waits
for the lock nor left-over channels nor a batch that stays dirty. What is expected follows from two things: the returned
broker is taken out of the living only with its channel, and who is taken out and not taken in again is not known.
"""

from dataclasses import replace

from model_check.refinement.lockstep import Sides
from model_check.refinement.simulate import first_disagreement
from spec.scopes import scope
from spec.variants import AS_CODED, Switch
from tests.model_check.refinement.test_controller_batch import DIRTIED, TOPICS
from tests.model_check.side_by_side import SideBySide
from tests.spec.stepping import Run

SWITCHES = AS_CODED | {Switch.BROKER_EPOCHS}

DIES = ("crash(b={b})", "end_orphaned_session(b={b})")
STARTS = ("start_process(b={b})", "register_broker(b={b})")


def named(steps: tuple[str, ...], b: int) -> list[str]:
    """The steps of this broker."""
    return [step.format(b=b) for step in steps]


def known(both: SideBySide) -> list[str]:
    """Whom controller 1 takes for alive, to whom it has a channel, and whether it knows broker 2's registration."""
    return [both[f"controllers[1].{name}"] for name in ("live", "channels", "seen[2]")]


def test_a_broker_whose_channel_cannot_be_closed_stays_the_earlier_one() -> None:
    """The send thread waits for the lock with an answer, the handler for the thread (D50): what waits is stale."""
    both = SideBySide(replace(TOPICS, assigned=((1, 2),), topic_of=(0,), requests=()), SWITCHES, deletions=1, crashes=1)
    both.do("request_deletion(t=0)", "on_deletion_change(c=1)", "delete_queued_topic(c=1, t=0)")
    for broker in (1, 2):
        both.do(f"read_for_removal(c=1, p=0, r={broker})", f"write_removal(c=1, p=0, r={broker})")
    both.do(
        "deliver_request(c=1, b=2)",
        "deliver_deletion(c=1, b=2, p=0)",
        *named(DIES + STARTS, 2),
        "on_broker_change(c=1)",
    )
    assert both["controllers[1].at"] == "DEADLOCKED"
    assert known(both) == ["{1,2}", "{1,2}", "no"]


def test_a_broker_is_forgotten_that_an_exception_keeps_from_being_taken_in_again() -> None:
    """The dead, of whom it is one, cost no leader, so that everybody is told, which raises (D53)."""
    both = SideBySide(TOPICS, SWITCHES, removals=1, crashes=1)
    both.do("remove_topic(t=0)", "on_topic_change(c=1)", *named(DIES + STARTS, 2), "on_broker_change(c=1)")
    both.do("read_for_removal(c=1, p=1, r=2)")
    assert known(both) == ["{1}", "{1}", "yes"]
    assert DIRTIED in both.do("write_removal(c=1, p=1, r=2)")
    assert known(both) == ["{1}", "{1}", "no"]


def test_a_left_over_channel_to_another_leaves_a_broker_the_earlier_one() -> None:
    """2, elected again with a channel to itself left over, registers; with the same read 1 is back (D51, D56)."""
    bounds = replace(
        scope("bounce"), controllers=2, controller_epochs=7, callback_capacity=10,
        budgets=(("crashes", 2), ("exceptions", 1), ("expiries", 1)),
    )  # fmt: skip
    elected = ("on_controller_change(c=2)", "elect_read(c=2)", "elect_create(c=2)")
    failover = (
        "read_epoch(c=2)", "increment_epoch(c=2)", "subscribe(c=2)", "read_brokers(c=2)", "read_topics(c=2)",
        "read_state(c=2, p=0)", "read_for_election(c=2, p=0)",
    )  # fmt: skip
    starts = ("start_process(b=1)", "elect_read(c=1)", "register_broker(b=1)")
    steps = [
        *named(DIES, 1), *elected, *failover, "write_elected_leader(c=2, p=0)", "fail_failover(c=2)",
        "resign_delete(c=2)", "expire_session(b=2, lost=0)", "renew_session(b=2)", *elected, *starts, *failover,
        "finish_failover(c=2)", "on_new_session(c=2)", *named(DIES, 1), *starts, "register_broker(b=2)",
    ]  # fmt: skip
    run = Run(bounds, SWITCHES, **dict(bounds.budgets))
    run.do(*steps)
    blocked = run.do("on_broker_change(c=2)")
    assert [one[0] for one in blocked] == ["read /brokers/ids", "fail on left-over channels"]
    assert [run[f"controllers[2].{name}"] for name in ("live", "channels", "stranded", "seen[1]")] == [
        "{1,2}", "{1}", "{2}", "no",
    ]  # fmt: skip
    assert first_disagreement(Sides(bounds, SWITCHES), (*steps, "on_broker_change(c=2)")) is None


def test_who_goes_on_with_a_reassignment_after_its_term_still_knows_the_registrations() -> None:
    """Before 0.10.2.0 (D8): whom it takes for alive it keeps, and so which registrations these were."""
    older = SWITCHES | {Switch.RUN_WHEN_NOT_ACTIVE}
    both = SideBySide(scope("reassignment"), older, reassignments=1, expiries=1)
    both.do("request_reassignment(k=0)", "on_reassignment_request(c=1)", "accept_reassignment(c=1, p=0)")
    both.do("read_whether_caught_up(c=1, p=0)", "write_union(c=1, p=0)", "read_for_bump(c=1, p=0)")
    both.do("write_bump(c=1, p=0)", "start_new_replica(c=1, p=0, r=3)", "on_state_change(c=1, p=0)")
    both.do("expire_session(b=1, lost=0)", "renew_session(b=1)", "on_new_session(c=1)")
    assert [both[f"controllers[1].{name}"] for name in ("live", "seen[2]", "active")] == ["{1,2,3}", "yes", "no"]
