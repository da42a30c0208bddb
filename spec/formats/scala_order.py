"""The order in which hash tables of Scala and Java list their keys: in Kafka's JSON, and as ZooKeeper ends a session.

Kafka 0.8.2 to 0.10.2 encodes payloads from Scala maps (`kafka.utils.Json.encode`), so the keys come in the order in
which the map is traversed. An immutable Map of up to four keys keeps the order of insertion; a larger one is a
`HashTrieMap`, traversed by the improved hash, five bits at a time from the lowest. A mutable Map is a `HashTable` of
16 buckets for up to 12 keys, traversed from the last bucket to the first, the newest key of a bucket first.

Hashes are those of Scala 2.10 and 2.11 and of Java's String. Sets of brokers go by the same trie, and a number's hash
is the number. Left out on purpose: tables that grow, which no payload needs.
"""

import struct
from collections.abc import Iterable, Sequence

MASK = 0xFFFFFFFF
BUCKET_BITS = 4
LARGEST_TABLE = 12  # the load factor of 75 % grows a table of 16 buckets beyond this


def java_hash(text: str) -> int:
    """`String.hashCode`, as an unsigned 32-bit number."""
    value = 0
    for (unit,) in struct.iter_unpack(">H", text.encode("utf-16-be")):
        value = (value * 31 + unit) & MASK
    return value


def immutable_map_order(keys: Sequence[str]) -> list[str]:
    """The keys as `scala.collection.immutable.Map` lists them when they are inserted in this order."""
    return list(keys) if len(keys) <= 4 else sorted(keys, key=lambda key: _trie_digits(java_hash(key)))


def immutable_set_order(numbers: Sequence[int]) -> tuple[int, ...]:
    """The numbers as `scala.collection.immutable.Set` lists them when they are inserted in this order."""
    return tuple(numbers) if len(numbers) <= 4 else tuple(sorted(numbers, key=_trie_digits))


def mutable_map_order(keys: Sequence[str]) -> list[str]:
    """The keys as `scala.collection.mutable.HashMap` lists them when they are inserted in this order."""
    if len(keys) > LARGEST_TABLE:
        raise ValueError(f"{len(keys)} keys would make the table grow; its order is not known here")
    age = {key: index for index, key in enumerate(keys)}
    return sorted(keys, key=lambda key: (_bucket(key), age[key]), reverse=True)


def java_set_order(texts: Iterable[str]) -> list[str]:
    """The texts as `java.util.HashSet` lists them; within a bucket sorted, where Java goes by when they came in."""
    ordered = sorted(texts)
    buckets = 1 << BUCKET_BITS
    while len(ordered) > buckets * 3 // 4:
        buckets *= 2
    return sorted(ordered, key=lambda text: (java_hash(text) ^ java_hash(text) >> 16) & buckets - 1)


def _trie_digits(hash_code: int) -> list[int]:
    """`HashMap.improve` of a hash (of a number: itself), cut into the digits by which the trie branches."""
    value = (hash_code + ~(hash_code << 9)) & MASK
    value ^= value >> 14
    value = (value + (value << 4)) & MASK
    value ^= value >> 10
    return [value >> shift & 31 for shift in range(0, 32, 5)]


def _bucket(key: str) -> int:
    """`HashTable.index` in a table of 16 buckets: byteswap32, rotated by the table's seed, then the top bits."""
    value = java_hash(key) * 0x9E3775CD & MASK
    value = int.from_bytes(value.to_bytes(4, "big"), "little") * 0x9E3775CD & MASK
    rotated = (value >> BUCKET_BITS | value << (32 - BUCKET_BITS)) & MASK
    return rotated >> (32 - BUCKET_BITS)
