"""The order in which ZkClient goes through the paths that it has listeners on: that of their hashes.

It keeps them in a `ConcurrentHashMap`, which has 16 places at first, and twice as many each time that three quarters of
them are taken. How many paths a process has had at once, a recording does not tell exactly; so the orders of all sizes
count that a table may have had. Left out: what shares a place comes in the order in which it was subscribed to, for
which that of the partitions' numbers is taken.

ZkClient 0.10 `fireAllEvents`; Java 8: `String.hashCode`, `ConcurrentHashMap.spread`, `tableSizeFor`.
"""

from collections.abc import Iterable
from itertools import chain
from typing import Final

from model_check.recordings.recording import Cluster, Recording
from model_check.recordings.seen import SessionBegan
from reference.scripts import state_path

FEWEST: Final = 16
"""Places of a new table."""


ALWAYS: Final = 3
"""A controller listens to the data of /controller and of two requests, beside topics and partitions that move."""


def orders_of_states(recording: Recording) -> list[tuple[int, ...]]:
    """The orders in which callbacks of partitions' states may have come after an expiry, the likeliest first.

    They are told apart by the partitions that move, whose states alone are listened to; without an expiry there is one.
    """
    cluster = recording.cluster
    moving = {p for request in cluster.requests for p, replicas in enumerate(request) if replicas}
    renewed = any(isinstance(one, SessionBegan) and not one.first for one in chain(*recording.tracks.values()))
    found: dict[tuple[int, ...], tuple[int, ...]] = {}
    for order in _orders(cluster):
        found.setdefault(tuple(p for p in order if p in moving), order)
    return [*found.values()][: None if renewed else 1]


def _orders(cluster: Cluster) -> Iterable[tuple[int, ...]]:
    """That of the largest table that it may be, those of smaller ones, and the partitions by number."""
    most = max((sum(map(bool, request)) for request in cluster.requests), default=0)
    places = _places(ALWAYS + len(cluster.topics) + most)
    numbers = {state_path(partition): p for p, partition in enumerate(cluster.partitions)}
    while places >= FEWEST:
        yield tuple(numbers[path] for path in in_table_order(numbers, places))
        places //= 2
    yield tuple(numbers.values())


def _places(entries: int) -> int:
    """How many places a table has that has had so many entries."""
    places = FEWEST
    while entries >= places * 3 // 4:
        places *= 2
    return places


def in_table_order(paths: Iterable[str], places: int) -> list[str]:
    """Paths as a table of so many places has them."""
    return sorted(paths, key=lambda path: _spread(path) & places - 1)


def _spread(path: str) -> int:
    hashed = 0
    for letter in path:
        hashed = 31 * hashed + ord(letter) & 0xFFFFFFFF
    return (hashed ^ hashed >> 16) & 0x7FFFFFFF
