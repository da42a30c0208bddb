"""Defects are rows: what Kafka's documented design got wrong, to be enumerated, shown and fixed.

PROTOCOL.md section 13 numbers the defects and tells their mechanism (S4 and the like: found here, in what its section
of that number tells). A row here says how an enumeration finds one: the property that it breaks, in which scope, with
which fixes already on (else a shorter story would mask it), after how many steps at the earliest, and the fix that
makes it disappear. What Kafka had fixed before 0.10.2 is reintroduced by a switch first. What is not shown stands in
`unfound`, with the reason.

The shortest trace that breaks a property need not be the defect's, and one after which a goal is out of reach may end
before what puts it there. Then `defining` names the steps that must be taken, in this order, by their rules, by their
actions (where it matters who dies) or by what is seen in them, and only traces that take them count. Nothing else is
hinted to the search.
"""

import re

from spec.defects import controllers, deletion, elections, older, purgatory, reassignment
from spec.defects.rows import Defect, Unfound
from spec.defects.unfound import UNFOUND
from spec.errors import UnknownName
from spec.formats.kafka_types import KafkaVersion
from spec.variants import AS_CODED, FENCED, Switches, as_of


def number(id: str) -> tuple[str, int, str]:  # noqa: A002 - the name that PROTOCOL.md gives it
    """The place of an id among all: by section, then by number."""
    section, digits, rest = re.fullmatch(r"([A-Z])(\d+)(.*)", id).groups()  # type: ignore[union-attr]  # all are so
    return section, int(digits), rest


DEFECTS: tuple[Defect, ...] = tuple(
    sorted(
        (*controllers.ROWS, *elections.ROWS, *reassignment.ROWS, *deletion.ROWS, *older.ROWS, *purgatory.ROWS),
        key=lambda one: number(one.id),
    )
)
"""Every row, in the order of PROTOCOL.md."""


def row(id: str) -> Defect | Unfound:  # noqa: A002 - the name that PROTOCOL.md gives it
    """The row of that id, of a defect that is found here or not; UnknownName lists the known ones."""
    known = {one.id: one for one in listed()}
    if id not in known:
        raise UnknownName("defect", id, known, listed_by="kcheck defects")
    return known[id]


def rows_of(release: KafkaVersion, switches: Switches = AS_CODED) -> list[Defect]:
    """The defects of 0.10.2, and those that were fixed between a release and it, without what the switches fix."""
    had = [one for one in DEFECTS if one.base - FENCED <= as_of(release) | switches]
    return [one for one in had if not one.fix & FENCED or one.fix & FENCED - switches]


def listed() -> list[Defect | Unfound]:
    """Every row, found or not, in the order of PROTOCOL.md."""
    every_one: list[Defect | Unfound] = [*DEFECTS, *UNFOUND]
    return sorted(every_one, key=lambda one: number(one.id))


__all__ = ["DEFECTS", "UNFOUND", "Defect", "Unfound", "listed", "number", "row", "rows_of"]
