"""Payloads of znodes: what real clusters wrote comes back byte for byte, and what is not a payload is refused."""

import gzip
import json
import pickle
from collections import Counter
from collections.abc import Iterator
from pathlib import Path as File
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.errors import MalformedInput, NotJson
from spec.formats import znode_paths as paths
from spec.formats.kafka_types import KafkaVersion, TopicPartition
from spec.formats.znode_paths import Path, PathKind
from spec.formats.znodes import (
    BrokerPayload,
    ClusterIdPayload,
    ControllerPayload,
    EmptyPayload,
    PartitionReassignment,
    PartitionsPayload,
    PartitionStatePayload,
    Payload,
    ReassignPartitionsPayload,
    TopicPayload,
    parse_payload,
    registration_version,
)
from tests import strategies
from tests.leaderships import led

RECORDED = File(__file__).parents[2] / "data" / "kafka-0.10.2.2-znodes.jsonl.gz"
STATE = "/brokers/topics/t/partitions/0/state"


def recorded() -> Iterator[tuple[str, str | None]]:
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        for line in lines:
            path, data = json.loads(line)
            yield path, data


def test_every_recorded_payload_prints_as_it_stood() -> None:
    counts: Counter[str] = Counter()
    for path, data in recorded():
        kind = Path.parse(path).kind
        expected = data.replace(" ", "") if data and kind == paths.TOPIC_CONFIG else data
        encoded = parse_payload(path, data).encode()
        assert encoded == (None if expected is None else expected.encode()), path
        counts[str(kind)] += 1
    assert sum(counts.values()) == 2656  # the number of lines, counted when the file was made
    assert counts["/brokers/topics/{topic}/partitions/{partition}/state"] == 1499
    assert counts["/brokers/ids/{broker}"] == 218  # one for each registration: the time stamps differ
    assert counts["/controller"] == 227
    assert counts["/config/topics/{topic}"] == 47


@given(strategies.znodes_of_any_kind)
def test_a_payload_reads_back_as_it_was(znode: tuple[Path, Payload]) -> None:
    path, payload = znode
    encoded = payload.encode()
    assert parse_payload(path, encoded) == payload
    assert parse_payload(str(path), encoded) == payload
    assert pickle.loads(pickle.dumps(path)) == path  # noqa: S301 - our own bytes


def test_the_registrations_of_each_version_are_those_seen_in_the_wild() -> None:
    """Key orders as people have posted them for years from `get /brokers/ids/N` of such brokers."""
    v1 = '{"jmx_port":-1,"timestamp":"1428512949385","host":"192.168.0.11","version":1,"port":9093}'
    v2 = '{"jmx_port":-1,"timestamp":"1","endpoints":["PLAINTEXT://h:9092"],"host":"h","version":2,"port":9092}'
    v3 = v2.replace('"version":2', '"version":3')
    v4 = (
        '{"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},"endpoints":["PLAINTEXT://h:9092"],"rack":"a",'
        '"jmx_port":9999,"host":"h","timestamp":"1","port":9092,"version":4}'
    )
    for number, text in enumerate([v1, v2, v3, v4], start=1):
        payload = parse_payload("/brokers/ids/1", text)
        assert isinstance(payload, BrokerPayload)
        assert (payload.version, str(payload)) == (number, text)
    assert list(map(registration_version, KafkaVersion)) == [1, 2, 3, 3, 4]


def test_the_controller_of_before_0_8_is_a_bare_number() -> None:
    assert parse_payload("/controller", b"3") == ControllerPayload(brokerid=3, timestamp=None)
    assert ControllerPayload(brokerid=3, timestamp=None).encode() == b"3"
    assert ControllerPayload(brokerid=3, timestamp=7).encode() == b'{"version":1,"brokerid":3,"timestamp":"7"}'


def test_blanks_between_tokens_are_read_and_not_printed() -> None:
    payload = parse_payload("/admin/preferred_replica_election", '{ "version": 1,\n "partitions": [] }')
    assert payload == PartitionsPayload(partitions=())
    assert str(payload) == '{"version":1,"partitions":[]}'


def test_the_order_of_partitions_does_not_count_but_is_kept() -> None:
    one = parse_payload("/brokers/topics/t", '{"version":1,"partitions":{"1":[2,1],"0":[1]}}')
    other = parse_payload("/brokers/topics/t", '{"version":1,"partitions":{"0":[1],"1":[2,1]}}')
    assert one == other == TopicPayload(partitions={0: (1,), 1: (2, 1)})
    assert hash(one) == hash(other)
    assert str(one) != str(other)


@pytest.mark.parametrize(
    ("written", "replicas"), [("[]", ()), ("[2,2]", (2, 2)), ('["2"]', ("2",)), ('[1,"2"]', (1, "2"))]
)
def test_a_request_may_have_lists_that_kafka_takes_and_prints_them_as_json_encode_does(
    written: str, replicas: tuple[object, ...]
) -> None:
    """`asInstanceOf[Seq[Int]]` looks at no element; `removePartitionFromReassignedPartitions` writes them back."""
    text = f'{{"version":1,"partitions":[{{"topic":"t","partition":0,"replicas":{written}}}]}}'
    payload = parse_payload("/admin/reassign_partitions", text)
    assert isinstance(payload, ReassignPartitionsPayload)
    assert [one.replicas for one in payload.partitions] == [replicas]
    assert str(payload) == text


def test_an_assignment_may_be_empty_or_name_a_broker_twice() -> None:
    text = '{"version":1,"partitions":{"0":[],"1":[2,2]}}'
    payload = parse_payload("/brokers/topics/t", text)
    assert payload == TopicPayload(partitions={0: (), 1: (2, 2)})
    assert str(payload) == text


def test_the_isr_of_such_an_assignment_names_the_broker_twice_as_well() -> None:
    """`initializeLeaderAndIsrForPartition` writes who lives of AR, as a list, and reads it back."""
    payload = parse_payload(STATE, state(isr=[2, 2]))
    assert isinstance(payload, PartitionStatePayload)
    assert payload.leadership.isr == (2, 2)


def test_null_and_no_bytes_are_two_ways_to_be_empty() -> None:
    assert parse_payload("/admin", None) == EmptyPayload(null=True)
    assert parse_payload("/admin/delete_topics/t", b"") == EmptyPayload(null=False)
    assert parse_payload("/admin/delete_topics/t", b"").encode() == b""


def state(**changes: Any) -> str:
    payload = {"controller_epoch": 1, "leader": 2, "version": 1, "leader_epoch": 0, "isr": [2]} | changes
    return json.dumps({key: value for key, value in payload.items() if value is not ...})


REFUSED = [
    (STATE, state(leader=...), "leader", "missing"),
    (STATE, state(leader="2"), "leader", 'expected a whole number, found "2"'),
    (STATE, state(leader=True), "leader", "expected a whole number, found true"),
    (STATE, state(leader=-2), "leader", "-2 is not within -1..2147483647"),
    (STATE, state(leader_epoch=-1), "leader_epoch", "-1 is not within 0..2147483647"),
    (STATE, state(leader_epoch=2**31), "", "2147483648 is not within -2147483648..2147483647"),
    (STATE, state(isr=2), "isr", "expected a list, found 2"),
    (STATE, state(isr=[2, None]), "isr[1]", "expected a whole number, found null"),
    (STATE, state(leader_epoch=1.0), "", "1.0 is not a whole number"),
    (STATE, state(more=[-(2**31) - 1]), "", "-2147483649 is not within"),
    pytest.param(STATE, "[" * 100_000, "", "unreadable", id="nested"),
    ("/brokers/ids/1", '{"version":1,"host":"\\ud800","port":9092}', "", "a surrogate is alone"),
    (STATE, "[]", "", "expected an object, found []"),
    (STATE, b"\xff", "", "not UTF-8"),
    (STATE, None, "", "the node has no data"),
    ("/controller", '{"version":1,"brokerid":"1","timestamp":"1"}', "brokerid", "expected a whole number"),
    ("/controller", '{"version":2,"timestamp":"1","kraftControllerEpoch":-1}', "brokerid", "missing"),
    ("/controller", '{"version":2,"brokerid":1,"load":0.5}', "", "0.5 is not a whole number"),
    ("/controller", "-1", "", "-1 is not within"),
    ("/controller_epoch", "1.0", "", "expected an epoch in decimal digits"),
    ("/controller_epoch", " 1", "", "expected an epoch in decimal digits"),
    ("/controller_epoch", "2147483648", "", "expected an epoch in decimal digits"),
    ("/brokers/topics/t", '{"version":1,"partitions":{"-1":[1]}}', "partitions", "expected a partition number"),
    ("/brokers/topics/t", '{"version":1,"partitions":{"0":["1"]}}', "partitions.0[0]", "expected a whole number"),
    (
        "/admin/reassign_partitions",
        '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":["one"]}]}',
        "partitions[0].replicas[0]",
        'expected a whole number, found "one"',
    ),
    ("/brokers/topics/t", '{"version":1,"partitions":{"0":[-1]}}', "partitions.0[0]", "-1 is not within"),
    (
        "/admin/reassign_partitions",
        '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1]},{"topic":"t","partition":1}]}',
        "partitions[1].replicas",
        "missing",
    ),
    ("/admin/reassign_partitions", '{"version":1,"partitions":[1]}', "partitions[0]", "expected an object, found 1"),
    (
        "/admin/preferred_replica_election",
        '{"version":1,"partitions":[{"topic":"a/b","partition":0}]}',
        "partitions[0].topic",
        "expected the name of a topic",
    ),
    ("/admin/preferred_replica_election", '{"version":1}', "partitions", "missing"),
    ("/isr_change_notification/isr_change_0000000001", '{"version":1}', "partitions", "missing"),
    ("/admin/delete_topics/t", "x", "", "expected no data"),
    ("/brokers/ids/1", '{"host":"h","port":1}', "version", "missing"),
    ("/brokers/ids/1", '{"version":0,"host":"h","port":1}', "version", "0 is not within 1..4"),
    ("/brokers/ids/1", '{"version":5}', "endpoints", "missing"),
    ("/brokers/ids/1", '{"version":2,"host":"h","port":1,"jmx_port":-1,"timestamp":"1"}', "endpoints", "missing"),
    ("/brokers/ids/1", '{"version":1,"port":1}', "host", "missing"),
    ("/brokers/ids/1", '{"version":1,"host":"h"}', "port", "missing"),
    ("/cluster/id", '{"version":"1"}', "id", "missing"),
    ("/config/topics/t", '{"version":1,"config":{"k":1}}', "config.k", "expected a string, found 1"),
    ("/config/topics/t", '{"config":{"k":"v"}}', "version", "missing"),
    ("/config/topics/t", '{"version":2,"config":{}}', "version", "expected 1, found 2"),
    ("/config/topics/t", '{"version":1}', "config", "missing"),
    ("/brokers/topics/t/partitions/x/state", state(), "", "no znode of the controller's protocol has this path"),
]


@pytest.mark.parametrize(("path", "data", "field", "reason"), REFUSED)
def test_a_malformed_payload_is_refused_with_path_field_and_reason(
    path: str, data: str | bytes | None, field: str, reason: str
) -> None:
    with pytest.raises(MalformedInput) as refusal:
        parse_payload(path, data)
    assert (refusal.value.source, refusal.value.field) == (path, field)
    assert refusal.value.reason.startswith(reason)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    "text",
    ["", " ", "1", "null", '"x"', state() + "x", state()[:-1], state(leader=float("nan")), "{leader:1}", "{'a':1}"],
)
@pytest.mark.parametrize("path", [STATE, "/brokers/topics/t", "/brokers/ids/1", "/admin/reassign_partitions"])
def test_what_is_neither_a_json_object_nor_a_list_is_no_json_to_kafka(path: str, text: str) -> None:
    """`scala.util.parsing.json.JSON.parseFull` gives None."""
    with pytest.raises(NotJson, match="not JSON"):
        parse_payload(path, text)


LED = PartitionStatePayload(leadership=led(2, 0, (2,), 1))
ASSIGNED = TopicPayload(partitions={0: (1, 2)})
LENIENT = [
    # Kafka 3.2 on writes leader_recovery_state; parseLeaderAndIsr looks at four keys.
    (STATE, state(leader_recovery_state=0), LED),
    (STATE, state(version=...), LED),
    (STATE, state(version=2), LED),
    (STATE, state()[:-1] + ',"leader":2}', LED),
    # Kafka 3.9 in ZooKeeper mode; parseControllerId looks at brokerid only.
    (
        "/controller",
        '{"version":2,"brokerid":1,"timestamp":"7","kraftControllerEpoch":-1}',
        ControllerPayload(brokerid=1, timestamp=7),
    ),
    ("/controller", '{"brokerid":1}', ControllerPayload(brokerid=1, timestamp=None)),
    # Kafka 2.4 on, and 2.8 on with a topic's id; a topic without partitions has none.
    (
        "/brokers/topics/t",
        '{"partitions":{"0":[1,2]},"topic_id":"x","adding_replicas":{},"removing_replicas":{"0":[2]},"version":3}',
        ASSIGNED,
    ),
    ("/brokers/topics/t", '{"version":1}', TopicPayload(partitions={})),
    # Kafka 1.1 on; nothing to reassign where there is nothing.
    (
        "/admin/reassign_partitions",
        '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1],"log_dirs":["any"]}]}',
        ReassignPartitionsPayload(partitions=(PartitionReassignment("t", 0, (1,)),)),
    ),
    ("/admin/reassign_partitions", '{"version":1}', ReassignPartitionsPayload(partitions=())),
    # Kafka 2.7 on; createBroker looks at the version, endpoints, rack and protocols, in version 1 at host and port.
    (
        "/brokers/ids/1",
        '{"features":{},"listener_security_protocol_map":{"A":"SSL"},"endpoints":["A://h:1"],"version":5,"rack":null}',
        BrokerPayload(4, endpoints=("A://h:1",), listener_security_protocol_map={"A": "SSL"}),
    ),
    ("/brokers/ids/1", '{"version":4,"endpoints":[],"port":70000}', BrokerPayload(4, endpoints=())),
    ("/brokers/ids/1", '{"version":1,"host":"h","port":1,"endpoints":[]}', BrokerPayload(1, "h", 1)),
    ("/cluster/id", '{"version":1,"id":"x"}', ClusterIdPayload(id="x")),
]
"""What Kafka 0.10.2 reads, though no release of the era writes it so."""


@pytest.mark.parametrize(("path", "data", "payload"), LENIENT)
def test_what_others_write_is_read_as_kafka_reads_it(path: str, data: str, payload: Payload) -> None:
    assert parse_payload(path, data) == payload


NEEDED: dict[PathKind, tuple[set[str], set[str]]] = {
    paths.CONTROLLER: ({"brokerid"}, set()),
    paths.BROKER: ({"version", "endpoints"}, set()),  # of version 2 on
    paths.BROKER_TOPIC: (set(), set()),
    paths.STATE: ({"leader", "leader_epoch", "isr", "controller_epoch"}, set()),
    paths.REASSIGN_PARTITIONS: (set(), {"topic", "partition", "replicas"}),
    paths.PREFERRED_REPLICA_ELECTION: ({"partitions"}, {"topic", "partition"}),
    paths.ISR_CHANGE: ({"partitions"}, {"topic", "partition"}),
    paths.TOPIC_CONFIG: ({"version", "config"}, set()),
    paths.CLUSTER_ID: ({"id"}, set()),
}
"""What the reader of each JSON znode in Kafka 0.10.2.2 must find: in the payload, and in each of its partitions."""

json_znodes = st.sampled_from(sorted(NEEDED, key=str)).flatmap(
    lambda kind: st.tuples(strategies.paths_of(kind), strategies.payloads_of(kind))
)
anything = st.recursive(
    st.none() | st.booleans() | strategies.int32s | strategies.plain_texts,
    lambda values: st.lists(values, max_size=2) | st.dictionaries(strategies.plain_texts, values, max_size=2),
    max_leaves=4,
)
unknown_keys = st.dictionaries(strategies.plain_texts.map("x".__add__), anything, max_size=3)


def partitions_in(payload: dict[str, Any]) -> list[dict[str, Any]]:
    """The partitions that a payload lists, none where it has a map of them."""
    listed = payload.get("partitions", [])
    return listed if isinstance(listed, list) else []


@given(json_znodes, unknown_keys, anything, st.data())
def test_what_a_reader_does_not_look_at_changes_nothing(
    one: tuple[Path, Payload], more: dict[str, Any], version: object, data: st.DataObject
) -> None:
    """Unknown keys, at the top and in each partition, and the version of all but two payloads."""
    path, payload = one
    given_ = json.loads(str(payload))
    if not isinstance(given_, dict):
        return  # the /controller of before 0.8
    changed = more | given_ if "version" in NEEDED[path.kind][0] else more | given_ | {"version": version}
    for listed in partitions_in(changed):
        listed.update(more)
    shuffled = dict(data.draw(st.permutations(list(changed.items()))))
    assert parse_payload(path, json.dumps(shuffled)) == payload
    if "version" not in NEEDED[path.kind][0]:
        del shuffled["version"]
        assert parse_payload(path, json.dumps(shuffled)) == payload


@given(json_znodes)
def test_a_key_is_missed_exactly_where_its_reader_needs_it(one: tuple[Path, Payload]) -> None:
    path, payload = one
    text, (needed, needed_in_each) = str(payload), NEEDED[path.kind]
    if text.isdecimal() or (isinstance(payload, BrokerPayload) and payload.version == 1):
        return
    for key in json.loads(text):
        rest = {name: value for name, value in json.loads(text).items() if name != key}
        assert is_readable(path, rest) == (key not in needed), key
    for index, listed in enumerate(partitions_in(json.loads(text))):
        for key in listed:
            rest = json.loads(text)
            del rest["partitions"][index][key]
            assert is_readable(path, rest) == (key not in needed_in_each), key


def is_readable(path: Path, payload: dict[str, Any]) -> bool:
    try:
        parse_payload(path, json.dumps(payload))
    except MalformedInput as refusal:
        if refusal.reason != "missing":
            raise
        return False
    return True


UNPRINTABLE: list[tuple[Payload, str]] = [
    (PartitionStatePayload(leadership=led(-2, 0, (), 1)), "leader"),
    (PartitionStatePayload(leadership=led(1, 0, (1, -1), 1)), "isr[1]"),
    (PartitionsPayload(partitions=(TopicPartition('a"b', 0),)), "partitions[0].topic"),
    (BrokerPayload(1, "h", 1, timestamp=1, rack="r"), "rack"),
    (BrokerPayload(4, "h", 1, timestamp=1, endpoints=()), "listener_security_protocol_map"),
    (BrokerPayload(1, 'h"', 1, timestamp=1), "host"),
]


@pytest.mark.parametrize(("payload", "field"), UNPRINTABLE)
def test_what_no_kafka_would_read_is_not_printed(payload: Payload, field: str) -> None:
    with pytest.raises(MalformedInput) as refusal:
        payload.encode()
    assert refusal.value.field == field
