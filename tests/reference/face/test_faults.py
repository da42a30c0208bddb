"""`fail`: a refusal comes at the operation that ZooKeeper refuses, and what ends a start-up ends the process."""

from collections import Counter
from typing import Any

import pytest

import reference

STATE = "/brokers/topics/o/partitions/0/state"
OFFLINE: Any = {
    "broker": 1,
    "live": [1, 2],
    "assignment": {"o-0": [1, 2]},
    "leadership": {"o-0": {"leader": 3, "isr": [1, 2], "leader_epoch": 4, "zk_version": 5}},
}


def operations(happened: list[Any], path: str = STATE) -> list[tuple[str, str | None]]:
    """What was asked of ZooKeeper about a path, each with what it was refused for."""
    return [(one["operation"], one["refused"]) for one in happened if one.get("path") == path]


@pytest.mark.parametrize(("error", "compared"), [("BadVersion", [("GetData", None)]), ("NoNode", [])])
def test_a_conditional_write_that_fails_begins_again_with_the_read(error: str, compared: list[Any]) -> None:
    """PROTOCOL.md section 2 and `PartitionStateMachine.electLeaderForPartition`, which loops until the write holds.

    On BadVersion it first compares what stands there (KAFKA-1382).
    """
    one = reference.module(OFFLINE)
    one.fail("write_elected_leader", error)
    happened = one.transition("partition", ["o-0"], "OnlinePartition")
    first = [("GetData", None), ("SetData", error), *compared]
    assert operations(happened) == [*first, ("GetData", None), ("SetData", None)]
    assert one.view()["brokers"]["1"]["controller"]["partition_states"] == {"o-0": "OnlinePartition"}
    assert one.znode(STATE)["leader_epoch"] == 5


def test_a_removal_that_fails_on_its_version_begins_again_with_the_read() -> None:
    """`KafkaController.removeReplicaFromIsr` loops, too."""
    one = reference.module(OFFLINE)
    one.fail("write_removal", "BadVersion", times=2)
    happened = one.transition("replica", [("o-0", 2)], "OfflineReplica")
    assert Counter(operations(happened))["SetData", "BadVersion"] == 2
    assert one.znode(STATE)["isr"] == [1]


def test_parents_that_are_missing_are_created() -> None:
    """`ZkUtils.createPersistentPath`: NoNode has it create the parents, and then the znode."""
    one = reference.module({"broker": 1, "assignment": {"o-0": [1]}})
    one.fail("create_state", "NoNode")
    happened = one.transition("partition", ["o-0"], "OnlinePartition")
    assert operations(happened) == [("Create", "NoNode"), ("Create", None)]
    assert operations(happened, STATE.removesuffix("/state"))[-1] == ("Create", None)
    assert one.znode(STATE)["leader"] == 1


def test_an_effect_without_such_an_operation_raises_it_as_a_whole() -> None:
    """Nothing reads in vain with BadVersion; it is raised before anything is asked of ZooKeeper."""
    one = reference.module(OFFLINE)
    one.fail("read_for_election", "BadVersion")
    happened = one.transition("partition", ["o-0"], "OnlinePartition")
    assert operations(happened) == []
    assert one.view()["brokers"]["1"]["controller"]["partition_states"] == {"o-0": "OfflinePartition"}


@pytest.mark.parametrize("step", ["elect_read", "start_process"])
@pytest.mark.parametrize("error", ["SessionExpired", "UnexpectedFailure"])
def test_what_ends_a_start_up_ends_the_process(step: str, error: str) -> None:
    """`KafkaServer.startup` catches it, shuts down and throws it on; the next start is as any other."""
    cluster = reference.cluster([1, 2])
    cluster.fail(step, error)
    cluster.start()
    told = cluster.happened("startup_failed")
    assert [(one["broker"], one["reason"] != "") for one in told] == [(1, True)]
    assert (cluster.controller, cluster.view()["brokers"]["1"]["runs"]) == (2, False)
    assert "/brokers/ids/1" not in cluster.view()["znodes"]
    cluster.start(1)
    cluster.rest()
    assert cluster.view()["brokers"]["1"]["runs"]


def test_a_controller_znode_that_nobody_can_read_ends_a_start_up_too() -> None:
    """`KafkaController.parseControllerId` throws KafkaException."""
    cluster = reference.cluster([1])
    cluster.by_hand("/controller", "neither JSON nor a number")
    cluster.start()
    assert [one["broker"] for one in cluster.happened("startup_failed")] == [1]


def test_a_mistake_in_what_comes_before_a_start_up_is_no_failure_of_it() -> None:
    cluster = reference.cluster([1])
    cluster.before("elect_read", lambda: cluster.by_hand("/nowhere", None))
    with pytest.raises(reference.BadInput, match="/nowhere does not exist"):
        cluster.start()
    assert cluster.happened("startup_failed") == []


def test_a_register_that_is_to_fail_is_refused_clearly() -> None:
    cluster = reference.cluster([1])
    cluster.fail("register_broker", "NodeExists")
    with pytest.raises(reference.BadInput, match="register_broker is no effect of a handler of the controller"):
        cluster.start()
