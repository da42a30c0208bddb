"""What arrived at a broker, from the frames that it wrote down (`broker-N/wire.jsonl`), each with its answer.

The lines of a file are in order, so what was answered before another request arrived was known by then. A file that
does not begin with the start of a process does not tell them apart, and a frame that cannot be read (a request of a
later version, say) makes the file incomplete: the first reason is kept. Torn ends are passed over, and told.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from model_check.monitors.arrivals import NAMES, Answer, Arrival, Received, in_no_order
from model_check.recordings.sessions import broker_of
from model_check.recordings.wire import read_wire
from spec.errors import MalformedInput
from spec.formats.kafka_types import TopicPartition
from spec.formats.request_schemas import (
    ApiKey,
    LeaderAndIsrRequest,
    PartitionsResponse,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from spec.formats.requests import RequestHeader, decode_request, decode_response
from spec.logs.wire_records import WIRE_LOG, FrameAnswered, FrameReceived, ProcessStarted, WireRecord


def received_frames(folder: Path) -> dict[int, Received]:
    """What each broker received that has written down its frames."""
    files = sorted(folder.glob(f"broker-*/{WIRE_LOG}"))
    return {broker_of(file): _received(file) for file in files}


def _received(file: Path) -> Received:
    wire = read_wire(file)
    if not wire.records or not isinstance(wire.records[0][1], ProcessStarted):
        reason = f"{file.parent.name}/{file.name} does not begin with the start of a process"
        return Received((), unreadable=reason, torn_ends=wire.torn_ends)
    reader = _Frames(broker_of(file))
    for order, (place, record) in enumerate(wire.records):
        try:
            reader.add(place, order, record)
        except MalformedInput as error:
            reader.unreadable = reader.unreadable or str(error)
    requests, starts = tuple(reader.requests.values()), tuple(reader.starts)
    return Received(requests, starts, reader.unreadable, torn_ends=wire.torn_ends)


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
                states = {one.topic_partition: in_no_order(one.leadership) for one in request.partition_states}
            case StopReplicaRequest():
                stopped, delete = frozenset(request.partitions), request.delete_partitions
        return Arrival(
            place=place,
            ms=ms,
            order=order,
            broker=self.broker,
            incarnation=len(self.starts),
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
