"""What arrived at a broker, from the frames that it wrote down (`broker-N/wire.jsonl`), each with its answer.

The lines of a file are in order, so what was answered before another request arrived was known by then. A torn last
line is what a process that was killed leaves behind, and is passed over; any other line, or frame, that cannot be read
(a request of a later version, say) makes the file incomplete, and the first reason is kept.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from model_check.monitors.arrivals import NAMES, Answer, Arrival, Received, Told
from model_check.recordings.recorded_sessions import broker_of
from spec.errors import MalformedInput
from spec.formats.request_schemas import (
    ApiKey,
    LeaderAndIsrRequest,
    PartitionLeadership,
    PartitionsResponse,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from spec.formats.requests import RequestHeader, decode_request, decode_response
from spec.kafka_types import TopicPartition
from spec.logs.wire_records import WIRE_LOG, FrameAnswered, FrameReceived, ProcessStarted, WireRecord, parse_record


def received_frames(folder: Path) -> dict[int, Received]:
    """What each broker received that has written down its frames."""
    files = sorted(folder.glob(f"broker-*/{WIRE_LOG}"))
    return {broker_of(file): _received(file) for file in files}


def _received(file: Path) -> Received:
    name = f"{file.parent.name}/{file.name}"
    reader = _Frames(broker_of(file))
    lines = file.read_text(encoding="utf-8", errors="backslashreplace").split("\n")
    for number, line in enumerate(lines, start=1):
        try:
            if line:
                reader.add(f"{name}:{number}", number, parse_record(line, f"{name}:{number}"))
        except MalformedInput as error:
            if number < len(lines):
                reader.unreadable = reader.unreadable or str(error)
    return Received(tuple(reader.requests.values()), tuple(reader.starts), reader.unreadable)


class _Frames:
    """The frames of a broker put together to requests, each with its answer."""

    def __init__(self, broker: int) -> None:
        self.broker = broker
        self.starts: list[int] = []
        self.requests: dict[int, Arrival] = {}
        self.waiting: dict[str, tuple[int, RequestHeader] | None] = {}
        self.unreadable = ""

    def add(self, place: str, order: int, record: WireRecord) -> None:
        """One record more; MalformedInput if its frame is none that is known."""
        match record:
            case ProcessStarted(ms=ms):
                self.starts.append(ms)
                self.waiting.clear()
            case FrameReceived(connection=connection, data=data):
                self.waiting[connection] = None
                header, request = decode_request(data, place)
                if header.api_key in NAMES:
                    self.waiting[connection] = (order, header)
                    self.requests[order] = self._arrival(place, order, record.ms, request)
            case FrameAnswered(connection=connection, data=data):
                asked = self.waiting.pop(connection, None)
                if asked is not None:
                    number, header = asked
                    _, response = decode_response(data, ApiKey(header.api_key), header.api_version, place)
                    self._answer(number, order, response)

    def _arrival(self, place: str, order: int, ms: int, request: Any) -> Arrival:
        states, stopped, delete = {}, frozenset[TopicPartition](), False
        match request:
            case LeaderAndIsrRequest() | UpdateMetadataRequest():
                states = {one.topic_partition: _told(one) for one in request.partition_states}
            case StopReplicaRequest():
                stopped, delete = frozenset(request.partitions), request.delete_partitions
        return Arrival(
            place=place,
            ms=ms,
            order=order,
            broker=self.broker,
            incarnation=max(1, len(self.starts)),
            kind=request.api_key,
            controller=request.controller_id,
            epoch=request.controller_epoch,
            states=states,
            stopped=stopped,
            delete=delete,
        )

    def _answer(self, number: int, order: int, response: Any) -> None:
        named = response.partitions if isinstance(response, PartitionsResponse) else ()
        codes = {TopicPartition(one.topic, one.partition): int(one.error_code) for one in named}
        asked = self.requests[number]
        self.requests[number] = replace(asked, answer=Answer(order, int(response.error_code), codes))


def _told(one: PartitionLeadership) -> Told:
    return Told(one.leader, one.leader_epoch, frozenset(one.isr), one.zk_version, one.controller_epoch)
