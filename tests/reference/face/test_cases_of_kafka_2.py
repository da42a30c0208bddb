"""Cases of Kafka's own, put to the public face of a whole cluster: topics, reassignments, elections, shutdowns, faults.

Each expectation is Kafka 0.10.2's, by the section of PROTOCOL.md or by the test of Kafka that is named. Nothing but
`reference` is imported, as outsiders do.
"""

from typing import Any

import pytest

import reference

REASSIGNMENTS = "/admin/reassign_partitions"


def a_cluster(*brokers: int, ar: list[list[int]] | None = None, **how: Any) -> Any:
    cluster = reference.cluster(brokers or [1, 2, 3], **how)
    cluster.start()
    if ar is not None:
        cluster.create("o", ar)
    cluster.rest()
    return cluster


def a_module(**given: Any) -> Any:
    led = {"leader": 1, "isr": [1, 2, 3], "leader_epoch": 4, "zk_version": 6}
    return reference.module({
        "broker": 1, "live": [1, 2, 3], "epoch": 5, "assignment": {"o-0": [1, 2, 3]}, "leadership": {"o-0": led},
        **given,
    })  # fmt: skip


def state(cluster: Any, partition: int = 0, topic: str = "o") -> Any:
    found = cluster.znode(f"/brokers/topics/{topic}/partitions/{partition}/state")
    return found and (found["leader"], found["isr"], found["leader_epoch"])


def assigned(cluster: Any, topic: str = "o") -> Any:
    found = cluster.znode(f"/brokers/topics/{topic}")
    return found and found["partitions"]


def knows(cluster: Any) -> Any:
    return cluster.view()["brokers"][str(cluster.controller)]["controller"]


def logs(cluster: Any) -> Any:
    return [int(name) for name, one in cluster.view()["brokers"].items() if one["broker"]["logs"]]


def notes(cluster: Any) -> Any:
    return [path for path in cluster.view()["znodes"] if path.startswith("/isr_change_notification/")]


def answers(cluster: Any, since: int) -> Any:
    return [one["answer"] for one in cluster.happened("shutdown_answered", since)]


# --------------------------------------------------------------------------------------- PROTOCOL.md section 7, topics


def test_partitions_may_be_added_with_another_number_of_replicas() -> None:
    """AddPartitionsTest.testManualAssignmentOfReplicas, and PROTOCOL.md section 7.3."""
    cluster = a_cluster(0, 1, 2, ar=[[0, 1]])
    cluster.add("o", {1: [1, 2], 2: [2]})
    cluster.rest()
    assert assigned(cluster) == {"0": [0, 1], "1": [1, 2], "2": [2]}
    assert (state(cluster, 1), state(cluster, 2)) == ((1, [1, 2], 0), (2, [2], 0))


def test_a_topic_of_dead_replicas_is_created_once_one_lives() -> None:
    """PROTOCOL.md section 7.3: it stays New, and goes Online by the same path with the next trigger."""
    cluster = a_cluster()
    cluster.kill(3)
    cluster.rest()
    cluster.create("o", [[3]])
    cluster.rest()
    assert knows(cluster)["partition_states"] == {"o-0": "NewPartition"}
    assert knows(cluster)["replica_states"] == {"o-0": {"3": "OnlineReplica"}}
    cluster.start(3)
    assert state(cluster) == (3, [3], 0)


@pytest.mark.parametrize(
    "torn", [{"partitions": {"x": [1]}}, {"partitions": {"0": ["1"]}}, {"partitions": 3}, {"partitions": {"0": 1}}]
)
def test_a_torn_topic_keeps_no_other_from_being_created(torn: Any) -> None:
    """TopicChangeListener takes the names before it reads what they hold: the torn topic is not new again."""
    cluster = a_cluster()
    cluster.by_hand("/brokers/topics/torn", torn)
    cluster.rest()
    assert [one["line"] for one in cluster.happened("log") if "Error while handling new topic" in one["line"]]
    cluster.create("o", [[1, 2]])
    cluster.rest()
    assert (knows(cluster)["topics"], state(cluster)) == (["o", "torn"], (1, [1, 2], 0))
    cluster.by_hand("/brokers/topics/torn", {"version": 1, "partitions": {"0": [1]}})
    cluster.rest()
    assert state(cluster, topic="torn") is None, "nobody listens to its znode"
    cluster.kill(cluster.controller)
    cluster.rest()
    cluster.start(1)
    assert state(cluster, topic="torn") == (1, [1], 0), "the next failover takes it for any topic"


def test_a_topic_of_no_json_is_listened_to_and_created_when_it_is_mended() -> None:
    """PROTOCOL.md section 2: a text that is no JSON is as good as a topic without partitions."""
    cluster = a_cluster()
    cluster.by_hand("/brokers/topics/o", "garbage")
    cluster.rest()
    cluster.by_hand("/brokers/topics/o", {"version": 1, "partitions": {"0": [2, 1]}})
    cluster.rest()
    assert state(cluster) == (2, [2, 1], 0)


def test_a_topic_is_created_again_after_its_deletion() -> None:
    """DeleteTopicTest.testRecreateTopicAfterDeletion."""
    cluster = a_cluster(0, 1, 2, ar=[[0, 1, 2]])
    cluster.delete("o")
    cluster.rest()
    assert (assigned(cluster), logs(cluster)) == (None, [])
    cluster.create("o", [[2, 1, 0]])
    cluster.rest()
    assert (state(cluster), logs(cluster)) == ((2, [2, 1, 0], 0), [0, 1, 2])


def test_a_deletion_resumes_with_the_next_controller() -> None:
    """DeleteTopicTest.testResumeDeleteTopicOnControllerFailover."""
    cluster = a_cluster(0, 1, 2, 3, ar=[[1, 2, 3]])
    cluster.kill(3)
    cluster.rest()
    cluster.delete("o")
    cluster.rest()
    cluster.kill(0)
    cluster.rest()
    assert (cluster.controller, assigned(cluster)) == (1, {"0": [1, 2, 3]})
    cluster.start(3)
    assert (assigned(cluster), cluster.view()["znodes"].get("/admin/delete_topics/o")) == (None, None)


def test_what_is_added_to_a_topic_that_is_being_deleted_is_not_created() -> None:
    """DeleteTopicTest.testDeleteTopicDuringAddPartition's counterpart, testAddPartitionDuringDeleteTopic."""
    cluster = a_cluster(0, 1, 2, ar=[[0, 1, 2]])
    cluster.kill(2)
    cluster.rest()
    cluster.delete("o")
    cluster.rest()
    cluster.add("o", {1: [0, 1]})
    cluster.rest()
    assert state(cluster, 1) is None
    cluster.start(2)
    assert assigned(cluster) is None


def test_a_deletion_that_a_broker_cannot_carry_out_halts_until_it_starts() -> None:
    """PROTOCOL.md section 7.4, and D72."""
    cluster = a_cluster(ar=[[1, 2]])
    cluster.delete("o")
    cluster.do("deliver_failing_deletion(*broker=2*)")
    cluster.rest()
    assert (knows(cluster)["ineligible"], assigned(cluster)) == (["o"], {"0": [1, 2]})
    cluster.kill(2)
    cluster.rest()
    cluster.start(2)
    assert assigned(cluster) is None


# ------------------------------------------------------------------------------- PROTOCOL.md section 8, reassignments


@pytest.mark.parametrize(
    ("before", "wanted", "after"),
    [
        ([0, 1, 2], [0, 1, 3], (0, [0, 1, 3], 3)),
        ([0, 1, 2], [1, 2, 3], (1, [1, 2, 3], 3)),
        ([0, 1], [2, 3], (2, [2, 3], 4)),
        ([0, 1, 2], [2, 1, 0], (0, [0, 1, 2], 1)),
        ([0, 1], [0, 1], (0, [0, 1], 0)),
    ],
)
def test_a_reassignment(before: list[int], wanted: list[int], after: Any) -> None:
    """AdminTest.testPartitionReassignment...; the epoch rises as PROTOCOL.md section 8 has it."""
    cluster = a_cluster(0, 1, 2, 3, ar=[before])
    cluster.reassign({"o-0": wanted})
    cluster.rest()
    leader, isr, epoch = state(cluster)
    assert (leader, sorted(isr), epoch) == after
    assert (assigned(cluster), logs(cluster)) == ({"0": wanted}, sorted(wanted))
    assert cluster.znode(REASSIGNMENTS) is None


def test_a_reassignment_waits_for_a_target_that_is_down_and_ends_when_it_starts() -> None:
    """PROTOCOL.md section 8: + 1, and it stays; + 4 in all once the broker has started [T]."""
    cluster = a_cluster(0, 1, 2, ar=[[0, 1]])
    cluster.kill(2)
    cluster.rest()
    cluster.reassign({"o-0": [0, 2]})
    cluster.rest()
    assert (state(cluster), assigned(cluster)) == ((0, [0, 1], 1), {"0": [0, 2, 1]})
    cluster.start(2)
    assert (state(cluster), assigned(cluster)) == ((0, [0, 2], 4), {"0": [0, 2]})


@pytest.mark.parametrize("release", ["0.8.2", "0.9.0", "0.10.0"])
def test_older_releases_refuse_a_target_that_is_down(release: str) -> None:
    """PROTOCOL.md section 8 (c), KAFKA-4214."""
    cluster = a_cluster(0, 1, 2, ar=[[0, 1]], release=release)
    cluster.kill(2)
    cluster.rest()
    cluster.reassign({"o-0": [0, 2]})
    cluster.rest()
    assert (assigned(cluster), cluster.znode(REASSIGNMENTS)) == ({"0": [0, 1]}, None)


@pytest.mark.parametrize(("wanted", "after"), [([], []), ([3, 3], [3, 3]), (["2"], [1, 2]), ([9], [9, 1, 2])])
def test_what_list_it_is_nobody_asks(wanted: Any, after: list[int]) -> None:
    """PROTOCOL.md section 8, D61, D62: text is refused by the first run, and an id that no broker has is waited for."""
    cluster = a_cluster(ar=[[1, 2]])
    cluster.reassign({"o-0": wanted})
    cluster.rest()
    assert assigned(cluster) == {"0": after}
    assert (cluster.znode(REASSIGNMENTS) is None) is (wanted != [9])


def test_a_reassignment_of_what_does_not_exist_is_taken_away() -> None:
    """AdminTest.testReassigningNonExistingPartition."""
    cluster = a_cluster()
    cluster.reassign({"o-0": [2, 3]})
    cluster.rest()
    assert (cluster.znode(REASSIGNMENTS), assigned(cluster)) == (None, None)


def test_the_next_controller_resumes_a_reassignment() -> None:
    """AdminTest.testResumePartitionReassignmentThatWasCompleted's counterpart, one amid its way."""
    cluster = a_cluster(0, 1, 2, 3, ar=[[0, 1]])
    cluster.reassign({"o-0": [2, 3]})
    with cluster.hold("expand_isr"):
        cluster.rest()
    assert assigned(cluster) == {"0": [2, 3, 0, 1]}
    cluster.kill(0)
    cluster.rest()
    assert (assigned(cluster), sorted(state(cluster)[1])) == ({"0": [2, 3]}, [2, 3])


def test_a_reassignment_that_is_given_goes_on_with_the_next_isr_change() -> None:
    """PROTOCOL.md section 7.8: the state znode of a TP that is being reassigned is listened to."""
    led = {"leader": 1, "isr": [1], "leader_epoch": 4}
    one = a_module(reassigning={"o-0": [2, 3]}, leadership={"o-0": led})
    assert one.znode(REASSIGNMENTS)["partitions"] == [{"topic": "o", "partition": 0, "replicas": [2, 3]}]
    one.by_hand("/brokers/topics/o/partitions/0/state", {**led, "isr": [1, 2, 3], "controller_epoch": 1, "version": 1})
    one.rest()
    assert (assigned(one), state(one), one.znode(REASSIGNMENTS)) == ({"0": [2, 3]}, (2, [2, 3], 6), None)


def test_followers_of_any_id_leave_an_isr_at_once() -> None:
    """Partition.maybeShrinkIsr takes all that lag in one write; brokers have ids from 0 up."""
    cluster = a_cluster(7, 0, 2005, ar=[[7, 0, 2005]])
    (step,) = [one for one in cluster.possible() if one.startswith("shrink_isr_jointly(")]
    assert step == "shrink_isr_jointly(broker=7, partition=o-0, lagging=[0, 2005])"
    with cluster.hold("expand_isr"):
        cluster.do(step)
        cluster.rest()
    assert (state(cluster), knows(cluster)["leadership"]["o-0"]["isr"]) == ((7, [7], 0), [7])


def test_requests_of_many_partitions_are_held_as_well_as_others() -> None:
    """The face's own: what a broker may carry out by half is asked only where faults may come."""
    cluster = a_cluster()
    cluster.create("o", [[1, 2, 3]] * 40)
    with cluster.hold("deliver_*(*broker=3)"):
        cluster.rest()
        assert logs(cluster) == [1, 2]
        cluster.kill(2)
        assert len(cluster.possible()) < 5000
    cluster.rest()
    assert logs(cluster) == [1, 2, 3], "a log stays where a broker is killed"


# ------------------------------------------------------------------------------- elections, shutdowns, failure, faults


def test_the_example_of_a_controlled_shutdown() -> None:
    """AdminTest.testShutdownBroker: 2 and 1 leave with nothing left to lead, 0 with the one partition."""
    cluster, remaining = a_cluster(0, 1, 2, ar=[[0, 1, 2]]), []
    for broker in (2, 1, 0):
        since = cluster.now
        cluster.stop(broker)
        cluster.rest()
        remaining.append(answers(cluster, since)[0])
        assert state(cluster)[0] == 0
    assert [len(one["PartitionsRemaining"]) for one in remaining] == [0, 0, 1]
    assert {one["ErrorCode"] for one in remaining} == {0}


@pytest.mark.parametrize(("release", "code"), [("0.8.2", -1), ("0.9.0", 8), ("0.10.2", 8)])
def test_a_shutdown_of_who_is_not_registered_is_refused(release: str, code: int) -> None:
    """PROTOCOL.md section 7.2: 8, and -1 by the error handler of 0.8.2."""
    assert a_module(release=release).shut_down(9) == {"ErrorCode": code, "PartitionsRemaining": []}


def test_unclean_elections_where_all_were_gone() -> None:
    """UncleanLeaderElectionTest.testUncleanLeaderElectionEnabled and ...Disabled; D29."""
    after = {}
    for unclean in (True, False):
        cluster = a_cluster(ar=[[2, 3]], settings={"unclean.leader.election.enable": unclean})
        for broker in (3, 2):
            cluster.kill(broker)
            cluster.rest()
        gone = state(cluster)
        cluster.start(3)
        after[unclean] = gone, state(cluster)
    assert after == {True: ((-1, [], 2), (3, [3], 3)), False: ((-1, [2], 2), (-1, [2], 2))}


def test_epochs_rise_with_each_controller() -> None:
    """ControllerFailoverTest, LeaderElectionTest.testEpoch."""
    cluster, epochs = a_cluster(0, 1, ar=[[0, 1]]), []
    for _ in range(3):
        former = cluster.controller
        cluster.kill(former)
        cluster.rest()
        epochs.append(cluster.znode("/controller_epoch"))
        cluster.start(former)
    assert epochs == [2, 3, 4]


def test_an_election_of_what_is_not_led_leaves_its_request() -> None:
    """PROTOCOL.md section 7.5, D49."""
    cluster = a_cluster(ar=[[1, 2]])
    cluster.elect_preferred("nowhere-0")
    cluster.rest()
    assert cluster.znode("/admin/preferred_replica_election") is not None
    assert knows(cluster)["electing"] == ["nowhere-0"]


@pytest.mark.parametrize("data", ["garbage", {"partitions": [{"topic": "o", "partition": 0}]}, {"partitions": 1}])
def test_a_notification_of_nobodys_is_read_and_deleted(data: Any) -> None:
    """PROTOCOL.md section 7.7: the children that are listed are deleted, also on an error."""
    cluster = a_cluster(ar=[[1, 2]])
    cluster.by_hand("/isr_change_notification/isr_change_0000000007", data)
    cluster.rest()
    assert notes(cluster) == []


def test_a_lost_answer_of_a_write_with_its_own_content_is_a_success() -> None:
    """PROTOCOL.md section 2, KAFKA-1382: BadVersion, and the node holds what was to be written."""
    one = a_module(partition_states={"o-0": "OfflinePartition"})
    one.fail("write_elected_leader", "LostAnswer")
    happened = one.transition("partition", ["o-0"], "OnlinePartition")
    writes = [entry["refused"] for entry in happened if entry.get("operation") == "SetData"]
    assert (writes, state(one)) == ([None, "BadVersion"], (1, [1, 2, 3], 5))
    assert knows(one)["leadership"]["o-0"]["zk_version"] == 7


def test_a_lost_answer_of_a_create_or_of_the_epoch_counts_as_a_failure() -> None:
    """PROTOCOL.md section 2: no such comparison there, D54 and D1-loss."""
    one = a_module(leadership={})
    one.fail("create_state", "LostAnswer")
    one.transition("partition", ["o-0"], "OnlinePartition")
    assert (state(one), knows(one)["partition_states"]) == ((1, [1, 2, 3], 0), {"o-0": "NewPartition"})
    cluster = a_cluster(ar=[[1, 2]])
    cluster.fail("increment_epoch", "LostAnswer")
    cluster.kill(1)
    cluster.rest()
    assert (cluster.znode("/controller_epoch"), knows(cluster)["epoch"]) == (2, 1)


@pytest.mark.parametrize("error", ["ConnectionLoss", "SessionExpired", "BadVersion"])
def test_whatever_the_increment_of_the_epoch_raises_is_swallowed(error: str) -> None:
    """PROTOCOL.md section 6: a catch-all in the same method logs it, and the failover goes on (D1)."""
    cluster = a_cluster(ar=[[1, 2]])
    cluster.fail("increment_epoch", error)
    cluster.kill(1)
    cluster.rest()
    assert (cluster.controller, cluster.znode("/controller_epoch"), knows(cluster)["epoch"]) == (2, 1, 1)
    assert any("Error while incrementing controller epoch" in one["line"] for one in cluster.happened("log"))


def test_what_breaks_before_an_effect_is_told_and_no_handlers_exception() -> None:
    """The face's own: a mistake in what is given to `before` must not pass for an exception in Kafka."""
    one = a_module(partition_states={"o-0": "OfflinePartition"})
    one.before("write_elected_leader", lambda: one.by_hand("/nowhere", None))
    with pytest.raises(Exception, match="/nowhere does not exist"):
        one.transition("partition", ["o-0"], "OnlinePartition")
    with pytest.raises(Exception, match="expected 1 or more"):
        one.fail("write_elected_leader", "NoNode", times=0)
