"""What znodes hold, and what Kafka's readers make of it: written by Kafka, by other tools, and by nobody.

The expected values are those of the JSON itself, or are written here by hand, each with the reader's rule
(`spec/formats/znodes.py` names Kafka's classes). A value has the keys that Kafka's readers look at.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

from model_check.conformance.making.cases import Case
from model_check.conformance.vector import since
from spec.formats.kafka_types import V0100, V0101, V0102, V082, V090

STATE, TOPIC, BROKER = "/brokers/topics/t/partitions/0/state", "/brokers/topics/t", "/brokers/ids/1"
CONTROLLER, EPOCH, MOVES = "/controller", "/controller_epoch", "/admin/reassign_partitions"
ELECTIONS, NOTIFICATION = "/admin/preferred_replica_election", "/isr_change_notification/isr_change_0000000007"
CONFIG, DELETED, CLUSTER = "/config/topics/t", "/admin/delete_topics/t", "/cluster/id"

WRITTEN: Final = (
    (CONTROLLER, '{"version":1,"brokerid":3,"timestamp":"1489000000000"}', "ZookeeperLeaderElector.elect"),
    (EPOCH, "17", "ZkUtils.makeSurePersistentPathExists"),
    (STATE, '{"controller_epoch":3,"leader":2,"version":1,"leader_epoch":5,"isr":[2,1]}', "ZkUtils.leaderAndIsrZkData"),
    (STATE, '{"controller_epoch":3,"leader":-1,"version":1,"leader_epoch":6,"isr":[2]}', "ZkUtils.leaderAndIsrZkData"),
    (TOPIC, '{"version":1,"partitions":{"1":[3,2],"0":[1,2]}}', "ZkUtils.replicaAssignmentZkData"),
    (BROKER, '{"jmx_port":-1,"timestamp":"1489000000000","host":"a","version":1,"port":9092}', "0.8.2"),
    (
        BROKER,
        '{"jmx_port":-1,"timestamp":"1489000000000","endpoints":["PLAINTEXT://a:9092"],"host":"a","version":2,"port":9092}',
        "0.9.0",
    ),
    (
        BROKER,
        '{"jmx_port":-1,"timestamp":"1489000000000","endpoints":["PLAINTEXT://a:9092"],"rack":"r","host":"a","version":3,"port":9092}',
        "0.10.0",
    ),
    (
        BROKER,
        '{"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},"endpoints":["PLAINTEXT://a:9092"],"jmx_port":-1,"host":"a","timestamp":"1489000000000","port":9092,"version":4}',
        "Broker.toJson 0.10.2",
    ),
    (
        MOVES,
        '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[3,2]}]}',
        "ZkUtils.formatAsReassignmentJson",
    ),
    (ELECTIONS, '{"version":1,"partitions":[{"topic":"t","partition":0}]}', "PreferredReplicaLeaderElectionCommand"),
    (
        NOTIFICATION,
        '{"version":1,"partitions":[{"topic":"t","partition":0}]}',
        "ReplicationUtils.generateIsrChangeJson",
    ),
    (CONFIG, '{"version":1,"config":{"unclean.leader.election.enable":"false"}}', "AdminUtils.writeEntityConfig"),
    (CLUSTER, '{"version":"1","id":"MkU3OEVBNTcwNTJENDM2Qg"}', "ClusterId.toJson 0.10.1"),
)
"""What Kafka writes: the value is what it says."""
SINCE: Final = {"0.9.0": V090, "0.10.0": V0100, "Broker.toJson 0.10.2": V0102, "ClusterId.toJson 0.10.1": V0101,
                "ReplicationUtils.generateIsrChangeJson": V090}  # fmt: skip
"""From which release on, where that is not 0.8.2."""
UNREAD: Final = frozenset({"timestamp", "jmx_port"})
"""Keys that no reader looks at; nor at most versions, and at the host of a registration only in the first."""

LENIENT: Final[tuple[tuple[str, str, str, Any], ...]] = (
    ("a later release's keys are passed over", STATE,
     '{"controller_epoch":3,"leader":2,"version":1,"leader_epoch":5,"isr":[2,1],"later":{"x":[1]}}',
     {"controller_epoch": 3, "leader": 2, "leader_epoch": 5, "isr": [2, 1]}),
    ("blanks and another order of keys are nothing", STATE,
     ' { "isr" : [ 2 , 1 ] , "leader_epoch" : 5 , "leader" : 2 , "controller_epoch" : 3 , "version" : 1 } ',
     {"controller_epoch": 3, "leader": 2, "leader_epoch": 5, "isr": [2, 1]}),
    ("of a key that stands twice the last counts", STATE,
     '{"controller_epoch":3,"leader":1,"version":1,"leader_epoch":5,"isr":[2,1],"leader":2}', {"leader": 2}),
    ("a version that nobody looks at may be any", STATE,
     '{"controller_epoch":3,"leader":2,"version":7,"leader_epoch":5,"isr":[2,1]}', {"leader": 2, "isr": [2, 1]}),
    ("before 0.8 the bare id stood there", CONTROLLER, "3", {"brokerid": 3}),
    ("a time stamp that nobody reads may lack", CONTROLLER, '{"version":1,"brokerid":3}', {"brokerid": 3}),
    ("a topic without the key has no partition", TOPIC, '{"version":1}', {"partitions": {}}),
    ("a registration of a later version is read as of the last that is known", BROKER,
     '{"version":5,"timestamp":"1","endpoints":["P://a:9092"],"listener_security_protocol_map":{"P":"SSL"},"features":{}}',
     {"endpoints": ["P://a:9092"], "listener_security_protocol_map": {"P": "SSL"}}),
    ("a request may ask for a move to nobody", MOVES,
     '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[]}]}',
     {"partitions": [{"topic": "t", "partition": 0, "replicas": []}]}),
    ("a request may name a broker twice", MOVES,
     '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[2,2]}]}',
     {"partitions": [{"topic": "t", "partition": 0, "replicas": [2, 2]}]}),
    ("an ISR may name a broker twice, as that of a topic does whose AR names it twice", STATE,
     '{"controller_epoch":3,"leader":2,"version":1,"leader_epoch":5,"isr":[2,2]}', {"leader": 2, "isr": [2, 2]}),
)  # fmt: skip
"""What others write, and what Kafka's readers take it for."""

REFUSED: Final = (
    ("no leader", STATE, '{"controller_epoch":3,"version":1,"leader_epoch":5,"isr":[2,1]}'),
    ("a leader that is a text", STATE, '{"controller_epoch":3,"leader":"2","version":1,"leader_epoch":5,"isr":[2,1]}'),
    ("a leader that is true", STATE, '{"controller_epoch":3,"leader":true,"version":1,"leader_epoch":5,"isr":[2,1]}'),
    ("a leader epoch with a fraction", STATE,
     '{"controller_epoch":3,"leader":2,"version":1,"leader_epoch":5.0,"isr":[2]}'),
    ("a leader epoch beyond 32 bits", STATE,
     '{"controller_epoch":3,"leader":2,"version":1,"leader_epoch":2147483648,"isr":[2]}'),
    ("an ISR that is no list", STATE, '{"controller_epoch":3,"leader":2,"version":1,"leader_epoch":5,"isr":2}'),
    ("half of it", STATE, '{"controller_epoch":3,"leader":2,"vers'),
    ("no data", STATE, None),
    ("a list in the place of an object", STATE, "[1,2]"),
    ("an epoch that is no number", EPOCH, "seventeen"),
    ("an epoch with a blank", EPOCH, " 17"),
    ("a partition that is no number", TOPIC, '{"version":1,"partitions":{"first":[1]}}'),
    ("replicas that are no list", TOPIC, '{"version":1,"partitions":{"0":1}}'),
    ("an id that is a text", CONTROLLER, '{"version":1,"brokerid":"3","timestamp":"1"}'),
    ("no id", CONTROLLER, '{"version":1,"timestamp":"1"}'),
    ("a configuration of another version", CONFIG, '{"version":2,"config":{}}'),
    ("a registration of version 0", BROKER, '{"version":0,"host":"a","port":9092}'),
    ("a registration of version 2 without end points", BROKER,
     '{"version":2,"host":"a","port":9092,"jmx_port":-1,"timestamp":"1"}'),
    ("a partition without its topic", MOVES, '{"version":1,"partitions":[{"partition":0,"replicas":[1]}]}'),
)  # fmt: skip
"""What no reader of the era takes."""


def znode_cases() -> Iterator[Case]:
    """Written, lenient, refused."""
    for path, data, source in WRITTEN:
        value = _read(path, json.loads(data))
        title = f"{path} as {source} writes it" if source[0].isalpha() else f"{path} as Kafka {source} writes it"
        yield Case(
            "read_znode", title, {"path": path, "data": data}, [{"value": value}], _refs(source), _tags(path),
            since(SINCE.get(source, V082)),
        )  # fmt: skip
    yield Case(
        "read_znode", "A request to delete a topic has no data", {"path": DELETED, "data": None}, [{"value": None}],
        _refs("AdminUtils.deleteTopic"), _tags(DELETED),
    )  # fmt: skip
    for words, path, data, value in LENIENT:
        title = f"{path}: {words}"
        yield Case(
            "read_znode", title, {"path": path, "data": data}, [{"value": value}], _refs(), [*_tags(path), "lenient"],
            since(V0102 if path == BROKER else V082),
        )  # fmt: skip
    for words, path, bad in REFUSED:
        yield Case(
            "read_znode", f"{path} with {words} is none", {"path": path, "data": bad}, [{"refused": True}], _refs(),
            [*_tags(path), "hostile"], since(V090 if path == BROKER else V082),
        )  # fmt: skip
    yield Case(
        "read_znode", f"{EPOCH} with a negative epoch, which nobody writes, is none; Kafka takes it",
        {"path": EPOCH, "data": "-1"}, [{"refused": True}, {"value": -1}], _refs("ZkUtils.ControllerEpochPath"),
        [*_tags(EPOCH), "hostile"],
    )  # fmt: skip
    yield Case(
        "read_znode", f"{MOVES} with a topic that is a number is none",
        {"path": MOVES, "data": '{"version":1,"partitions":[{"topic":5,"partition":0,"replicas":[1]}]}'},
        [{"refused": True}], _refs("ZkUtils.parsePartitionReassignmentData"), [*_tags(MOVES), "hostile"],
    )  # fmt: skip


def _read(path: str, written: Any) -> Any:
    """What readers look at of what is written."""
    if not isinstance(written, dict):
        return written
    passed_over = UNREAD | {"version"}
    if path == BROKER and written["version"] > 1:
        passed_over |= {"host", "port"}
    return {key: value for key, value in written.items() if key not in passed_over}


def _refs(*sources: str) -> list[str]:
    return ["PROTOCOL.md section 2", *sources]


def _tags(path: str) -> list[str]:
    return ["bytes", "znodes", path.split("/")[1]]
