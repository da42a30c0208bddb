"""Preferred elections step by step, as PROTOCOL.md section 7.5 tells them: who is elected, who is told, what stays."""

from dataclasses import replace

import pytest

from spec.scopes import scope
from spec.variants import Switch
from tests.spec.stepping import Run

BOUNDS = replace(scope("preferred_election"), controllers=1, assigned=((2, 1),), connection_capacity=4)
"""Broker 2 is the preferred replica of the one partition, and leads it; broker 1 is the controller, for good."""
ZNODE = "zookeeper.state[0]"
ASK = ("request_election(named=1)", "on_election_request(c=1)")
READ = "read_for_election(c=1, p=0)"


def returned() -> Run:
    """Broker 2 lost its session, 1 leads, and 2 is back and follows, but not yet in sync."""
    run = Run(BOUNDS, expiries=1, elections=2)
    run.do("expire_session(b=2, lost=0)", "on_broker_change(c=1)", READ, "write_elected_leader(c=1, p=0)")
    run.do("read_for_removal(c=1, p=0, r=2)", "renew_session(b=2)", "register_broker(b=2)", "on_broker_change(c=1)")
    for b in (1, 2):
        while run.can(f"deliver_request(c=1, b={b})"):
            run.do(f"deliver_request(c=1, b={b})")
    assert run.leadership(ZNODE) == ("1", "[1]", "1")
    return run


def test_the_first_assigned_replica_takes_over_with_the_isr_as_it_is_and_all_replicas_are_told() -> None:
    run = returned()
    run.do("expand_isr(b=1, p=0, r=2)", *ASK, READ)
    seen = run.do("write_elected_leader(c=1, p=0)")
    assert run.leadership(ZNODE) == ("2", "[1, 2]", "2")
    told = [one[1:6] for one in seen if one[0] == "queue LeaderAndIsr"]
    assert told == [("1", "0", "2", "2", "[1, 2]"), ("2", "0", "2", "2", "[1, 2]")]
    assert run.do("delete_election_request(c=1)") == [("delete election request",)]
    assert (run["zookeeper.elections[0]"], run["controllers[1].electing[0]"]) == ("no", "no")


def test_a_preferred_replica_out_of_sync_is_not_elected_and_the_request_is_gone_all_the_same() -> None:
    run = returned()
    run.do(*ASK)
    assert run.do(READ) == [("fail election", "0")]
    run.do("delete_election_request(c=1)")
    assert run.leadership(ZNODE) == ("1", "[1]", "1")
    assert run["zookeeper.elections[0]"] == "no"


def test_where_the_preferred_replica_leads_by_the_cache_nothing_is_written() -> None:
    run = Run(BOUNDS, elections=1)
    run.do(*ASK)
    assert run.do(READ) == []
    run.do("delete_election_request(c=1)")
    assert run.leadership(ZNODE) == ("2", "[2, 1]", "0")


def test_a_second_request_waits_until_the_first_is_gone() -> None:
    run = Run(BOUNDS, elections=2)
    run.do(ASK[0])
    assert not run.can(ASK[0])
    run.do(ASK[1], READ, "delete_election_request(c=1)")
    assert run.can(ASK[0])


LEADERLESS = replace(scope("leaderless_election"), connection_capacity=4)
BOTH = "request_election(named=3)"


def known_and_unknown(*switches: Switch) -> Run:
    """Partition 0 is there and led; partition 1 is of no topic; both are named."""
    run = Run(LEADERLESS, frozenset(switches), creations=1, elections=1)
    run.do("create_topic(t=0)", "on_topic_change(c=1)", "read_for_new_replica(c=1, p=0, r=1)")
    run.do("create_state(c=1, p=0)", BOTH, "on_election_request(c=1)", READ)
    return run


def test_a_partition_without_leadership_keeps_the_request_and_all_that_it_named_under_way() -> None:
    """D49: the line that is to be logged of it raises."""
    run = known_and_unknown()
    assert run["controllers[1].at"] == "IDLE"
    assert [run[f"zookeeper.elections[{p}]"] for p in (0, 1)] == ["yes", "yes"]
    assert [run[f"controllers[1].electing[{p}]"] for p in (0, 1)] == ["yes", "yes"]


def test_with_the_fix_the_request_goes() -> None:
    run = known_and_unknown(Switch.ELECT_ONLY_THE_LED)
    run.do("delete_election_request(c=1)")
    assert [run[f"controllers[1].electing[{p}]"] for p in (0, 1)] == ["no", "no"]


@pytest.mark.parametrize("switches", [(), (Switch.KEEP_UNREAD_REQUESTS,)])
def test_a_failover_deletes_a_request_that_it_has_not_read_but_where_that_is_fixed(
    switches: tuple[Switch, ...],
) -> None:
    run = Run(replace(BOUNDS, cold=True), frozenset(switches), elections=1)
    run.do("start_process(b=1)", "elect_read(c=1)", "elect_create(c=1)", "read_epoch(c=1)", "increment_epoch(c=1)")
    run.do("create_epoch(c=1)", "subscribe(c=1)", "read_brokers(c=1)", "read_topics(c=1)", "read_state(c=1, p=0)")
    run.do("read_election_request(c=1)", ASK[0], "finish_failover(c=1)")
    assert run["zookeeper.elections[0]"] == ("yes" if switches else "no")


FAILOVER = "elect_read elect_create read_epoch increment_epoch subscribe read_brokers read_topics"


def test_a_failover_passes_over_a_partition_that_its_topic_does_not_have() -> None:
    """`initializePreferredReplicaElection`: where no AR is known (`topicDeleted`), nobody asks for the leader (D42)."""
    added_to = scope("addition")
    both = replace(added_to, parts=added_to.parts | {"preferred_election"})
    run = Run(both, crashes=1, elections=1, additions=1)
    run.do("request_election(named=3)", "crash(b=1)", "end_orphaned_session(b=1)", "start_process(b=1)")
    run.do(*(f"{step}(c=1)" for step in FAILOVER.split()), "read_state(c=1, p=0)")
    assert run["controllers[1].partitions[1].leader_epoch"] == "-1"
    run.do("read_election_request(c=1)")
    assert run["controllers[1].leader_id"] == "1"
    assert run["controllers[1].electing[0]"] == "no"
    assert run["controllers[1].electing[1]"] == "no"
