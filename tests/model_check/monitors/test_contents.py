"""What a znode held is read as Kafka reads it, or told to be unreadable."""

import pytest

from model_check.monitors.contents import Content, Moves, Unreadable, read_content
from spec.formats.kafka_types import TopicPartition
from spec.formats.znode_paths import Path


def moves(replicas: str) -> Content:
    text = f'{{"version":1,"partitions":[{{"topic":"t","partition":0,"replicas":{replicas}}}]}}'
    return read_content(Path.parse("/admin/reassign_partitions"), text.encode())


@pytest.mark.parametrize(("written", "asked"), [("[]", ()), ("[2,2]", (2, 2)), ('["2"]', (-1,))])
def test_a_reassignment_may_ask_for_nobody_for_a_broker_twice_and_for_text(written: str, asked: object) -> None:
    found = moves(written)
    assert isinstance(found, Moves)
    assert found.replicas == {TopicPartition("t", 0): asked}


@pytest.mark.parametrize("written", ["[[1]]", '[{"a":1}]', '"12"', "null", "[1.5]", "[true]"])
def test_what_names_no_brokers_is_unreadable(written: str) -> None:
    assert isinstance(moves(written), Unreadable)
