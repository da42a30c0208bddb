"""The order of keys in hash tables: against Java's documented hash, and against what Kafka and ZooKeeper wrote."""

import pytest

from spec.formats.scala_order import immutable_map_order, java_hash, java_set_order, mutable_map_order


def test_the_hash_is_that_of_java() -> None:
    """The documented formula, s[0]*31^(n-1) + ... + s[n-1] over UTF-16 units, worked by hand."""
    assert java_hash("") == 0
    assert java_hash("ab") == 97 * 31 + 98
    assert java_hash("é") == 233
    assert java_hash("\U0001f600") == 0xD83D * 31 + 0xDE00
    assert java_hash("polygenelubricants") == 2**31  # the well-known String whose hash is Integer.MIN_VALUE


def test_up_to_four_keys_stand_as_they_were_inserted() -> None:
    assert immutable_map_order(["d", "c", "b", "a"]) == ["d", "c", "b", "a"]


def test_more_keys_stand_in_the_order_of_their_hashes_whatever_the_insertion() -> None:
    """As in every state znode ever posted: controller_epoch, leader, version, leader_epoch, isr."""
    expected = ["controller_epoch", "leader", "version", "leader_epoch", "isr"]
    assert immutable_map_order(["version", "leader", "leader_epoch", "controller_epoch", "isr"]) == expected
    assert immutable_map_order(sorted(expected)) == expected


def test_ten_partitions_stand_as_in_the_topic_znodes_of_the_wild() -> None:
    assert "".join(immutable_map_order([str(number) for number in range(10)])) == "8495610273"


def test_a_mutable_map_has_an_order_of_its_own() -> None:
    """The registration of a 0.10.2 broker."""
    keys = ["version", "host", "port", "endpoints", "jmx_port", "timestamp", "listener_security_protocol_map"]
    expected = ["listener_security_protocol_map", "endpoints", "jmx_port", "host", "timestamp", "port", "version"]
    assert mutable_map_order(keys) == expected


def test_a_table_that_would_grow_is_not_guessed() -> None:
    with pytest.raises(ValueError, match="13 keys would make the table grow"):
        mutable_map_order([str(number) for number in range(13)])


@pytest.mark.parametrize("broker_id", [1, 2, 3, 4])
def test_a_session_that_ends_takes_the_controller_znode_before_the_registration(broker_id: int) -> None:
    """As in every closeSession of a controller in recordings of real clusters: 64 of them, of these four brokers."""
    registration = f"/brokers/ids/{broker_id}"
    assert java_set_order([registration, "/controller"]) == ["/controller", registration]


def test_a_set_that_has_grown_is_in_the_order_of_the_larger_table() -> None:
    """A character hashes to its code point: "a" is 97 and "1" is 49, in the same bucket of 16, and not of 32."""
    assert "".join(java_set_order("0123456789ab")) == "01a2b3456789"
    assert "".join(java_set_order("0123456789abc")) == "abc0123456789"
