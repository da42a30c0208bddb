"""A value as text that is equal exactly where the value is: what a check was asked, spelled out in full.

The arguments of a check are frozen records of plain values. Whatever else may come along has no text here and is
refused, for a part that a text left out could change unnoticed.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any


def canonical(value: Any) -> str:
    """The text of a value; TypeError for a kind of value that has none."""
    match value:
        case Enum():
            text = f"{_named(type(value))}.{value.name}"
        case None | bool() | int() | float() | str() | bytes():
            text = repr(value)
        case Path():
            text = f"Path({str(value)!r})"
        case FunctionType() | type():
            text = _named(value)
        case partial():
            text = f"{canonical(value.func)}({', '.join([*map(canonical, value.args), *_entries(value.keywords)])})"
        case Mapping():
            text = f"{{{', '.join(sorted(_entries(value)))}}}"
        case set() | frozenset():
            text = f"{{{', '.join(sorted(map(canonical, value)))}}}"
        case tuple() | list():
            text = f"[{', '.join(map(canonical, value))}]"
        case _ if is_dataclass(value):
            text = f"{_named(type(value))}({', '.join(_entries(_fields(value)))})"
        case _:
            raise TypeError(f"a {type(value).__name__} cannot be among what a check is asked: nothing spells it out")
    return text


def modules_in(value: Any) -> Iterator[str]:
    """The modules of all functions and classes in a value: the code that makes something of it."""
    if isinstance(value, (FunctionType, type)):
        yield value.__module__
    elif isinstance(value, partial):
        yield from modules_in((value.func, value.args, value.keywords))
    elif isinstance(value, Mapping):
        yield from modules_in((*value.keys(), *value.values()))
    elif isinstance(value, (tuple, list, set, frozenset)):
        for one in value:
            yield from modules_in(one)
    elif isinstance(value, Enum):
        yield type(value).__module__
    elif is_dataclass(value):
        yield type(value).__module__
        yield from modules_in(tuple(_fields(value).values()))


def _fields(value: Any) -> dict[str, Any]:
    return {one.name: getattr(value, one.name) for one in fields(value)}


def _entries(value: Mapping[Any, Any]) -> Iterator[str]:
    return (f"{name if isinstance(name, str) else canonical(name)}={canonical(one)}" for name, one in value.items())


def _named(value: type | Callable[..., Any]) -> str:
    return f"{value.__module__}.{value.__qualname__}"
