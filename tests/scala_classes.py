"""The classes that hold Scala's collections: others in place of those that a text names, and those that a value has."""

import re
from dataclasses import fields, is_dataclass

from hypothesis import strategies as st

from spec.formats.scala_collections import Held

CLASSES = ["ArrayBuffer", "HashMap", "HashSet", "List", "ListBuffer", "Map", "Set", "Stream", "Vector", "WrappedArray"]
USUAL = re.compile(r"\b(?:ArrayBuffer|List|Map|Set)\(")
"""What a collection begins with in the lines of Kafka 0.8.2 to 0.10.2."""


def class_names(count: int) -> st.SearchStrategy[list[str]]:
    """As many names of classes."""
    return st.lists(st.sampled_from(CLASSES), min_size=count, max_size=count)


def in_classes(text: str, names: list[str]) -> str:
    """A text with other classes of collections, each in turn, in place of those that it names."""
    following = iter(names)
    return USUAL.sub(lambda _: f"{next(following)}(", text)


def held_in(value: object) -> list[str]:
    """The classes of collections, at any depth of a value, that are others than usual."""
    parts = [getattr(value, one.name) for one in fields(value)] if is_dataclass(value) else []
    parts += value if isinstance(value, tuple) else []
    own = [value.held_by] if isinstance(value, Held) else []
    return own + [name for part in parts for name in held_in(part)]
