"""The conditional write of a state znode: `updateLeaderAndIsr`, with the rule that equal content counts as written.

Expected is what PROTOCOL.md section 2 says: the version decides; where it is another, what is there is read, and if it
says what was to be written (leader, leader epoch, ISR in order, controller epoch), however it is spelled, the write
counts as done, at the present version (KAFKA-1382).
"""

import json
from collections.abc import Iterator
from typing import Final

from model_check.conformance.making.cases import Case
from model_check.conformance.vector import Object

CONTENT: Final[Object] = {"controller_epoch": 3, "leader": 2, "version": 1, "leader_epoch": 7, "isr": [2, 1]}
"""What is to be written."""
CHANGES: Final[dict[str, Object]] = {
    "another leader": {"leader": 1}, "no leader": {"leader": -1}, "another leader epoch": {"leader_epoch": 6},
    "a newer leader epoch": {"leader_epoch": 8}, "another controller epoch": {"controller_epoch": 2},
    "a shorter ISR": {"isr": [2]}, "a longer ISR": {"isr": [2, 1, 3]}, "an empty ISR": {"isr": []},
    "the ISR in another order": {"isr": [1, 2]},
}  # fmt: skip
OTHERS: Final = {words: CONTENT | changes for words, changes in CHANGES.items()}
SPELLED: Final = {
    "as Kafka writes it": json.dumps(CONTENT, separators=(",", ":")),
    "with blanks": json.dumps(CONTENT, indent=1),
    "with its keys in another order": json.dumps(dict(reversed(CONTENT.items()))),
    "with a key that nobody knows": json.dumps(CONTENT | {"rack": "r1"}),
    "with another version of the form": json.dumps(CONTENT | {"version": 2}),
    "without the version of the form": json.dumps({name: CONTENT[name] for name in CONTENT if name != "version"}),
}
TORN: Final = {
    "no JSON": '{"leader":2,', "a list": "[2]", "nothing": "", "no leader": json.dumps({"isr": [2, 1]}),
    "a leader as text": json.dumps(CONTENT | {"leader": "2"}),
}  # fmt: skip
STANDS: Final = 4
"""The data version of what is there."""


def write_cases() -> Iterator[Case]:
    """On the present version, on others, on any; where other content is there, the same, none that can be read."""
    for words, content in OTHERS.items():
        yield _case(f"where {words} stands", json.dumps(content), STANDS, written=True)
        yield _case(f"where {words} stands", json.dumps(content), STANDS - 1)
    for words, text in SPELLED.items():
        yield _case(f"where the same stands, {words}", text, STANDS, written=True)
        yield _case(f"where the same stands, {words}", text, STANDS - 1, same=True)
    for words, text in TORN.items():
        yield _case(f"where {words} stands that cannot be read", text, STANDS, written=True)
        yield _case(f"where {words} stands that cannot be read", text, STANDS - 1)
    other = json.dumps(OTHERS["another leader"])
    for expected in (0, STANDS + 1):
        yield _case("where another leader stands", other, expected)
        yield _case("where the same stands", SPELLED["as Kafka writes it"], expected, same=True)
    yield _case("where another leader stands", other, -1, written=True)
    for expected in (0, STANDS, -1):
        yield _case("where no znode stands", None, expected)


def _case(words: str, data: str | None, expected: int, *, written: bool = False, same: bool = False) -> Case:
    outcome: Object = {"written": False, "version": -1}
    if written or same:
        outcome = {"written": True, "version": STANDS + 1 if written else STANDS}
    on = "any version" if expected == -1 else f"version {expected}"
    does = "counts as done" if same else "is done" if written else "fails"
    znode = None if data is None else {"data": data, "version": STANDS}
    leadership = {name: CONTENT[name] for name in CONTENT if name != "version"}
    return Case(
        "write_state", f"A write on {on} {words}{f' at {STANDS}' if data is not None else ''} {does}",
        {"znode": znode, "expected_version": expected, "state": leadership}, [outcome],
        ["PROTOCOL.md section 2", "ReplicationUtils.updateLeaderAndIsr", "KAFKA-1382"], ["conditional-writes"],
    )  # fmt: skip
