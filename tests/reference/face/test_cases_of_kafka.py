"""Cases of Kafka's own, put to the public face of a controller: its machines, its selectors, its batches.

Each expectation is Kafka 0.10.2's, by the section of PROTOCOL.md or by the test of Kafka that is named. Nothing but
`reference` is imported, as outsiders do.
"""

from typing import Any

import pytest

import reference

PARTITION_STATES = ["NewPartition", "OnlinePartition", "OfflinePartition", "NonExistentPartition"]
PARTITION_MOVES = {
    "NonExistentPartition": ["NewPartition"],
    "NewPartition": ["OnlinePartition", "OfflinePartition"],
    "OnlinePartition": ["OnlinePartition", "OfflinePartition"],
    "OfflinePartition": ["OnlinePartition", "OfflinePartition", "NonExistentPartition"],
}
REPLICA_MOVES = {
    "NonExistentReplica": ["NewReplica"],
    "NewReplica": ["OnlineReplica", "OfflineReplica"],
    "OnlineReplica": ["OnlineReplica", "OfflineReplica"],
    "OfflineReplica": ["OnlineReplica", "OfflineReplica", "ReplicaDeletionStarted"],
    "ReplicaDeletionStarted": ["ReplicaDeletionSuccessful", "ReplicaDeletionIneligible"],
    "ReplicaDeletionSuccessful": ["NonExistentReplica"],
    "ReplicaDeletionIneligible": ["OnlineReplica", "OfflineReplica"],
}
LED = {"leader": 1, "isr": [1, 2, 3], "leader_epoch": 4, "zk_version": 6}
UNCLEAN = {"unclean.leader.election.enable": True}


def a_module(**given: Any) -> Any:
    return reference.module({
        "broker": 1, "live": [1, 2, 3], "epoch": 5, "assignment": {"o-0": [1, 2, 3]}, "leadership": {"o-0": LED},
        **given,
    })  # fmt: skip


def a_new_one(**given: Any) -> Any:
    return a_module(leadership={}, **given)


def knows(one: Any) -> Any:
    return one.view()["brokers"]["1"]["controller"]


def state(one: Any, partition: int = 0) -> Any:
    return one.znode(f"/brokers/topics/o/partitions/{partition}/state")


def leads(one: Any, partition: int = 0) -> Any:
    found = state(one, partition)
    return found["leader"], found["isr"], found["leader_epoch"]


def sent(happened: list[Any]) -> list[tuple[str, int]]:
    return [(one["request"]["name"], one["to"]) for one in happened if one["kind"] == "request"]


def bodies(happened: list[Any], name: str, to: int) -> list[Any]:
    return [
        one["request"]["body"]
        for one in happened
        if one["kind"] == "request" and one["to"] == to and one["request"]["name"] == name
    ]


def errors(happened: list[Any]) -> list[str]:
    return [one["line"] for one in happened if one.get("level") == "ERROR"]


# ---------------------------------------------------------------------------------- PROTOCOL.md section 3, partitions


@pytest.mark.parametrize("source", PARTITION_STATES)
@pytest.mark.parametrize("target", PARTITION_STATES)
def test_a_partition_moves_only_as_the_table_has_it(source: str, target: str) -> None:
    """PROTOCOL.md section 3; PartitionStateMachineTest of 1.1, testInvalid...Transition."""
    led = {} if source in {"NewPartition", "NonExistentPartition"} else {"o-0": LED}
    one = a_module(partition_states={"o-0": source}, leadership=led)
    happened = one.transition("partition", ["o-0"], target)
    permitted = target in PARTITION_MOVES[source]
    assert knows(one)["partition_states"]["o-0"] == (target if permitted else source)
    assert bool(errors(happened)) is not permitted


@pytest.mark.parametrize("selector", ["offline", "preferred", "controlled-shutdown", "reassigned", "no-op"])
def test_a_new_partition_asks_no_selector(selector: str) -> None:
    """PROTOCOL.md section 3, New to Online: the first live of AR leads, and the live of AR are the ISR."""
    one = a_new_one(live=[1, 3], assignment={"o-0": [2, 3, 1]})
    happened = one.transition("partition", ["o-0"], "OnlinePartition", selector=selector, reassigned=[1])
    assert leads(one) == (3, [3, 1], 0)
    assert sorted(sent(happened)) == [
        ("LeaderAndIsr", 1), ("LeaderAndIsr", 3), ("UpdateMetadata", 1), ("UpdateMetadata", 3)
    ]  # fmt: skip
    (body,) = bodies(happened, "LeaderAndIsr", 3)
    assert sorted(body["PartitionStates"][0]["Replicas"]) == [1, 2, 3], "the whole AR is told of"


@pytest.mark.parametrize("selector", ["offline", "preferred", "controlled-shutdown", "reassigned", "no-op"])
def test_a_call_is_one_batch_whoever_is_asked(selector: str) -> None:
    """PROTOCOL.md section 3: after the last TP the whole batch is sent at once."""
    two = {"o-0": [1, 2, 3], "o-1": [1, 2, 3]}
    led = {"leader": 2, "isr": [2, 1, 3]}
    one = a_module(assignment=two, leadership={"o-0": led, "o-1": led})
    happened = one.transition("partition", ["o-0", "o-1"], "OnlinePartition", selector=selector, reassigned=[3, 1])
    (body,) = bodies(happened, "LeaderAndIsr", 3)
    assert [one["Partition"] for one in body["PartitionStates"]] == [0, 1]
    assert [name for name, _ in sent(happened)].count("UpdateMetadata") == 3


def test_a_new_partition_without_live_replicas_stays_new() -> None:
    """PROTOCOL.md section 3; testNewPartitionToOnlinePartition...NoLiveReplicas. of 1.1."""
    one = a_new_one(live=[1], assignment={"o-0": [2, 3]})
    happened = one.transition("partition", ["o-0"], "OnlinePartition")
    assert knows(one)["partition_states"] == {"o-0": "NewPartition"}
    assert (state(one), sent(happened)) == (None, [])
    assert any("No assigned replica is alive" in line for line in errors(happened))


UNFORESEEN = ("ConnectionLoss", "SessionExpired", "UnexpectedFailure")


def test_a_new_partition_whose_state_stands_stays_new_and_nothing_is_cached() -> None:
    """PROTOCOL.md section 3: if the node exists, the state stays New and the cache is not refreshed."""
    there = {"controller_epoch": 1, "leader": 2, "version": 1, "leader_epoch": 3, "isr": [2]}
    one = a_new_one(znodes={"/brokers/topics/o/partitions/0/state": there})
    happened = one.transition("partition", ["o-0"], "OnlinePartition")
    assert state(one) == there
    assert (knows(one)["partition_states"], knows(one)["leadership"]) == ({"o-0": "NewPartition"}, {})
    assert any("path already exists" in line for line in errors(happened))


@pytest.mark.parametrize(
    ("source", "error"),
    [
        *(("NewPartition", error) for error in ("ConnectionLoss", "SessionExpired", "NodeExists", "UnexpectedFailure")),
        *(("OfflinePartition", error) for error in ("ConnectionLoss", "SessionExpired", "NoNode", "UnexpectedFailure")),
    ],
)
def test_an_exception_at_one_partition_stops_no_other(source: str, error: str) -> None:
    """PROTOCOL.md section 3: what is raised for one TP is caught inside of the loop."""
    new = source == "NewPartition"
    names = [f"o-{n}" for n in range(3)]
    one = a_module(
        assignment={name: [1, 2] for name in names}, leadership={} if new else dict.fromkeys(names, LED),
        partition_states=dict.fromkeys(names, source),
    )  # fmt: skip
    one.fail(f"{'create_state' if new else 'read_for_election'}(*partition=o-1*)", error)
    happened = one.transition("partition", names, "OnlinePartition")
    assert knows(one)["partition_states"] == {
        "o-0": "OnlinePartition", "o-1": source, "o-2": "OnlinePartition"
    }  # fmt: skip
    (body,) = bodies(happened, "LeaderAndIsr", 2)
    assert [one["Partition"] for one in body["PartitionStates"]] == [0, 2]


def test_an_election_without_a_state_znode_fails() -> None:
    """PROTOCOL.md section 3: missing: fail."""
    one = a_module(znodes={"/brokers/topics/o/partitions/0": None}, partition_states={"o-0": "OfflinePartition"})
    happened = one.transition("partition", ["o-0"], "OnlinePartition")
    assert knows(one)["partition_states"]["o-0"] == "OfflinePartition"
    assert (state(one), bool(errors(happened))) == (None, True)


def test_to_offline_writes_and_sends_nothing() -> None:
    """PROTOCOL.md section 3, To Offline: the state only."""
    one = a_module()
    before = state(one)
    happened = one.transition("partition", ["o-0"], "OfflinePartition")
    assert (state(one), sent(happened)) == (before, [])
    assert [entry for entry in happened if entry["kind"] == "zookeeper"] == []


def test_a_new_partition_without_ar_is_new_all_the_same() -> None:
    """PROTOCOL.md section 3, To New: the state is set before the log line looks up AR."""
    one = a_new_one(assignment={})
    happened = one.transition("partition", ["o-0"], "NewPartition")
    assert knows(one)["partition_states"] == {"o-0": "NewPartition"}
    assert any("from NonExistentPartition to NewPartition failed" in line for line in errors(happened))
    one.transition("partition", ["o-0"], "OnlinePartition")
    assert knows(one)["partition_states"] == {"o-0": "NewPartition"}


# ------------------------------------------------------------------------------------ PROTOCOL.md section 4, replicas


@pytest.mark.parametrize("source", REPLICA_MOVES)
@pytest.mark.parametrize("target", REPLICA_MOVES)
def test_a_replica_moves_only_as_the_table_has_it(source: str, target: str) -> None:
    """PROTOCOL.md section 4; ReplicaStateMachineTest of 1.1."""
    one = a_module(replica_states={"o-0": {"2": source}})
    happened = one.transition("replica", [("o-0", 2)], target)
    permitted = target in REPLICA_MOVES[source]
    now = knows(one)["replica_states"]["o-0"].get("2", "NonExistentReplica")
    assert now == (target if permitted else source)
    assert bool(errors(happened)) is not permitted


def test_to_offline_takes_a_follower_out_of_the_isr_and_stops_it() -> None:
    """PROTOCOL.md section 4, Online to Offline; LeaderAndIsr goes to every other of AR, alive or not."""
    one = a_module(live=[1, 2, 3])
    happened = one.transition("replica", [("o-0", 3)], "OfflineReplica")
    assert leads(one) == (1, [1, 2], 5)
    assert sent(happened) == [
        ("LeaderAndIsr", 1), ("LeaderAndIsr", 2), ("UpdateMetadata", 1), ("UpdateMetadata", 2), ("UpdateMetadata", 3),
        ("StopReplica", 3),
    ]  # fmt: skip
    assert bodies(happened, "StopReplica", 3)[0]["DeletePartitions"] is False


def test_to_offline_takes_the_leader_out_and_leaves_none() -> None:
    """PROTOCOL.md section 4, removeReplicaFromIsr: the new leader is -1 if r led."""
    one = a_module()
    one.transition("replica", [("o-0", 1)], "OfflineReplica")
    assert leads(one) == (-1, [2, 3], 5)


@pytest.mark.parametrize(("unclean", "isr"), [(False, [1]), (True, [])])
def test_the_last_of_an_isr_stays_unless_unclean_elections_are_allowed(unclean: bool, isr: list[int]) -> None:
    """PROTOCOL.md section 4, and D29; UncleanLeaderElectionTest."""
    one = a_module(
        leadership={"o-0": {**LED, "isr": [1]}}, settings={"unclean.leader.election.enable": unclean}
    )  # fmt: skip
    one.transition("replica", [("o-0", 1)], "OfflineReplica")
    assert leads(one) == (-1, isr, 5)


def test_who_is_not_in_the_isr_is_taken_out_without_a_write() -> None:
    """PROTOCOL.md section 4: nothing is written, and LeaderAndIsr repeats the current leader epoch."""
    one = a_module(leadership={"o-0": {**LED, "isr": [1, 2]}})
    happened = one.transition("replica", [("o-0", 3)], "OfflineReplica")
    assert [entry for entry in happened if entry.get("operation") == "SetData"] == []
    assert bodies(happened, "LeaderAndIsr", 2)[0]["PartitionStates"][0]["LeaderEpoch"] == 4
    assert knows(one)["leadership"]["o-0"]["controller_epoch"] == 5


def test_a_replica_of_a_partition_that_is_not_led_does_not_come_to_offline() -> None:
    """PROTOCOL.md section 4 and D16: StopReplica goes out, the state stays."""
    one = a_new_one()
    happened = one.transition("replica", [("o-0", 2)], "OfflineReplica")
    assert knows(one)["replica_states"]["o-0"]["2"] == "OnlineReplica"
    assert ("StopReplica", 2) in sent(happened)


def test_a_new_replica_is_refused_where_it_leads_and_told_where_another_does() -> None:
    """PROTOCOL.md section 4, NonExistent to New."""
    one = a_module(replica_states={"o-0": {"1": "NonExistentReplica", "2": "NonExistentReplica"}})
    happened = one.transition("replica", [("o-0", 1), ("o-0", 2)], "NewReplica")
    states = knows(one)["replica_states"]["o-0"]
    assert (states.get("1", "NonExistentReplica"), states["2"]) == ("NonExistentReplica", "NewReplica")
    assert [to for name, to in sent(happened) if name == "LeaderAndIsr"] == [2]


def test_a_new_replica_that_comes_online_joins_ar_and_is_told_nothing() -> None:
    """PROTOCOL.md section 4, New to Online."""
    one = a_module(assignment={"o-0": [1, 2]}, replica_states={"o-0": {"3": "NewReplica"}})
    happened = one.transition("replica", [("o-0", 3)], "OnlineReplica")
    assert (knows(one)["assignment"]["o-0"], sent(happened)) == ([1, 2, 3], [])


def test_a_replica_that_is_gone_leaves_ar() -> None:
    """PROTOCOL.md section 4, DelSuccessful to NonExistent."""
    one = a_module(replica_states={"o-0": {"3": "ReplicaDeletionSuccessful"}})
    happened = one.transition("replica", [("o-0", 3)], "NonExistentReplica")
    assert (knows(one)["assignment"]["o-0"], sent(happened)) == ([1, 2], [])
    assert "3" not in knows(one)["replica_states"]["o-0"]


def test_several_replicas_of_a_partition_go_to_offline_in_one_batch() -> None:
    """PROTOCOL.md section 8, step 8: one LeaderAndIsr for each broker carries the last state."""
    one = a_module(assignment={"o-0": [1, 2, 3]})
    happened = one.transition("replica", [("o-0", 2), ("o-0", 3)], "OfflineReplica")
    assert leads(one) == (1, [1], 6)
    (body,) = bodies(happened, "LeaderAndIsr", 1)
    assert body["PartitionStates"][0]["LeaderEpoch"] == 6, "the last put wins"


@pytest.mark.parametrize(
    ("step", "error"),
    [
        ("read_for_removal", "NoNode"),
        *((step, error) for step in ("read_for_removal", "write_removal") for error in UNFORESEEN),
    ],
)
def test_an_exception_at_one_replica_stops_no_other(step: str, error: str) -> None:
    """PROTOCOL.md sections 3 and 4: the RSM is the same in all of this."""
    one = a_module(assignment={"o-0": [1, 2, 3], "o-1": [1, 3]}, leadership={"o-0": LED, "o-1": {**LED, "isr": [1, 3]}})
    one.fail(f"{step}(*partition=o-0*)", error)
    happened = one.transition("replica", [("o-0", 3), ("o-1", 3)], "OfflineReplica")
    states = {name: by_id["3"] for name, by_id in knows(one)["replica_states"].items()}
    assert states == {"o-0": "OnlineReplica", "o-1": "OfflineReplica"}
    assert ("StopReplica", 3) in sent(happened), "it is queued first, and goes out all the same"


# ----------------------------------------------------------------------------------- PROTOCOL.md section 5, selectors


@pytest.mark.parametrize(
    ("given", "isr", "expected"),
    [
        ({"live": [1, 2, 3]}, [3, 2], (2, [3, 2], 5)),
        ({"live": [1, 3]}, [2, 3], (3, [3], 5)),
        ({"live": [1, 3]}, [2], None),
        ({"live": [1, 3], "settings": UNCLEAN}, [2], (1, [1], 5)),
        ({"live": [1, 2, 3], "shutting_down": [2]}, [2, 3], (3, [3], 5)),
        ({"live": [1], "assignment": {"o-0": [2, 3]}, "settings": UNCLEAN}, [2], None),
    ],
)
def test_the_offline_selector(given: Any, isr: list[int], expected: Any) -> None:
    """PROTOCOL.md section 5; testOfflinePartitionLeaderElection... of 1.1."""
    one = a_module(
        **{"partition_states": {"o-0": "OfflinePartition"}, "leadership": {"o-0": {**LED, "leader": 2, "isr": isr}}}
        | given
    )
    one.transition("partition", ["o-0"], "OnlinePartition")
    if expected is None:
        assert knows(one)["partition_states"]["o-0"] == "OfflinePartition"
        assert leads(one) == (2, isr, 4)
    else:
        assert leads(one) == expected


@pytest.mark.parametrize(
    ("live", "isr", "wanted", "expected"),
    [
        ([1, 2, 3], [1, 2, 3], [2, 3], (2, [1, 2, 3], 5)),
        ([1, 3], [1, 2, 3], [2, 3], (3, [1, 2, 3], 5)),
        ([1, 2, 3], [1], [2, 3], None),
        ([1, 2, 3], [1, 2], [], None),
    ],
)
def test_the_reassigned_selector(live: list[int], isr: list[int], wanted: list[int], expected: Any) -> None:
    """PROTOCOL.md section 5; testReassignPartitionLeaderElection... of 1.1."""
    one = a_module(live=live, leadership={"o-0": {**LED, "isr": isr}})
    one.transition("partition", ["o-0"], "OnlinePartition", selector="reassigned", reassigned=wanted)
    assert leads(one) == (expected or (1, isr, 4))


@pytest.mark.parametrize(
    ("live", "leader", "isr", "expected"),
    [
        ([1, 2, 3], 1, [1, 2], (1, [1, 2], 4)),
        ([1, 2, 3], 2, [2, 1], (1, [2, 1], 5)),
        ([1, 2, 3], 2, [2, 3], (2, [2, 3], 4)),
    ],
)
def test_the_preferred_selector(live: list[int], leader: int, isr: list[int], expected: Any) -> None:
    """PROTOCOL.md section 5; testPreferredReplicaPartitionLeaderElection... of 1.1."""
    one = a_module(live=live, leadership={"o-0": {**LED, "leader": leader, "isr": isr}})
    one.transition("partition", ["o-0"], "OnlinePartition", selector="preferred")
    assert leads(one) == expected


@pytest.mark.parametrize(
    ("isr", "leaving", "release", "expected"),
    [
        ([1, 3, 2], [1], "0.10.2", (2, [3, 2], 5)),
        ([1, 3, 2], [1], "0.9.0", (3, [3, 2], 5)),
        ([1, 2, 3], [1, 2], "0.10.2", (3, [3], 5)),
        ([1], [1], "0.10.2", (1, [1], 4)),
    ],
)
def test_the_selector_of_a_controlled_shutdown(isr: list[int], leaving: list[int], release: str, expected: Any) -> None:
    """PROTOCOL.md section 5 and D66; testControlledShutdownPartitionLeaderElection... of 1.1."""
    one = a_module(shutting_down=leaving, leadership={"o-0": {**LED, "isr": isr}}, release=release)
    one.transition("partition", ["o-0"], "OnlinePartition", selector="controlled-shutdown")
    assert leads(one) == expected


def test_the_selector_that_keeps_writes_again_with_the_own_epoch() -> None:
    """PROTOCOL.md section 5, No-op: the same leader epoch, the own controller epoch, and AR is told."""
    one = a_module()
    happened = one.transition("partition", ["o-0"], "OnlinePartition", selector="no-op")
    assert (leads(one), state(one)["controller_epoch"]) == ((1, [1, 2, 3], 4), 5)
    assert [to for name, to in sent(happened) if name == "LeaderAndIsr"] == [1, 2, 3]


def test_a_topics_own_setting_counts_and_one_that_cannot_be_read_ends_the_election() -> None:
    """PROTOCOL.md section 5, unclean.leader.election.enable; UncleanLeaderElectionTest.testUnclean...TopicOverride."""
    for value, leader in (("true", 1), ("false", 2), ("perhaps", 2)):
        config = {"/config/topics/o": {"version": 1, "config": {"unclean.leader.election.enable": value}}}
        one = a_module(live=[1, 3], leadership={"o-0": {**LED, "leader": 2, "isr": [2]}}, znodes=config)
        one.transition("partition", ["o-0"], "OnlinePartition")
        assert leads(one)[0] == leader, value
