"""What the face shows: what a process knows, what ZooKeeper holds and what has happened, as plain JSON.

Partitions are named `orders-0`, states by Kafka's names, sets are sorted lists, requests as Kafka's message definitions
have them (`kcheck show requests --json`).
"""

import enum
import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any, TypeAlias

from reference.brokers.broker import Broker
from reference.controller.context import RequestBatch
from reference.controller.controller import KafkaController
from reference.journal import Entry, OperationDone, Report, RequestHandled, RequestSent, ShutdownAnswered, StateChange
from reference.memory.cluster import MemoryCluster
from reference.memory.process import MemoryProcess
from reference.procedures import snake_case
from reference.requests.connections import QueuedRequest
from reference.zookeeper.api import Create, Delete, OperationRefused, SetData
from spec.formats.error_codes import ErrorCode
from spec.formats.json_requests import body_to_json, response_to_json
from spec.formats.kafka_types import V082, V090, KafkaVersion, TopicPartition
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.formats.request_schemas import (
    ApiKey,
    ControlledShutdownResponse,
    LeaderAndIsrRequest,
    PartitionsResponse,
    Request,
    Response,
    UpdateMetadataResponse,
    api_version,
)

Json: TypeAlias = Any
"""What JSON can hold: objects, lists, texts, numbers, booleans and null."""


def partition_name(partition: TopicPartition) -> str:
    """A partition as Kafka's tools name it: `orders-0`."""
    return f"{partition.topic}-{partition.partition}"


def leadership_to_json(known: LeaderIsrAndControllerEpoch) -> Json:
    """A leadership, as a cache has it."""
    return {
        "leader": known.leader, "leader_epoch": known.leader_epoch, "isr": list(known.isr),
        "controller_epoch": known.controller_epoch, "zk_version": known.zk_version,
    }  # fmt: skip


def process_to_json(cluster: MemoryCluster, process: MemoryProcess, release: KafkaVersion) -> Json:
    """A broker process: whether it runs, what its broker and its controller know, and what waits."""
    running = process.running
    return {
        "runs": process.is_running,
        "session_lives": cluster.can_operate(process),
        "callbacks": [str(getattr(one, "name", one)) for one in process.events],
        "handler_waits_to": [one.action for one in running.options] if running is not None else [],
        "broker": broker_to_json(process.broker),
        "controller": None if process.controller is None else controller_to_json(process.controller, release),
    }


def broker_to_json(broker: Broker) -> Json:
    """What a broker knows, and the logs on its disk."""
    return {
        "controller_epoch": broker.controller_epoch,
        "partitions": {
            partition_name(tp): {
                **leadership_to_json(known.leadership),
                "assigned": list(known.assigned_replicas),
                "fetches": not known.is_idle and known.leadership.leader not in (broker.broker_id, -1),
            }
            for tp, known in sorted(broker.partitions.items())
        },
        "cached_leader_epochs": _by_partition(broker.cached_epochs),
        "alive": None if broker.alive is None else sorted(broker.alive),
        "isr_changes": _names(broker.isr_changes),
        "logs": _names(broker.logs),
    }


def controller_to_json(one: KafkaController, release: KafkaVersion) -> Json:
    """What a controller knows: its caches, its two state machines, and the requests that wait in its channels."""
    context, manager = one.context, one.context.controller_channel_manager
    replicas: dict[str, dict[str, str]] = {}
    for (tp, broker), state in sorted(one.replica_machine.states.items()):
        replicas.setdefault(partition_name(tp), {})[str(broker)] = str(state)
    queues = {} if manager is None else manager.queues
    return {
        "active": one.is_active,
        "leader_id": one.leader_id,
        "epoch": context.epoch,
        "epoch_zk_version": context.epoch_zk_version,
        "live": sorted(context.live_broker_ids),
        "shutting_down": sorted(context.shutting_down_broker_ids),
        "topics": sorted(context.all_topics),
        "assignment": {name: list(ids) for name, ids in _by_partition(context.partition_replica_assignment).items()},
        "leadership": {
            name: leadership_to_json(known) for name, known in _by_partition(context.partition_leadership_info).items()
        },
        "partition_states": {name: str(state) for name, state in _by_partition(one.partition_machine.states).items()},
        "replica_states": replicas,
        "reassigning": {name: list(ids) for name, ids in _by_partition(context.partitions_being_reassigned).items()},
        "electing": _names(context.partitions_undergoing_election),
        "deleting": sorted(one.deleting.queued),
        "ineligible": sorted(one.deleting.ineligible),
        "listens_to": sorted(one.listeners),
        "unsent": {name: batch_to_json(batch) for name, batch in _batches(one) if batch.is_dirty},
        "queues": {str(b): [queued_to_json(queued, release) for queued in queue] for b, queue in queues.items()},
    }


def _batches(one: KafkaController) -> tuple[tuple[str, RequestBatch], ...]:
    """The batch of the controller, and those of its two state machines."""
    return ("controller", one.batch), ("partition", one.partition_batch), ("replica", one.replica_batch)


def batch_to_json(batch: RequestBatch) -> Json:
    """What an earlier call has left in a batch: it will never be sent, and the next call of its owner fails on it."""
    return {
        "LeaderAndIsr": {str(b): _names(states) for b, states in sorted(batch.leader_and_isr.items())},
        "UpdateMetadata": {"brokers": sorted(batch.metadata_receivers), "partitions": _names(batch.metadata)},
        "StopReplica": {
            str(b): [{"partition": partition_name(tp), "delete": delete} for tp, delete, _ in entries]
            for b, entries in sorted(batch.stop_replica.items())
        },
    }


def request_to_json(request: Request, release: KafkaVersion) -> Json:
    """A request, in the version in which a release sends it."""
    return body_to_json(request, api_version(request.api_key, release))


def queued_to_json(queued: QueuedRequest, release: KafkaVersion) -> Json:
    """A request that waits in a channel; its batch numbers the call that put it there."""
    return {**request_to_json(queued.request, release), "batch": queued.batch, "answered": queued.answer is not None}


def shutdown_to_json(answer: ControlledShutdownResponse, release: KafkaVersion) -> Json:
    """The answer to ControlledShutdown; in 0.8.2 whatever it is refused for comes to -1."""
    if answer.error_code is not ErrorCode.NONE and release is V082:
        answer = replace(answer, error_code=ErrorCode.UNKNOWN)
    key = ApiKey.CONTROLLED_SHUTDOWN
    return response_to_json(answer, key, api_version(key, release))


def answer_to_json(answer: Response, request: Request, release: KafkaVersion, version: int) -> Json:
    """What a broker answers a controller, with the codes of its release."""
    return response_to_json(_as_coded(answer, request, release), request.api_key, version)


def _as_coded(answer: Response, request: Request, release: KafkaVersion) -> Response:
    """Up to 0.9.0 a stale leader epoch has a code of its own; 0.8.2 says nothing of a broker that is not assigned."""
    stale = ErrorCode.STALE_CONTROLLER_EPOCH
    if release is V082 and answer == UpdateMetadataResponse(stale):
        return UpdateMetadataResponse(ErrorCode.UNKNOWN)
    if release > V090 or not (isinstance(request, LeaderAndIsrRequest) and isinstance(answer, PartitionsResponse)):
        return answer
    left_out = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if release is V082 else None
    coded = tuple(
        replace(one, error_code=ErrorCode.STALE_LEADER_EPOCH) if one.error_code is stale else one
        for one in answer.partitions
        if one.error_code is not left_out
    )
    return replace(answer, partitions=coded)


def znodes_to_json(cluster: MemoryCluster) -> Json:
    """Every znode by its path, in order: its data, its data version, and of an ephemeral one whose it is."""
    owners = {process.session: b for b, process in cluster.processes.items() if process.session is not None}
    return {
        path: {"data": data_to_json(znode.data), "version": znode.version}
        | ({"owner": owners.get(znode.ephemeral_owner)} if znode.ephemeral_owner else {})
        for path, znode in sorted(cluster.zookeeper.tree.items())
    }


def data_to_json(data: bytes | None) -> Json:
    """The data of a znode: what the JSON in it holds, or the text; null if there are none."""
    if data is None:
        return None
    text = data.decode(errors="replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


# ------------------------------------------------------------------------------------------------------ what happened


class Happened:
    """What has happened, in order: it is kept as it was recorded, and is JSON for the caller."""

    def __init__(self, release: KafkaVersion) -> None:
        self._release = release
        self._kept: list[tuple[Entry, int, str]] = []
        self._told: list[Json] = []

    def __len__(self) -> int:
        return len(self._kept)

    def note(self, entries: list[Entry], actor: int, step: str = "") -> None:
        """Keep what happened in a step that `actor` took, and empty the list of it."""
        self._kept += ((entry, actor, step) for entry in entries)
        entries.clear()

    def since(self, number: int = 0) -> list[Json]:
        """What happened after so many things, each with its `kind`, and the `step` in which it did."""
        for entry, actor, step in self._kept[len(self._told) :]:
            kind = KINDS.get(type(entry), snake_case(type(entry).__name__))
            told = {"kind": kind, **_told(entry, actor, self._release)}
            self._told.append({**told, "step": step} if step else told)
        return self._told[number:]

    def forget(self) -> None:
        """Begin anew."""
        self._kept.clear()
        self._told.clear()


KINDS: Mapping[type[Entry], str] = {
    StateChange: "log", Report: "log", RequestSent: "request", RequestHandled: "answer", OperationDone: "zookeeper",
}  # fmt: skip


def _told(entry: Entry, actor: int, release: KafkaVersion) -> Json:
    match entry:
        case StateChange(line) | Report(line):
            by = getattr(line, "controller", getattr(line, "broker", actor))
            log = "state-change.log" if isinstance(entry, StateChange) else "controller.log"
            return {"log": log, "by": by, "level": line.level, "line": str(line)}
        case RequestSent(controller, broker, queued, is_queued):
            told = {"batch": queued.batch, "request": request_to_json(queued.request, release)}
            return {"from": controller, "to": broker, "queued": is_queued, **told}
        case RequestHandled(broker, request, response):
            answer = answer_to_json(response, request, release, api_version(request.api_key, release))
            return {"by": broker, "request": request_to_json(request, release), "answer": answer}
        case OperationDone(process, operation, came):
            refused = type(came).__name__ if isinstance(came, OperationRefused) else None
            written = {"data": data_to_json(operation.data)} if isinstance(operation, Create | SetData) else {}
            expected = {"version": operation.version} if isinstance(operation, SetData | Delete) else {}
            operated = {"operation": type(operation).__name__, "path": operation.path, **written, **expected}
            return {"by": process, **operated, "refused": refused}
        case ShutdownAnswered(controller, broker, response):
            return {"controller": controller, "broker": broker, "answer": shutdown_to_json(response, release)}
    other: Any = entry
    return {one.name: _plain(getattr(other, one.name)) for one in fields(other)}


def _plain(value: object) -> Json:
    """A field of an entry, as JSON."""
    match value:
        case TopicPartition():
            return partition_name(value)
        case enum.Enum():
            return value.name.lower()
        case frozenset() | set():
            return sorted(map(_plain, value))
        case tuple() | list():
            return [_plain(one) for one in value]
        case None | bool() | int() | str():
            return value
    return str(value)


def _by_partition(known: Mapping[TopicPartition, Any]) -> dict[str, Any]:
    return {partition_name(tp): known[tp] for tp in sorted(known)}


def _names(partitions: Iterable[TopicPartition]) -> list[str]:
    return [partition_name(one) for one in sorted(partitions)]
