"""The project's own exceptions, and the place in an input that a refusal names.

    SpecError                 every error that we raise on purpose
    ├── BadInput              what somebody handed us is wrong; nothing was changed (exit code 2)
    │   ├── MalformedInput    a znode payload, path, request or log line that is not what its schema says
    │   │   └── NotJson       a payload that is no JSON document at all, which most of Kafka's readers take for nothing
    │   └── UnknownName       a scope, switch, property or the like that does not exist
    ├── IllegalTransition     a state machine refused an event; the old state is kept
    └── EnvironmentFailure    java, ZooKeeper, a port, the disk or a worker failed us (exit code 4)
        └── LacksMemory       there is less memory now than is needed; in a while there may be more

Each carries its parts as attributes and prints as one line: what was wrong, where, and what to do (only a long list of
known names has lines of its own). All of them can be pickled, because Spark workers raise them too.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from textwrap import fill, indent
from typing import ClassVar, NoReturn


class SpecError(Exception):
    """The root of every error that this project raises on purpose."""


class BadInput(SpecError):
    """What was handed in is wrong, and was refused before it changed anything."""


class MalformedInput(BadInput):
    """An input that is not what its schema says: `source` is its path or file, `field` the place within it."""

    def __init__(self, source: str, field: str, reason: str) -> None:
        super().__init__(source, field, reason)
        self.source, self.field, self.reason = source, field, reason

    def __str__(self) -> str:
        return ": ".join(part for part in (self.source, self.field, self.reason) if part)


class NotJson(MalformedInput):
    """A text that is no JSON document: `kafka.utils.Json.parseFull` gives None for it, and raises for none other."""


class UnknownName(BadInput):
    """A name that does not exist; the message lists those that do: on the same line, or below where they are many.

    Where a command lists them, `listed_by`, many are not listed but counted.
    """

    WIDTH: ClassVar = 100

    def __init__(self, kind: str, name: str, known: Iterable[str], *, listed_by: str | None = None) -> None:
        self.kind, self.name, self.known, self.listed_by = kind, name, tuple(known), listed_by
        super().__init__(kind, name, self.known)

    def __str__(self) -> str:
        close = get_close_matches(self.name, self.known, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        return f"no {self.kind} is called {self.name!r}{hint} ({self._listed()})"

    def _listed(self) -> str:
        listed = ", ".join(self.known) or "none"
        if len(listed) <= self.WIDTH:
            return f"known: {listed}"
        if self.listed_by is not None:
            return f"`{self.listed_by}` lists all {len(self.known)}"
        return "known:\n" + indent(fill(listed, self.WIDTH, break_on_hyphens=False, break_long_words=False), "  ")


class IllegalTransition(SpecError):
    """A state machine refused to go from `source` to `target` on `event`; it is still in `source`."""

    def __init__(self, source: str, event: str, target: str) -> None:
        super().__init__(source, event, target)
        self.source, self.event, self.target = source, event, target

    def __str__(self) -> str:
        return f"{self.event}: no transition from {self.source} to {self.target}"


class EnvironmentFailure(SpecError):
    """Something around us failed; `what` failed and what to `do` about it."""

    def __init__(self, what: str, do: str) -> None:
        super().__init__(what, do)
        self.what, self.do = what, do

    def __str__(self) -> str:
        return f"{self.what}; {self.do}"


class LacksMemory(EnvironmentFailure):
    """Less memory is free now than something needs; nothing was begun, so it can be tried again."""


@dataclass(frozen=True, slots=True)
class Where:
    """The place in an input that is being read: a source, and a field such as `partitions[2].replicas`."""

    source: str
    field: str = ""

    def key(self, name: str) -> "Where":
        """The member `name` of this place."""
        return Where(self.source, f"{self.field}.{name}" if self.field else name)

    def item(self, index: int) -> "Where":
        """The element at `index` of this place."""
        return Where(self.source, f"{self.field}[{index}]")

    def refuse(self, reason: str) -> NoReturn:
        """Raise MalformedInput for this place."""
        raise MalformedInput(self.source, self.field, reason)
