"""What of the specification a document's explorations took: all of it as rows, and the two state machines drawn.

The machines are drawn from the transition tables (`spec/tables`), their states on a circle, clockwise in the order of
the table. A row that no exploration took is dashed; of another one the drawing says from how many states it is taken.
"""

from collections.abc import Mapping
from math import cos, pi, sin
from typing import Any, Final, NamedTuple

from model_check.verdicts.occurrences import Item, Occurrence, occurrences
from model_check.verdicts.results import Document, Run
from spec.tables.table import Table, Transition, transitions
from spec.tables.taken_rows import TABLES


class Size(NamedTuple):
    """Of something drawn, in pixels."""

    width: int
    height: int


STATE: Final = Size(216, 30)
AXES: Final = Size(290, 180)
"""Half of each axis of the ellipse that the states' middles lie on."""
FREE: Final = 60
"""What is free around all states, for rows that lead back to where they begin."""
DRAWING: Final = Size(2 * (AXES.width + FREE) + STATE.width, 2 * (AXES.height + FREE) + STATE.height)
BEND = 0.14
"""By so much of its length an arrow bends aside, so that the one which leads back lies beside it."""


class State(NamedTuple):
    """A state of a machine: its name, and where its middle is."""

    name: str
    x: float
    y: float


class Arrow(NamedTuple):
    """A row of the table: its curve, how often it was taken and where that is written, and all of it for a pointer."""

    path: str
    label: str
    x: float
    y: float
    title: str


class Machine(NamedTuple):
    """A transition table as a drawing."""

    name: str
    states: tuple[State, ...]
    arrows: tuple[Arrow, ...]


def explorations(document: Document) -> list[Run]:
    """The runs that count what was taken; what sums up others counts nothing else, and is asked where they are not."""
    counting = [run for run in document.runs if run.fired is not None]
    return [run for run in counting if run.counts is not None] or counting


def taken(document: Document) -> Mapping[Item, Occurrence | None]:
    """Everything that should occur, with what became of it; nothing, if nothing was explored."""
    explored = explorations(document)
    return occurrences(explored) if explored else {}


def machines(found: Mapping[Item, Occurrence | None]) -> list[Machine]:
    """Both state machines, drawn with what was taken; none, if nothing was explored."""
    rows = {item.name: seen for item, seen in found.items() if item.kind == "row"}
    names = ("Partition", "Replica")
    return [_machine(name, table, rows) for name, table in zip(names, TABLES, strict=True)] if rows else []


def _machine(name: str, table: Table[Any], rows: Mapping[str, Occurrence | None]) -> Machine:
    turn = 2 * pi / len(table)
    places = {
        state: State(
            str(state),
            DRAWING.width / 2 + AXES.width * sin(turn * at),
            DRAWING.height / 2 - AXES.height * cos(turn * at),
        )
        for at, state in enumerate(table)
    }
    arrows = (_arrow(row, places[row.source], places[row.target], rows[row.id]) for row in transitions(table))
    return Machine(name, tuple(places.values()), tuple(arrows))


def _arrow(row: Transition[Any], source: State, target: State, seen: Occurrence | None) -> Arrow:
    path, x, y = _loop(source) if source is target else _curve(source, target)
    return Arrow(path, f"{seen.times:,}" if seen else "", x, y, f"{row}\n{row.effect}\n{seen or 'not taken'}")


def _curve(source: State, target: State) -> tuple[str, float, float]:
    """From one state's border to the other's, bent to the left of the way; and the middle of that."""
    x, y = (source.x + target.x) / 2, (source.y + target.y) / 2
    aside_x, aside_y = x + BEND * (target.y - source.y), y - BEND * (target.x - source.x)
    (from_x, from_y), (to_x, to_y) = _border(source, aside_x, aside_y), _border(target, aside_x, aside_y)
    path = f"M{from_x:.0f} {from_y:.0f} Q{aside_x:.0f} {aside_y:.0f} {to_x:.0f} {to_y:.0f}"
    return path, (from_x + 2 * aside_x + to_x) / 4, (from_y + 2 * aside_y + to_y) / 4


def _border(state: State, x: float, y: float) -> tuple[float, float]:
    """Where the line from a state's middle to a point leaves the state."""
    across, down = x - state.x, y - state.y
    part = min(STATE.width / 2 / abs(across) if across else 1, STATE.height / 2 / abs(down) if down else 1)
    return state.x + across * part, state.y + down * part


def _loop(state: State) -> tuple[str, float, float]:
    """From a state to itself, on the side that looks away from the middle; and the outermost place of that."""
    out = 1 if state.y > DRAWING.height / 2 else -1
    y, away = state.y + out * STATE.height / 2, state.y + out * (STATE.height / 2 + 40)
    left, right = state.x - 24, state.x + 24
    return f"M{left:.0f} {y:.0f} C{left:.0f} {away:.0f} {right:.0f} {away:.0f} {right:.0f} {y:.0f}", state.x, away
