"""What is given to a face: a plain dictionary, each key with its kind; what is wrong is reported by its place."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from reference.face.znodes import partition_named
from spec.errors import BadInput, Where
from spec.formats.kafka_types import NO_LEADER, TopicPartition
from spec.formats.leadership import LeaderIsrAndControllerEpoch

T = TypeVar("T")
SOURCE: Final = "given"
MOST: Final = 2**31 - 1
MOST_WRITES: Final = 10_000


class Given:
    """A dictionary that is read key by key; those that nobody asks for are refused at the end."""

    def __init__(self, told: Mapping[str, Any], where: Where | None = None) -> None:
        self._where = Where(SOURCE) if where is None else where
        self._told, self._asked = mapping(told, self._where), set[str]()

    def get(self, key: str, read: Callable[[Any, Where], T], default: Any) -> T:
        """What a key holds, read by its kind, and so is the default where it is not given."""
        self._asked.add(key)
        return read(self._told.get(key, default), self._where.key(key))

    def require(self, key: str, read: Callable[[Any, Where], T]) -> T:
        """What a key holds that must be given."""
        if key not in self._told:
            self._where.key(key).refuse("missing")
        self._asked.add(key)
        return read(self._told[key], self._where.key(key))

    def refuse_others(self) -> None:
        """Refuse keys that nobody has asked for."""
        if unknown := [key for key in self._told if key not in self._asked]:
            self._where.key(unknown[0]).refuse(f"is not one of {', '.join(sorted(self._asked))}")


def number(told: Any, where: Where) -> int:
    """A number of 32 bits."""
    if type(told) is not int:
        where.refuse(f"expected a number, found {told!r}")
    return told if -MOST - 1 <= told <= MOST else where.refuse("expected a number of 32 bits")


def version(told: Any, where: Where) -> int:
    """The data version of a znode, which takes as many writes."""
    found = number(told, where)
    return found if -1 <= found <= MOST_WRITES else where.refuse(f"expected a version of at most {MOST_WRITES}")


def flag(told: Any, where: Where) -> bool:
    """True or false."""
    return told if isinstance(told, bool) else where.refuse(f"expected true or false, found {told!r}")


def text(told: Any, where: Where) -> str:
    """A text."""
    return told if isinstance(told, str) else where.refuse(f"expected a text, found {told!r}")


def anything(told: Any, where: Where) -> Any:
    """Whatever JSON can hold."""
    del where
    return told


def listed(told: Any, where: Where) -> Sequence[Any]:
    """A list of anything."""
    return told if isinstance(told, list | tuple) else where.refuse(f"expected a list, found {told!r}")


def numbers(told: Any, where: Where) -> tuple[int, ...]:
    """A list of numbers, in its order."""
    return tuple(number(one, where.item(place)) for place, one in enumerate(listed(told, where)))


def texts(told: Any, where: Where) -> tuple[str, ...]:
    """A list of texts, in its order."""
    return tuple(text(one, where.item(place)) for place, one in enumerate(listed(told, where)))


def mapping(told: Any, where: Where) -> Mapping[str, Any]:
    """An object."""
    return told if isinstance(told, Mapping) else where.refuse(f"expected an object, found {told!r}")


def partition(told: Any, where: Where) -> TopicPartition:
    """A partition, by its name."""
    try:
        return partition_named(text(told, where))
    except BadInput as error:
        where.refuse(str(error))


def partitions(told: Any, where: Where) -> tuple[TopicPartition, ...]:
    """A list of partitions, by their names."""
    return tuple(partition(one, where.item(place)) for place, one in enumerate(texts(told, where)))


def by_partition(read: Callable[[Any, Where], T]) -> Callable[[Any, Where], dict[TopicPartition, T]]:
    """An object whose keys are the names of partitions."""
    return lambda told, where: {
        partition(name, where): read(one, where.key(name)) for name, one in mapping(told, where).items()
    }


def leadership(told: Any, where: Where) -> LeaderIsrAndControllerEpoch:
    """A leadership, as a cache has it: `leader`, `isr`, and what else is not 0 (`zk_version`, epochs)."""
    given = Given(told, where)
    found = LeaderIsrAndControllerEpoch(
        leader=given.get("leader", number, NO_LEADER),
        leader_epoch=given.get("leader_epoch", number, 0),
        isr=given.get("isr", numbers, []),
        controller_epoch=given.get("controller_epoch", number, 1),
        zk_version=given.get("zk_version", version, 0),
    )
    given.refuse_others()
    return found


def one_of(kind: Any) -> Callable[[Any, Where], Any]:
    """A member of an enumeration, by its text."""

    def read(told: Any, where: Where) -> Any:
        known = {str(one): one for one in kind}
        return (
            known[told]
            if isinstance(told, str) and told in known
            else where.refuse(f"expected one of {', '.join(known)}, found {told!r}")
        )

    return read
