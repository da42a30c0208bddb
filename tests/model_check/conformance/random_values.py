"""What every random question is made of: brokers, topics, some of a collection, and what a state znode says."""

from random import Random
from typing import Any, Final

from model_check.conformance.vector import Object

BROKERS: Final = (1, 2, 3, 4)
TOPICS: Final = ("a", "a-b", "c")
EPOCH: Final = 5
"""The controller's own, where states have those before and after it."""


def some(random: Random, of: Any, least: int = 0) -> list[Any]:
    """Some of them, in any order, nobody twice."""
    return random.sample([*of], random.randint(min(least, len(of)), len(of)))


def a_state(random: Random) -> Object:
    """A state znode, whoever leads."""
    return {
        "leader": random.choice((-1, *BROKERS)), "leader_epoch": random.randint(0, 5),
        "isr": some(random, BROKERS, 1), "controller_epoch": random.randint(EPOCH - 3, EPOCH + 1),
    }  # fmt: skip
