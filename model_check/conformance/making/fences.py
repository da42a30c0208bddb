"""The fences of a broker: what it makes of a request by the epochs in it, next to those that it knows.

Expected is what PROTOCOL.md section 10 says, for each order that the epochs can have: a request of an older
controller changes nothing; of the partition LeaderAndIsr needs a strictly higher leader epoch, StopReplica and
UpdateMetadata need none. The reference, which is explored beside the specification, has rules of its own for it.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any, Final

from model_check.conformance.making.cases import Case
from model_check.conformance.vector import Object
from spec.formats.json_requests import request_to_json
from spec.formats.kafka_types import TopicPartition
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.formats.request_schemas import (
    ApiKey,
    LeaderAndIsrRequest,
    LiveBroker,
    LiveLeader,
    PartitionLeadership,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from spec.formats.requests import RequestHeader

BROKER: Final = 2
KNOWN, TOLD = 5, {"older": 4, "same": 5, "newer": 6}
"""The controller epoch that the broker knows, and those that it is sent."""
LEADER_EPOCHS: Final = ((-1, 0), (-1, 7), (0, 0), (3, 0), (3, 2), (3, 3), (3, 4), (3, 7), (3, 9))
"""Leader epochs: known, where -1 is no epoch, and sent."""
CACHED: Final = {-1: -1, 0: 2, 3: 7}
"""What the metadata cache has then: UpdateMetadata may have come first."""
DELETED: Final = -2
"""The leader by which UpdateMetadata says that a partition is gone."""


def fence_cases() -> Iterator[Case]:
    """LeaderAndIsr, StopReplica with delete and without, UpdateMetadata; of a broker that has just started, too."""
    for controller, (known, told) in product(TOLD.values(), LEADER_EPOCHS):
        knows = _knows(KNOWN, known)
        about = f"leader epoch {told} where {known} is known"
        yield _case(f"LeaderAndIsr, {about}", knows, LeaderAndIsrRequest(1, controller, (_led(told),), LEADERS))
        yield _case(f"UpdateMetadata, {about}", knows, UpdateMetadataRequest(1, controller, (_led(told),), BROKERS))
    for controller, known, delete in product(TOLD.values(), (-1, 3), (False, True)):
        stops = StopReplicaRequest(1, controller, delete, (TopicPartition("orders", 0),))
        words = f"StopReplica {'with' if delete else 'without'} delete, where leader epoch {known} is known"
        yield _case(words, _knows(KNOWN, known), stops)
    for controller, known in product(TOLD.values(), (-1, 3)):
        gone = UpdateMetadataRequest(1, controller, (_led(0, leader=DELETED),), BROKERS)
        yield _case(f"UpdateMetadata, the partition is gone, leader epoch {known} is known", _knows(KNOWN, known), gone)
    for controller in (1, 7):
        first = (_led(0, decided_in=1),)
        yield _case("LeaderAndIsr to a new process", NOTHING, LeaderAndIsrRequest(1, controller, first, LEADERS))
        yield _case("UpdateMetadata to a new process", NOTHING, UpdateMetadataRequest(1, controller, first, BROKERS))
        stops = StopReplicaRequest(1, controller, True, (TopicPartition("orders", 0),))
        yield _case("StopReplica with delete to a new process", NOTHING, stops)


LEADERS: Final = (LiveLeader(BROKER, "b", 9092),)
BROKERS: Final = (LiveBroker(1, "a", 9092), LiveBroker(BROKER, "b", 9092))


def _led(leader_epoch: int, leader: int = BROKER, decided_in: int = 4) -> PartitionLeadership:
    state = LeaderIsrAndControllerEpoch(
        leader=leader, leader_epoch=leader_epoch, isr=(2, 3), controller_epoch=decided_in, zk_version=9
    )
    return PartitionLeadership("orders", 0, state, (2, 3, 1))


def _knows(controller_epoch: int, leader_epoch: int) -> Object:
    cached = CACHED[leader_epoch]
    return {"controller_epoch": controller_epoch, "leader_epoch": leader_epoch, "cached_leader_epoch": cached}


NOTHING: Final = _knows(0, -1)
"""What a process knows that has just begun."""


def _case(words: str, knows: Object, request: Any) -> Case:
    outcome = _outcome(knows, request)
    epochs = f"controller epoch {request.controller_epoch} where {knows['controller_epoch']} is known"
    does = "is fenced off" if outcome["fenced"] else "is obeyed"
    told = request_to_json(RequestHeader(request.api_key, 0, 7, "1"), request)
    return Case(
        "fence", f"{words}, {epochs}: {does}", {"broker": BROKER, "knows": knows, "request": told}, [outcome],
        ["PROTOCOL.md section 10", SOURCES[request.api_key]], ["fences", told["name"]],
    )  # fmt: skip


SOURCES: Final = {
    ApiKey.LEADER_AND_ISR: "ReplicaManager.becomeLeaderOrFollower",
    ApiKey.STOP_REPLICA: "ReplicaManager.stopReplicas",
    ApiKey.UPDATE_METADATA: "ReplicaManager.maybeUpdateMetadataCache",
}


def _outcome(knows: Object, request: Any) -> Object:
    """Whether the broker disregards the request, or what it says of the partition, and what it knows after that."""
    if request.controller_epoch < knows["controller_epoch"]:
        return {"fenced": True, "knows": knows}
    knows = knows | {"controller_epoch": request.controller_epoch}
    match request:
        case LeaderAndIsrRequest(partition_states=(told,)):
            if told.leadership.leader_epoch <= knows["leader_epoch"]:
                return {"fenced": True, "knows": knows}
            return {"fenced": False, "knows": knows | {"leader_epoch": told.leadership.leader_epoch}}
        case StopReplicaRequest(delete_partitions=True):
            return {"fenced": False, "knows": knows | {"leader_epoch": -1}}
        case UpdateMetadataRequest(partition_states=(told,)):
            epoch = -1 if told.leadership.leader == DELETED else told.leadership.leader_epoch
            return {"fenced": False, "knows": knows | {"cached_leader_epoch": epoch}}
    return {"fenced": False, "knows": knows}
