"""The public face of a broker: its fences, what it becomes, and the ISR changes that it writes.

What is expected is what Kafka 0.10.2 does, by PROTOCOL.md sections 7.7 and 10.
"""

import json
from typing import Any

import pytest

import reference
from spec.errors import BadInput

STATE = "/brokers/topics/orders/partitions/0/state"
LED = {"leader": 2, "isr": [2, 3], "leader_epoch": 3, "zk_version": 4, "assigned": [2, 3, 1]}


def a_broker(**given: Any) -> Any:
    return reference.broker(
        {"broker": 2, "controller_epoch": 5, "partitions": {"orders-0": LED}, "alive": [1, 2, 3], **given}
    )


def request(name: str, epoch: int = 5, **body: Any) -> Any:
    keys = {"LeaderAndIsr": 4, "StopReplica": 5, "UpdateMetadata": 6}
    return {
        "name": name, "version": 0,
        "header": {"ApiKey": keys[name], "ApiVersion": 0, "CorrelationId": 7, "ClientId": "1"},
        "body": {"ControllerId": 1, "ControllerEpoch": epoch, **body},
    }  # fmt: skip


def leads(leader: int, leader_epoch: int, epoch: int = 5) -> Any:
    state = {
        "Topic": "orders", "Partition": 0, "ControllerEpoch": epoch, "Leader": leader, "LeaderEpoch": leader_epoch,
        "Isr": [2, 3], "ZkVersion": 5, "Replicas": [2, 3, 1],
    }  # fmt: skip
    live = [{"Id": leader, "Host": "b", "Port": 9092}]
    return request("LeaderAndIsr", epoch, PartitionStates=[state], LiveLeaders=live)


def known(broker: Any) -> Any:
    return broker.view()["broker"]["partitions"].get("orders-0")


def test_a_request_of_an_older_controller_is_refused_whole() -> None:
    broker = a_broker()
    assert broker.request(leads(3, 9, epoch=4))["ErrorCode"] == 11
    assert (known(broker)["leader"], known(broker)["leader_epoch"]) == (2, 3)


def test_a_partition_is_taken_over_only_with_a_higher_leader_epoch() -> None:
    broker = a_broker()
    for leader_epoch, obeyed in ((2, False), (3, False), (4, True)):
        answer = broker.request(leads(3, leader_epoch, epoch=6))
        assert answer["ErrorCode"] == 0
        assert (known(broker)["leader"] == 3) is obeyed
    assert known(broker)["fetches"]
    assert broker.view()["broker"]["controller_epoch"] == 6


def test_stop_replica_needs_no_leader_epoch_and_takes_the_log_if_it_is_to() -> None:
    broker = a_broker()
    stop: Any = {"Partitions": [{"Topic": "orders", "Partition": 0}]}
    broker.request(request("StopReplica", DeletePartitions=False, **stop))
    assert broker.view()["broker"]["logs"] == ["orders-0"]
    broker.request(request("StopReplica", DeletePartitions=True, **stop))
    assert (broker.view()["broker"]["logs"], known(broker)) == ([], None)


def test_an_isr_change_is_written_on_the_version_that_is_known() -> None:
    broker = a_broker()
    assert broker.shrink("orders-0", 3)
    assert broker.view()["znodes"][STATE] == {
        "data": {"controller_epoch": 1, "leader": 2, "version": 1, "leader_epoch": 3, "isr": [2]}, "version": 5,
    }  # fmt: skip
    assert (known(broker)["isr"], known(broker)["zk_version"]) == ([2], 5)
    assert broker.expand("orders-0", 1)
    assert (sorted(known(broker)["isr"]), known(broker)["zk_version"]) == ([1, 2], 6)


def test_an_isr_change_on_a_stale_version_is_not_written_unless_it_finds_itself() -> None:
    broker = a_broker()
    broker.by_hand(STATE, {"controller_epoch": 6, "leader": 3, "version": 1, "leader_epoch": 4, "isr": [3]})
    assert not broker.shrink("orders-0", 3)
    assert (known(broker)["isr"], known(broker)["zk_version"]) == ([2, 3], 4)
    again = a_broker()
    own = '{"controller_epoch":1,"leader":2,"version":1,"leader_epoch":3,"isr":[2]}'
    again.by_hand(STATE, own)
    assert again.shrink("orders-0", 3), "the write whose answer was lost finds its very content (KAFKA-1382)"
    assert known(again)["zk_version"] == 5
    older = a_broker(variant="AS_CODED+COMPARE_NO_CONTENT")
    older.by_hand(STATE, own)
    assert not older.shrink("orders-0", 3)


def test_only_who_is_assigned_and_not_yet_in_the_isr_is_taken_in() -> None:
    """`Partition.maybeExpandIsr` of Kafka 0.10.2 asks both before it writes."""
    broker = a_broker()
    assert (broker.expand("orders-0", 3), broker.expand("orders-0", 9)) == (True, False)
    assert broker.view()["znodes"][STATE]["version"] == 4
    assert broker.view()["broker"]["isr_changes"] == []


def test_isr_changes_are_announced_once() -> None:
    broker = a_broker()
    assert broker.announce() is None
    broker.shrink("orders-0", 3)
    path = broker.announce()
    assert path == "/isr_change_notification/isr_change_0000000000"
    assert broker.view()["znodes"][path]["data"]["partitions"] == [{"topic": "orders", "partition": 0}]
    assert broker.announce() is None
    assert a_broker(release="0.8.2").announce() is None


def test_the_view_is_json() -> None:
    broker = a_broker(cached_leader_epochs={"orders-0": 3}, logs=[])
    broker.request(leads(3, 4))
    view = broker.view()
    assert json.loads(json.dumps(view)) == view
    assert any("become-follower" in one.get("line", "") for one in view["happened"])


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda: reference.broker({}), "broker: missing"),
        (lambda: a_broker(partition={}), "partition: is not one of"),
        (lambda: a_broker(partitions={"orders": LED}), "is no partition"),
        (lambda: a_broker().shrink("orders-1", 3), "does not lead orders-1"),
        (lambda: a_broker().shrink("orders-0", 2), "2 is no follower in the ISR"),
        (lambda: a_broker().shrink("orders-0", 1), "1 is no follower in the ISR"),
        (lambda: a_broker().by_hand("x", "y"), "is no path"),
        (lambda: a_broker().request({"name": "Fetch"}), "name: expected one of"),
        (lambda: a_broker().request({**leads(3, 4), "body": {}}), "missing"),
    ],
)
def test_what_cannot_be_is_refused_and_says_why(act: Any, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        act()
