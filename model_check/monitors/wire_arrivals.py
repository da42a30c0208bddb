"""What arrived at a broker, from the frames that it wrote down (`broker-N/wire.jsonl`), each with its answer.

The lines of a file are in order, so what was answered before another request arrived was known by then. A file that
does not begin with the start of a process does not tell them apart, and a frame that cannot be read (a request of a
later version, say) makes the file incomplete: the first reason is kept, and each request of which it is so.

As in its logs, a process that is killed may leave a torn end, which is passed over, and reported. The next one goes on
in the same line, with the record of its start; so a record is torn there or at the end of the file, and one that is
wrong anywhere else is refused.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from model_check.monitors.arrivals import NAMES, Answer, Arrival, Received, Unread, in_no_order
from model_check.recordings.sessions import broker_of
from spec.errors import MalformedInput
from spec.formats import request_schemas as schemas
from spec.formats.kafka_types import TopicPartition
from spec.formats.requests import RequestHeader, decode_request, decode_response
from spec.formats.unreadable_requests import unreadable_request
from spec.logs.wire_records import WIRE_LOG, FrameAnswered, FrameReceived, ProcessStarted, WireRecord, parse_record

BRACED: Final = re.compile(r"(\{[^{}]*\})")
"""How the record of a start looks, which has braces only at its ends."""


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
    return Received(requests, starts, reader.unreadable, tuple(reader.unread), torn_ends=wire.torn_ends)


class _Frames:
    """The frames of a broker put together to requests, each with its answer."""

    def __init__(self, broker: int) -> None:
        self.broker = broker
        self.starts: list[int] = []
        self.requests: dict[int, Arrival] = {}
        self.waiting: dict[str, tuple[int, RequestHeader] | None] = {}
        self.unreadable = ""
        self.unread: list[Unread] = []

    def add(self, place: str, order: int, record: WireRecord) -> None:
        """One record more; MalformedInput if its frame is of no known kind."""
        match record:
            case ProcessStarted(ms=ms):
                self.starts.append(ms)
                self.waiting.clear()
            case FrameReceived(connection=connection, data=data):
                self.waiting[connection] = None
                header, request = self._request(data, place)
                if header.api_key in NAMES:
                    self.waiting[connection] = (order, header)
                    self.requests[order] = self._arrival(place, order, record.ms, request)
            case FrameAnswered(connection=connection, data=data):
                asked = self.waiting.pop(connection, None)
                if asked is not None:
                    number, header = asked
                    _, response = decode_response(data, schemas.ApiKey(header.api_key), header.api_version, place)
                    self._answer(number, order, response)

    def _request(self, data: bytes, place: str) -> tuple[RequestHeader, schemas.Request]:
        try:
            return decode_request(data, place)
        except MalformedInput:
            if (why := unreadable_request(data)) is not None:
                self.unread.append(Unread(place, str(why), why.is_known))
            raise

    def _arrival(self, place: str, order: int, ms: int, request: Any) -> Arrival:
        states, assigned, named, stopped, delete = {}, {}, None, frozenset[TopicPartition](), False
        match request:
            case schemas.LeaderAndIsrRequest(live_leaders=some) | schemas.UpdateMetadataRequest(live_brokers=some):
                states = {one.topic_partition: in_no_order(one.leadership) for one in request.partition_states}
                assigned = {one.topic_partition: frozenset(one.replicas) for one in request.partition_states}
                named = frozenset(one.id for one in some)
            case schemas.StopReplicaRequest():
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
            assigned=assigned,
            named=named,
            stopped=stopped,
            delete=delete,
        )

    def _answer(self, number: int, order: int, response: Any) -> None:
        named = response.partitions if isinstance(response, schemas.PartitionsResponse) else ()
        codes = {TopicPartition(one.topic, one.partition): int(one.error_code) for one in named}
        asked = self.requests[number]
        self.requests[number] = replace(asked, answer=Answer(order, int(response.error_code), codes))


# ------------------------------------------------------------------------------------- the records of a file


@dataclass(frozen=True)
class WireLog:
    """The records of a broker's file in their order, each behind its place; and the places of those that are torn."""

    records: tuple[tuple[str, WireRecord], ...]
    torn_ends: tuple[str, ...]


def read_wire(file: Path) -> WireLog:
    """The records of a file; MalformedInput names the line that is not one."""
    records: list[tuple[str, WireRecord]] = []
    torn_ends = []
    for piece, after in pairwise((*_pieces(file), None)):
        if piece is None:
            break
        found = _record(piece.text, piece.place)
        if isinstance(found, WireRecord):
            records.append((piece.place, found))
        elif not piece.is_ended and (after is None or isinstance(_record(after.text), ProcessStarted)):
            torn_ends.append(piece.place)
        else:
            raise found
    return WireLog(tuple(records), tuple(torn_ends))


@dataclass(frozen=True)
class _Piece:
    """A text that is a record, or torn; `is_ended`: its line ends behind it."""

    place: str
    text: str
    is_ended: bool


def _pieces(file: Path) -> Iterator[_Piece]:
    with file.open(encoding="utf-8", errors="backslashreplace") as lines:
        for number, line in enumerate(lines, start=1):
            place = f"{file.parent.name}/{file.name}:{number}"
            text, is_ended = line.rstrip("\n"), line.endswith("\n")
            *before, last = [text] if isinstance(_record(text, place), WireRecord) else _parts(text)
            yield from (_Piece(place, one, is_ended=False) for one in before)
            yield _Piece(place, last, is_ended)


def _parts(text: str) -> list[str]:
    """A line that is no record, cut before and behind each start in it."""
    parts = [""]
    for one in BRACED.split(text):
        if isinstance(_record(one), ProcessStarted):
            parts += [one, ""]
        else:
            parts[-1] += one
    return list(filter(None, parts)) or [""]


def _record(text: str, place: str = "") -> WireRecord | MalformedInput:
    try:
        return parse_record(text, place)
    except MalformedInput as error:
        return error
