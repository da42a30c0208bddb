"""What the face shows and refuses beside states and requests: unsent batches, the selector that is asked, strangers."""

import re
from typing import Any

import pytest

import reference
from spec.formats.kafka_types import TopicPartition

LED_BY_1 = {"leader": 1, "isr": [1, 2]}


def test_what_was_left_in_a_batch_is_seen() -> None:
    """PROTOCOL.md section 9, D28: a send that failed leaves its batch, and the next call fails on it."""
    one = reference.module({
        "broker": 1, "live": [1, 2], "assignment": {"orders-0": [1, 2]}, "leadership": {"orders-0": LED_BY_1},
    })  # fmt: skip
    assert one.view()["brokers"]["1"]["controller"]["unsent"] == {}
    one.one.partition_batch.metadata_receivers |= {2, 1}
    one.one.replica_batch.add_stop_replica((2,), TopicPartition("orders", 0), delete=True)
    nothing: Any = {"LeaderAndIsr": {}, "UpdateMetadata": {"brokers": [], "partitions": []}, "StopReplica": {}}
    assert one.view()["brokers"]["1"]["controller"]["unsent"] == {
        "partition": {**nothing, "UpdateMetadata": {"brokers": [1, 2], "partitions": []}},
        "replica": {**nothing, "StopReplica": {"2": [{"partition": "orders-0", "delete": True}]}},
    }


@pytest.mark.parametrize("selector", ["offline", "preferred", "controlled-shutdown", "reassigned"])
def test_the_selector_that_is_asked_is_told(selector: str) -> None:
    one = reference.module({
        "broker": 1, "live": [1, 2, 3], "assignment": {"orders-0": [1, 2]},
        "leadership": {"orders-0": {**LED_BY_1, "leader": 2}}, "partition_states": {"orders-0": "OfflinePartition"},
    })  # fmt: skip
    one.transition("partition", ["orders-0"], "OnlinePartition", selector=selector, reassigned=[1, 2])
    asked = [(told["partition"], told["selector"]) for told in one.happened("selector_asked")]
    assert asked == [("orders-0", selector)]


def test_a_callback_tells_which_selector_it_asks() -> None:
    """PROTOCOL.md section 7: a failed broker's partitions are led by whom the offline selector elects."""
    cluster = reference.cluster([1, 2])
    cluster.start()
    cluster.create("orders", [[2, 1]])
    cluster.rest()
    assert cluster.happened("selector_asked") == []
    cluster.kill(2)
    cluster.rest()
    (asked,) = cluster.happened("selector_asked")
    assert (asked["controller"], asked["partition"], asked["selector"]) == (1, "orders-0", "offline")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"partition_states": {"other-0": "OnlinePartition"}}, "given.partition_states: other-0 has no AR"),
        ({"replica_states": {"other-0": {"1": "OnlineReplica"}}}, "given.replica_states: other-0 has no AR"),
        ({"replica_states": {"orders-0": {"7": "OnlineReplica"}}}, "there is no broker 7"),
        ({"leadership": {"other-0": {"leader": 1}}}, "given.leadership: other-0 has no AR"),
    ],
)
def test_a_module_refuses_what_is_said_of_partitions_that_it_does_not_know(given: Any, says: str) -> None:
    with pytest.raises(reference.BadInput, match=re.escape(says)):
        reference.module({"broker": 1, "assignment": {"orders-0": [1]}, **given})


def test_what_does_not_come_is_an_error_of_the_face() -> None:
    cluster = reference.cluster([1])
    cluster.start()
    with pytest.raises(reference.NoRest, match="nothing moves any more after 0 steps"):
        cluster.until(lambda it: it.controller == 2)


@pytest.mark.parametrize("data", [{"version": 1}, {"brokerid": "1"}, {"brokerid": True}, [1], "nobody", ""])
def test_who_stands_in_a_controller_znode_that_names_nobody_is_none(data: Any) -> None:
    cluster = reference.cluster([1, 2])
    cluster.by_hand("/controller", data)
    assert cluster.controller is None
    assert cluster.view()["controller"] is None


def test_a_znode_that_is_nested_too_deep_to_be_read_is_shown_as_text() -> None:
    cluster = reference.cluster([1])
    cluster.by_hand("/admin/reassign_partitions", "[" * 5000)
    assert cluster.view()["znodes"]["/admin/reassign_partitions"]["data"] == "[" * 5000


def test_who_registers_creates_what_somebody_has_removed_above() -> None:
    """`ZKCheckedEphemeral.createRecursive` 0.10.2.2."""
    cluster = reference.cluster([1, 2])
    cluster.start(1)
    cluster.by_hand("/brokers", None)
    cluster.rest()
    cluster.start(2)
    assert cluster.znode("/brokers/ids/2")["port"] == 9092


def test_who_starts_sets_up_the_common_paths_again() -> None:
    """`KafkaServer.initZk`; without them a failover would fail time and again."""
    cluster = reference.cluster([1, 2])
    cluster.by_hand("/brokers", None)
    cluster.by_hand("/isr_change_notification", None)
    cluster.start(2)
    assert cluster.controller == 2
    assert {"/brokers/topics", "/isr_change_notification"} <= cluster.view()["znodes"].keys()


def test_what_cannot_be_announced_is_tried_again() -> None:
    """`KafkaScheduler` logs what `maybePropagateIsrChanges` raises, and comes again."""
    cluster = reference.cluster([1, 2])
    cluster.start()
    cluster.create("orders", [[1, 2]])
    cluster.rest()
    cluster.by_hand("/isr_change_notification", None)
    cluster.shrink(1, "orders-0", 2)
    cluster.do("report_isr_changes")
    with cluster.hold("report_isr_changes*"):
        cluster.rest()
        cluster.by_hand("/isr_change_notification", "")
    cluster.do("report_isr_changes")
    assert any(one.startswith("/isr_change_notification/isr_change_") for one in cluster.view()["znodes"])


def test_before_0_8_the_bare_id_stood_in_the_controller_znode() -> None:
    cluster = reference.cluster([1, 2])
    cluster.by_hand("/controller", "2")
    assert cluster.controller == 2
