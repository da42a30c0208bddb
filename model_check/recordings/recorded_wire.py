"""A broker's wire.jsonl, read: the frames that it received and answered, life by life, and where an end is torn.

As in its logs, a process that is killed may leave a torn end. The next one goes on in the same line, with the record of
its start; so a record is torn there or at the end of the file, and one that is wrong anywhere else is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from spec.errors import MalformedInput
from spec.logs.wire_records import ProcessStarted, WireRecord, parse_record

RECORD: Final = re.compile(r"\{[^{]*|[^{]+")
"""A record, whole or torn: it has no brace but its first and its last. Or what stands before any."""


@dataclass(frozen=True)
class WireLog:
    """The records of a broker's file in their order, and the places of those that are torn, which it has not."""

    records: tuple[WireRecord, ...]
    torn_ends: tuple[str, ...]


def read_wire(file: Path) -> WireLog:
    """The records of a file, none if it is not there; MalformedInput names the line that is none."""
    records: list[WireRecord] = []
    torn_ends = []
    for piece, after in pairwise((*_pieces(file), None)):
        if piece is None:
            break
        place, text, is_whole = piece
        try:
            records.append(parse_record(text, place))
        except MalformedInput:
            if is_whole or not (after is None or _is_start(after)):
                raise
            torn_ends.append(place)
    return WireLog(tuple(records), tuple(torn_ends))


_Piece = tuple[str, str, bool]
"""A place, the text of a record that stands there, and whether that has its line's end."""


def _pieces(file: Path) -> Iterator[_Piece]:
    if not file.exists():
        return
    with file.open(encoding="utf-8", errors="backslashreplace") as lines:
        for number, line in enumerate(lines, start=1):
            place = f"{file.parent.name}/{file.name}:{number}"
            for found in RECORD.finditer(line):
                yield place, found[0].rstrip("\n"), found[0].endswith("\n")


def _is_start(piece: _Piece) -> bool:
    place, text, _ = piece
    try:
        return isinstance(parse_record(text, place), ProcessStarted)
    except MalformedInput:
        return False
