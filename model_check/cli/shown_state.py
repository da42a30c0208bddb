"""The state as `kcheck show state` prints it: record by record, each field with its kind, initial value and sentence.

The state may have a record more than once, and a record may be a part of others; its fields are printed once, below the
places where it is. Of one scope only what it keeps is shown, and how many variables that makes.
"""

import enum
import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from model_check.conformance import shown
from spec.language.records import ALWAYS, Declared, Each, Field, Nested, PerScope, Record, own, taken_over
from spec.language.views import leaves
from spec.model import Model
from spec.scopes import Purgatory, Scope
from spec.state.cluster import ROOTS, root_of, shape
from spec.variants import AS_CODED

INDENT = "    "

SAMPLE = Model(
    Scope(
        "sample", "Something to print initial values for.", brokers=1, controllers=1,
        purgatory=Purgatory(requests=((0,),), refused=((),), partitions=(1,)),
    ),
    AS_CODED,
)  # fmt: skip


@dataclass
class Section:
    """A record: where it stands in the state, of which records it is a part, and all places of its fields."""

    record: type[Record]
    stands_at: list[str] = field(default_factory=list)
    part_of: list[str] = field(default_factory=list)
    places: set[str] = field(default_factory=set)


def state_lines(width: int, m: Model | None = None) -> Iterator[str]:
    """The records of the state, wrapped to a width: all there are, or what a model keeps."""
    kept = None if m is None else Counter(_pattern(one.name) for one in leaves(shape(m)))
    for section in [one for root in (ROOTS if m is None else (root_of(m),)) for one in _sections(root)]:
        told = {name: _told(section, name, one, kept) for name, one in own(section.record).items()}
        lines = list(_fields(section.record, {name: text for name, text in told.items() if text}, width))
        if lines or (section.stands_at and taken_over(section.record)):
            yield from (*_heading(section, width), *([""] if lines else []), *lines, "")
    if kept is not None:
        yield f"{kept.total()} variables in all"


def state_document(scope: str | None, m: Model | None = None) -> shown.StateRecords:
    """The same as a document."""
    kept = None if m is None else Counter(_pattern(one.name) for one in leaves(shape(m)))
    records = []
    for section in [one for root in (ROOTS if m is None else (root_of(m),)) for one in _sections(root)]:
        record = section.record
        told = {name: _told(section, name, one, kept) for name, one in own(record).items()}
        fields = [shown.ShownField(name, text, own(record)[name].meaning) for name, text in told.items() if text]
        if fields or (section.stands_at and taken_over(record)):
            meaning = " ".join((record.__doc__ or "").split())
            where = None if record.kept is ALWAYS else record.kept.text
            records.append(
                shown.ShownRecord(record.__name__, meaning, section.stands_at, section.part_of, where, fields)
            )
    return shown.StateRecords(scope, None if kept is None else kept.total(), records)


def _sections(root: type[Record]) -> list[Section]:
    """Each record of the state once, before the records that it holds."""
    found: dict[type[Record], Section] = {}

    def visit(record: type[Record], place: str, part_of: type[Record] | None = None) -> None:
        section = found.setdefault(record, Section(record))
        section.places.add(place)
        if part_of is None:
            section.stands_at.append(place)
        elif part_of.__name__ not in section.part_of:
            section.part_of.append(part_of.__name__)
        for base in taken_over(record):
            visit(base, place, record)
        for name, one in own(record).items():
            indices, within = _indices(one)
            if isinstance(within, Nested):
                visit(within.record, _joined(place, name) + "".join(f"[{index}]" for index in indices))

    visit(root, "")
    return list(found.values())


def _indices(one: Declared[Any]) -> tuple[list[str], Declared[Any]]:
    """What an array of arrays runs over, from the outside, and what there is one of for each."""
    indices = []
    while isinstance(one, Each):
        indices.append(one.over.text)
        one = one.one
    return indices, one


def _heading(section: Section, width: int) -> Iterator[str]:
    """The name of a record, what it is, and where it is."""
    record = section.record
    yield record.__name__
    paragraph = [" ".join((record.__doc__ or "").split())]
    if section.part_of:
        paragraph.append(f"Part of {_listed(section.part_of)}.")
    if section.stands_at not in ([], [""]):
        paragraph.append(f"It stands at {_listed(section.stands_at)}.")
    if bases := taken_over(record):
        paragraph.append(f"It has what is in {_listed([one.__name__ for one in bases])}.")
    if record.kept is not ALWAYS:
        paragraph.append(f"Kept where: {record.kept.text}.")
    for text in paragraph:
        yield from _wrapped(text, width, INDENT)


def _told(section: Section, name: str, one: Declared[Any], kept: Mapping[str, int] | None) -> str:
    """What a field holds and where it is kept; nothing where a model does not keep it."""
    if kept is None:
        return _held(one) + ("" if one.kept is ALWAYS else f"; where: {one.kept.text}")
    places = {_pattern(_joined(place, name)) for place in section.places}
    count = sum(n for pattern, n in kept.items() if any(_is_within(pattern, place) for place in places))
    return f"{_held(one)}; {count} variable{'s' if count > 1 else ''}" if count else ""


def _held(one: Declared[Any]) -> str:
    """The kind and the initial value of a field, and by what there are several."""
    indices, within = _indices(one)
    several = f" by {_listed(indices)}" if indices else ""
    if isinstance(within, Nested):
        return f"{within.record.__name__}{several}"
    assert isinstance(within, Field)  # noqa: S101 - there is nothing else to declare
    kind = within.kind.text if isinstance(within.kind, PerScope) else within.kind.name
    return f"{kind}{several} = {_initial(within)}"


def _initial(one: Field) -> str:
    if isinstance(one.initial, PerScope):
        return one.initial.text
    if isinstance(one.initial, enum.Enum):
        return one.initial.name
    kind = one.kind.of(SAMPLE, 0) if isinstance(one.kind, PerScope) else one.kind
    return kind.show(kind.encode(one.initial))


def _fields(record: type[Record], told: Mapping[str, str], width: int) -> Iterator[str]:
    """The fields of a record in two columns: the name; what it holds, and below that its sentence."""
    column = max(map(len, told), default=0) + len(INDENT) + 2
    for name, text in told.items():
        yield from _wrapped(text, width, f"{INDENT}{name}".ljust(column), " " * column)
        yield from _wrapped(own(record)[name].meaning, width, " " * column)


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


def _joined(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _pattern(name: str) -> str:
    """A variable's name, or a place, without its indices."""
    return re.sub(r"\[[^\]]*\]", "[]", name)


def _is_within(variable: str, place: str) -> bool:
    return variable == place or variable.startswith((f"{place}.", f"{place}["))


def _wrapped(text: str, width: int, first: str, rest: str | None = None) -> Iterator[str]:
    yield from textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=first if rest is None else rest,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
