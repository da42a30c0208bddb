"""JSON payloads declared once: read as Kafka's readers read them, and printed as its `Json.encode` prints them.

A payload is a dataclass whose annotations carry a `JsonType` beside the Python type:

    leader: Annotated[int, Integer(NO_LEADER)]

Reading is as lenient as Kafka's, for other releases and other tools write, too: keys that are not known are passed
over, of a repeated key the last counts, and white space between tokens is nothing. A key that Kafka's readers
have a default for may be absent (`MAY_LACK`). One that they do not look at may be anything (`UNREAD`), and reads as its
default if it is not what we would write. What they need must be there and be of its type: `true` is not 1, and no
number has a fraction or is beyond 32 bits, wherever it is. A text that is neither a JSON object nor a list is
NotJson. Printing is exact: no blank anywhere, and keys in the order of Scala's maps.

Left out on purpose: escapes. Kafka writes a string between quotes as it is, so a string that would need an escape is
refused when it is printed; Kafka itself would write something that is no JSON.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, NoReturn

from spec.errors import MalformedInput, NotJson, Where
from spec.formats.inner_records import Flattened, mark
from spec.formats.scala_order import immutable_map_order

INT_MAX = 2**31 - 1
INT_MIN = -(2**31)
NEEDS_ESCAPE = re.compile(r'["\\\x00-\x1f]')


class JsonType(ABC):
    """How one kind of value stands in a JSON payload; both directions refuse with MalformedInput."""

    @abstractmethod
    def read(self, value: object, where: Where) -> Any:
        """The Python value for a decoded JSON value."""

    def write(self, value: Any, where: Where) -> str:
        """The JSON text for a Python value, exactly as Kafka prints it: of a number its decimal digits."""
        return str(self.read(value, where))


@dataclass(frozen=True)
class Integer(JsonType):
    """A whole number within 32 bits and the given bounds."""

    minimum: int = INT_MIN
    maximum: int = INT_MAX

    def read(self, value: object, where: Where) -> int:
        """The number."""
        if not isinstance(value, int) or isinstance(value, bool):
            where.refuse(f"expected a whole number, found {shown(value)}")
        if not self.minimum <= value <= self.maximum:
            where.refuse(f"{value} is not within {self.minimum}..{self.maximum}")
        return value


@dataclass(frozen=True)
class NumberOrDigits(Integer):
    """A whole number, or text of its digits: Scala's collections take both, and only who uses a member raises."""

    def read(self, value: object, where: Where) -> Any:
        """The number, or the text."""
        if isinstance(value, str) and re.fullmatch("0|[1-9][0-9]{0,9}", value):
            return str(super().read(int(value), where))
        return super().read(value, where)

    def write(self, value: Any, where: Where) -> str:
        """The digits, between quotes if they were."""
        written = self.read(value, where)
        return f'"{written}"' if isinstance(written, str) else str(written)


@dataclass(frozen=True)
class Constant(JsonType):
    """A number that cannot be another one, such as the version of a payload that has only one."""

    value: int

    def read(self, value: object, where: Where) -> int:
        """The number."""
        if not isinstance(value, int) or isinstance(value, bool) or value != self.value:
            where.refuse(f"expected {self.value}, found {shown(value)}")
        return value


@dataclass(frozen=True)
class Text(JsonType):
    """A string, all of which fits a pattern; `nullable` where Kafka writes null for an absent one."""

    pattern: str = "(?s:.*)"
    what: str = "a string"
    nullable: bool = False

    def read(self, value: object, where: Where) -> str | None:
        """The string."""
        if value is None and self.nullable:
            return None
        if not isinstance(value, str) or not re.fullmatch(self.pattern, value):
            where.refuse(f"expected {self.what}, found {shown(value)}")
        return value

    def write(self, value: Any, where: Where) -> str:
        """The string between quotes."""
        text = self.read(value, where)
        if text is None:
            return "null"
        if NEEDS_ESCAPE.search(text):
            where.refuse(f"Kafka writes strings without escapes, which {shown(text)} would need")
        return f'"{text}"'


@dataclass(frozen=True)
class Milliseconds(JsonType):
    """A time in milliseconds since 1970, which Kafka writes as a string of digits."""

    def read(self, value: object, where: Where) -> int:
        """The number of milliseconds."""
        if not isinstance(value, str) or not re.fullmatch(r"(0|[1-9][0-9]{0,18})", value):
            where.refuse(f"expected milliseconds as a string of digits, found {shown(value)}")
        return int(value)

    def write(self, value: Any, where: Where) -> str:
        """The digits between quotes."""
        return f'"{self.read(str(value), where)}"'


@dataclass(frozen=True)
class ListOf(JsonType):
    """An ordered list, a tuple in Python; an element may stand in it twice."""

    element: JsonType

    def read(self, value: object, where: Where) -> tuple[Any, ...]:
        """The elements."""
        if not isinstance(value, list):
            where.refuse(f"expected a list, found {shown(value)}")
        return tuple(self.element.read(item, where.item(index)) for index, item in enumerate(value))

    def write(self, value: Any, where: Where) -> str:
        """The elements between brackets."""
        return "[" + ",".join(self.element.write(item, where.item(index)) for index, item in enumerate(value)) + "]"


@dataclass(frozen=True)
class MapOf(JsonType):
    """A map whose keys are data (partition numbers, listener names), kept in their order."""

    value: JsonType
    numbers: bool = False

    def read(self, value: object, where: Where) -> Mapping[Any, Any]:
        """The map, read-only; its order does not count when two are compared."""
        if not isinstance(value, dict):
            where.refuse(f"expected a map, found {shown(value)}")
        read_key = partition_key if self.numbers else (lambda key, _: key)
        return MappingProxyType(
            {read_key(key, where): self.value.read(item, where.key(key)) for key, item in value.items()}
        )

    def write(self, value: Any, where: Where) -> str:
        """The pairs between braces."""
        pairs = (f"{TEXT.write(str(key), where)}:{self.value.write(value[key], where.key(str(key)))}" for key in value)
        return "{" + ",".join(pairs) + "}"


TEXT = Text()


def partition_key(key: str, where: Where) -> int:
    """A partition number, which JSON can only have as a string when it is a key."""
    if not re.fullmatch(r"0|[1-9][0-9]{0,9}", key) or int(key) > INT_MAX:
        where.refuse(f"expected a partition number as key, found {shown(key)}")
    return int(key)


@dataclass(frozen=True)
class Versions:
    """Marks a key that stands in a payload only from one version of it on, perhaps not always (`required`)."""

    since: int
    required: bool = True

    def allow(self, version: int) -> bool:
        """Whether a payload of this version may have the key."""
        return version >= self.since


@dataclass(frozen=True)
class Leniency:
    """Marks a key that a payload may lack when it is read, or that may be anything, since nobody reads it."""

    unread: bool = False


MAY_LACK = Leniency()
UNREAD = Leniency(unread=True)

Order = Callable[[Sequence[str]], list[str]]
"""The keys in the order in which they are printed."""


@dataclass(frozen=True)
class Key:
    """What is declared of a key: its type, the versions that have it, and how it is read."""

    kind: JsonType
    versions: Versions
    leniency: Leniency | None

    @property
    def may_lack(self) -> bool:
        """Whether a payload of a version that has the key is read without it."""
        return self.leniency is not None or not self.versions.required

    def read(self, value: object, where: Where) -> Any:
        """The value; MISSING for what nobody reads and we would not write."""
        try:
            return self.kind.read(value, where)
        except MalformedInput:
            if self.leniency is UNREAD:
                return MISSING
            raise


class Record(JsonType):
    """A dataclass as a JSON object, its fields the keys; one with a default, and no type in JSON, is no key."""

    def __init__(self, cls: type[Any], order: Callable[[int], Order] = lambda _: immutable_map_order) -> None:
        self.record = Flattened(cls)
        self.order = order
        """The order of keys, by the payload's version (0 for a record that has none)."""

    @cached_property
    def _keys(self) -> dict[str, Key]:
        return {field.name: key for field, hint in self.record.declared() if (key := _declared(field, hint))}

    def members(self, version: int) -> list[tuple[str, JsonType, bool]]:
        """Name and type of the keys that a payload of this version may have, and whether it must."""
        known = self._keys.items()
        return [(name, key.kind, key.versions.required) for name, key in known if key.versions.allow(version)]

    def read(self, value: object, where: Where) -> Any:
        """The record, if it has all the keys that Kafka's readers need."""
        if not isinstance(value, dict):
            where.refuse(f"expected an object, found {shown(value)}")
        given = self._of_known_version(value)
        version = self._version(given, where)
        values = {}
        for name, key in self._keys.items():
            if not key.versions.allow(version):
                continue
            if name in given:
                values[name] = key.read(given[name], where.key(name))
            elif not key.may_lack:
                where.key(name).refuse("missing")
        return self.record.made({name: value for name, value in values.items() if value is not MISSING})

    def _of_known_version(self, value: dict[str, object]) -> dict[str, object]:
        """The object, one of a later version than any that is known as of the last that is."""
        version, given = self._keys.get("version"), value.get("version")
        if version is None or not isinstance(version.kind, Integer) or not isinstance(given, int):
            return value
        return value | {"version": min(given, version.kind.maximum)}

    def _version(self, value: dict[str, object], where: Where) -> int:
        if "version" not in self._keys or self._keys["version"].leniency is UNREAD:
            return 0
        if "version" not in value:
            where.key("version").refuse("missing")
        return _number(self._keys["version"].read(value["version"], where.key("version")))

    def write(self, value: Any, where: Where) -> str:
        """The object, its keys in the order of the map that Kafka builds for this version."""
        values = self.record.values(value)
        version = _number(values.get("version", 0))
        present = [key for key in self._keys if self._stands(key, values[key], version, where)]
        texts = {key: self._keys[key].kind.write(values[key], where.key(key)) for key in present}
        return "{" + ",".join(f'"{key}":{texts[key]}' for key in self.order(version)(present)) + "}"

    def _stands(self, key: str, value: Any, version: int, where: Where) -> bool:
        """Whether a record has this key, which must be so for its version."""
        versions = self._keys[key].versions
        if versions.since == 0:
            return True
        given = value is not None
        if given and not versions.allow(version):
            where.key(key).refuse(f"stands in version {versions.since} and later only, this is {version}")
        if not given and versions.allow(version) and versions.required:
            where.key(key).refuse(f"missing in version {version}")
        return given


def _number(version: object) -> int:
    """A version to compare others with; the cluster's id has the string "1", and only one version."""
    return version if isinstance(version, int) else 0


def _declared(field: Field[Any], hint: Any) -> Key | None:
    """The JSON type, the versions and the leniency in an annotation; None for what is no key."""
    json_type: JsonType | None = mark(hint, JsonType)
    if json_type is None:
        if field.default is not MISSING:
            return None
        raise TypeError(f"{field.name} has no JSON type in its annotation")
    versions, leniency = mark(hint, Versions) or Versions(0), mark(hint, Leniency)
    if (versions.since or leniency) and field.default is MISSING and field.default_factory is MISSING:
        raise TypeError(f"{field.name} can be absent, so it needs a default")
    return Key(json_type, versions, leniency)


def decode_json(text: str, where: Where) -> dict[str, object] | list[object]:
    """The object or list that a whole JSON text is, in which all numbers are whole, and no surrogate is alone."""

    def no_fraction(number: str) -> NoReturn:
        where.refuse(f"{number} is not a whole number")

    def no_json(reason: object) -> NoReturn:
        raise NotJson(where.source, where.field, f"not JSON: {reason}")

    def whole(number: str) -> int:
        return Integer().read(int(number), where)

    try:
        value = json.loads(text, parse_int=whole, parse_float=no_fraction, parse_constant=no_json, strict=True)
    except json.JSONDecodeError as error:
        no_json(error)
    except (ValueError, RecursionError) as error:
        where.refuse(f"unreadable: {error}")
    if not isinstance(value, dict | list):
        no_json("neither an object nor a list")
    try:
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        where.refuse(f"a surrogate is alone: {error}")
    return value


def shown(value: object) -> str:
    """A value in a message, as JSON and not too long."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
