"""Lines of a log, each declared once as a class with a template for every version of Kafka that prints it.

    class LeaderElected(ControllerLine, text="elected leader {leader} for Offline partition {partition}"):
        leader: int

Its holes are the fields of the class, in their order; a field that code reads is annotated, so that its type is known.
From the template come the printer (`str(line)`) and the strict parser (`Vocabulary.parse`): a text that is no line of
the version is refused, never guessed at, and what was parsed prints as it was. Where versions differ, `text` maps the
first version of each form to it; None says that from there on the line is gone. Where it is a value that prints
otherwise, `forms` has its shape by version. A line knows the version that it was written by, 0.10.2 unless said
otherwise.

Left out on purpose: the time, the level and the logger around a line, which are `spec/logs/log_entries.py`'s.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

from spec.errors import MalformedInput, Where
from spec.formats.kafka_types import V0102, KafkaVersion
from spec.formats.templates import Shapes, Template, construct

HOLE = re.compile(r"\{(\w+)(?::([^{}]+))?\}")
"""A hole, and the shape that it names, if any."""
ByVersion = Mapping[KafkaVersion, str | None]
"""A text by the first version that has it."""
TOLD = {"level": "levels", "logger": "loggers", "prefix": "prefix"}
"""What a class is given beside its text, and the name under which it keeps that."""


@dataclass(frozen=True, eq=False, repr=False)
class Line:
    """One line of a log: its values, and the version of Kafka that wrote it. Each kind is a frozen dataclass.

    How lines compare and show themselves is said here for all kinds: what a dataclass makes, it makes again for each of
    two hundred, which was a tenth of what it took to load the specification.
    """

    version: KafkaVersion = field(default=V0102, kw_only=True)

    levels: ClassVar[str | ByVersion] = "TRACE"
    loggers: ClassVar[str | ByVersion] = "state.change.logger"
    prefix: ClassVar[str | ByVersion] = ""
    shapes: ClassVar[Shapes] = {}
    usual: ClassVar[Mapping[str, str]] = {}
    """The shapes of holes that name none; of others it is the one that bears the hole's name."""
    forms: ClassVar[Mapping[str, ByVersion]] = {}
    """The shapes that are others in some versions."""
    templates: ClassVar[Mapping[KafkaVersion, Template]] = {}

    if TYPE_CHECKING:

        def __init__(self, *_values: Any, **_named: Any) -> None:
            """Each kind takes its fields, in their order or by name."""

    def __init_subclass__(cls, text: str | ByVersion | None = None, **told: str | ByVersion) -> None:
        super().__init_subclass__()
        for name, given in told.items():
            setattr(cls, TOLD[name], given)
        if text is not None:
            cls.templates = dict(_forms(cls, text))
            _declare_holes(cls)
        dataclass(frozen=True, eq=False, repr=False)(cls)

    @classmethod
    def level_at(cls, version: KafkaVersion) -> str:
        """The level at which a version logs the line."""
        return str(_at(cls.levels, version))

    @property
    def level(self) -> str:
        """The level at which this line was logged."""
        return self.level_at(self.version)

    @property
    def logger(self) -> str:
        """The logger that this line was logged with: the name of the class, unless Kafka names it otherwise."""
        return str(_at(self.loggers, self.version))

    def _values(self) -> tuple[object, ...]:
        return tuple(getattr(self, one.name) for one in fields(self))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        shown = (f"{one.name}={value!r}" for one, value in zip(fields(self), self._values(), strict=True))
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def __str__(self) -> str:
        if self.version not in self.templates:
            raise MalformedInput(type(self).__name__, "version", f"Kafka {self.version} has no such line")
        return self.templates[self.version].write(self)


def _at(text: str | ByVersion, version: KafkaVersion) -> str | None:
    """The text that a version has: the newest that it knows, or none."""
    if isinstance(text, str):
        return text
    known = [since for since in text if since <= version]
    return text[max(known)] if known else None


def _forms(cls: type[Line], text: str | ByVersion) -> Iterable[tuple[KafkaVersion, Template]]:
    """The template of each version that has the line."""
    made: dict[str, Template] = {}
    for version in KafkaVersion:
        form = _at(text, version)
        if form is not None:
            whole = HOLE.sub(partial(_with_shape, cls, version), f"{_at(cls.prefix, version)}{form}")
            yield version, made.setdefault(whole, Template(whole, cls.shapes))


def _declare_holes(cls: type[Line]) -> None:
    """Make a field of each hole that no base has, in the order of the text; what not every form has may be None."""
    forms = [form.holes for form in cls.templates.values()]
    own, inherited = cls.__annotations__, {one.name for one in fields(cls.__base__ or Line)}
    holes = [one for one in dict.fromkeys(chain(*forms)) if one not in inherited and not hasattr(cls, one)]
    if strange := sorted(own.keys() - set(holes)):
        raise TypeError(f"{cls.__name__} has no hole for {', '.join(strange)}")
    optional = [one for one in holes if not all(one in form for form in forms)]
    cls.__annotations__ = {one: own.get(one, Any) for one in sorted(holes, key=optional.__contains__)}
    for one in optional:
        setattr(cls, one, None)


def _with_shape(cls: type[Line], version: KafkaVersion, hole: re.Match[str]) -> str:
    name, shape = hole[1], hole[2] or cls.usual.get(hole[1], hole[1])
    form = _at(cls.forms.get(shape, shape), version)
    return f"{{{name}}}" if form == name else f"{{{name}:{form}}}"


def in_order(values: Iterable[object]) -> tuple[Any, ...]:
    """A collection that has no order as a line tells it: by numbers, or by names."""
    return tuple(sorted(values, key=lambda one: (one, "") if isinstance(one, int) else (0, str(one))))


def lines_of(*modules: str) -> Iterator[type[Line]]:
    """The lines that modules declare, in their order; classes without a text are what several of them share."""
    for name in modules:
        for one in vars(sys.modules[name]).values():
            if isinstance(one, type) and issubclass(one, Line) and one.templates and one.__module__ == name:
                yield one


class Vocabulary:
    """The lines that a log can have, and the parser that their templates make."""

    def __init__(self, kinds: Iterable[type[Line]]) -> None:
        self.kinds = tuple(kinds)
        self._by_version: dict[KafkaVersion, list[tuple[type[Line], Template]]] = {
            version: [(kind, kind.templates[version]) for kind in self.kinds if version in kind.templates]
            for version in KafkaVersion
        }

    def parse(self, text: str, version: KafkaVersion = V0102, source: str = "line") -> Line:
        """The line that a text is; MalformedInput names a field out of range, or where the closest line departs."""
        line = self._find(text, version, Where(source))
        if line is None:
            raise MalformedInput(source, "", self._departure(text, version))
        return line

    def has(self, text: str, version: KafkaVersion) -> bool:
        """Whether the whole text is a line, as this version prints it."""
        try:
            return self._find(text, version, Where("line")) is not None
        except MalformedInput:
            return False

    def _find(self, text: str, version: KafkaVersion, where: Where) -> Line | None:
        for kind, template in self._by_version[version]:
            if (values := template.read(text, where)) is None:
                continue
            try:
                return construct(kind, values | {"version": version})
            except ValueError as error:
                where.refuse(str(error))
        return None

    def _departure(self, text: str, version: KafkaVersion) -> str:
        """Where the text departs from the line that it follows the longest."""
        forms = [template for _, template in self._by_version[version]]
        if not forms:
            return f"Kafka {version} logs no line of this kind"
        agreed, expected = max((template.how_far(text) for template in forms), key=lambda found: found[0])
        return f"no line of Kafka {version}: expected {expected} at character {agreed}, found {text[agreed:][:40]!r}"
