"""The lines that a step says, in the names of a cluster: of a recorded one, or of a scope.

A rule says a line with what the model has: the number of a partition, a set of brokers in bits. A log has names.
Lists are compared in their order; Scala's maps and sets have none.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import cached_property, partial
from typing import Any, Final, TypeAlias

from model_check.stepping.plain_rules import Said
from spec.formats.kafka_types import TopicPartition
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.language.broker_lists import Brokers
from spec.language.terms import Value
from spec.logs.controller_log.values import PartitionReplica
from spec.logs.log_lines import Line, in_order
from spec.logs.logged_values import Role
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState

Fields: TypeAlias = Mapping[str, object]


@dataclass(frozen=True)
class Expected:
    """A line that a step writes: its class, and what those of its fields hold that the step knows.

    Lines of one `group` are written in any order, 0 is no group; one that is there `perhaps` comes anywhere in the
    step.
    """

    kind: type[Line]
    known: Callable[[], Fields]
    group: int = 0
    perhaps: bool = False

    @cached_property
    def fields(self) -> Fields:
        """What is known of it."""
        return self.known()

    def line(self, controller: int) -> Line | None:
        """The line as that controller writes it; None where the step does not know all of it."""
        known = {name: in_order(one) if isinstance(one, frozenset) else one for name, one in self.fields.items()}
        declared = [one for one in fields(self.kind) if one.init]
        if "controller" in (one.name for one in declared):
            known["controller"] = controller
        lacking = (one.name for one in declared if one.name not in known and one.default is MISSING)
        return None if any(lacking) else self.kind(**known)

    def is_written_as(self, line: Line) -> bool:
        """Whether a line is this one."""
        return type(line) is self.kind and all(
            known == (_existing(getattr(line, name)) if isinstance(known, frozenset) else getattr(line, name))
            for name, known in self.fields.items()
        )


def _existing(written: Iterable[object]) -> frozenset[object]:
    """A collection without its order; what goes on in a later term also writes of partitions that are gone."""
    return frozenset(one for one in written if not (isinstance(one, tuple) and PartitionState.NON_EXISTENT in one))


@dataclass(frozen=True)
class Names:
    """What the model has, in the names of a cluster: brokers and topics in the order of their numbers."""

    broker_ids: Sequence[int]
    topic_names: Sequence[str]
    partition_names: Sequence[TopicPartition]
    brokers: Brokers

    def expected(self, said: Iterable[Said], of: type[Line] = Line) -> list[Expected]:
        """The lines that were said, or those of a class."""
        return [
            Expected(one.line, partial(self._fields, one), one.group, one.perhaps)
            for one in said
            if issubclass(one.line, of)
        ]

    def _fields(self, said: Said) -> Fields:
        return {name: self._named(name, value) for name, value in said.fields.items()}

    def _named(self, name: str, value: Any) -> object:
        if name in MEANINGS and not isinstance(value, Value):
            return MEANINGS[name](self, value)
        if not isinstance(value, Value):
            return value
        if name in SIZES:
            return len(self.ids(value))
        kind = value.kind.name
        return KINDS[kind](self, value) if kind in KINDS else int(value.kind.show(value.raw))

    def broker(self, number: int) -> int:
        """The id of a broker, -1 for none."""
        return self.broker_ids[number - 1] if number else -1

    def topics(self, flags: Mapping[int, Value]) -> object:
        """Those that a mapping has a true flag for."""
        return frozenset(self.topic_names[t] for t, holds in flags.items() if holds.raw)

    def partitions(self, flags: Mapping[int, Value]) -> object:
        """Those that a mapping has a true flag for."""
        return frozenset(self.partition_names[p] for p, holds in flags.items() if holds.raw)

    def replicas(self, brokers: Mapping[int, Any]) -> object:
        """The replicas on the brokers that a mapping has for each partition."""
        return frozenset(
            PartitionReplica(self.partition_names[p].topic, self.partition_names[p].partition, b)
            for p, of_it in _present(brokers)
            for b in self.ids(of_it)
        )

    def assignment(self, lists: Mapping[int, Any]) -> object:
        """The replicas of each partition, in their order."""
        return frozenset((self.partition_names[p], self.ids(one)) for p, one in _present(lists))

    def states(self, states: Mapping[int, Any]) -> object:
        """The state of each partition."""
        return frozenset((self.partition_names[p], list(PartitionState)[one.raw]) for p, one in _present(states))

    def leaders(self, leaderships: Mapping[int, Any]) -> object:
        """The leadership of each partition."""
        return frozenset((self.partition_names[p], self.leadership(one)) for p, one in _present(leaderships))

    def leadership(self, record: Mapping[str, Any]) -> LeaderIsrAndControllerEpoch:
        """What is cached, or written, of a partition."""
        fields: dict[str, Any] = {name: self._named(name, value) for name, value in record.items()}
        return LeaderIsrAndControllerEpoch(**fields)

    def ids(self, brokers: Value) -> tuple[int, ...]:
        """The ids of the brokers of a set, or of a list in its order; text prints as the number would."""
        if brokers.kind.name == "broker list":
            return tuple(self.broker(abs(b)) for b in self.brokers.lists[brokers.raw] if b)
        return tuple(self.broker(b) for b in self.brokers.ids if brokers.raw >> b - 1 & 1)


def _present(values: Mapping[int, Any]) -> Iterator[tuple[int, Any]]:
    """The entries of a mapping; one that has a flag with its value is there where the flag holds."""
    for key, value in values.items():
        if not isinstance(value, tuple):
            yield key, value
        elif value[0].raw:
            yield key, value[1]


def _ratio(_names: Names, counted: tuple[Mapping[int, Value], Mapping[int, Value]]) -> float:
    """The share of some in all, as it is printed."""
    some, every = (sum(holds.raw for holds in flags.values()) for flags in counted)
    return round(some / every, 6)


KINDS: Final[Mapping[str, Callable[[Names, Value], object]]] = {
    "flag": lambda _, leads: Role.LEADER if leads.raw else Role.FOLLOWER,
    "PartitionState": lambda _, state: list(PartitionState)[state.raw],
    "ReplicaState": lambda _, state: list(ReplicaState)[state.raw],
    "broker": lambda names, broker: names.broker(broker.raw),
    "broker set": lambda names, brokers: frozenset(names.ids(brokers)),
    "broker list": lambda names, brokers: names.ids(brokers),
}
"""What values mean, by the names of their kinds; all others are numbers."""
SIZES: Final = frozenset({"all", "caught_up"})
"""The fields that say how many there are in a set."""
MEANINGS: Final[Mapping[str, Callable[[Names, Any], object]]] = {
    "partition": lambda names, p: names.partition_names[p],
    "topic": lambda names, t: names.topic_names[t],
    **dict.fromkeys(("broker", "replica"), Names.broker),
    **dict.fromkeys(("topics", "new", "deleted"), Names.topics),
    "partitions": Names.partitions,
    "replicas": Names.replicas,
    **dict.fromkeys(("assignment", "reassigned", "requested"), Names.assignment),
    "states": Names.states,
    "leaders": Names.leaders,
    "leadership": Names.leadership,
    "ratio": _ratio,
}
"""What the fields mean whose values are numbers, or mappings from numbers, by their names."""
