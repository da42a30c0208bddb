"""Records within records: a field that is itself a dataclass stands for its own fields, among those around it.

    leadership: LeaderIsrAndControllerEpoch      # the leader, the ISR, .. as if they were declared here

So a schema, of JSON or of the wire, sees one flat list of what is declared, and values nest as their classes do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any, get_type_hints


@dataclass(frozen=True)
class Declared:
    """A field of a record, or of the record that its field `inner` holds, and its annotation."""

    field: Field[Any]
    hint: Any
    inner: str = ""

    def of(self, value: Any) -> Any:
        """What a record has in this field."""
        return getattr(getattr(value, self.inner) if self.inner else value, self.field.name)


@dataclass(frozen=True)
class Flattened:
    """A dataclass, as what is declared of it and of the records within it."""

    cls: type[Any]

    @cached_property
    def _hints(self) -> Mapping[str, Any]:
        return get_type_hints(self.cls, include_extras=True)

    @cached_property
    def _inner(self) -> Mapping[str, Flattened]:
        """The records within the record, by their fields."""
        hints = self._hints.items()
        return {name: Flattened(hint) for name, hint in hints if isinstance(hint, type) and is_dataclass(hint)}

    def __iter__(self) -> Iterator[Declared]:
        for field in fields(self.cls):
            if field.name in self._inner:
                yield from (Declared(one.field, one.hint, field.name) for one in self._inner[field.name])
            else:
                yield Declared(field, self._hints[field.name])

    def made(self, values: dict[str, Any]) -> Any:
        """The record that has these values; what is not among them takes its default."""
        for name, inner in self._inner.items():
            own = [one.field.name for one in inner if one.field.name in values]
            values[name] = inner.made({one: values.pop(one) for one in own})
        return self.cls(**values)
