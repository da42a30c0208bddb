"""A broker's wire.jsonl, read: the frames that it received and answered, life by life, and where an end is torn.

As in its logs, a process that is killed may leave a torn end. The next one goes on in the same line, with the record of
its start; so a record is torn there or at the end of the file, and one that is wrong anywhere else is refused.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from spec.errors import MalformedInput
from spec.logs.wire_records import ProcessStarted, WireRecord, parse_record

BRACED: Final = re.compile(r"(\{[^{}]*\})")
"""How the record of a start looks, which has braces only at its ends."""


@dataclass(frozen=True)
class WireLog:
    """The records of a broker's file in their order, each behind its place; and the places of those that are torn."""

    records: tuple[tuple[str, WireRecord], ...]
    torn_ends: tuple[str, ...]


def read_wire(file: Path) -> WireLog:
    """The records of a file; MalformedInput names the line that is none."""
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
