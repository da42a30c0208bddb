"""When two runs show the same unexplained observation: by its kind, its text without numbers, and what was possible.

Numbers, ids, times and the names of the scenario's topics differ between runs, and so does how many of a kind stand in
a list. Of what was possible instead, one kind of step must be common to both: what others could do just then, which
requests wait to be delivered, and which brokers are down, is chance.
"""

import re
from dataclasses import dataclass
from typing import Final

from model_check.verdicts.results import Explained

TOPIC: Final = re.compile(r"\btopic-\d+(?:-\d+)?")
NUMBER: Final = re.compile(r"0x[0-9a-f]+|\d+(?:,\s?\d+)*")
LIST: Final = re.compile(r"(?P<one>[^,\s]+)(?:,\s?(?P=one))+")
BY_CHANCE: Final = re.compile(r"deliver_|start_process")


@dataclass(frozen=True)
class Signature:
    """What an observation is like: its kind, the kind of file, its text, and the kinds of steps possible instead."""

    kind: str
    file: str
    text: str
    instead: frozenset[str]

    def is_same(self, other: "Signature | None") -> bool:
        """Whether the other one is of the same observation, as far as one can tell."""
        if other is None or (self.kind, self.file, self.text) != (other.kind, other.file, other.text):
            return False
        return not (self.instead and other.instead) or bool(self.instead & other.instead)


def signature(far: Explained) -> Signature | None:
    """That of the first observation that is not explained, if there is one."""
    if not far.next:
        return None
    first = far.next[0]
    rules = (step.partition("(")[0] for step in far.instead)
    return Signature(
        first.kind,
        without_numbers(first.place.rpartition(":")[0]),
        without_numbers(first.text),
        frozenset(rule for rule in rules if not BY_CHANCE.match(rule)),
    )


def without_numbers(text: str) -> str:
    """A text in which each number is N, and so is a list of them; each topic T; and of what is alike then, only one."""
    return LIST.sub(r"\g<one>", NUMBER.sub("N", TOPIC.sub("T", text)))
