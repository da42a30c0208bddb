"""Which vectors are asked: by name, by level, a share of them, or the ladder on which an author begins."""

from collections.abc import Iterable, Sequence
from typing import Final

from model_check.conformance.vector import Vector, Verb
from model_check.verdicts.shares import share_named
from spec.errors import UnknownName

BYTES: Final[frozenset[Verb]] = frozenset({
    "read_znode", "encode_request", "decode_request", "encode_response", "decode_response", "read_line", "write_line",
})  # fmt: skip
LEVELS: Final = ("functions", "bytes", "controller")
"""Functions, which need no format; what znodes, requests, answers and log lines hold; a controller that is driven."""
LADDER: Final = (
    "kcs-transition-0001", "kcs-transition-0002", "kcs-elect-0001", "kcs-elect-0050", "kcs-creation-0002",
    "kcs-removal-0001", "kcs-write-0001", "kcs-fence-0001", "kcs-znode-0001", "kcs-request-0001",
)  # fmt: skip
"""One vector of each kind, the simplest first: with these an adapter begins."""


def level_of(vector: Vector) -> str:
    """The level that a vector is of."""
    return LEVELS[2] if vector.verb == "control" else LEVELS[vector.verb in BYTES]


def chosen(
    every: Sequence[Vector], only: Iterable[str] = (), level: str | None = None, shard: str | None = None
) -> list[Vector]:
    """The vectors that are named, by id or tag or group, of a level, the K-th of N shares ("K/N") of these.

    UnknownName where a name or a level names none, BadInput where a share cannot be read.
    """
    asked = {*only}
    _refuse_unknown(asked, every)
    if level is not None and level not in LEVELS:
        raise UnknownName("level", level, LEVELS)
    found = [one for one in every if not asked or not {one.id, one.group, *one.tags}.isdisjoint(asked)]
    found = [one for one in found if level in {None, level_of(one)}]
    if shard is None:
        return found
    number, of = share_named(shard)
    return found[number - 1 :: of]


def _refuse_unknown(asked: Iterable[str], every: Sequence[Vector]) -> None:
    ids = [one.id for one in every]
    kinds = sorted({name for one in every for name in (one.group, *one.tags)})
    for name in asked:
        if name.startswith("kcs-") and name not in ids:
            raise UnknownName("vector", name, ids, listed_by="kcheck conform --list")
        if not name.startswith("kcs-") and name not in kinds:
            raise UnknownName("group or tag", name, kinds)


def ladder(every: Iterable[Vector]) -> list[Vector]:
    """The vectors with which an author begins, in their order."""
    known = {one.id: one for one in every}
    return [known[name] for name in LADDER]
