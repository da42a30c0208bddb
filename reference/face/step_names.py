"""The names of steps: an action of the specification, and what it is about, in words."""

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Final

from reference.face.view import partition_name
from reference.memory.cluster import MemoryCluster
from reference.procedures import Effect, snake_case
from spec.errors import UnknownName
from spec.system import rules

WORDS: Final = {
    "c": "controller", "b": "broker", "h": "broker", "p": "partition", "t": "topic", "r": "replica",
    "n": "notification",
}  # fmt: skip
"""The parameters of the specification's actions, in words."""


def step_name(cluster: MemoryCluster, rule: str, parameters: Iterable[tuple[str, int]]) -> str:
    """A step with what it is about: `create_state(controller=1, partition=orders-0)`."""
    told = (f"{WORDS.get(name, name)}={_named(cluster, name, number)}" for name, number in parameters)
    return f"{rule}({', '.join(told)})"


def _named(cluster: MemoryCluster, name: str, number: int) -> str:
    if name == "p":
        return partition_name(cluster.partitions[number])
    if name == "lagging":
        return str([b for place, b in enumerate(sorted(cluster.processes)) if number >> place & 1])
    return cluster.topics()[number] if name == "t" else str(number)


def is_meant(pattern: str, rule: str, name: str) -> bool:
    """Whether a step is meant by its name, by that of its action alone, or by a pattern of its whole name."""
    return pattern in {rule, name} or fnmatchcase(name, pattern)


@cache
def steps() -> Mapping[str, str]:
    """The actions that steps and effects are named after, each with what it does."""
    effects = _effects(Effect)  # type: ignore[type-abstract]  # none is made
    others = {snake_case(one.__name__): (one.__doc__ or "").strip() for one in effects}
    return others | {rule.name: rule.statement for rule in rules()}


def _effects(kind: type[Effect[Any]]) -> Iterator[type[Effect[Any]]]:
    """The kinds below a kind that have none below themselves."""
    for one in kind.__subclasses__():
        yield from _effects(one) if one.__subclasses__() else (one,)


def refuse_unknown(pattern: str) -> None:
    """UnknownName unless some action's name is meant, whatever the step may be about."""
    action = pattern.partition("(")[0]
    if not any(fnmatchcase(name, action) for name in steps()):
        raise UnknownName("step", action, steps(), listed_by="reference.steps()")
