"""What a broker writes down of the controller's requests: each frame that it received, and the frame it answered with.

    {"ms":1795201009071,"started":true}
    {"ms":1795201009644,"connection":"127.0.0.1:19092-127.0.0.1:51034","received":"AAQAAAAAAAAAATEAAAAB..."}
    {"ms":1795201009648,"connection":"127.0.0.1:19092-127.0.0.1:51034","answered":"AAAAAAAAAAAAAA=="}

One line for each process that starts, one for each frame as its last byte has arrived, and one as its answer goes out.
A frame is what stands between two sizes on the wire, in base64, as `spec/formats/requests.py` reads it. Only requests
of a controller, and those of a broker that asks it to be let go, are written. Torn ends are `recorded_wire`'s. What
else whoever writes such a file must know stands in `model_check/RECORDING.md`, "What arrived".
"""

import base64
import json
from dataclasses import dataclass
from typing import Final, TypeVar

from spec.errors import MalformedInput

Kind = TypeVar("Kind")

WIRE_LOG: Final = "wire.jsonl"
"""The file of a broker, beside its logs."""


@dataclass(frozen=True, kw_only=True)
class WireRecord:
    """One line: when it happened, in milliseconds since 1970."""

    ms: int


@dataclass(frozen=True, kw_only=True)
class ProcessStarted(WireRecord):
    """A process of the broker has started; what those before it knew is gone."""


@dataclass(frozen=True, kw_only=True)
class Frame(WireRecord):
    """A frame on a connection, which is named by its two ends, the broker's first; `data` is without its size."""

    connection: str
    data: bytes


@dataclass(frozen=True, kw_only=True)
class FrameReceived(Frame):
    """A request has arrived, all of it."""


@dataclass(frozen=True, kw_only=True)
class FrameAnswered(Frame):
    """The answer to the last request of this connection goes out."""


KINDS: Final[dict[str, type[Frame]]] = {"received": FrameReceived, "answered": FrameAnswered}


def print_record(record: WireRecord) -> str:
    """The line of a record, without its end."""
    match record:
        case ProcessStarted():
            fields: dict[str, object] = {"started": True}
        case Frame(connection=connection, data=data):
            (name,) = (name for name, kind in KINDS.items() if isinstance(record, kind))
            fields = {"connection": connection, name: base64.b64encode(data).decode()}
        case _:
            raise TypeError(f"{record!r} is no record of the wire")
    return json.dumps({"ms": record.ms, **fields}, separators=(",", ":"))


def parse_record(line: str, source: str = "line") -> WireRecord:
    """The record that a line is; MalformedInput says what is wrong with it."""
    try:
        fields = json.loads(line)
        ms = _of_kind(int, fields.pop("ms"))
        if fields == {"started": True}:
            return ProcessStarted(ms=ms)
        connection = _of_kind(str, fields.pop("connection"))
        ((name, data),) = fields.items()
        return KINDS[name](ms=ms, connection=connection, data=base64.b64decode(data, validate=True))
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        reason = f"is no record of the wire, with ms and started, or connection and received or answered ({error})"
        raise MalformedInput(source, "", reason) from error


def _of_kind(kind: type[Kind], given: object) -> Kind:
    if not isinstance(given, kind) or isinstance(given, bool):
        raise TypeError(f"{given!r} is not of kind {kind.__name__}")
    return given
