"""What is read of a line: whatever the specification declares is known, and later releases' forms say the same."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_check.logs.facts import (
    Accepted,
    Arrived,
    Begun,
    Election,
    EpochRaised,
    EpochRead,
    Illegal,
    Received,
    Refused,
    Run,
    Stale,
)
from model_check.logs.reading import OTHER, QUIET, READ, UNKNOWN, Piece, read_piece
from spec.formats.kafka_types import KafkaVersion
from spec.logs import leader_and_isr_lines as arrivals
from spec.logs import state_change_lines as changes
from spec.logs.controller_log.lines import CONTROLLER_LOG
from spec.logs.log_lines import Line
from spec.logs.logger_lines import LoggerRegistered
from spec.logs.state_change_lines import STATE_CHANGE_LOG
from spec.tables.partition_states import PARTITION_TRANSITIONS, PartitionState
from spec.tables.table import find
from tests import strategies
from tests.model_check.logs.telling import LOGGERS, REPORTS, stamped

ZK_VERSION = "and epoch zk version is now 5"
KINDS = [(kind, version) for kind in STATE_CHANGE_LOG.kinds for version in kind.templates]
REPORTED = [
    (kind, version) for kind in CONTROLLER_LOG.kinds if kind is not LoggerRegistered for version in kind.templates
]
"""All but log4j's own line, which is of whichever logger it names."""


def read(*messages: str, logger: str = "state.change.logger") -> Piece:
    """What is read of some lines, a second apart."""
    return read_piece(stamped(one, number, logger) for number, one in enumerate(messages))


def facts(*messages: str, logger: str = "state.change.logger") -> list[Any]:
    """The facts of some lines, less the runs."""
    return [one for one in read(*messages, logger=logger).facts if not isinstance(one, Run)]


@given(st.sampled_from(KINDS), st.data())
def test_every_line_of_the_era_is_known(of: tuple[type[Line], KafkaVersion], data: st.DataObject) -> None:
    line = data.draw(strategies.lines_of(*of))
    piece = read(str(line))
    assert piece.counts[UNKNOWN] == 0, str(line)
    assert piece.counts[READ] + piece.counts[QUIET] == 1


@given(st.sampled_from(REPORTED), st.data())
def test_so_is_every_line_of_controller_log(of: tuple[type[Line], KafkaVersion], data: st.DataObject) -> None:
    line = data.draw(strategies.lines_of(*of))
    piece = read(str(line), logger=line.logger)
    assert piece.counts.total() == piece.counts[READ] + piece.counts[QUIET] == 1


@given(st.data(), st.sampled_from([*KafkaVersion]))
def test_of_a_transition_states_partition_and_writer_are_read(data: st.DataObject, version: KafkaVersion) -> None:
    line: Any = data.draw(strategies.lines_of(changes.PartitionLostLeader, version))
    piece = read(str(line))
    legal = find(PARTITION_TRANSITIONS, line.source, line.target)
    illegal = [one for one in piece.facts if isinstance(one, Illegal)]
    assert piece.moves.total() == (legal is not None)
    assert [(one.controller, one.epoch, one.source, one.target) for one in illegal] == (
        [] if legal else [(line.controller, line.epoch, line.source, line.target)]
    )
    assert dict(piece.moves) == ({legal.id: 1} if legal else {})


@given(st.data(), st.sampled_from([*KafkaVersion]))
def test_of_an_arrival_request_and_leader_epoch_are_read(data: st.DataObject, version: KafkaVersion) -> None:
    line: Any = data.draw(strategies.lines_of(arrivals.LeaderAndIsrReceived, version))
    (one,) = facts(str(line))
    partition = f"{line.partition.topic}-{line.partition.partition}"
    request = (line.controller, line.epoch, line.correlation_id)
    assert one == Received(line.broker, request, partition, line.state.leadership.leader_epoch)


@given(st.data(), st.sampled_from([*KafkaVersion]))
def test_of_an_acceptance_the_same_request_is_read(data: st.DataObject, version: KafkaVersion) -> None:
    line: Any = data.draw(strategies.lines_of(arrivals.TransitionStarted, version))
    (one,) = facts(str(line))
    assert isinstance(one, Accepted)
    assert (one.broker, one.request) == (line.broker, (line.controller, line.epoch, line.correlation_id))


LATER = {
    "[Controller id=2 epoch=5] Changed partition t-0 state from NonExistentPartition to NewPartition with assigned"
    " replicas 1,2": [Begun],
    "[Controller id=2 epoch=5] Changed partition t-0 from NewPartition to OnlinePartition with state"
    " LeaderAndIsr(leader=1, leaderEpoch=0, isr=List(1, 2), zkVersion=0)": [Election],
    "[Controller id=2 epoch=5] Changed state of replica 1 for partition t-0 from OfflineReplica to"
    " ReplicaDeletionIneligible": [],
    "[Controller id=2 epoch=5] Controller 2 epoch 5 failed to change state for partition t-0 from OfflinePartition to"
    " OnlinePartition": [Election],
    "[Controller id=2 epoch=5] Changed partition t-0 state from NewPartition to NonExistentPartition": [Illegal],
    "[Controller id=2 epoch=5] Sending LeaderAndIsr request to broker 1 with 3 become-leader and 2 become-follower"
    " partitions": [],
    "[Controller id=2 epoch=5] Sending UpdateMetadata request to brokers HashSet(1, 2) for 3 partitions": [],
    "[Broker id=1] Received LeaderAndIsr request LeaderAndIsrPartitionState(topicName='t', partitionIndex=0,"
    " controllerEpoch=5, leader=1, leaderEpoch=3, isr=[1, 2], zkVersion=4, replicas=[1, 2], addingReplicas=[],"
    " removingReplicas=[], isNew=true) correlation id 7 from controller 2 epoch 5": [Received],
    "[Broker id=1] Handling LeaderAndIsr request correlationId 7 from controller 2 epoch 5 starting the become-follower"
    " transition for partition t-0 with leader 2": [Accepted],
    "[Broker id=1] Handling LeaderAndIsr request correlationId 7 from controller 2 for 4 partitions": [],
    "[Broker id=1] Ignoring LeaderAndIsr request from controller 2 with correlation id 7 since its controller epoch 4"
    " is old. Latest known controller epoch is 5": [Refused],
    "[Broker id=1] Ignoring LeaderAndIsr request from controller 2 with correlation id 7 epoch 5 for partition t-0"
    " since its associated leader epoch 3 matches the current leader epoch": [],
    "[Broker id=1] Ignoring LeaderAndIsr request from controller 2 with correlation id 7 epoch 5 for partition t-0"
    " since its associated leader epoch 3 is smaller than the current leader epoch 4": [Refused],
    "[Broker id=1] Add 3 partitions and deleted 0 partitions from metadata cache in response to UpdateMetadata request"
    " sent by controller 2 epoch 5 with correlation id 8": [Arrived],
    "[Broker id=1] Leader t-0 starts at leader epoch 3 from offset 12 with high watermark 12. Previous leader epoch was"
    " 2.": [],
}  # fmt: skip
"""Lines of 1.1 to 2.8, from their sources and from logs that people published, with the facts that are in them."""


@pytest.mark.parametrize(("message", "kinds"), LATER.items())
def test_later_releases_say_the_same_in_other_words(message: str, kinds: list[type]) -> None:
    piece = read(message)
    assert piece.counts[UNKNOWN] == 0
    assert [type(one) for one in piece.facts if not isinstance(one, Run)] == kinds


@pytest.mark.parametrize(
    ("message", "fact"),
    [
        ("[Controller 1]: Initialized controller epoch to 4 and zk version 3", EpochRead),
        ("[Controller 1]: Controller 1 incremented epoch to 5", EpochRaised),
        ("[Controller id=1] Epoch incremented to 5", EpochRaised),
        ("[Controller id=1] Incremented epoch to 5", EpochRaised),
        (
            f"[Controller id=1] 1 successfully elected as the controller. Epoch incremented to 5 {ZK_VERSION}",
            EpochRaised,
        ),
    ],
)
def test_epochs_are_read_in_every_form(message: str, fact: type) -> None:
    found = facts(message, logger=LOGGERS[REPORTS])
    assert [(type(one), one.controller, one.epoch) for one in found] == [(fact, 1, 4 if fact is EpochRead else 5)]


@pytest.mark.parametrize(
    "message",
    [
        "Partition [t,0] on broker 2: Cached zkVersion [5] not equal to that in zookeeper, skip updating ISR",
        "[Partition t-0 broker=2] Cached zkVersion [5] not equal to that in zookeeper, skip updating ISR",
        "[Partition t-0 broker=2] Cached zkVersion 5 not equal to that in zookeeper, skip updating ISR",
    ],
)
def test_a_leader_that_is_refused_is_read_in_every_form(message: str) -> None:
    (one,) = facts(message, logger="kafka.cluster.Partition")
    assert isinstance(one, Stale)
    assert (one.broker, one.partition, one.version) == (2, "t-0", 5)


@pytest.mark.parametrize(
    "message",
    [
        "Controller 1 epoch 2 changed partition [t,0] state from Odd to NewPartition",
        "Controller 1 epoch 2 does what nobody knows",
        "Broker 1 received LeaderAndIsr request from nobody",
        "Controller 1 epoch 99999999999 elected leader 1 for Offline partition [t,0]",
        "<b>Controller</b>",
        "",
    ],
)
def test_what_is_no_known_line_is_counted_and_shown(message: str) -> None:
    piece = read(message)
    assert piece.counts[UNKNOWN] == 1
    assert piece.samples[UNKNOWN] == [(1, message)]
    assert not piece.facts


def test_lines_of_other_classes_are_counted_apart() -> None:
    piece = read("Opening socket connection", logger="org.apache.zookeeper.ClientCnxn")
    assert dict(piece.counts) == {OTHER: 1}


def test_lines_of_an_epoch_are_one_run_until_another_is_named() -> None:
    lines = [f"Controller 1 epoch {epoch} sending UpdateMetadata request to all" for epoch in (3, 3, 4, 3)]
    runs = [one for one in read(*lines).facts if isinstance(one, Run)]
    assert [(one.epoch, one.first, one.last, one.lines) for one in runs] == [(3, 1, 2, 2), (4, 3, 3, 1), (3, 4, 4, 1)]


def test_the_states_of_the_tables_are_all_that_is_known() -> None:
    for state in PartitionState:
        assert read(f"Controller 1 epoch 2 changed partition [t,0] state from {state} to {state}").counts[UNKNOWN] == 0
