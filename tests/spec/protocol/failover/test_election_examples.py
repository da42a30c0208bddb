"""PROTOCOL.md's examples of who is controller, step by step: start-up, election, the epoch, resignation.

As in `test_protocol_examples`: a small scope each, and where an example forbids a step, the step is asked for.
"""

import pytest

from spec.scopes import scope
from spec.variants import VARIANTS, Switch, Switches
from tests.spec.stepping import Run


def test_d3_resign_deletes_the_controller_znode_of_another() -> None:
    """A wins, fails late in its failover after its session was lost, B wins, A's resign deletes B's node."""
    run = Run(scope("left_overs"), expiries=1, exceptions=1, crashes=1)
    run.do("crash(b=1)", "end_orphaned_session(b=1)", "on_controller_change(c=2)", "elect_read(c=2)")
    run.do("elect_create(c=2)", "start_process(b=1)", "elect_read(c=1)")
    run.do("expire_session(b=2, lost=0)", "on_controller_change(c=1)", "elect_read(c=1)", "elect_create(c=1)")
    assert run["zookeeper.controller"] == "1"
    run.do("fail_failover(c=2)")
    assert not run.can("resign_delete(c=2)"), "without a session the delete is retried"
    run.do("renew_session(b=2)")
    assert run.do("resign_delete(c=2)") == [("delete /controller", "1")]
    assert run["zookeeper.controller"] == "-1"
    assert run["processes[1].session"] == "LIVE"
    assert run["controllers[1].at"] == "READ_EPOCH", "and 1 does not know"


def test_d1_a_failed_increment_goes_on_with_the_epoch_that_was_read() -> None:
    """A lone controller: the write is applied, its answer lost, the retry fails; it acts with the epoch it read."""
    run = Run(scope("losses"), losses=1, crashes=1)
    run.do("crash(b=1)", "end_orphaned_session(b=1)", "on_controller_change(c=2)", "elect_read(c=2)")
    run.do("elect_create(c=2)", "read_epoch(c=2)", "increment_epoch_unanswered(c=2)")
    assert run.do("increment_epoch(c=2)") == [("fail to write /controller_epoch", "1")]
    assert (run["zookeeper.epoch"], run["controllers[2].epoch"]) == ("2", "1")
    assert run.can("subscribe(c=2)")


def test_6_start_up_elects_first_and_then_registers_whoever_has_the_lock() -> None:
    run = Run(scope("cold"), crashes=1)
    run.do("start_process(b=1)")
    assert not run.can("register_broker(b=1)"), "its own election comes first"
    run.do("elect_read(c=1)", "elect_create(c=1)", "start_process(b=2)", "elect_read(c=2)")
    assert run["processes[2].owes"] == "AT_START"
    run.do("crash(b=1)", "end_orphaned_session(b=1)", "on_controller_change(c=2)")
    assert run["controllers[2].at"] == "ELECT_READ", "the event thread has the lock"
    run.do("register_broker(b=2)")
    assert (run["zookeeper.registered"], run["controllers[2].at"]) == ("{2}", "ELECT_READ")


def test_6_the_first_epoch_may_be_written_twice() -> None:
    """Who found no /controller_epoch writes on version 0, and so does not notice that another has created it since."""
    run = Run(scope("first_epoch"), frozenset({Switch.RESIGN_ON_EPOCH_CONFLICT}), expiries=1)
    run.do("start_process(b=1)", "elect_read(c=1)", "elect_create(c=1)", "read_epoch(c=1)")
    run.do("expire_session(b=1, lost=0)", "start_process(b=2)", "elect_read(c=2)", "elect_create(c=2)")
    run.do("read_epoch(c=2)", "increment_epoch(c=2)", "create_epoch(c=2)", "subscribe(c=2)", "renew_session(b=1)")
    assert (run["zookeeper.epoch"], run["zookeeper.epoch_version"]) == ("1", "0")
    assert run.do("increment_epoch(c=1)") == [("write /controller_epoch", "1")]
    assert (run["zookeeper.epoch"], run["zookeeper.epoch_version"]) == ("1", "1")
    assert {run[f"controllers[{c}].epoch"] for c in (1, 2)} == {"1"}


def test_6_a_lost_answer_makes_the_creator_of_the_first_epoch_give_up() -> None:
    run = Run(scope("first_epoch"), losses=1)
    run.do("start_process(b=1)", "elect_read(c=1)", "elect_create(c=1)", "read_epoch(c=1)", "increment_epoch(c=1)")
    assert run.do("create_epoch_unanswered(c=1)") == [("create /controller_epoch", "1")]
    assert run.do("create_epoch(c=1)") == [("fail to create /controller_epoch",)]
    assert (run["controllers[1].at"], run["controllers[1].epoch"]) == ("RESIGN_DELETE", "0")


@pytest.mark.parametrize(("fix", "then"), [(None, "READ_EPOCH"), (Switch.ATOMIC_ELECTION, "SUBSCRIBE")])
def test_2_who_creates_controller_again_finds_it_to_be_its_own(fix: Switch | None, then: str) -> None:
    run = Run(scope("left_overs"), frozenset({fix} if fix else ()), losses=1, crashes=1)
    run.do("crash(b=1)", "end_orphaned_session(b=1)", "on_controller_change(c=2)", "elect_read(c=2)")
    assert run.do("elect_create_unanswered(c=2)") == [("create /controller", "2")]
    epoch = run["zookeeper.epoch"]
    assert run.do("elect_create(c=2)") == [("fail to create /controller",)]
    assert (run["controllers[2].at"], run["controllers[2].leader_id"], run["zookeeper.epoch"]) == (then, "2", epoch)


def test_2_a_create_of_controller_is_repeated_under_its_own_session_only() -> None:
    """The session that it is bound to expires: that is an error, also once there is a new one; elect() resigns."""
    run = Run(scope("left_overs"), losses=1, crashes=1, expiries=1)
    run.do("crash(b=1)", "end_orphaned_session(b=1)", "on_controller_change(c=2)", "elect_read(c=2)")
    run.do("elect_create_unanswered(c=2)", "expire_session(b=2, lost=0)", "renew_session(b=2)")
    assert run["zookeeper.controller"] == "-1"
    assert not run.can("elect_create(c=2)")
    run.do("elect_create_without_session(c=2)")
    assert run["controllers[2].at"] == "RESIGN_DELETE"


def test_2_who_registers_again_finds_the_registration_to_be_its_own() -> None:
    run = Run(scope("cold"), losses=1, crashes=1, early_starts=1)
    run.do("start_process(b=1)", "elect_read(c=1)", "elect_create(c=1)", "start_process(b=2)", "elect_read(c=2)")
    assert run.do("register_broker_unanswered(b=2)") == [("create /brokers/ids", "2")]
    assert (run["zookeeper.registered"], run["processes[2].owes"]) == ("{2}", "AT_START")
    assert not run.can("fail_registration(b=2)"), "it is nobody else's"
    assert run.do("register_broker(b=2)") == [("fail to create /brokers/ids",)]
    assert (run["zookeeper.registered"], run["processes[2].owes"]) == ("{2}", "NOTHING")
    run.do("crash(b=2)", "start_process_early(b=2)", "elect_read(c=2)")
    assert run.do("fail_registration(b=2)") == [("fail to create /brokers/ids",)], "it is its predecessor's"


def test_who_has_found_its_id_taken_leaves_though_it_is_free_by_then() -> None:
    run = Run(scope("cold"), crashes=1, early_starts=1)
    run.do("start_process(b=1)", "elect_read(c=1)", "elect_create(c=1)", "start_process(b=2)", "elect_read(c=2)")
    run.do("register_broker(b=2)", "crash(b=2)", "start_process_early(b=2)", "elect_read(c=2)")
    run.do("fail_registration(b=2)", "end_orphaned_session(b=2)")
    assert (run["zookeeper.registered"], run["processes[2].owes"]) == ("{}", "GIVES_UP")
    assert not run.can("register_broker(b=2)")
    run.do("close_failed_startup(b=2)")
    assert (run["processes[2].session"], run["processes[2].owes"]) == ("NONE", "NOTHING")
    assert run.can("start_process(b=2)")


@pytest.mark.parametrize("fix", [None, Switch.FENCED_RESIGN])
def test_d3_a_delete_that_is_repeated_hits_whoever_is_controller_by_then(fix: Switch | None) -> None:
    run = Run(scope("left_overs"), frozenset({fix} if fix else ()), exceptions=1, losses=1, crashes=1)
    run.do("crash(b=1)", "end_orphaned_session(b=1)", "on_controller_change(c=2)", "elect_read(c=2)")
    run.do("elect_create(c=2)", "fail_failover(c=2)")
    assert run.do("resign_delete_unanswered(c=2)") == [("delete /controller", "2")]
    run.do("start_process(b=1)", "elect_read(c=1)", "elect_create(c=1)")
    assert run.do("resign_delete(c=2)") == ([] if fix else [("delete /controller", "1")])
    assert run["zookeeper.controller"] == ("1" if fix else "-1")


def test_d1_as_documented_a_failed_increment_resigns() -> None:
    run = Run(scope("losses"), frozenset({Switch.RESIGN_ON_EPOCH_CONFLICT}), losses=1, crashes=1)
    run.do("crash(b=1)", "end_orphaned_session(b=1)", "on_controller_change(c=2)", "elect_read(c=2)")
    run.do("elect_create(c=2)", "read_epoch(c=2)", "increment_epoch_unanswered(c=2)", "increment_epoch(c=2)")
    assert not run.can("subscribe(c=2)")
    run.do("resign_delete(c=2)", "on_controller_change(c=2)")


@pytest.mark.parametrize("switches", VARIANTS.values(), ids=VARIANTS)
def test_a_resignation_leaves_the_callbacks_that_wait_behind_it(switches: Switches) -> None:
    """Whatever a resignation clears, ZkClient's queue is not the controller's: the broker still registers."""
    run = Run(scope("small"), switches, expiries=1)
    run.do("expire_session(b=1, lost=0)", "on_controller_change(c=2)", "elect_read(c=2)", "elect_create(c=2)")
    run.do("renew_session(b=1)", "on_new_session(c=1)", "elect_read(c=1)", "register_broker(b=1)")
    assert run["zookeeper.registered"] == "{1,2}"


def test_a_controller_that_hears_of_its_own_end_resigns_and_wins_before_it_learns_of_the_expiry() -> None:
    """The handler of the new session then finds that it has been elected again already (KAFKA-4229)."""
    run = Run(scope("heard_expiry"), heard_expiries=1)
    run.do("expire_session_heard(b=1, heard=2)", "renew_session(b=1)")
    waiting = [run[f"controllers[1].callbacks[{place}]"] for place in range(6)]
    assert waiting == ["CONTROLLER", "BROKERS", "SESSION", "REGISTRATION", "BROKERS", "CONTROLLER"]
    assert ("resigned",) in run.do("on_controller_change(c=1)")
    run.do("elect_read(c=1)", "elect_create(c=1)", "read_epoch(c=1)", "increment_epoch(c=1)", "subscribe(c=1)")
    run.do("read_brokers(c=1)", "read_topics(c=1)", "read_state(c=1, p=0)")
    assert run["controllers[1].live"] == "{2}", "its registration waits behind the handler of the new session"
    run.do("read_for_election(c=1, p=0)", "write_elected_leader(c=1, p=0)", "finish_failover(c=1)")
    run.do("on_broker_change(c=1)")
    assert run.do("on_new_session(c=1)") == [("read /controller", "1")], "it does not resign once more"


@pytest.mark.parametrize(
    ("end", "first"),
    [
        ("expire_session(b=1, lost=0)", ["SESSION", "REGISTRATION"]),
        ("expire_session_heard(b=1, heard=1)", ["CONTROLLER", "SESSION"]),
        ("expire_session_heard(b=1, heard=2)", ["CONTROLLER", "BROKERS"]),
    ],
)
def test_what_a_client_hears_of_its_own_end_comes_before_the_end_of_its_session(end: str, first: list[str]) -> None:
    """/controller goes before the registration, so it is of the registration's end that a client may hear nothing."""
    run = Run(scope("heard_expiry"), expiries=1, heard_expiries=1)
    run.do(end, "renew_session(b=1)")
    assert [run[f"controllers[1].callbacks[{place}]"] for place in range(2)] == first


def test_who_has_no_watch_on_an_own_znode_has_nothing_to_hear() -> None:
    """Broker 2 watches /controller, which is not its own, and does not watch the registrations."""
    run = Run(scope("heard_expiry"), heard_expiries=1)
    assert not any(run.can(f"expire_session_heard(b=2, heard={heard})") for heard in (1, 2))
