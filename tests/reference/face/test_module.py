"""The public face of a controller amid its work: transitions, callbacks and a shutdown, from a plain dictionary.

What is expected is what Kafka 0.10.2 does, by PROTOCOL.md sections 3 to 7.
"""

import json
from typing import Any

import pytest

import reference
from spec.errors import BadInput

STATE = "/brokers/topics/orders/partitions/{}/state"
LED = {"leader": 2, "isr": [2, 3], "leader_epoch": 5, "zk_version": 4}


def a_module(**given: Any) -> Any:
    return reference.module({
        "broker": 1, "live": [1, 2, 3], "epoch": 7, "assignment": {"orders-0": [2, 3, 1], "orders-1": [3, 1]},
        "leadership": {"orders-0": LED, "orders-1": {"leader": 3, "isr": [3, 1]}}, **given,
    })  # fmt: skip


def controller(one: Any) -> Any:
    return one.view()["brokers"]["1"]["controller"]


def requests(happened: list[Any], name: str) -> dict[int, Any]:
    return {
        one["to"]: one["request"]["body"]
        for one in happened
        if one["kind"] == "request" and one["request"]["name"] == name
    }


def test_what_is_not_given_is_as_in_a_controller_that_has_just_come_to_work() -> None:
    told = controller(a_module())
    assert (told["active"], told["epoch"], told["live"], told["leader_id"]) == (True, 7, [1, 2, 3], 1)
    assert told["partition_states"] == {"orders-0": "OnlinePartition", "orders-1": "OnlinePartition"}
    assert told["replica_states"]["orders-1"] == {"1": "OnlineReplica", "3": "OnlineReplica"}
    assert all(queue == [] for queue in told["queues"].values())
    assert {"/brokers/ids", "/brokers/topics", "/admin/delete_topics"} <= {*told["listens_to"]}
    assert a_module().view()["happened"] == []


def test_znodes_say_what_the_caches_say_unless_they_are_given() -> None:
    one = a_module()
    found = one.view()["znodes"][STATE.format(0)]
    assert found == {
        "data": {"controller_epoch": 1, "leader": 2, "version": 1, "leader_epoch": 5, "isr": [2, 3]},
        "version": 4,
    }
    other = a_module(znodes={STATE.format(0): None, STATE.format(1): "torn"})
    assert (other.znode(STATE.format(0)), other.znode(STATE.format(1))) == (None, "torn")


def test_a_partition_whose_leader_is_gone_gets_the_first_live_replica_of_the_isr() -> None:
    one = a_module(live=[1, 3], partition_states={"orders-0": "OfflinePartition"})
    happened = one.transition("partition", ["orders-0"], "OnlinePartition")
    assert one.znode(STATE.format(0)) == {
        "controller_epoch": 7, "leader": 3, "version": 1, "leader_epoch": 6, "isr": [3],
    }  # fmt: skip
    assert {to: body["PartitionStates"][0]["ZkVersion"] for to, body in requests(happened, "LeaderAndIsr").items()} == {
        1: 5,
        3: 5,
    }
    assert requests(happened, "UpdateMetadata").keys() == {1, 3}
    assert controller(one)["partition_states"]["orders-0"] == "OnlinePartition"


def test_each_selector_can_be_asked() -> None:
    def leads(selector: str, **given: Any) -> Any:
        one = a_module(**given)
        one.transition("partition", ["orders-0"], "OnlinePartition", selector=selector, reassigned=[3, 1])
        found = one.znode(STATE.format(0))
        return found["leader"], found["leader_epoch"], found["isr"]

    assert leads("no-op") == (2, 5, [2, 3]), "written again as it is, with its old epoch"
    assert leads("reassigned") == (3, 6, [2, 3])
    assert leads("preferred") == (2, 5, [2, 3]), "not needed"
    moved = {"orders-0": {**LED, "leader": 3, "isr": [3, 2]}, "orders-1": {"leader": 3, "isr": [3, 1]}}
    assert leads("preferred", leadership=moved) == (2, 6, [3, 2])
    assert leads("controlled-shutdown", live=[1, 3], shutting_down=[2]) == (3, 6, [3])


def test_a_transition_that_the_table_forbids_is_logged_and_the_others_go_on() -> None:
    one = a_module(partition_states={"orders-0": "NonExistentPartition", "orders-1": "OfflinePartition"})
    happened = one.transition("partition", ["orders-0", "orders-1"], "OnlinePartition")
    states = controller(one)["partition_states"]
    assert states == {"orders-0": "NonExistentPartition", "orders-1": "OnlinePartition"}
    assert [one["line"] for one in happened if one.get("level") == "ERROR" and "orders,0" in one["line"]]


def test_an_exception_at_one_key_stops_none_of_the_others() -> None:
    one = a_module()
    one.fail("read_for_removal(*partition=orders-0*)", "NoNode")
    one.transition("replica", [("orders-0", 3), ("orders-1", 1)], "OfflineReplica")
    states = controller(one)["replica_states"]
    assert (states["orders-0"]["3"], states["orders-1"]["1"]) == ("OnlineReplica", "OfflineReplica")
    assert one.znode(STATE.format(1))["isr"] == [3]


def test_a_write_that_meets_another_version_is_tried_again_on_what_is_there() -> None:
    one = a_module(partition_states={"orders-0": "OfflinePartition"})
    newer = {"controller_epoch": 7, "leader": 2, "version": 1, "leader_epoch": 5, "isr": [3]}
    one.before("write_elected_leader", lambda: one.by_hand(STATE.format(0), newer))
    happened = one.transition("partition", ["orders-0"], "OnlinePartition")
    writes = [entry for entry in happened if entry.get("operation") == "SetData"]
    assert [entry["refused"] for entry in writes] == ["BadVersion", None]
    assert one.znode(STATE.format(0)) == newer | {"leader": 3, "leader_epoch": 6}


def test_a_newer_controllers_znode_is_let_alone() -> None:
    newer = {"controller_epoch": 8, "leader": 3, "version": 1, "leader_epoch": 6, "isr": [3]}
    one = a_module(partition_states={"orders-0": "OfflinePartition"}, znodes={STATE.format(0): newer})
    one.transition("partition", ["orders-0"], "OnlinePartition")
    assert one.znode(STATE.format(0)) == newer
    assert controller(one)["partition_states"]["orders-0"] == "OfflinePartition"


def test_a_callback_does_what_its_listener_does() -> None:
    one = a_module()
    one.by_hand("/brokers/ids/3", None)
    happened = one.callback("/brokers/ids")
    assert controller(one)["live"] == [1, 2]
    assert controller(one)["replica_states"]["orders-0"]["3"] == "OfflineReplica"
    assert one.znode(STATE.format(1)) == {
        "controller_epoch": 7, "leader": 1, "version": 1, "leader_epoch": 1, "isr": [1],
    }, "an election leaves the dead out of the ISR, so there is nothing to remove"  # fmt: skip
    assert 3 not in requests(happened, "LeaderAndIsr")


def test_a_deletion_stops_the_replicas_and_ends_with_their_answers() -> None:
    one = a_module()
    one.transition("replica", [("orders-1", 3)], "OfflineReplica")
    happened = one.transition("replica", [("orders-1", 3)], "ReplicaDeletionStarted")
    assert requests(happened, "StopReplica")[3] == {
        "ControllerId": 1, "ControllerEpoch": 7, "DeletePartitions": True,
        "Partitions": [{"Topic": "orders", "Partition": 1}],
    }  # fmt: skip


def test_a_controlled_shutdown_answers_what_the_broker_still_leads() -> None:
    one = a_module(leadership={"orders-0": LED, "orders-1": {"leader": 3, "isr": [3]}})
    assert one.shut_down(2) == {"ErrorCode": 0, "PartitionsRemaining": []}
    assert one.znode(STATE.format(0))["leader"] == 3
    assert one.shut_down(3) == {
        "ErrorCode": 0,
        "PartitionsRemaining": [{"Topic": "orders", "Partition": 0}, {"Topic": "orders", "Partition": 1}],
    }, "nobody else is in sync"
    assert one.shut_down(9)["ErrorCode"] == 8


def test_a_batch_that_is_refused_leaves_nothing_behind() -> None:
    one = a_module()
    known = {"kind": "LeaderAndIsr", "brokers": [1], "partition": "orders-0"}
    with pytest.raises(BadInput, match=r"\[1\].partition: missing"):
        one.send([known, {"kind": "StopReplica", "brokers": [2]}])
    assert requests(one.send([]), "LeaderAndIsr") == {}
    assert requests(one.send([known]), "LeaderAndIsr").keys() == {1}


def test_it_is_a_cluster_that_goes_on_from_there() -> None:
    one = a_module()
    one.reassign({"orders-1": [2, 3]})
    one.until(lambda it: it.znode("/brokers/topics/orders")["partitions"]["1"] == [2, 3])
    one.rest()
    assert one.znode("/admin/reassign_partitions") is None


def test_brokers_that_were_told_go_on_leading_and_following() -> None:
    """Their ISR changes are on the version that is given; who was not told leads nothing."""
    one = a_module(told=["orders-0"])
    known = {name: broker["broker"]["partitions"] for name, broker in one.view()["brokers"].items()}
    assert (known["2"]["orders-0"]["isr"], known["3"]["orders-0"]["fetches"]) == ([2, 3], True)
    one.shrink(2, "orders-0", 3)
    one.until(lambda it: controller(it)["leadership"]["orders-0"]["isr"] == [2])
    one.rest()
    assert sorted(one.znode(STATE.format(0))["isr"]) == [1, 2, 3], "all of AR fetch, and come back"
    with pytest.raises(BadInput, match="does not lead orders-1"):
        one.shrink(3, "orders-1", 1)


def test_the_view_is_json() -> None:
    one = a_module(reassigning={"orders-0": [1]}, electing=["orders-1"], deleting=["orders"], ineligible=["orders"])
    view = one.view()
    assert json.loads(json.dumps(view)) == view
    told = controller(one)
    assert (told["reassigning"], told["electing"]) == ({"orders-0": [1]}, ["orders-1"])
    assert (told["deleting"], told["ineligible"]) == (["orders"], ["orders"])


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "given: broker: missing"),
        ({"broker": 1, "alive": [1]}, "alive: is not one of assignment"),
        ({"broker": 1, "live": [2]}, "broker 1, which is not live"),
        ({"broker": 1, "live": 2}, "live: expected a list"),
        ({"broker": 1, "epoch": 0}, "no epoch of a controller"),
        ({"broker": 1, "assignment": {"orders": [1]}}, "is no partition"),
        ({"broker": 1, "leadership": {"orders-0": LED}}, "has no AR"),
        (
            {"broker": 1, "assignment": {"o-0": [1]}, "partition_states": {"o-0": "Online"}},
            "expected one of NewPartition",
        ),
        ({"broker": 1, "assignment": {"o-0": [1]}, "replica_states": {"o-0": {"x": "OnlineReplica"}}}, "no broker id"),
        ({"broker": 1, "assignment": {"o-0": [1]}, "leadership": {"o-0": {"leeder": 1}}}, "leeder: is not one of"),
        ({"broker": 1, "told": ["o-0"]}, "o-0 has no leadership"),
        ({"broker": 2**40}, "broker: expected a number of 32 bits"),
        ({"broker": 1, "assignment": {"o-0": [1]}, "leadership": {"o-0": {"zk_version": 2**31 - 1}}}, "at most 10000"),
        ({"broker": 1, "assignment": {"o-0": [1]}, "partition_states": {"o-0": []}}, "expected one of NewPartition"),
        ([], "expected an object"),
    ],
)
def test_what_is_given_wrongly_is_named(given: Any, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        reference.module(given)


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda it: it.transition("partition", ["orders-0"], "Online"), "state"),
        (lambda it: it.transition("topic", ["orders-0"], "OnlinePartition"), "machine"),
        (lambda it: it.transition("partition", ["orders-0"], "OnlinePartition", selector="random"), "selector"),
        (lambda it: it.transition("partition", ["orders-0"], "NewPartition", selector="random"), "selector"),
        (lambda it: it.transition("partition", ["orders-0"], "OnlinePartition", "reassigned", ["3"]), "a number"),
        (
            lambda it: it.transition("partition", ["orders-0"], "OnlinePartition", selector=7),
            "selector: expected a text",
        ),
        (lambda it: it.transition(7, ["orders-0"], "OnlinePartition"), "machine: expected a text"),
        (lambda it: it.transition("partition", ["orders-0"], 7), "target: expected a text"),
        (lambda it: it.transition("partition", None, "OnlinePartition"), "expected a list"),
        (lambda it: it.transition("replica", ["orders-0"], "OnlineReplica"), "is no replica"),
    ],
)
def test_what_cannot_be_asked_is_refused(act: Any, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        act(a_module())
