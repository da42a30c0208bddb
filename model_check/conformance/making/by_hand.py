"""Scripts for a driven controller that somebody has written, for what no walk shows (`hands.py` has their words).

The walks have the specification and the reference agree. These scripts have no walk: they are about what the
specification leaves out (a broker that is twice in AR, a znode that holds no JSON), about more terms and topics than a
scope has, and about defects that lie too deep. What is expected is what the reference's controller comes to. The
independent reason is that Kafka 0.10.2.2's own controller comes to the same: it is asked all vectors, these among them
(`tests/model_check/conformance/test_kafka_itself.py`). Each was written because some wrong controller passed all walks,
or for a defect that no walk shows; those of `by_hand_lines.py`, for the lines that are logged then. A script in which
Kafka goes through a set has no place here.
"""

from collections.abc import Iterator
from typing import Final

from model_check.conformance.driving.acts import NAMES
from model_check.conformance.driving.played import played
from model_check.conformance.making.by_hand_deletions import DELETIONS
from model_check.conformance.making.by_hand_lines import LINES, SAID
from model_check.conformance.making.by_hand_moves import MOVES
from model_check.conformance.making.by_hand_terms import TERMS
from model_check.conformance.making.cases import Case
from model_check.conformance.making.controlled import DIALECT, SETTINGS, VERB
from model_check.conformance.making.hands import ByHand
from model_check.conformance.making.logged import GROUP
from model_check.conformance.making.who_acts import DRIVEN
from model_check.conformance.vector import Object

EVERY: Final = (*TERMS, *DELETIONS, *MOVES)
"""The scripts of which what is done is compared; of `LINES` it is what is logged."""


def hand_cases() -> Iterator[Case]:
    """Each script as a case: what the reference comes to in its last turns, or logs in the last."""
    for one in EVERY:
        given = _given(one)
        yield Case(VERB, one.title, given, [comes_to(given, one.compared)], one.refs, _tags(one), [DIALECT])
    for one in LINES:
        given = {**_given(one), "lines": sorted(SAID)}
        title, tags = f"{one.title}; what is logged then", [*_tags(one), GROUP]
        yield Case(VERB, title, given, [logs(given)], one.refs, tags, [DIALECT])


def _given(one: ByHand) -> Object:
    settings = {**SETTINGS, **one.settings}
    return {"broker": DRIVEN, "settings": settings, "compared": [*NAMES], "script": [*one.turns]}


def _tags(one: ByHand) -> list[str]:
    return [VERB, "by-hand", *(["fault"] if _has_fault(one) else [])]


def _has_fault(one: ByHand) -> bool:
    return any("before" in item or "lose" in item for turn in one.turns for item in turn)


def comes_to(given: Object, compared: int) -> Object:
    """What the reference's controller does in the last turns of a script."""
    turns: Object = played(given, DIALECT)["turns"]
    last = len(given["script"])
    return {"turns": {str(number): turns[str(number)] for number in range(last - compared, last)}}


def logs(given: Object) -> Object:
    """What the reference's controller logs in the last turn of a script; if nothing, then what it does, too."""
    number = str(len(given["script"]) - 1)
    lines = played(given, DIALECT)["lines"][number]
    return {"lines": {number: lines}} | ({} if lines else comes_to(given, 1))
