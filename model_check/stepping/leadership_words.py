"""A leadership in the specification's words: its record has the same fields, but calls the data version `version`."""

from dataclasses import fields
from typing import Any, Final

from spec.formats.kafka_types import NO_LEADER
from spec.formats.leadership import LeaderIsrAndControllerEpoch

WORDS: Final = {one.name: one.name.removeprefix("zk_") for one in fields(LeaderIsrAndControllerEpoch)}
"""The name of each field in `spec.state.zookeeper.Leadership`."""


def in_words(known: LeaderIsrAndControllerEpoch) -> dict[str, Any]:
    """What the specification's record has of it, where 0 is no broker."""
    said = {word: getattr(known, name) for name, word in WORDS.items()}
    return said | {"leader": 0} if known.leader == NO_LEADER else said
