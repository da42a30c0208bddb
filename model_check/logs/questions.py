"""What each question says: sentence, kind and source, as the specification or a monitor has them of its claim."""

from functools import cache
from typing import NamedTuple

from model_check.logs.answers import KNOWN, REFUSED, ROWS
from model_check.monitors import fences
from model_check.monitors.claims import monitored_in
from spec.properties import claim_named


class Question(NamedTuple):
    """A claim that lines can answer."""

    name: str
    kind: str
    statement: str
    source: str


@cache
def question(name: str) -> Question:
    """What a claim of that name says."""
    if name == ROWS:
        said = "Every transition of a partition or a replica that a controller logs is a row of its table."
        return Question(name, "step", said, "PROTOCOL.md sections 3 and 4")
    monitored = {one.name: one for one in monitored_in(fences)}
    claim = monitored[name] if name in {REFUSED, KNOWN} else claim_named(name)
    return Question(name, claim.kind, " ".join(claim.statement.split()), claim.source)
