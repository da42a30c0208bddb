"""Scala's collections as they print themselves: the name of a class, and what it holds, `Map(1 -> List(2, 3))`.

    shape = collection("List(1, 2)", INT, "List")
    shape.write((1, 2)) == "List(1, 2)"
    shape.read("ArrayBuffer(1, 2)") == (1, 2)            and what was read is written as it was

A collection is a tuple, in the order in which it was printed; a map is a tuple of pairs. Scala's sets and maps have no
order of their own, so none may be read into it. Which class holds a collection is no part of its value: it differs by
where the collection came from, and by the Scala that Kafka was built with. So any is read, and the tuple remembers it
where it is another one than Kafka 0.10.2.2, built with Scala 2.11, has there.

What parses JSON gives `List`, `Set.toSeq` gives `ArrayBuffer` (2.12: `Vector`), and a mutable or a larger set or map is
`Set` or `Map`, too (2.13: `HashSet`, `HashMap`). Left out on purpose: a `Stream`, which does not print all of itself.

Scala: `TraversableLike.stringPrefix`, `SetLike.toSeq`.
"""

from collections.abc import Iterable
from typing import Final, TypeVar

from spec.formats.scala_order import immutable_set_order
from spec.formats.shapes import INT, listed
from spec.formats.templates import Shape

T = TypeVar("T")

CLASS_NAME: Final = "[A-Z][A-Za-z]*"


class Held(tuple[T, ...]):  # noqa: SLOT001 - a tuple has no room for slots
    """A tuple like any other, which remembers the class that held it."""

    held_by: str

    def __new__(cls, values: Iterable[T], held_by: str) -> "Held[T]":
        """The values, held by the class of this name."""
        made = super().__new__(cls, values)
        made.held_by = held_by
        return made

    def __getnewargs__(self) -> tuple[tuple[T, ...], str]:
        """What makes a copy, which is held by the same class."""
        return tuple(self), self.held_by


def set_to_seq(numbers: tuple[int, ...]) -> Held[int]:
    """The numbers, inserted into a set in this order, as `Set.toSeq` gives them."""
    return Held(immutable_set_order(numbers), "ArrayBuffer")


def filtered_from(origin: tuple[T, ...], values: tuple[T, ...]) -> tuple[T, ...]:
    """What is left of a collection, which the same class holds."""
    return Held(values, origin.held_by) if isinstance(origin, Held) else values


def collection(name: str, item: Shape[T], usual: str) -> Shape[tuple[T, ...]]:
    """The shape of a collection: read whichever class holds it, and written as what holds it, mostly the usual one."""
    items = listed(name, item, ", ", "(", ")")

    def read(text: str) -> tuple[T, ...]:
        held_by, opening, inner = text.partition("(")
        values = items.read(opening + inner)
        return values if held_by == usual else Held(values, held_by)

    def write(values: tuple[T, ...]) -> str:
        return (values.held_by if isinstance(values, Held) else usual) + items.write(values)

    return Shape(name, CLASS_NAME + items.pattern, read, write)


def map_of(name: str, entry: Shape[T]) -> Shape[tuple[T, ...]]:
    """The shape of a map with such entries."""
    return collection(name, entry, "Map")


SET: Final = collection("Set(1, 2)", INT, "Set")
LIST: Final = collection("List(1, 2)", INT, "List")
ARRAY_BUFFER: Final = collection("ArrayBuffer(1, 2)", INT, "ArrayBuffer")
