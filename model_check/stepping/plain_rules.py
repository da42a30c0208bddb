"""The rules of the specification as plain Python: on a state of numbers they make no terms and enter no dead branch.

The text is the specification's own. Each module of `spec` that speaks the words of an action (`require`, `when`,
`observe` ...) is read once more (`plain_modules.py`), and enters no branch whose condition does not hold. The words
themselves are replaced by those below: an unmet `require` ends the rule at once. Claims are read likewise.

Nothing is written twice: change a rule, and this runs the changed rule. That both readings agree, on every edge and
every disabled action of whole scopes, is tested.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from model_check.stepping.plain_modules import Reader, holds
from spec.language import rules as language
from spec.language.rules import Claim, Rule, claims_of, rules_of
from spec.language.terms import Value
from spec.properties import MODULES as CLAIMS
from spec.system import CONTINUATIONS, MODULES


class NotEnabled(Exception):
    """A requirement of a rule does not hold in this state."""


@dataclass(frozen=True)
class Seen:
    """What an observer sees of a step: the actor, the kind of thing that it did, and its fields (all of them known)."""

    role: str
    kind: str
    fields: Mapping[str, Value]

    @property
    def shown(self) -> dict[str, str]:
        """The fields as they print."""
        return {name: value.kind.show(value.raw) for name, value in self.fields.items()}

    def __str__(self) -> str:
        return " ".join([self.role, self.kind, *(f"{name}={value}" for name, value in self.shown.items())])


@dataclass(frozen=True)
class Said:
    """A line that Kafka writes to its log at a step: its class, and its fields as the model has them.

    Lines of one `group`, which are next to each other, are written in any order; 0 is no group. One that is said
    `perhaps` may be missing.
    """

    line: type
    fields: Mapping[str, Any]
    group: int = 0
    perhaps: bool = False


@dataclass
class Run:
    """What one run of a rule leaves behind, beside the state: what is seen and said, and whether it had room."""

    seen: list[Seen] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    group: int = 0
    groups: int = 0
    fits: bool = True


_runs: list[Run] = []


def run(rule: Rule, state: Any, model: object, parameters: Mapping[str, int]) -> Run:
    """Run a rule on a view of numbers; NotEnabled if a requirement does not hold."""
    leaves = Run()
    _runs.append(leaves)
    try:
        rule.function(state, model, **parameters)
    finally:
        _runs.pop()
    return leaves


# ------------------------------------------------------------------------------- the words of an action, once more


def require(*conditions: object) -> None:
    """Go on only where all of these hold."""
    for condition in conditions:
        if not holds(condition):
            raise NotEnabled


def fits(condition: object) -> None:
    """Remember where there was no room; a later requirement may still say that the rule is not enabled at all."""
    if not holds(condition):
        _runs[-1].fits = False


def successor(counter: Value) -> Value:
    """The counter plus one."""
    fits(counter.kind.unbounded or counter.raw < counter.kind.maximum)
    return counter.plus(1)


def observe(role: str, kind: str, **fields: Value | int) -> None:
    """An observer sees this now."""
    known = {name: value if isinstance(value, Value) else language.constant(value) for name, value in fields.items()}
    _runs[-1].seen.append(Seen(role, kind, known))


def say(line: type, *, perhaps: object = False, **fields: Any) -> None:
    """Kafka writes this line now."""
    leaves = _runs[-1]
    leaves.said.append(Said(line, fields, leaves.group, holds(perhaps)))


@contextmanager
def in_any_order() -> Iterator[None]:
    """What is said inside is one group, unless it is in another's inside."""
    leaves = _runs[-1]
    if leaves.group:
        yield
        return
    leaves.groups += 1
    leaves.group = leaves.groups
    yield
    leaves.group = 0


def reset(view: Any, *names: str) -> None:
    """Return a record (or the named fields of it) to its initial values."""
    view.forget(*names)


def take(row: str, condition: object) -> None:
    """Which row of a transition table it is, is asked of nobody here: Kafka's own log tells."""


def only_said(part: Callable[..., None]) -> Callable[..., None]:
    """What is said is kept here."""
    return part


def where_possible(part: Callable[..., None]) -> Callable[..., None]:
    """Nothing is run here that takes no effect."""
    return part


WORDS = {
    word.__name__: word
    for word in (require, fits, successor, observe, say, in_any_order, reset, take, only_said, where_possible)
}


@cache
def _reader() -> Reader:
    """The modules of the protocol, and what they import."""
    reader = Reader(WORDS)
    reader.module(CONTINUATIONS.__name__)
    return reader


@cache
def plain_rules() -> Mapping[str, Rule]:
    """Every rule of the protocol by name, its function to be run on numbers."""
    return {rule.name: rule for module in MODULES for rule in rules_of(_reader().module(module.__name__))}


@cache
def plain_claims() -> Mapping[str, Claim]:
    """Every claim by name, its function to be asked of numbers."""
    return {one.name: one for module in CLAIMS for one in claims_of(_reader().module(module.__name__))}
