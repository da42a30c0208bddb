"""A choice of the scheduler: a step that may happen next, named as the specification names it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from reference.memory.cluster import MemoryCluster
from spec.system import rules

BUDGETS: Final = {rule.name: rule.budget for rule in rules() if rule.budget is not None}
"""The budget that a fault draws on; what is not here is progress."""


@dataclass(frozen=True)
class Choice:
    """Something that may happen next; `do` makes it happen in the cluster that is given."""

    rule: str
    parameters: tuple[tuple[str, int], ...]
    do: Callable[[MemoryCluster], None]

    @property
    def name(self) -> str:
        """As the specification names its step: `elect_read(c=1)`."""
        return f"{self.rule}({', '.join(f'{name}={value}' for name, value in self.parameters)})"

    @property
    def is_fault(self) -> bool:
        """Whether it draws on a budget."""
        return self.rule in BUDGETS


def is_left(cluster: MemoryCluster, rule: str) -> bool:
    """Whether a step of this rule may be taken once more: it is progress, or its budget is not used up."""
    return rule not in BUDGETS or cluster.budget.get(BUDGETS[rule], 0) > 0


def choice(rule: str, do: Callable[..., None], **parameters: int) -> Choice:
    """The choice of a step that takes the rule's parameters, and no others."""
    return Choice(rule, tuple(parameters.items()), partial(do, **parameters))


def choice_of(do: Callable[..., None], **parameters: int) -> Choice:
    """The choice of a step that is done by a function which has its name."""
    return choice(do.__name__, do, **parameters)
