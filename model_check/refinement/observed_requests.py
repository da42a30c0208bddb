"""Observations of requests: what a controller queues or drops, and what a broker makes of it."""

from collections.abc import Iterator

from model_check.refinement.expected_observations import Seen
from model_check.stepping.leadership_words import in_words
from reference.journal import RequestHandled, RequestSent, ShutdownAnswered, ShutdownBegun, ShutdownRequested
from reference.memory.cluster import MemoryCluster
from spec.formats.error_codes import ErrorCode
from spec.formats.request_schemas import (
    LeaderAndIsrRequest,
    PartitionLeadership,
    PartitionsResponse,
    Response,
    StopReplicaRequest,
    UpdateMetadataRequest,
)


def queued(after: MemoryCluster, sent: RequestSent) -> Iterator[Seen]:
    """A request that was put on a broker's queue, if the scope's connections carry it."""
    role, request = f"controller {sent.controller}", sent.request.request
    if not isinstance(request, after.carried):
        return
    if isinstance(request, UpdateMetadataRequest):
        yield Seen(role, "queue UpdateMetadata", {"broker": sent.broker})
    elif isinstance(request, LeaderAndIsrRequest):
        for state in request.partition_states:
            yield Seen(role, "queue LeaderAndIsr", {"broker": sent.broker, **_told(after, state)})
    elif isinstance(request, StopReplicaRequest):
        for partition in request.partitions:
            fields = {"broker": sent.broker, "partition": after.partitions.index(partition)}
            yield Seen(role, "queue StopReplica", {**fields, "delete": int(request.delete_partitions)})


def dropped(after: MemoryCluster, sent: RequestSent) -> Iterator[Seen]:
    """A request to a broker without a channel; only of StopReplica does the specification tell."""
    request = sent.request.request
    for partition in request.partitions if isinstance(request, StopReplicaRequest) else ():
        fields = {"broker": sent.broker, "partition": after.partitions.index(partition)}
        yield Seen(f"controller {sent.controller}", "drop StopReplica", fields)


def handled(after: MemoryCluster, done: RequestHandled) -> Iterator[Seen]:
    """A request that a broker carried out, or refused."""
    role, request, response = f"broker {done.broker}", done.request, done.response
    sender = {"controller": getattr(request, "controller_id", 0), "epoch": getattr(request, "controller_epoch", 0)}
    refused = getattr(response, "error_code", None) is ErrorCode.STALE_CONTROLLER_EPOCH
    known = after.processes[done.broker].broker.controller_epoch
    if isinstance(request, UpdateMetadataRequest):
        alive = {} if refused else {"alive": frozenset(live.id for live in request.live_brokers)}
        yield Seen(role, "refuse UpdateMetadata" if refused else "cache metadata", {**sender, **alive})
    elif isinstance(request, StopReplicaRequest):
        yield from _stopped(after, role, request, response, sender)
    elif refused:
        yield Seen(role, "refuse LeaderAndIsr", {**sender, "known": known})
    elif isinstance(request, LeaderAndIsrRequest) and isinstance(response, PartitionsResponse):
        if any(error.error_code is ErrorCode.UNKNOWN for error in response.partitions):
            yield Seen(role, "fail LeaderAndIsr", sender)
            return
        for state, error in zip(request.partition_states, response.partitions, strict=True):
            yield Seen(role, _decision(after, done.broker, state, error.error_code), _told(after, state))


def _stopped(
    after: MemoryCluster, role: str, request: StopReplicaRequest, response: Response, sender: dict[str, object]
) -> Iterator[Seen]:
    """What a broker made of a StopReplica: it is refused as one of an old controller, or of an old leader epoch."""
    codes = {getattr(response, "error_code", None), *(one.error_code for one in getattr(response, "partitions", ()))}
    if ErrorCode.STALE_CONTROLLER_EPOCH in codes:
        yield Seen(role, "refuse StopReplica", sender)
        return
    for partition in request.partitions:
        place = {"partition": after.partitions.index(partition)}
        if ErrorCode.UNKNOWN in codes:
            yield Seen(role, "fail StopReplica", {**sender, **place})
        else:
            yield Seen(role, "stop replica", {**place, "delete": int(request.delete_partitions)})


def _decision(after: MemoryCluster, b: int, state: PartitionLeadership, code: ErrorCode) -> str:
    """What a broker made of one partition of a LeaderAndIsr."""
    if code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
        return "is not assigned"
    if code is not ErrorCode.NONE:
        return "ignore LeaderAndIsr"
    if state.leadership.leader == b:
        return "become leader"
    known = after.processes[b].broker.partition(state.topic_partition).leadership
    stored = known.leader_epoch == state.leadership.leader_epoch
    return "become follower" if stored else "cannot become follower"


def _told(after: MemoryCluster, state: PartitionLeadership) -> dict[str, object]:
    return {"partition": after.partitions.index(state.topic_partition), **in_words(state.leadership)}


def of_a_shutdown(entry: ShutdownRequested | ShutdownBegun | ShutdownAnswered) -> Seen:
    """A broker asks for a controlled shutdown; a controller begins with it, answers or refuses."""
    match entry:
        case ShutdownRequested(broker=b, controller=c):
            return Seen(f"broker {b}", "send ControlledShutdown", {"controller": c})
        case ShutdownBegun(controller=c, broker=b):
            return Seen(f"controller {c}", "begin ControlledShutdown", {"broker": b})
        case ShutdownAnswered(controller=c, broker=b, response=response) if response.error_code is ErrorCode.NONE:
            remaining = bool(response.partitions_remaining)
            return Seen(f"controller {c}", "answer ControlledShutdown", {"broker": b, "remaining": remaining})
        case ShutdownAnswered(controller=c, broker=b):
            return Seen(f"controller {c}", "refuse ControlledShutdown", {"broker": b})
