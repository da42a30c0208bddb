"""A request as Kafka prints it into a log: what the builders of 0.10.2 print, where the channel manager drops one.

Older releases print a form of their own there (0.8.2 `Name: StopReplicaRequest; Version: 0; ..`), which is left out.

Kafka 0.10.2.2: `toString` of the builders in `LeaderAndIsrRequest`, `UpdateMetadataRequest` and `StopReplicaRequest`,
whose slips are kept (`LeaderAndIsRequest`, a colon for an equals sign, the blank before a comma).
"""

from collections.abc import Iterable
from functools import singledispatch

from spec.formats.request_schemas import (
    LeaderAndIsrRequest,
    LiveBroker,
    PartitionLeadership,
    Request,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from spec.logs.logged_values import NODE_0100, STATE, BrokerNode, PartitionInfo


@singledispatch
def text_of(request: Request) -> str:
    """A request as a text."""
    raise TypeError(f"no controller sends {type(request).__name__}")


@text_of.register
def _(request: LeaderAndIsrRequest) -> str:
    leaders = ", ".join(NODE_0100.write(BrokerNode(one.id, one.host, one.port)) for one in request.live_leaders)
    return f"(type=LeaderAndIsRequest, {_told(request)}, {_states(request.partition_states)}, liveLeaders=({leaders}))"


@text_of.register
def _(request: UpdateMetadataRequest) -> str:
    brokers = " ,".join(map(_broker, request.live_brokers))
    states = _states(request.partition_states)
    return f"(type: UpdateMetadataRequest=, {_told(request)}, {states}, liveBrokers={brokers})"


@text_of.register
def _(request: StopReplicaRequest) -> str:
    partitions = ",".join(f"{one.topic}-{one.partition}" for one in request.partitions)
    deletes = str(request.delete_partitions).lower()
    return f"(type=StopReplicaRequest, {_told(request)}, deletePartitions={deletes}, partitions={partitions})"


def _told(request: LeaderAndIsrRequest | UpdateMetadataRequest | StopReplicaRequest) -> str:
    return f"controllerId={request.controller_id}, controllerEpoch={request.controller_epoch}"


def _states(states: Iterable[PartitionLeadership]) -> str:
    told = (f"{one.topic}-{one.partition}={STATE.write(PartitionInfo(one.leadership, one.replicas))}" for one in states)
    return f"partitionStates={{{' ,'.join(told)}}}"


def _broker(broker: LiveBroker) -> str:
    ends = ", ".join(
        f"(host={one.host}, port={one.port}, listenerName=ListenerName({one.listener_name}), "
        "securityProtocol=PLAINTEXT)"
        for one in broker.end_points
    )
    return f"(id={broker.id}, endPoints={ends}, rack={'null' if broker.rack is None else broker.rack})"
