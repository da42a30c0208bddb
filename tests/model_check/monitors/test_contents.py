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


@pytest.mark.parametrize(
    ("path", "data", "reason"),
    [
        ("/brokers/topics/t/partitions/0/state", b'{"leader":1,"isr":[1]}', "it has no leader_epoch"),
        ("/brokers/topics/t", b'{"version":1}', "it has no partitions"),
        ("/brokers/topics/t", b'{"partitions":[1]}', "[1] is no object"),
        ("/admin/reassign_partitions", b'{"partitions":{}}', "{} is no list"),
        ("/admin/reassign_partitions", b'{"partitions":[1]}', "1 is no object with a topic and a partition"),
        ("/controller", b'{"brokerid":"1"}', '"1" is no whole number'),
        ("/controller", b'{"brokerid":null}', "null is no whole number"),
        ("/brokers/topics/t", b'{"partitions":{"x":[1]}}', "'x' is no partition's number"),
        ("/brokers/topics/t", b'{"partitions":{"1_0":[1]}}', "'1_0' is no partition's number"),
        ("/brokers/topics/t", b'{"partitions":{},"adding_replicas":[1]}', "[1] is no object"),
        ("/config/topics/t", b'{"config":[]}', "[] is no object"),
        ("/controller", b'{"brokerid":' + b"1" * 5000 + b"}", "a number in it has too many digits"),
        ("/controller_epoch", b"x", "'x' is no decimal number"),
        ("/controller_epoch", b"\xff", "it is no UTF-8"),
        ("/controller", b"1,", "it is no JSON: Extra data: line 1 column 2 (char 1)"),
        ("/controller", b"[" * 100_000, "it is nested too deeply"),
    ],
)  # fmt: skip
def test_why_something_is_unreadable_is_told_in_words(path: str, data: bytes, reason: str) -> None:
    found = read_content(Path.parse(path), data)
    assert isinstance(found, Unreadable)
    assert found.reason == reason
