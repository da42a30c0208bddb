"""The table of what the handlers do next, with what a document's explorations took of it, row by row.

A row is a handler at a junction (`spec/protocol/handlers.py`). A search counts the states from which some step takes
it, as it does for the rows of the transition tables.
"""

from collections.abc import Iterator
from typing import NamedTuple

from model_check.reports.taken import explorations
from model_check.verdicts.occurrences import Occurrence, occurrence
from model_check.verdicts.results import Document
from spec.protocol.handlers import HANDLERS, JUNCTIONS, READS, ROWS, column
from spec.protocol.junctions import Junction
from spec.state.enumerations import Handler


class Cell(NamedTuple):
    """A place of the table: what the handler does next, none where it never comes; and what was taken of it."""

    then: tuple[str, ...]
    seen: Occurrence | None


class Line(NamedTuple):
    """A handler: its name, what it is in Kafka, and a cell for each junction."""

    name: str
    in_kafka: str
    cells: tuple[Cell, ...]


def junctions() -> tuple[Junction, ...]:
    """The columns of the table: where handlers part, and behind those what a failover does when it has read."""
    return (*JUNCTIONS, *READS)


def handlers(document: Document) -> list[Line]:
    """A line for each handler; none, if nothing was explored."""
    return [*_lines(document)] if explorations(document) else []


def _lines(document: Document) -> Iterator[Line]:
    runs = explorations(document)
    seen = {place: occurrence(name, runs) for name, place in ROWS.items()}
    for handler in HANDLERS:
        cells = [
            Cell(tuple(then.run.__name__ for then in column(one).get(handler, ())), seen.get((handler, one)))
            for one in junctions()
        ]
        yield Line(handler.name, "" if handler is Handler.NONE else handler.value, tuple(cells))
