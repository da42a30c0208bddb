"""The order in which ZkClient goes through the paths that it has listeners on: that of their hashes.

It keeps them in a `ConcurrentHashMap`, which has 16 places at first, and twice as many each time that three quarters of
them are taken. What shares a place comes in the order in which it came.

ZkClient 0.10 `fireAllEvents`; Java 8: `String.hashCode`, `ConcurrentHashMap.spread`, `tableSizeFor`.
"""

from collections.abc import Iterable
from typing import Final

FEWEST: Final = 16
"""Places of a new table."""


def in_table_order(paths: Iterable[str], entries: int) -> list[str]:
    """Paths as a table has them that has had so many entries."""
    places = FEWEST
    while entries >= places * 3 // 4:
        places *= 2
    return sorted(paths, key=lambda path: _spread(path) & places - 1)


def _spread(path: str) -> int:
    hashed = 0
    for letter in path:
        hashed = 31 * hashed + ord(letter) & 0xFFFFFFFF
    return (hashed ^ hashed >> 16) & 0x7FFFFFFF
