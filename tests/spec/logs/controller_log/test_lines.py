"""Lines of controller.log: each form as Kafka's sources of its version write it, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.errors import MalformedInput
from spec.formats.error_codes import ErrorCode
from spec.formats.kafka_types import V0100, V0101, V0102, V082, V090, KafkaVersion, TopicPartition
from spec.formats.request_schemas import ApiKey, PartitionError, PartitionsResponse
from spec.formats.scala_collections import set_to_seq
from spec.logs.controller_log.broker_changes import BrokerDifference, NotInIsr
from spec.logs.controller_log.channels import Connected, LeaderAndIsrNotSent, NotConnected, SendThreadStarting
from spec.logs.controller_log.elections import ImbalanceRatio, PreferredByBroker
from spec.logs.controller_log.failover import EpochIncremented, Resigned, SessionExpiredElectedAlready
from spec.logs.controller_log.isr_notification import MetadataSending, NotificationsFound
from spec.logs.controller_log.leader_selection import PreferredSelected
from spec.logs.controller_log.lines import CONTROLLER_LOG
from spec.logs.controller_log.reassignment import (
    AllCaughtUp,
    AssignmentUpdated,
    ReassignmentsDone,
    ReassignmentsFound,
    ReassignmentSkipped,
)
from spec.logs.controller_log.state_machines import PartitionMachineStarted, ReplicasInvoked
from spec.logs.controller_log.topic_deletion import DeletionAnswered
from spec.logs.controller_log.topics import TopicDifference, TopicModified
from spec.logs.controller_log.values import PartitionReplica
from spec.logs.log_lines import Line
from spec.logs.logged_answers import Answer
from spec.logs.logged_values import BrokerNode
from spec.logs.logger_lines import LoggerRegistered
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState
from tests import strategies

KINDS = [(kind, version) for kind in CONTROLLER_LOG.kinds for version in kind.templates]
TP = TopicPartition("t", 0)
OTHER = TopicPartition("t", 1)


@given(st.sampled_from(KINDS).flatmap(lambda choice: strategies.lines_of(*choice)))
def test_a_line_reads_back_as_it_was_and_is_of_one_kind(line: Line) -> None:
    text = str(line)
    assert CONTROLLER_LOG.parse(text, line.version) == line
    end = (len(text), "the end")
    kinds = [
        kind
        for kind in CONTROLLER_LOG.kinds
        if line.version in kind.templates and kind.templates[line.version].how_far(text) == end
    ]
    assert kinds == [type(line)]


def test_every_version_has_its_forms() -> None:
    """At 0.8.2.2 there are 131 calls of a logger, two pairs of them alike; two threads share 5; one line is log4j's.

    One is ours, of a fix (D61).
    """
    counts = {str(v): sum(v in kind.templates for kind in CONTROLLER_LOG.kinds) for v in KafkaVersion}
    assert counts == {"0.8.2": 136, "0.9.0": 147, "0.10.0": 147, "0.10.1": 147, "0.10.2": 150}


ANSWER = PartitionsResponse(ErrorCode.NONE, (PartitionError("t", 0, ErrorCode.NONE),))
EXAMPLES: list[tuple[Line, str, str, str]] = [
    (EpochIncremented(1, 3), "[Controller 1]: Controller 1 incremented epoch to 3", "INFO", "KafkaController"),
    (
        SessionExpiredElectedAlready(1),
        (
            "[SessionExpirationListener on 1], ZK expired, but the current controller id 1 is the same as this broker"
            " id, skip re-elect"
        ),
        "INFO",
        "KafkaController$SessionExpirationListener",
    ),
    (
        BrokerDifference(1, (3,), (), (1, 2, 3), version=V082),
        "[BrokerChangeListener on Controller 1]: Newly added brokers: 3, deleted brokers: , all live brokers: 1,2,3",
        "INFO",
        "ReplicaStateMachine$BrokerChangeListener",
    ),
    (
        NotInIsr(1, 3, TP, -1, (2,)),
        (
            "[Controller 1]: Cannot remove replica 3 from ISR of partition [t,0] since it is not in the ISR. Leader ="
            " -1 ; ISR = List(2)"
        ),
        "WARN",
        "KafkaController",
    ),
    (SendThreadStarting(1, 2), "[Controller-1-to-broker-2-send-thread], Starting ", "INFO", "RequestSendThread"),
    (
        Connected(1, 2, BrokerNode(2, "h", 9092), version=V082),
        (
            "[Controller-1-to-broker-2-send-thread], Controller 1 connected to id:2,host:h,port:9092 for sending state"
            " change requests"
        ),
        "INFO",
        "RequestSendThread",
    ),
    (
        NotConnected(1, 2, BrokerNode(2, "h", 9092), version=V082),
        (
            "[Controller-1-to-broker-2-send-thread], Controller 1's connection to broker id:2,host:h,port:9092 was"
            " unsuccessful"
        ),
        "ERROR",
        "RequestSendThread",
    ),
    (
        NotConnected(1, 2, BrokerNode(2, "h", 9092), version=V090),
        "[Controller-1-to-broker-2-send-thread], Controller 1's connection to broker Node(2, h, 9092) was unsuccessful",
        "WARN",
        "RequestSendThread",
    ),
    (
        LeaderAndIsrNotSent("Map()", version=V090),
        "Haven't been able to send leader and isr requests, current state of the map is Map()",
        "ERROR",
        "ControllerBrokerRequestBatch",
    ),
    (
        LeaderAndIsrNotSent("Map()", "java.lang.NullPointerException", version=V0101),
        (
            "Haven't been able to send leader and isr requests, current state of the map is Map(). Exception message:"
            " java.lang.NullPointerException"
        ),
        "ERROR",
        "ControllerBrokerRequestBatch",
    ),
    (
        NotificationsFound(version=V0101),
        "[IsrChangeNotificationListener] Fired!!!",
        "DEBUG",
        "IsrChangeNotificationListener",
    ),
    (
        NotificationsFound(1),
        "[IsrChangeNotificationListener on Controller 1]: ISR change notification listener fired",
        "DEBUG",
        "IsrChangeNotificationListener",
    ),
    (
        MetadataSending((1, 2), (TP, OTHER), version=V090),
        "Sending MetadataRequest to Brokers:ArrayBuffer(1, 2) for TopicAndPartitions:Set([t,0], [t,1])",
        "DEBUG",
        "IsrChangeNotificationListener",
    ),
    (
        PreferredSelected(-1, TP, version=V0101),
        (
            "[PreferredReplicaPartitionLeaderSelector]: Current leader -1 for partition [t,0] is not the preferred"
            " replica. Trigerring preferred replica leader election"
        ),
        "INFO",
        "PreferredReplicaPartitionLeaderSelector",
    ),
    (
        ImbalanceRatio(1, 2, 1 / 3),
        "[Controller 1]: leader imbalance ratio for broker 2 is 0.333333",
        "TRACE",
        "KafkaController",
    ),
    (
        PreferredByBroker(1, ((2, ((TP, (2, 3)), (OTHER, (2,)))), (9, ()))),
        "[Controller 1]: preferred replicas by broker Map(2 -> Map([t,0] -> List(2, 3), [t,1] -> List(2)), 9 -> Map())",
        "DEBUG",
        "KafkaController",
    ),
    (
        PreferredByBroker(1, ((4, ((TP, set_to_seq((4, 2, 3, 1))),)), (1, ((OTHER, (1,)),)))),
        (
            "[Controller 1]: preferred replicas by broker Map(4 -> Map([t,0] -> ArrayBuffer(4, 2, 3, 1)), 1 ->"
            " Map([t,1] -> List(1)))"
        ),
        "DEBUG",
        "KafkaController",
    ),
    (
        ReassignmentsFound(1, ((TP, (2, 3)), (OTHER, (1,)))),
        (
            "[Controller 1]: Partitions being reassigned: Map([t,0] -> ReassignedPartitionsContext(List(2, 3),null),"
            " [t,1] -> ReassignedPartitionsContext(List(1),null))"
        ),
        "INFO",
        "KafkaController",
    ),
    (
        ReassignmentsDone(1, (TP,), version=V0100),
        "[Controller 1]: Partitions already reassigned: List([t,0])",
        "INFO",
        "KafkaController",
    ),
    (
        ReassignmentsDone(1, (TP,), version=V0101),
        "[Controller 1]: Partitions already reassigned: Set([t,0])",
        "INFO",
        "KafkaController",
    ),
    (
        AssignmentUpdated(1, TP, (4, 5, 1)),
        "[Controller 1]: Updated assigned replicas for partition [t,0] being reassigned to 4,5,1 ",
        "INFO",
        "KafkaController",
    ),
    (
        AllCaughtUp(1, 2, 2, TP, version=V0101),
        (
            "[ReassignedPartitionsIsrChangeListener on controller 1]: 2/2 replicas have caught up with the leader for"
            " partition [t,0] being reassigned.Resuming partition reassignment"
        ),
        "INFO",
        "ReassignedPartitionsIsrChangeListener",
    ),
    (
        ReassignmentSkipped(1, TP, version=V082),
        (
            "[PartitionsReassignedListener on 1]: Skipping reassignment of partition [t,0] for topic t since it is"
            " currently being deleted"
        ),
        "ERROR",
        "PartitionsReassignedListener",
    ),
    (
        PartitionMachineStarted(1, ((TP, PartitionState.ONLINE), (OTHER, PartitionState.OFFLINE))),
        (
            "[Partition state machine on Controller 1]: Started partition state machine with initial state ->"
            " Map([t,0] -> OnlinePartition, [t,1] -> OfflinePartition)"
        ),
        "INFO",
        "PartitionStateMachine",
    ),
    (
        ReplicasInvoked(1, ReplicaState.OFFLINE, (PartitionReplica("t", 0, 1), PartitionReplica("a-b", 1, 2))),
        (
            "[Replica state machine on controller 1]: Invoking state change to OfflineReplica for replicas"
            " [Topic=t,Partition=0,Replica=1],[Topic=a-b,Partition=1,Replica=2]"
        ),
        "INFO",
        "ReplicaStateMachine",
    ),
    (
        DeletionAnswered(1, Answer(ANSWER, ApiKey.STOP_REPLICA, 7), version=V082),
        "[Topic Deletion Manager 1], Delete topic callback invoked for StopReplicaResponse(7,Map([t,0] -> 0),0)",
        "DEBUG",
        "TopicDeletionManager",
    ),
    (
        DeletionAnswered(1, Answer(ANSWER)),
        (
            "[Topic Deletion Manager 1], Delete topic callback invoked for"
            " {error_code=0,partitions=[{topic=t,partition=0,error_code=0}]}"
        ),
        "DEBUG",
        "TopicDeletionManager",
    ),
    (
        TopicDifference(1, ("a", "b"), (), ((TP, (2, 3)),)),
        (
            "[TopicChangeListener on Controller 1]: New topics: [Set(a, b)], deleted topics: [Set()], new partition"
            " replica assignment [Map([t,0] -> List(2, 3))]"
        ),
        "INFO",
        "PartitionStateMachine$TopicChangeListener",
    ),
    (
        TopicModified(1, '{"version":1}', "/brokers/topics/t", version=V090),
        '[AddPartitionsListener on 1]: Add Partition triggered {"version":1} for path /brokers/topics/t',
        "INFO",
        "PartitionStateMachine$AddPartitionsListener",
    ),
    (
        TopicModified(1, '{"version":1}', "/brokers/topics/t", version=V0100),
        '[AddPartitionsListener on 1]: Partition modification triggered {"version":1} for path /brokers/topics/t',
        "INFO",
        "PartitionStateMachine$PartitionModificationsListener",
    ),
    (
        TopicModified(1, '{"version":1}', "/brokers/topics/t"),
        (
            '[AddPartitionsListener on Controller 1]: Partition modification triggered {"version":1} for path'
            " /brokers/topics/t"
        ),
        "INFO",
        "PartitionStateMachine$PartitionModificationsListener",
    ),
]


@pytest.mark.parametrize(("line", "text", "level", "logger"), EXAMPLES)
def test_a_line_is_written_as_the_sources_of_its_version_write_it(
    line: Line, text: str, level: str, logger: str
) -> None:
    """The texts follow the calls of a logger in Kafka's classes at that tag."""
    assert str(line) == text
    assert (line.level, line.logger) == (level, f"kafka.controller.{logger}")
    if not isinstance(line, ImbalanceRatio):  # whose ratio is printed to six places only
        assert CONTROLLER_LOG.parse(text, line.version) == line


@pytest.mark.parametrize("ratio", ["0,000000", "0,333333", "1,000000"])
def test_where_the_locale_has_a_comma_a_ratio_reads_as_any_and_prints_as_it_stood(ratio: str) -> None:
    text = f"[Controller 1]: leader imbalance ratio for broker 2 is {ratio}"
    line = CONTROLLER_LOG.parse(text)
    assert line == CONTROLLER_LOG.parse(text.replace(",", "."))
    assert str(line) == text


def test_log4js_own_line_is_of_the_logger_that_it_names() -> None:
    text = "preRegister called. Server=com.sun.jmx.mbeanserver.JmxMBeanServer@1d0d, name=log4j:logger=kafka.controller"
    line = CONTROLLER_LOG.parse(text, V082)
    assert line == LoggerRegistered("com.sun.jmx.mbeanserver.JmxMBeanServer@1d0d", "kafka.controller", version=V082)
    assert (line.level, line.logger) == ("DEBUG", "kafka.controller")


REFUSED = [
    (
        "[Controller 1]: Controller 2 incremented epoch to 3",
        "no line of Kafka 0.10.2: expected .* at character 27, found '2 incremented",
    ),
    ("[Controller 1]: Broker 1 resigned as the controller.", "expected the end at character 51, found '.'"),
    ("[Controller x]: Controller starting up", "expected controller .*, found 'x]: Controller"),
    (
        (
            "[PartitionsReassignedListener on Controller 1]: Skipping reassignment of partition [t,0] for topic u since"
            " it is currently being deleted"
        ),
        "topic is u, but t by the rest of the text",
    ),
    ("[Controller 1]: Live brokers: 1,,2", "expected the end at character 31, found ',,2'"),
    ("[Controller 1]: Currently active brokers in the cluster: Set(1,2)", r"expected brokers \(Set\(1, 2\)\)"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_another_text_is_refused_with_what_was_expected(text: str, message: str) -> None:
    with pytest.raises(MalformedInput, match=rf"^a\.log:7: .*{message}"):
        CONTROLLER_LOG.parse(text, V0102, "a.log:7")


def test_a_line_that_a_version_does_not_have_is_not_printed() -> None:
    with pytest.raises(MalformedInput, match=r"Resigned: version: Kafka 0\.8\.2 has no such line"):
        str(Resigned(1, version=V082))
