"""A digest of a set of states that every engine can compute: no order, no packing, no numbers of states enters it.

Every value of every variable has a 128-bit code, made by BLAKE2 from the variable's name and the value as it prints.
The codes of a state's values are added up, the sum is mixed, and the mixed sums of all states are added up again. So
shards can be digested apart and added, and two engines that pack differently, or start from systems built differently,
agree exactly if they found the same states. Codes and sums are two lanes of 64 bits, each modulo 2**64.

Several neighbouring variables are read with one look into a table, and a word that is as in the state before is not
read again: most of a state is as in the one that was found before it. The tests have the plain definition.
"""

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from model_check.kernel.blueprint import listed
from model_check.kernel.native import inlined, tight_loop
from model_check.kernel.packing import Packing, Words
from spec.language.rules import Variable

LANE = (1 << 64) - 1
TABLE_BITS = 10
"""Neighbouring variables share a table of codes up to so many bits."""

_A, _B, _C = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0x9E3779B97F4A7C15


@dataclass(frozen=True)
class SetDigest:
    """The number of states and the sum of their mixed codes; digests of disjoint sets add up."""

    count: int = 0
    low: int = 0
    high: int = 0

    def __add__(self, other: "SetDigest") -> "SetDigest":
        return SetDigest(self.count + other.count, self.low + other.low & LANE, self.high + other.high & LANE)

    def __str__(self) -> str:
        return f"{self.count:x}-{self.high:016x}{self.low:016x}"


def codes(variable: Variable) -> list[tuple[int, int]]:
    """The code of each raw value of a variable, as two lanes; ValueError if there are too many to list."""
    found = []
    for value in listed(variable):
        code = hashlib.blake2b(f"{variable.name}\0{value}".encode(), digest_size=16).digest()
        found.append((int.from_bytes(code[:8], "little"), int.from_bytes(code[8:], "little")))
    return found


def digest_of(packing: Packing, rows: Words) -> SetDigest:
    """The digest of a set of packed states (`uint64[n, words]`, no state twice)."""
    places, begins, tables = _tables(packing)
    known = np.zeros((rows.shape[1], 3), np.uint64)
    low, high = _sum(np.ascontiguousarray(rows), places, begins, tables, known)
    return SetDigest(len(rows), int(low), int(high))


@lru_cache(maxsize=8)
def _tables(packing: Packing) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Words]:
    """Where to look and what is found: rows of (word, shift, mask, first entry), the first row of each word, and the
    entries as two lanes.
    """
    places, entries, start = [], [], 0
    for group in _groups(packing):
        first = packing.places[group[0].name]
        entries.append(_joined(packing, group))
        places.append((first.word, first.shift, len(entries[-1]) - 1, start))
        start += len(entries[-1])
    rows = np.array(places, dtype=np.int64)
    return rows, np.searchsorted(rows[:, 0], np.arange(packing.words + 1)), np.concatenate(entries)


def _groups(packing: Packing) -> list[list[Variable]]:
    """Variables that stand next to each other in a word and together take few bits."""
    groups: list[list[Variable]] = []
    for variable in sorted(
        packing.variables, key=lambda one: (packing.places[one.name].word, packing.places[one.name].shift)
    ):
        place = packing.places[variable.name]
        first = packing.places[groups[-1][0].name] if groups else None
        if first and first.word == place.word and place.shift + place.width - first.shift <= TABLE_BITS:
            groups[-1].append(variable)
        else:
            groups.append([variable])
    return groups


def _joined(packing: Packing, group: list[Variable]) -> npt.NDArray[np.uint64]:
    """The summed codes for every value of a group's bits; values out of range count nothing."""
    total = np.zeros((1, 2), dtype=np.uint64)
    for variable in group:
        own = np.zeros((1 << packing.places[variable.name].width, 2), dtype=np.uint64)
        own[: variable.kind.maximum + 1] = codes(variable)
        total = (own[:, None, :] + total[None, :, :]).reshape(-1, 2)
    return total


@inlined
def _avalanche(lane: Any) -> Any:
    lane = (lane ^ lane >> np.uint64(30)) * np.uint64(_A)
    lane = (lane ^ lane >> np.uint64(27)) * np.uint64(_B)
    return lane ^ lane >> np.uint64(31)


@tight_loop
def _sum(
    rows: Words, places: npt.NDArray[np.int64], begins: npt.NDArray[np.int64], entries: Words, known: Words
) -> tuple[Any, Any]:
    """Both lanes; `known` is scratch: of each word, what it was in the row before, and its two sums."""
    low_sum = high_sum = np.uint64(0)
    for row in range(rows.shape[0]):
        low = high = np.uint64(0)
        for word in range(rows.shape[1]):
            content, one = rows[row, word], known[word]
            if row == 0 or content != one[0]:
                one[0], one[1], one[2] = content, 0, 0
                for place in range(begins[word], begins[word + 1]):
                    value = content >> np.uint64(places[place, 1]) & np.uint64(places[place, 2])
                    entry = places[place, 3] + np.int64(value)
                    one[1] += entries[entry, 0]
                    one[2] += entries[entry, 1]
            low += one[1]
            high += one[2]
        low = _avalanche(low ^ high * np.uint64(_C))
        high = _avalanche(high ^ low * np.uint64(_C))
        low_sum += low
        high_sum += high
    return low_sum, high_sum
