"""Requests as texts: as Kafka 0.10.2.2 wrote them into controller.log, or as its classes print them."""

import pytest

from reference.requests.texts import text_of
from spec.formats.kafka_types import TopicPartition
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.formats.request_schemas import (
    ControlledShutdownRequest,
    EndPoint,
    LeaderAndIsrRequest,
    LiveBroker,
    LiveLeader,
    PartitionLeadership,
    StopReplicaRequest,
    UpdateMetadataRequest,
)


def state(
    name: str, leader: int, leader_epoch: int, isr: tuple[int, ...], zk_version: int, replicas: tuple[int, ...]
) -> PartitionLeadership:
    """A partition with controller epoch 1."""
    known = LeaderIsrAndControllerEpoch(
        leader=leader, leader_epoch=leader_epoch, isr=isr, controller_epoch=1, zk_version=zk_version
    )
    topic, number = name.split("-")
    return PartitionLeadership(topic, int(number), known, replicas)


def test_leader_and_isr_is_as_a_real_controller_wrote_it() -> None:
    """Recording 02-broker-kill-restart, 18:51:33,476, of two of its five partitions."""
    states = state("rf3-1", 1, 3, (1,), 5, (2, 3, 1)), state("rf2-1", -1, 4, (3,), 6, (3, 2))
    assert text_of(LeaderAndIsrRequest(1, 1, states, (LiveLeader(1, "127.0.0.1", 22201),))) == (
        "(type=LeaderAndIsRequest, controllerId=1, controllerEpoch=1, partitionStates={rf3-1=PartitionState("
        "controllerEpoch=1, leader=1, leaderEpoch=3, isr=[1], zkVersion=5, replicas=[2, 3, 1]) ,rf2-1=PartitionState("
        "controllerEpoch=1, leader=-1, leaderEpoch=4, isr=[3], zkVersion=6, replicas=[3, 2])}, liveLeaders=("
        "127.0.0.1:22201 (id: 1 rack: null)))"
    )


def test_stop_replica_is_as_a_real_controller_wrote_it() -> None:
    """The same, 18:51:00,505, of two of its six partitions."""
    partitions = TopicPartition("rf3", 0), TopicPartition("rf1", 1)
    assert text_of(StopReplicaRequest(1, 1, False, partitions)) == (
        "(type=StopReplicaRequest, controllerId=1, controllerEpoch=1, deletePartitions=false, partitions=rf3-0,rf1-1)"
    )


def test_update_metadata_is_as_kafkas_class_prints_it() -> None:
    """`UpdateMetadataRequest.Builder.toString` of 0.10.2.2, which was run with these values."""
    states = state("a-1", 2, 5, (2, 3), 4, (2, 3)), state("orders-0", 2, 5, (2, 3), 4, (2, 3))
    brokers = tuple(
        LiveBroker(b, end_points=(EndPoint(port, "h", "PLAINTEXT"),), rack=rack)
        for b, port, rack in ((3, 9093, "r"), (2, 9092, None))
    )
    told = "PartitionState(controllerEpoch=1, leader=2, leaderEpoch=5, isr=[2, 3], zkVersion=4, replicas=[2, 3])"
    end = "(host=h, port={}, listenerName=ListenerName(PLAINTEXT), securityProtocol=PLAINTEXT)"
    assert text_of(UpdateMetadataRequest(1, 7, states, brokers)) == (
        f"(type: UpdateMetadataRequest=, controllerId=1, controllerEpoch=7, partitionStates={{a-1={told} ,orders-0="
        f"{told}}}, liveBrokers=(id=3, endPoints={end.format(9093)}, rack=r) ,"
        f"(id=2, endPoints={end.format(9092)}, rack=null))"
    )


def test_what_no_controller_sends_has_no_text() -> None:
    with pytest.raises(TypeError, match="no controller sends ControlledShutdownRequest"):
        text_of(ControlledShutdownRequest(1))
