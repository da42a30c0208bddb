"""A StopReplica with delete whose log cannot be removed: what the answer does, and what is left on the disk (D72)."""

import pytest

from spec.scopes import scope
from spec.variants import AS_CODED, Switch
from tests.spec.stepping import Run

RETRY, KEEP = Switch.RETRY_FAILED_DELETIONS, Switch.KEEP_UNDELETED_LOGS
FAILS = "deliver_failing_deletion(c=1, b=2, p=0)"


def failed(*switches: Switch) -> Run:
    """Broker 2 could not delete its replica, and the controller has had its answer."""
    run = Run(scope("failed_deletion"), AS_CODED | {*switches}, deletions=1, failed_deletions=2, crashes=1)
    run.do("request_deletion(t=0)", "on_deletion_change(c=1)")
    run.drain("delete_queued_topic", "read_for_removal", "write_removal", "deliver_request(c=1, b=2)")
    run.do(FAILS, "on_replica_deleted(c=1, b=2, p=0)")
    return run


def go_on(run: Run, *, without: str = "a crash") -> Run:
    """All that goes on by itself comes to its end, but what is named so."""
    while steps := [one for one in run.enabled() if not one.startswith((without, "crash", "deliver_failing"))]:
        run.do(steps[0])
    return run


def test_the_answer_holds_the_topic_back() -> None:
    run = failed()
    assert run["controllers[1].partitions[0].replicas[2]"] == "DELETION_INELIGIBLE"
    assert (run["controllers[1].ineligible[0]"], run["controllers[1].woken"]) == ("yes", "yes")
    assert run["brokers[2].partitions[0].leader_epoch"] == "-1"
    assert run["logs[2][0]"] == "yes"


def test_nothing_goes_on_by_itself() -> None:
    """The thread takes the replica Offline, and that is all; the other replica is deleted."""
    run = go_on(failed())
    assert run["controllers[1].partitions[0].replicas[2]"] == "OFFLINE"
    assert run["controllers[1].partitions[0].replicas[1]"] == "DELETION_SUCCESSFUL"
    assert (run["zookeeper.deletions[0]"], run["zookeeper.topics[0]"]) == ("yes", "yes")


@pytest.mark.parametrize(("switches", "left"), [((RETRY,), "yes"), ((RETRY, KEEP), "no")])
def test_who_is_told_again_deletes_what_the_log_manager_has(switches: tuple[Switch, ...], left: str) -> None:
    """The topic goes either way, and with it the knowledge that there is a log."""
    run = go_on(failed(*switches))
    assert (run["zookeeper.deletions[0]"], run["zookeeper.topics[0]"]) == ("no", "no")
    assert run["logs[2][0]"] == left


def test_a_restart_finds_the_log_and_deletes_it() -> None:
    run = go_on(failed())
    run.do("crash(b=2)", "end_orphaned_session(b=2)", "on_broker_change(c=1)")
    go_on(run)
    assert run["zookeeper.deletions[0]"] == "no"
    assert run["logs[2][0]"] == "no"


def test_a_log_that_is_not_there_cannot_fail() -> None:
    run = go_on(failed(RETRY), without="deliver_deletion(c=1, b=2")
    assert run.can("deliver_deletion(c=1, b=2, p=0)")
    assert not run.can(FAILS)


@pytest.mark.parametrize(("switches", "is_sent_again"), [((), False), ((RETRY,), True)])
def test_of_a_move_nobody_looks_at_the_answer(switches: tuple[Switch, ...], is_sent_again: bool) -> None:
    run = Run(scope("failed_move"), AS_CODED | {*switches}, reassignments=1, failed_deletions=2)
    run.do("request_reassignment(k=0)")
    go_on(run, without="deliver_deletion")
    run.do("deliver_failing_deletion(c=1, b=1, p=0)")
    assert run.can("deliver_deletion(c=1, b=1, p=0)") is is_sent_again
