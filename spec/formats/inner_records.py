"""Records within records: a field that is itself a dataclass stands for its own fields, among those around it.

    leadership: LeaderIsrAndControllerEpoch      # the leader, the ISR, .. as if they were declared here

So a schema, of JSON or of the wire, sees one flat list of fields, and values nest as their classes do.
"""

from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any, get_type_hints


def mark(hint: Any, kind: type[Any]) -> Any:
    """What of a kind stands beside the type in an annotation; None if nothing does."""
    return next((one for one in getattr(hint, "__metadata__", ()) if isinstance(one, kind)), None)


@dataclass(frozen=True)
class Flattened:
    """A dataclass, with the fields of the records within it among its own."""

    cls: type[Any]

    @cached_property
    def _hints(self) -> Mapping[str, Any]:
        return get_type_hints(self.cls, include_extras=True)

    @cached_property
    def _inner(self) -> "Mapping[str, Flattened]":
        hints = self._hints.items()
        return {name: Flattened(hint) for name, hint in hints if isinstance(hint, type) and is_dataclass(hint)}

    def declared(self) -> Iterator[tuple[Field[Any], Any]]:
        """The fields in order, each with its annotation."""
        for one in fields(self.cls):
            inner = self._inner.get(one.name)
            yield from inner.declared() if inner else [(one, self._hints[one.name])]

    def values(self, record: Any) -> dict[str, Any]:
        """What a record has in each field."""
        values = {one.name: getattr(record, one.name) for one in fields(self.cls)}
        for name, inner in self._inner.items():
            values |= inner.values(values.pop(name))
        return values

    def made(self, values: dict[str, Any]) -> Any:
        """The record that has these values; what is not among them takes its default."""
        for name, inner in self._inner.items():
            own = [one.name for one, _ in inner.declared() if one.name in values]
            values[name] = inner.made({one: values.pop(one) for one in own})
        return self.cls(**values)
