"""Texts with typed holes, written once and used in both directions.

`Controller {controller} epoch {epoch} started leader election for partition {partition:[t,p]}` is at once the printer
of a log line and its parser: the words are literal, each hole has a *shape*, and a shape knows the pattern of its
texts, how to read one and how to write one. Znode paths and log lines are declared in this way, so what we print and
what we accept cannot drift apart.

A hole is `{name}` or `{name:shape}`; without a shape it takes the one that bears its name, and a name that comes twice
has one value. Values are attributes of the object that is printed. A record (a dataclass with a template of its own) is
a shape as well, so templates nest; an attribute that is no field of it, but follows from its fields (a replication
factor beside the replicas), is printed and, when read, must agree.

Left out on purpose: alternatives, repetition and escapes. What varies by Kafka's version is another template, not a
cleverer one; a repetition is a shape (a list of ids).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import takewhile
from string import Formatter
from typing import Any, Generic, TypeVar

from spec.errors import Where

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Shape(Generic[T]):
    """How a kind of value is spelled: a pattern without groups, `read` (or a ValueError that says why), and `write`."""

    name: str
    pattern: str
    read: Callable[[str], T]
    write: Callable[[T], str]

    def accepts(self, value: T) -> bool:
        """Whether the value is written as a text of this shape."""
        return re.fullmatch(self.pattern, self.write(value)) is not None


Shapes = Mapping[str, Shape[Any]]


@dataclass(frozen=True)
class Template:
    """A text with typed holes over a vocabulary of shapes."""

    text: str
    shapes: Shapes = field(compare=False)

    @cached_property
    def parts(self) -> tuple[str | tuple[str, Shape[Any]], ...]:
        """Literals, and holes as their name and shape, in the order of the text."""
        parts: list[str | tuple[str, Shape[Any]]] = []
        for literal, name, shape, _ in Formatter().parse(self.text):
            if literal:
                parts.append(literal)
            if name is not None:
                parts.append((name, self.shapes[shape or name]))
        return tuple(parts)

    @cached_property
    def holes(self) -> dict[str, Shape[Any]]:
        """The shape of each hole by its name."""
        return dict(part for part in self.parts if not isinstance(part, str))

    @cached_property
    def pattern(self) -> str:
        """The pattern of the whole text, without capturing groups, for nesting."""
        return "".join(re.escape(part) if isinstance(part, str) else f"(?:{part[1].pattern})" for part in self.parts)

    @cached_property
    def longest_literal(self) -> str:
        """The longest piece of fixed text: what does not contain it need not be tried."""
        return max((part for part in self.parts if isinstance(part, str)), key=len, default="")

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        return re.compile(self._prefix(len(self.parts)))

    def _prefix(self, count: int) -> str:
        """The pattern of the first `count` parts, holes captured by name; a name that comes again has the same text."""
        pattern, named = "", set[str]()
        for part in self.parts[:count]:
            if isinstance(part, str):
                pattern += re.escape(part)
            else:
                name, shape = part
                pattern += f"(?P={name})" if name in named else f"(?P<{name}>{shape.pattern})"
                named.add(name)
        return pattern

    def read(self, text: str, where: Where) -> dict[str, Any] | None:
        """The value of every hole, or None if the text has another form; a value out of range raises MalformedInput."""
        if self.longest_literal not in text or not (found := self._regex.fullmatch(text)):
            return None
        values = {}
        for name, shape in self.holes.items():
            try:
                values[name] = shape.read(found[name])
            except ValueError as error:
                where.key(name).refuse(str(error))
        return values

    def write(self, values: object) -> str:
        """The text, with the holes filled from the attributes of `values`."""
        return "".join(
            part if isinstance(part, str) else part[1].write(getattr(values, part[0])) for part in self.parts
        )

    def how_far(self, text: str) -> tuple[int, str]:
        """How many characters of the text fit before it departs from the template, and what was expected there."""
        count, end = 0, 0
        for longer in range(1, len(self.parts) + 1):  # if one does not fit, no longer one does
            found = re.match(self._prefix(longer), text)
            if found is None:
                break
            count, end = longer, found.end()
        if count == len(self.parts):
            return end, "the end"
        part = self.parts[count]
        if isinstance(part, str):
            shared = len([*takewhile(lambda two: two[0] == two[1], zip(part, text[end:], strict=False))])
            return end + shared, repr(part[shared:])
        return end, f"{part[0]} ({part[1].name})"


def construct(cls: type[T], values: Mapping[str, Any]) -> T:
    """An object from the values of its template's holes; ValueError if a derived one does not agree with the rest."""
    own = {member.name for member in fields(cls)}  # type: ignore[arg-type]  # T is a dataclass by contract
    made = cls(**{name: value for name, value in values.items() if name in own})
    for name in values.keys() - own:
        if getattr(made, name) != values[name]:
            raise ValueError(f"{name} is {values[name]}, but {getattr(made, name)} by the rest of the text")
    return made


def record(name: str, cls: type[T], template: Template) -> Shape[T]:
    """The shape of a dataclass that is written by a template of its own."""

    def read(text: str) -> T:
        values = template.read(text, Where("", name))
        if values is None:
            raise ValueError(f"not of the form {template.text}")
        return construct(cls, values)

    return Shape(name, template.pattern, read, template.write)
