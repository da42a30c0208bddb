"""What a live cluster is made of: which members there are, what runs as each, and the times that suit all of them.

Where nobody is chosen apart, every member is controller and broker. Where they are, the first ids are those of members
that only control, and hold no replicas; the others only hold replicas. (A broker of Kafka stands for election all the
same; it finds the reference elected, which is started first, and never harmed.)
"""

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from model_check.live.command_program import NOTHING_SPECIAL, Agreed, command
from model_check.live.kafka_program import kafka
from model_check.live.programs import Program, Times
from model_check.live.reference_program import REFERENCE, reference
from model_check.recordings.members import Member, Role
from spec.errors import BadInput
from spec.formats.kafka_types import KafkaVersion
from spec.variants import AS_CODED, Switch, Switches

NEED_TRANSACTIONS: Final = frozenset({Switch.FENCED_WRITES, Switch.FENCED_RESIGN, Switch.ATOMIC_ELECTION})
"""Fixes that check and write in one transaction of ZooKeeper's."""


@dataclass(frozen=True)
class Setup:
    """How many members hold replicas, how many only control (0: the same), and what runs as these and as those.

    `port` is ZooKeeper's (None: a free one); `switches` are the fixes that the reference has. BadInput where it cannot.
    `deletes_topics` is `delete.topic.enable`.
    """

    brokers: int
    seed: int
    controllers: int = 0
    broker: Program = field(default_factory=reference)
    controller: Program = field(default_factory=reference)
    port: int | None = None
    tick_ms: int = 200
    switches: Switches = AS_CODED
    deletes_topics: bool = True

    def __post_init__(self) -> None:
        if older := ", ".join(sorted(one.name for one in self.switches if one.reintroduces)):
            raise BadInput(f"a live run cannot have {older}: its brokers do what 0.10.2 does")
        if impossible := self.switches & NEED_TRANSACTIONS:
            names = ", ".join(sorted(one.name for one in impossible))
            raise BadInput(f"a live run cannot have {names}: they need transactions, which the live client lacks")

    @cached_property
    def programs(self) -> Mapping[int, Program]:
        """What runs as each member, by its id."""
        everybody = range(1, self.controllers + self.brokers + 1)
        return {one: self.controller if one <= self.controllers else self.broker for one in everybody}

    def role(self, member: int) -> Role:
        """What a member does."""
        if not self.controllers:
            return Role.BOTH
        return Role.CONTROLLER if member <= self.controllers else Role.BROKER

    @property
    def members(self) -> Mapping[int, Member]:
        """The members, as a recording tells of them."""
        return {id_: Member(self.role(id_), one.runs, one.release) for id_, one in self.programs.items()}

    @property
    def runs(self) -> str:
        """What runs, in words."""
        if not self.controllers:
            return self.broker.runs
        return f"{self.controller.runs} before {self.broker.runs}"

    @property
    def times(self) -> Times:
        """The longest of what suits each program."""
        every = [astuple(one.times) for one in self.programs.values()]
        return Times(*map(max, zip(*every, strict=True)))

    @property
    def protocol(self) -> KafkaVersion:
        """The newest protocol that all of them speak."""
        return min(one.protocol for one in self.programs.values())

    @property
    def is_all_ours(self) -> bool:
        """Whether nothing but the reference runs, so that whatever fails is a mistake of ours."""
        return all(one.runs == REFERENCE for one in self.programs.values())

    @property
    def spares_controllers(self) -> bool:
        """Whether only the brokers are under test."""
        return bool(self.controllers) and self.controller.runs == REFERENCE and self.broker.runs != REFERENCE


KAFKA: Final = "kafka:"


def chosen_program(word: str, agreed: Agreed = NOTHING_SPECIAL) -> Program:
    """The program, a release fetched if need be, `agreed` for a command; BadInput, UnknownName, EnvironmentFailure."""
    if names_command(word):
        return command(word, agreed)
    return reference() if word == REFERENCE else kafka(word.removeprefix(KAFKA))


def names_command(word: str) -> bool:
    """Whether a word names a command, as whatever names nothing else does."""
    return not (word == REFERENCE or word.startswith(KAFKA) or (word and Path(word).is_dir()))
