"""What a face is set to: a release, a variant, and Kafka's settings by their names."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from spec.errors import BadInput, UnknownName
from spec.formats.kafka_types import V0102, KafkaVersion, release_named
from spec.variants import AS_CODED, Switches, as_of, switches_named


@dataclass(frozen=True)
class Settings:
    """What brokers are configured with; each field is a setting of Kafka's, with `_` for each dot."""

    unclean_leader_election_enable: bool = False
    delete_topic_enable: bool = True
    auto_leader_rebalance_enable: bool = False
    leader_imbalance_per_broker_percentage: int = 10

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """The settings of a mapping from Kafka's names; UnknownName, or BadInput for one of another type."""
        defaults = {one.name.replace("_", "."): one for one in fields(cls)}
        values: dict[str, Any] = {}
        for name, value in given.items():
            if name not in defaults:
                raise UnknownName("setting", name, defaults)
            kind = type(defaults[name].default)
            if type(value) is not kind:
                raise BadInput(f"{name} is {value!r}; expected {'true or false' if kind is bool else 'a number'}")
            values[defaults[name].name] = value
        return cls(**values)


def behaviour(release: str, variant: str) -> tuple[KafkaVersion, Switches]:
    """A release line and all switches: those that it reintroduces, and those of the variant."""
    line = V0102 if release == "0.10.2" else release_named(release)
    return line, (switches_named(variant) if variant else AS_CODED) | as_of(line)
