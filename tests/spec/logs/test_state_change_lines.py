"""Lines of state-change.log: what real Kafkas wrote comes back unchanged, and a text is one line or is refused."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.errors import MalformedInput
from spec.formats.error_codes import ErrorCode
from spec.formats.kafka_types import V0100, V0101, V0102, V082, V090, KafkaVersion, TopicPartition
from spec.formats.request_schemas import ApiKey, PartitionError, PartitionsResponse, UpdateMetadataResponse
from spec.logs.broker_change_lines import LeaderInfoCached, StopReplicaFromOldController
from spec.logs.controller_request_lines import (
    LeaderAndIsrSending,
    ReassignmentSent,
    ResponseReceived,
    UpdateMetadataSending,
)
from spec.logs.leader_and_isr_lines import (
    BecomeLeaderUnchanged,
    LeaderAndIsrReceived,
    LeaderEpochNotHigher,
    TransitionCompleted,
    UnreadableLeaderAndIsrReceived,
)
from spec.logs.log_entries import LogEntry, read_entries
from spec.logs.log_lines import Line
from spec.logs.logged_answers import Answer
from spec.logs.logged_values import BrokerNode, PartitionInfo, Role
from spec.logs.state_change_lines import (
    STATE_CHANGE_LOG,
    ElectionAborted,
    PartitionBecameNew,
    PartitionBecameOnline,
    ReplicaChanged,
)
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState
from tests import strategies
from tests.leaderships import led

DATA = Path(__file__).parents[2] / "data"
KINDS = [(kind, version) for kind in STATE_CHANGE_LOG.kinds for version in kind.templates]
TP = TopicPartition("t", 0)


def entries(name: str) -> Iterator[LogEntry]:
    with gzip.open(DATA / f"kafka-{name}-state-change.log.gz", "rt", encoding="utf-8") as lines:
        for entry in read_entries(lines, name):
            assert isinstance(entry, LogEntry)
            yield entry


@pytest.mark.parametrize(
    ("name", "version", "count"),
    [("0.8.2", V082, 34), ("0.10.0.0", V0100, 15), ("0.10.1.0", V0101, 13), ("0.10.2.2", V0102, 158)],
)
def test_lines_of_real_kafkas_print_as_they_stood(name: str, version: KafkaVersion, count: int) -> None:
    found = list(entries(name))
    for entry in found:
        line = STATE_CHANGE_LOG.parse(entry.message, version, entry.place)
        assert (str(line), line.level, line.logger) == (entry.message, entry.level, entry.logger)
    assert len(found) == count  # the number of forms, from the table of the data


def test_the_recorded_lines_are_of_all_kinds_but_five() -> None:
    """Nothing broke in a broker, no reassignment's epoch bump failed, no state was unreadable, no JMX client came."""
    seen = {type(STATE_CHANGE_LOG.parse(entry.message, V0102)).__name__ for entry in entries("0.10.2.2")}
    assert {kind.__name__ for kind in STATE_CHANGE_LOG.kinds} - seen == {
        "ReassignmentNotSent",
        "BecomeLeaderError",
        "BecomeFollowerError",
        "UnreadableLeaderAndIsrReceived",
        "LoggerRegistered",
    }


@given(st.sampled_from(KINDS).flatmap(lambda choice: strategies.lines_of(*choice)))
def test_a_line_reads_back_as_it_was_and_is_of_one_kind(line: Line) -> None:
    text = str(line)
    assert "\n" not in text
    assert STATE_CHANGE_LOG.parse(text, line.version) == line
    end = (len(text), "the end")
    kinds = [
        kind
        for kind in STATE_CHANGE_LOG.kinds
        if line.version in kind.templates and kind.templates[line.version].how_far(text) == end
    ]
    assert kinds == [type(line)]


def test_every_version_has_its_forms() -> None:
    """40 kinds, and log4j's own; 0.8.2 lacks the skipped become-leader, and only 0.10.0 has the unreadable state."""
    counts = {str(v): sum(v in kind.templates for kind in STATE_CHANGE_LOG.kinds) for v in KafkaVersion}
    assert len(STATE_CHANGE_LOG.kinds) == 41
    assert counts == {"0.8.2": 39, "0.9.0": 40, "0.10.0": 41, "0.10.1": 40, "0.10.2": 40}
    assert BecomeLeaderUnchanged.templates.keys() == {V090, V0100, V0101, V0102}
    assert UnreadableLeaderAndIsrReceived.templates.keys() == {V0100}


INFO = PartitionInfo(led(1, 3, (1, 2), 4), (1, 2, 3))
EXAMPLES: list[tuple[Line, str]] = [
    (
        PartitionBecameNew(9, 2, TP, PartitionState.NON_EXISTENT, PartitionState.NEW, (2, 1)),
        (
            "Controller 9 epoch 2 changed partition [t,0] state from NonExistentPartition to NewPartition with assigned"
            " replicas 2,1"
        ),
    ),
    (
        PartitionBecameOnline(9, 2, TP, PartitionState.NEW, PartitionState.ONLINE, -1),
        "Controller 9 epoch 2 changed partition [t,0] from NewPartition to OnlinePartition with leader -1",
    ),
    (
        ReplicaChanged(9, 2, 1, TP, ReplicaState.ONLINE, ReplicaState.OFFLINE),
        "Controller 9 epoch 2 changed state of replica 1 for partition [t,0] from OnlineReplica to OfflineReplica",
    ),
    (
        LeaderAndIsrSending(9, 2, Role.LEADER, led(1, 3, (1, 2), 4), 1, TP, 7, version=V082),
        (
            "Controller 9 epoch 2 sending become-leader LeaderAndIsr request"
            " (Leader:1,ISR:1,2,LeaderEpoch:3,ControllerEpoch:4) with correlationId 7 to broker 1 for partition [t,0]"
        ),
    ),
    (
        UpdateMetadataSending(9, 2, led(-2, 3, (), 4), (1,), TopicPartition("a-1", 0), version=V0101),
        (
            "Controller 9 epoch 2 sending UpdateMetadata request (Leader:-2,ISR:,LeaderEpoch:3,ControllerEpoch:4)"
            " to broker 1 for partition a-1-0"
        ),
    ),
    (
        UpdateMetadataSending(9, 2, led(1, 3, (1,), 4), (), TP),
        (
            "Controller 9 epoch 2 sending UpdateMetadata request (Leader:1,ISR:1,LeaderEpoch:3,ControllerEpoch:4)"
            " to brokers Set() for partition t-0"
        ),
    ),
    (
        ReassignmentSent(9, 2, led(1, 3, (1,), 4), (1, 2), TP),
        (
            "Controller 9 epoch 2 sent LeaderAndIsr request (Leader:1,ISR:1,LeaderEpoch:3,ControllerEpoch:4) with new"
            " assigned replica list 1,2 to leader 1 for partition being reassigned [t,0]"
        ),
    ),
    (
        ElectionAborted(9, 2, TP, 3),
        (
            "Controller 9 epoch 2 aborted leader election for partition [t,0] since the LeaderAndIsr path was already"
            " written by another controller. This probably means that the current controller 9 went through a soft"
            " failure and another controller was elected with epoch 3."
        ),
    ),
    (
        ResponseReceived(
            9,
            2,
            Answer(PartitionsResponse(ErrorCode.NONE, (PartitionError("t", 0, ErrorCode.STALE_CONTROLLER_EPOCH),))),
            BrokerNode(1, "h", 9092),
        ),
        (
            "Controller 9 epoch 2 received response {error_code=0,partitions=[{topic=t,partition=0,error_code=11}]}"
            " for a request sent to broker h:9092 (id: 1 rack: null)"
        ),
    ),
    (
        ResponseReceived(9, 2, Answer(UpdateMetadataResponse(ErrorCode.NONE)), BrokerNode(1, "h", 9092), version=V090),
        "Controller 9 epoch 2 received response {error_code=0} for a request sent to broker Node(1, h, 9092)",
    ),
    (
        ResponseReceived(
            9,
            2,
            Answer(
                PartitionsResponse(ErrorCode.NONE, (PartitionError("t", 0, ErrorCode.NONE),)), ApiKey.STOP_REPLICA, 7
            ),
            BrokerNode(1, "h", 9092),
            version=V082,
        ),
        (
            "Controller 9 epoch 2 received response StopReplicaResponse(7,Map([t,0] -> 0),0) for a request sent to"
            " broker id:1,host:h,port:9092"
        ),
    ),
    (
        LeaderAndIsrReceived(1, 9, 2, 7, TP, INFO, version=V090),
        (
            "Broker 1 received LeaderAndIsr request (LeaderAndIsrInfo:(Leader:1,ISR:1,2,LeaderEpoch:3,ControllerEpoch:4"
            "),ReplicationFactor:3),AllReplicas:1,2,3) correlation id 7 from controller 9 epoch 2 for partition [t,0]"
        ),
    ),
    (
        LeaderAndIsrReceived(1, 9, 2, 7, TP, PartitionInfo(led(1, 3, (1, 2), 4, 5), (1, 2, 3))),
        (
            "Broker 1 received LeaderAndIsr request PartitionState(controllerEpoch=4, leader=1, leaderEpoch=3, isr=[1,"
            " 2], zkVersion=5, replicas=[1, 2, 3]) correlation id 7 from controller 9 epoch 2 for partition [t,0]"
        ),
    ),
    (
        LeaderEpochNotHigher(1, 9, 2, 7, TP, 3, 4, version=V0100),
        (
            "Broker 1 ignoring LeaderAndIsr request from controller 9 with correlation id 7 epoch 2 for partition [t,0]"
            " since its associated leader epoch 3 is old. Current leader epoch is 4"
        ),
    ),
    (
        TransitionCompleted(1, 9, 2, 7, TP, Role.FOLLOWER, version=V0101),
        (
            "Broker 1 completed LeaderAndIsr request correlationId 7 from controller 9 epoch 2 for the become-follower"
            " transition for partition [t,0]"
        ),
    ),
    (
        StopReplicaFromOldController(1, 2, 3, version=V090),
        "Broker 1 received stop replica request from an old controller epoch 2. Latest known controller epoch is %d 3",
    ),
    (
        LeaderInfoCached(1, 9, 2, 7, TP, INFO, version=V090),
        (
            "Broker 1 cached leader info (LeaderAndIsrInfo:(Leader:1,ISR:1,2,LeaderEpoch:3,ControllerEpoch:4),"
            "ReplicationFactor:3),AllReplicas:1,2,3) for partition [t,0] in response to UpdateMetadata request sent by"
            " controller 9 epoch 2 with correlation id 7"
        ),
    ),
]


@pytest.mark.parametrize(("line", "text"), EXAMPLES)
def test_a_line_is_written_as_the_sources_of_its_version_write_it(line: Line, text: str) -> None:
    """The texts follow the format strings of Kafka's classes at that tag."""
    assert str(line) == text
    assert STATE_CHANGE_LOG.parse(text, line.version) == line


REFUSED = [
    ("", "no line of Kafka 0.10.2: expected 'Controller ' at character 0, found ''"),
    ("preRegister called. Server=x", r"expected server \(Java object\) at character 27, found 'x'"),
    ("Controller x epoch 2 started", r"expected controller \(number, not negative\) at character 11, found 'x epoch"),
    (
        "Controller 1 epoch 2 changed state of replica 3 for partition [t,0] from OnlineReplica to Offline",
        r"expected target \(a state of a replica\) at character 90, found 'Offline'",
    ),
    ("Controller 1 epoch 2147483648 started leader election for partition [t,0]", "epoch: 2147483648 does not fit"),
    (
        "Controller 1 epoch 2 started leader election for partition [t,0] ",
        "expected the end at character 64, found ' '",
    ),
    ("Controller 1 epoch 2 started leader election for partition t-0", "character 59, found 't-0'"),
    (
        (
            "Controller 9 epoch 2 sent LeaderAndIsr request (Leader:1,ISR:1,LeaderEpoch:3,ControllerEpoch:4) with new"
            " assigned replica list 1,2 to leader 2 for partition being reassigned [t,0]"
        ),
        "leader is 2, but 1 by the rest of the text",
    ),
    (
        (
            "Broker 1 cached leader info (LeaderAndIsrInfo:(Leader:1,ISR:1,LeaderEpoch:3,ControllerEpoch:4),"
            "ReplicationFactor:2),AllReplicas:1) for partition t-0 in response to UpdateMetadata request sent by"
            " controller 9 epoch 2 with correlation id 7"
        ),
        "info: replication_factor is 2, but 1 by the rest of the text",
    ),
    (
        "Controller 9 epoch 2 received response {error_code=12} for a request sent to broker h:9092 (id: 1 rack: null)",
        "answer: error_code: 12 is no error code of this protocol",
    ),
    (
        "Controller 9 epoch 2 changed partition [t,0] state from OnlinePartition to NewPartition",
        "no line of Kafka 0.10.2",
    ),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_another_text_is_refused_with_what_was_expected(text: str, message: str) -> None:
    with pytest.raises(MalformedInput, match=rf"^a\.log:7: .*{message}"):
        STATE_CHANGE_LOG.parse(text, V0102, "a.log:7")


def test_a_line_that_a_version_does_not_have_is_not_printed() -> None:
    with pytest.raises(MalformedInput, match=r"BecomeLeaderUnchanged: version: Kafka 0\.8\.2 has no such line"):
        str(BecomeLeaderUnchanged(1, 9, 2, 7, TP, version=V082))
    with pytest.raises(MalformedInput, match=r"0\.8\.2 prints the request that it answers"):
        str(ResponseReceived(9, 2, Answer(UpdateMetadataResponse(ErrorCode.NONE)), BrokerNode(1, "h", 1), version=V082))
