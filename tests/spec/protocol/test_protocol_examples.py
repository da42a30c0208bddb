"""The worked examples of PROTOCOL.md, step by step: what is enabled, what is written, who is told what.

A scope of one's own each, small enough to be followed by eye; where an example forbids a step, the step is asked for.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from spec.scopes import scope
from spec.variants import AS_CODED, Switch, Switches
from tests.spec.stepping import Run

TINY = replace(scope("tiny"), connection_capacity=4)
"""Three brokers, one partition of replicas [1, 2, 3] that 1 leads, and 1 is the controller."""

ZNODE, CACHE = "zookeeper.state[0]", "controllers[1].partitions[0]"
TOLD = "queue LeaderAndIsr"


def told(seen: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Of what was seen, each LeaderAndIsr as (broker, leader, leader epoch, ISR, version)."""
    return [(one[1], *one[3:7]) for one in seen if one[0] == TOLD]


def leader_dies() -> Run:
    """Leader 1 of [1, 2, 3], which was controller, too, dies; 2 takes over and has read everything."""
    run = Run(TINY, crashes=1)
    run.do("crash(b=1)", "end_orphaned_session(b=1)")
    run.do("on_controller_change(c=2)", "elect_read(c=2)", "elect_create(c=2)", "read_epoch(c=2)")
    run.do("increment_epoch(c=2)", "subscribe(c=2)", "read_brokers(c=2)", "read_topics(c=2)", "read_state(c=2, p=0)")
    return run


def test_a_dead_leader_is_replaced_at_failover_by_the_first_live_in_sync_replica() -> None:
    run = leader_dies()
    assert (run["controllers[2].partitions[0].state"], run["controllers[2].at"]) == ("OFFLINE", "ONLINE_READ")
    run.do("read_for_election(c=2, p=0)")
    seen = run.do("write_elected_leader(c=2, p=0)")
    assert run.leadership(ZNODE) == ("2", "[2, 3]", "1")
    assert (run[f"{ZNODE}.version"], run[f"{ZNODE}.controller_epoch"]) == ("1", "2")
    assert told(seen) == [("2", "2", "1", "[2, 3]", "1"), ("3", "2", "1", "[2, 3]", "1")]


def broker_failure(dying: int) -> Run:
    """Controller 1 hears that another broker of [1, 2, 3] or [2, 1, 3] died."""
    run = Run(replace(TINY, assigned=((2, 1, 3),) if dying == 2 else ((1, 2, 3),)), crashes=2)
    run.do(f"crash(b={dying})", f"end_orphaned_session(b={dying})", "on_broker_change(c=1)")
    return run


def test_7_1_a_dead_leader_is_replaced_and_the_removal_then_writes_nothing() -> None:
    """The example of section 7.1 with the roles of 1 and 2 exchanged, since here 1 is the controller."""
    run = broker_failure(dying=2)
    run.do("read_for_election(c=1, p=0)")
    elected = run.do("write_elected_leader(c=1, p=0)")
    assert run.leadership(ZNODE) == run.leadership(CACHE) == ("1", "[1, 3]", "1")
    assert told(elected) == [("1", "1", "1", "[1, 3]", "1"), ("3", "1", "1", "[1, 3]", "1")]

    before = run.state
    repeated = run.do("read_for_removal(c=1, p=0, r=2)")
    assert run.differs_from(before, "zookeeper") == set(), "the dead broker is out of the ISR already: no write"
    assert told(repeated) == told(elected), "the LeaderAndIsr with epoch e + 1 is repeated"
    assert run[f"{CACHE}.replicas[2]"] == "OFFLINE"
    locals_of_handler = ("at", "handler", "partition", "replica", "read_version", "decided.isr", "dead", "lost_leader")
    assert [run[f"controllers[1].{name}"] for name in locals_of_handler] == [
        "IDLE", "NONE", "0", "-1", "-1", "[]", "{}", "no",
    ]  # fmt: skip

    for broker in (1, 3):
        (accepted,) = run.do(f"deliver_request(c=1, b={broker})")
        assert accepted[0] == ("become leader" if broker == 1 else "become follower")
        (ignored,) = run.do(f"deliver_request(c=1, b={broker})")
        assert ignored[0] == "ignore LeaderAndIsr"


def test_7_1_a_dead_follower_is_taken_out_of_the_isr_without_an_election() -> None:
    run = broker_failure(dying=3)
    assert run["controllers[1].at"] == "REMOVE_READ", "no leader was lost"
    run.do("read_for_removal(c=1, p=0, r=3)")
    seen = run.do("write_removal(c=1, p=0, r=3)")
    assert run.leadership(ZNODE) == run.leadership(CACHE) == ("1", "[1, 2]", "1")
    assert told(seen) == [("1", "1", "1", "[1, 2]", "1"), ("2", "1", "1", "[1, 2]", "1")]
    assert run[f"{CACHE}.state"] == "ONLINE"
    assert run["controllers[1].at"] == "IDLE"


@pytest.mark.parametrize(("unclean", "isr"), [(False, "[2]"), (True, "[]")])
def test_7_1_the_last_member_of_the_isr_dies(unclean: bool, isr: str) -> None:
    """The controller's broker has no replica. Unclean election off: leader -1, the ISR stays; on: it is empty (D29)."""
    bounds = replace(scope("bounce"), assigned=((2,),), unclean=unclean, connection_capacity=3)
    run = Run(bounds, crashes=1)
    run.do("crash(b=2)", "end_orphaned_session(b=2)", "on_broker_change(c=1)")
    before = run.state
    assert run.do("read_for_election(c=1, p=0)") == [("fail election", "0")]
    assert run.differs_from(before, "zookeeper") == set()
    run.do("read_for_removal(c=1, p=0, r=2)", "write_removal(c=1, p=0, r=2)")
    assert run.leadership(ZNODE) == run.leadership(CACHE) == ("-1", isr, "1")
    assert run[f"{CACHE}.state"] == "OFFLINE"
    assert run[f"{CACHE}.replicas[2]"] == "OFFLINE"


@pytest.mark.parametrize("unclean", [False, True])
def test_5_an_unclean_leader_is_elected_only_where_that_is_on(unclean: bool) -> None:
    """AR [2, 1], ISR [2]: 2 dies. Only an unclean election makes 1, which is not in sync, the leader."""
    bounds = replace(scope("bounce"), assigned=((2, 1),), unclean=unclean, connection_capacity=3)
    run = Run(bounds, crashes=1, shrinks=1)
    run.do("shrink_isr(b=2, p=0, r=1)")
    assert run.leadership(ZNODE) == ("2", "[2]", "0"), "a leader's ISR write leaves the leader epoch alone"
    run.do("crash(b=2)", "end_orphaned_session(b=2)", "on_broker_change(c=1)", "read_for_election(c=1, p=0)")
    assert run.can("write_elected_leader(c=1, p=0)") == unclean
    if unclean:
        run.do("write_elected_leader(c=1, p=0)")
        assert run.leadership(ZNODE) == ("1", "[1]", "1")


def outlived() -> Iterable[str]:
    """AR [2, 1], ISR [2], and 2 dies, which ends with the partition Offline."""
    yield from ("shrink_isr(b=2, p=0, r=1)", "crash(b=2)", "end_orphaned_session(b=2)", "on_broker_change(c=1)")
    yield from ("read_for_election(c=1, p=0)", "read_for_removal(c=1, p=0, r=2)", "write_removal(c=1, p=0, r=2)")


def test_5_who_allows_unclean_election_gets_no_leader_by_that() -> None:
    """D63: nothing but faults and what concerns broker 2 is possible then."""
    run = Run(scope("allowed_unclean"), crashes=1, shrinks=1, unclean_changes=1)
    run.do(*outlived(), "change_unclean_election(t=0)")
    assert (run.leadership(ZNODE), run[f"{CACHE}.state"]) == (("-1", "[2]", "1"), "OFFLINE")
    run.drain("on_", "read_", "write_", "deliver_request(")
    assert run[f"{CACHE}.state"] == "OFFLINE"


def test_5_a_controller_that_hears_of_it_elects_at_once() -> None:
    run = Run(
        scope("allowed_unclean"), AS_CODED | {Switch.ELECT_WHERE_ALLOWED}, crashes=1, shrinks=1, unclean_changes=1
    )
    run.do(*outlived(), "change_unclean_election(t=0)", "elect_where_allowed(c=1, t=0)")
    run.do("read_for_election(c=1, p=0)", "write_elected_leader(c=1, p=0)")
    assert (run.leadership(ZNODE), run[f"{CACHE}.state"]) == (("1", "[1]", "2"), "ONLINE")


def test_5_who_forbids_unclean_election_keeps_the_last_member_of_the_isr() -> None:
    """What the configuration says is read at the moment of the removal."""
    run = Run(replace(scope("allowed_unclean"), assigned=((2,),), unclean=True), crashes=1, unclean_changes=1)
    run.do("crash(b=2)", "end_orphaned_session(b=2)", "on_broker_change(c=1)", "read_for_election(c=1, p=0)")
    run.do("change_unclean_election(t=0)", "read_for_removal(c=1, p=0, r=2)", "write_removal(c=1, p=0, r=2)")
    assert run.leadership(ZNODE) == ("-1", "[2]", "1")


CREATION = replace(scope("creation"), connection_capacity=4)


def topic_created(run: Run) -> None:
    """The tool makes the topic, controller 1 hears of it and finds no state znode for either replica."""
    run.do("create_topic(t=0)", "on_topic_change(c=1)")
    run.do("read_for_new_replica(c=1, p=0, r=1)", "read_for_new_replica(c=1, p=0, r=2)")


def test_7_3_a_topic_is_created() -> None:
    run = Run(CREATION, creations=1)
    topic_created(run)
    assert run[f"{CACHE}.state"] == "NEW"
    assert {run[f"{CACHE}.replicas[{r}]"] for r in (1, 2)} == {"NEW"}
    seen = run.do("create_state(c=1, p=0)")
    assert run.leadership(ZNODE) == run.leadership(CACHE) == ("1", "[1, 2]", "0")
    assert (run[f"{ZNODE}.version"], run[f"{ZNODE}.controller_epoch"]) == ("0", "1")
    assert told(seen) == [("1", "1", "0", "[1, 2]", "0"), ("2", "1", "0", "[1, 2]", "0")]
    assert run[f"{CACHE}.state"] == "ONLINE"
    assert {run[f"{CACHE}.replicas[{r}]"] for r in (1, 2)} == {"ONLINE"}
    assert run["controllers[1].at"] == "IDLE"


def test_4_new_replicas_whose_partition_has_a_znode_are_told_in_one_batch() -> None:
    """The successor has created the znode with 2 as leader; its first controller, a zombie, hears of the topic late."""
    run = Run(replace(CREATION, brokers=3, assigned=((1, 2, 3),)), creations=1, expiries=1)
    run.do("create_topic(t=0)", "expire_session(b=1, lost=0)", "on_controller_change(c=2)", "elect_read(c=2)")
    run.do("elect_create(c=2)", "read_epoch(c=2)", "increment_epoch(c=2)", "subscribe(c=2)", "read_brokers(c=2)")
    run.do("read_topics(c=2)", "read_state(c=2, p=0)", "create_state(c=2, p=0)", "renew_session(b=1)")
    assert run.do("on_topic_change(c=1)", "read_for_new_replica(c=1, p=0, r=3)") == []
    assert run.do("read_for_new_replica(c=1, p=0, r=2)") == [], "2 leads already, which is an error"
    assert run[f"{CACHE}.replicas[2]"] == "NON_EXISTENT"
    seen = run.do("read_for_new_replica(c=1, p=0, r=1)")
    assert told(seen) == [("1", "2", "0", "[2, 3]", "0"), ("3", "2", "0", "[2, 3]", "0")]
    assert run[f"{CACHE}.version"] == "-1", "what was found is not cached"


def test_7_3_a_creation_brings_only_its_own_partitions_online() -> None:
    """The partition of an earlier topic, New since its create failed, waits for the next trigger."""
    run = Run(scope("topics"), creations=2, losses=1)
    topic_created(run)
    run.do("create_state_unanswered(c=1, p=0)", "create_state(c=1, p=0)")
    assert run[f"{CACHE}.state"] == "NEW"
    run.do("create_topic(t=1)", "on_topic_change(c=1)")
    run.do("read_for_new_replica(c=1, p=1, r=1)", "read_for_new_replica(c=1, p=1, r=2)")
    assert run.enabled("create_state(") == ["create_state(c=1, p=1)"]


@pytest.mark.parametrize("switches", [AS_CODED, frozenset({Switch.RECOGNISE_OWN_CREATE})], ids=["as coded", "fixed"])
def test_3_and_d54_a_create_that_finds_its_own_znode_fails_unless_that_is_recognised(switches: Switches) -> None:
    run = Run(CREATION, switches, creations=1, losses=1)
    topic_created(run)
    run.do("create_state_unanswered(c=1, p=0)")
    before = run.state
    seen = run.do("create_state(c=1, p=0)")
    assert run.differs_from(before, "zookeeper") == set()
    if switches:
        assert run[f"{CACHE}.state"] == "ONLINE"
        assert len(told(seen)) == 2
    else:
        assert seen == [("fail to create state", "0")]
        assert run[f"{CACHE}.state"] == "NEW", "the state stays New"
        assert run[f"{CACHE}.version"] == "-1", "the cache is not refreshed"
        assert told(seen) == []


def bounce(switches: Switches) -> Run:
    """Broker 2 leaves and returns between two reads of the controller."""
    run = Run(replace(scope("bounce"), connection_capacity=3), switches, crashes=1)
    run.do("crash(b=2)", "end_orphaned_session(b=2)", "start_process(b=2)", "register_broker(b=2)")
    return run


def test_d12_a_broker_that_bounces_is_not_noticed() -> None:
    run = bounce(AS_CODED)
    (read,) = [one for one in run.do("on_broker_change(c=1)") if one[0] == "read /brokers/ids"]
    assert read[2:] == ("{}", "{}"), "nobody is new, nobody is dead"
    assert run["brokers[2].partitions[0].leader_epoch"] == "-1"
    assert run.enabled() == [], "and nobody will ever tell it"


def test_d12_with_broker_epochs_the_return_is_a_death_and_a_start() -> None:
    """As in 2.2.0 (KIP-380): onBrokerFailure first, so that what the dead one had is read, and written, again."""
    run = bounce(frozenset({Switch.BROKER_EPOCHS}))
    (read,) = [one for one in run.do("on_broker_change(c=1)") if one[0] == "read /brokers/ids"]
    assert read[2:] == ("{}", "{2}"), "it is among the dead"
    assert (run["controllers[1].live"], run["controllers[1].channels"]) == ("{1}", "{1}")
    run.do("read_for_removal(c=1, p=0, r=2)")
    seen = run.do("write_removal(c=1, p=0, r=2)")
    assert (run["controllers[1].live"], run["controllers[1].channels"]) == ("{1,2}", "{1,2}")
    assert told(seen) == [("1", "1", "1", "[1]", "1"), ("2", "1", "1", "[1]", "1")], "its death, then its start"
    run.do("deliver_request(c=1, b=2)")
    assert run["brokers[2].partitions[0].leader_epoch"] == "1"


def test_2_a_write_that_is_repeated_counts_as_done_if_the_content_is_equal() -> None:
    """The content-equal rule (KAFKA-1382): applied, answer lost, written again, BadVersion, content as meant."""
    run = Run(replace(TINY, assigned=((2, 1, 3),)), crashes=1, losses=1)
    run.do("crash(b=2)", "end_orphaned_session(b=2)", "on_broker_change(c=1)", "read_for_election(c=1, p=0)")
    run.do("write_elected_leader_unanswered(c=1, p=0)")
    assert (run[f"{ZNODE}.version"], run[f"{CACHE}.version"]) == ("1", "0")
    before = run.state
    seen = run.do("write_elected_leader(c=1, p=0)")
    assert seen[0] == ("fail to write state", "0")
    assert run.differs_from(before, "zookeeper") == set(), "it is not written a second time"
    assert run[f"{CACHE}.version"] == "1", "the node's actual version is taken over"
    assert len(told(seen)) == 2


def test_3_an_election_whose_write_fails_reads_and_decides_again() -> None:
    """The old leader's ISR write comes between read and write: it lost its session, but leads in its own view."""
    run = Run(replace(TINY, assigned=((2, 1, 3),)), expiries=1, shrinks=1)
    run.do("expire_session(b=2, lost=0)", "on_broker_change(c=1)", "read_for_election(c=1, p=0)")
    run.do("renew_session(b=2)", "shrink_isr(b=2, p=0, r=3)")
    assert run.leadership(ZNODE) == ("2", "[2, 1]", "0")
    before = run.state
    assert run.do("write_elected_leader(c=1, p=0)") == [("fail to write state", "0")]
    assert run.differs_from(before, "zookeeper") == set()
    run.do("read_for_election(c=1, p=0)", "write_elected_leader(c=1, p=0)")
    assert run.leadership(ZNODE) == ("1", "[1]", "1"), "3 is not in the ISR any more, and 2 is dead to the controller"
    assert run[f"{ZNODE}.version"] == "2"


@pytest.mark.parametrize("change", ["shrink_isr_unanswered(b=1, p=0, r=3)", "expand_isr_unanswered(b=1, p=0, r=3)"])
def test_10_no_leader_and_isr_is_accepted_while_an_isr_write_is_repeated(change: str) -> None:
    """The write holds the partition's lock: 2 dies, is removed, and the leader hears of it only after its retry."""
    run = Run(TINY, shrinks=1, losses=1, crashes=1)
    if change.startswith("expand"):
        run.do("shrink_isr(b=1, p=0, r=3)")
    run.do("crash(b=2)", "end_orphaned_session(b=2)", "on_broker_change(c=1)", change)
    run.do("read_for_removal(c=1, p=0, r=2)", "write_removal(c=1, p=0, r=2)")
    assert not run.can("deliver_request(c=1, b=1)")
    assert run.can("deliver_request(c=1, b=3)")
    assert run.do("rewrite_isr(b=1, p=0)") == [("fail to write state", "0")]
    assert run["brokers[1].partitions[0].version"] == ("1" if change.startswith("expand") else "0"), "2 is gone"
    run.do("deliver_request(c=1, b=1)")
    assert run["brokers[1].partitions[0].version"] == run[f"{ZNODE}.version"]


def test_9_the_stop_replica_of_a_removal_is_dropped_with_the_batch() -> None:
    run = broker_failure(dying=3)
    assert run.do("read_for_removal(c=1, p=0, r=3)") == []
    seen = run.do("write_removal(c=1, p=0, r=3)")
    assert [one for one in seen if one[0] == "drop StopReplica"] == [("drop StopReplica", "3", "0")]


@pytest.mark.parametrize("fix", [None, Switch.FENCED_WRITES])
def test_d2_a_zombie_deletes_the_notification_of_an_isr_change(fix: Switch | None) -> None:
    run = Run(scope("notifications"), frozenset({fix} if fix else ()), shrinks=1, expiries=1)
    run.do("shrink_isr(b=1, p=0, r=2)", "report_isr_changes(b=1)", "on_isr_change(c=1)", "read_notified(c=1, p=0)")
    run.do("expire_session(b=1, lost=0)", "on_controller_change(c=2)", "elect_read(c=2)", "elect_create(c=2)")
    run.do("read_epoch(c=2)", "increment_epoch(c=2)", "renew_session(b=1)")
    seen = run.do("delete_notification(c=1, n=1)")
    assert seen == ([("resigned",)] if fix else [("delete isr_change", "1")])
    assert run["zookeeper.notified[0]"] == ("{1}" if fix else "{}")


def test_7_7_what_is_gone_is_deleted_in_vain_although_another_stands_in_its_place() -> None:
    """Leader 3 reports; 1 handles that and becomes a zombie; 2 deletes it; 3 reports once more."""
    bounds = replace(scope("notifications"), brokers=3, assigned=((3, 1, 2),), notification_capacity=2)
    run = Run(bounds, shrinks=2, expiries=1)
    run.do("shrink_isr(b=3, p=0, r=2)", "report_isr_changes(b=3)", "on_isr_change(c=1)", "read_notified(c=1, p=0)")
    run.do("expire_session(b=1, lost=0)", "on_controller_change(c=2)", "elect_read(c=2)", "elect_create(c=2)")
    run.do("read_epoch(c=2)", "increment_epoch(c=2)", "subscribe(c=2)", "read_brokers(c=2)", "read_topics(c=2)")
    run.do("read_state(c=2, p=0)", "finish_failover(c=2)", "on_controller_change(c=2)")
    run.do("shrink_isr(b=3, p=0, r=1)", "report_isr_changes(b=3)", "on_isr_change(c=2)", "read_notified(c=2, p=0)")
    assert run.do("delete_notification(c=2, n=3)") == [("delete isr_change", "3")]
    assert (run["controllers[1].taken"], run["controllers[1].gone"]) == ("{}", "{3}")
    run.do("expand_isr(b=3, p=0, r=2)", "report_isr_changes(b=3)", "renew_session(b=1)")
    before = run.state
    assert run.do("delete_notification(c=1, n=3)") == []
    assert run.differs_from(before, "zookeeper") == set(), "the later one stays"
    assert (run["controllers[1].gone"], run["controllers[1].at"]) == ("{}", "IDLE")


def test_d56_a_callback_that_waits_sets_no_watch_for_a_listener_that_is_unsubscribed() -> None:
    """2 fails late in its failover; the resignation after its expiry unsubscribes one listener, then raises."""
    run = Run(replace(scope("notifications"), callback_capacity=12), crashes=1, exceptions=1, expiries=1)
    run.do("crash(b=1)", "end_orphaned_session(b=1)", "on_controller_change(c=2)", "elect_read(c=2)")
    run.do("elect_create(c=2)", "read_epoch(c=2)", "increment_epoch(c=2)", "subscribe(c=2)", "read_brokers(c=2)")
    run.do("read_topics(c=2)", "read_state(c=2, p=0)", "read_for_election(c=2, p=0)", "write_elected_leader(c=2, p=0)")
    run.do("fail_failover(c=2)", "resign_delete(c=2)", "expire_session(b=2, lost=1)", "renew_session(b=2)")
    run.do("on_new_session(c=2)", "register_broker(b=2)", "on_broker_change(c=2)")
    assert (run["controllers[2].active"], run["controllers[2].listening.isr_changes"]) == ("yes", "no")
    assert run["controllers[2].callbacks[0]"] == "ISR_CHANGES"
    run.do("on_isr_change(c=2)")
    assert run["controllers[2].watching.isr_changes"] == "no"


def test_d51_and_d56_a_left_over_channel_loses_a_broker_change() -> None:
    """2 gives up with a channel to itself, is elected again while it is not registered, and cannot open one then."""
    run = Run(scope("left_overs"), crashes=1, exceptions=1, expiries=1)
    run.do("crash(b=1)", "end_orphaned_session(b=1)", "on_controller_change(c=2)", "elect_read(c=2)")
    run.do("elect_create(c=2)", "read_epoch(c=2)", "increment_epoch(c=2)", "subscribe(c=2)", "read_brokers(c=2)")
    run.do("fail_failover(c=2)", "resign_delete(c=2)", "expire_session(b=2, lost=0)", "renew_session(b=2)")
    run.do("on_controller_change(c=2)", "elect_read(c=2)", "elect_create(c=2)", "read_epoch(c=2)")
    run.do("increment_epoch(c=2)", "subscribe(c=2)", "read_brokers(c=2)", "finish_failover(c=2)")
    assert (run["controllers[2].channels"], run["controllers[2].stranded"]) == ("{}", "{2}")
    run.do("on_new_session(c=2)", "register_broker(b=2)")
    seen = run.do("on_broker_change(c=2)")
    assert [one[0] for one in seen] == ["read /brokers/ids", "fail on left-over channels"]
    assert (run["controllers[2].live"], run["controllers[2].channels"]) == ("{2}", "{}"), "2 is never told anything"


def test_d6_a_leader_with_a_stale_version_can_never_change_its_isr() -> None:
    """Section 10: a failed ISR write leaves memory and cached version as they are."""
    run = broker_failure(dying=3)
    run.do("read_for_removal(c=1, p=0, r=3)", "write_removal(c=1, p=0, r=3)")
    assert (run[f"{ZNODE}.version"], run["brokers[1].partitions[0].version"]) == ("1", "0")
    assert not run.can("expand_isr(b=1, p=0, r=3)")
    run.do("deliver_request(c=1, b=1)")
    assert run["brokers[1].partitions[0].version"] == "1", "an accepted LeaderAndIsr is the way out"


def test_10_a_restarted_broker_has_forgotten_its_epochs_and_accepts_an_old_one() -> None:
    run = broker_failure(dying=3)
    run.do("read_for_removal(c=1, p=0, r=3)", "write_removal(c=1, p=0, r=3)", "deliver_request(c=1, b=2)")
    assert run["brokers[2].controller_epoch"] == "1"
    run.do("crash(b=2)")
    assert (run["brokers[2].controller_epoch"], run["brokers[2].partitions[0].leader_epoch"]) == ("0", "-1")
