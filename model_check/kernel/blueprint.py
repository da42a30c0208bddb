"""What a worker needs of a system, without its terms: a text, and machine code beside it.

z3 terms cannot be pickled, and building them takes seconds, so a worker of a distributed enumeration is not given the
system itself. It gets a *blueprint*: the variables with all their values as they print, the names of actions and
predicates, and the digest of the system that they belong to. That is enough to lay out states, to count, to compute
digests and to write tables. The kernel travels beside it as an object file; for workers with another processor, also as
LLVM IR, which they compile for themselves.
"""

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from model_check.kernel.kernel import Code
from model_check.kernel.packing import Packing
from model_check.kernel.predicates import predicates
from model_check.kernel.system_digest import system_digest
from spec.language.rules import TransitionSystem, Variable
from spec.language.terms import Kind

WIDEST = 16
"""Bits of the widest variable whose values are listed."""


@dataclass(frozen=True)
class Listed:
    """A variable with all its values as text; raw value `i` prints as `values[i]`."""

    name: str
    width: int
    initial: int
    values: tuple[str, ...]

    def variable(self) -> Variable:
        """A variable that is laid out and prints as the system's own."""
        kind = Kind("listed", self.width, len(self.values) - 1, self.values.__getitem__, self.values.index)
        return Variable(self.name, kind, self.initial)


@dataclass(frozen=True)
class Blueprint:
    """A system by its digest: variables, actions, and predicates as (kind, name), all in the system's order."""

    digest: str
    name: str
    variables: tuple[Listed, ...]
    actions: tuple[str, ...]
    predicates: tuple[tuple[str, str], ...]

    @cached_property
    def packing(self) -> Packing:
        """The layout of states, equal to that of the system."""
        shell = TransitionSystem(self.name, tuple(one.variable() for one in self.variables), (), ())
        return Packing(shell)

    def to_json(self) -> bytes:
        """The blueprint as text."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_json(cls, text: bytes) -> "Blueprint":
        """A blueprint from its text, as `to_json` wrote it."""
        raw: dict[str, Any] = json.loads(text)
        variables = tuple(Listed(**{**one, "values": tuple(one["values"])}) for one in raw.pop("variables"))
        asked = tuple((kind, name) for kind, name in raw.pop("predicates"))
        return cls(variables=variables, actions=tuple(raw.pop("actions")), predicates=asked, **raw)


def blueprint_of(system: TransitionSystem) -> Blueprint:
    """The blueprint of a system; ValueError names a variable with too many values to be listed."""
    return Blueprint(
        digest=system_digest(system),
        name=system.name,
        variables=tuple(Listed(one.name, one.kind.width, one.initial, listed(one)) for one in system.variables),
        actions=tuple(action.name for action in system.actions),
        predicates=tuple((one.kind.name, one.name) for one in predicates(system)),
    )


def listed(variable: Variable) -> tuple[str, ...]:
    """Every value of a variable as it prints, by its raw value; ValueError if there are too many."""
    kind = variable.kind
    if kind.unbounded or kind.width > WIDEST:
        raise ValueError(f"{variable.name} has too many values to be listed: at most {WIDEST} bits can be")
    return tuple(map(variable.show, range(kind.maximum + 1)))


class LoadedKernel(Code):
    """A kernel loaded from its object file, without the system that it was made from."""

    def __init__(self, blueprint: Blueprint, compiled: bytes) -> None:
        self.blueprint = blueprint
        actions, asked = len(blueprint.actions), len(blueprint.predicates)
        super().__init__(blueprint.packing, compiled, actions=actions, predicates=asked)
