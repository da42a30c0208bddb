"""The steps that a system can take from its reachable states, written down so that two revisions can be compared.

A state is known by a code of 128 bits, made of the names of its variables and of their values as they print: not of how
they are packed, which revisions do otherwise. Of variables that only one of the revisions has nothing enters. A step's
code is made of the codes of the states before and after it, and of the action's name with its arguments; an action that
only one revision knows by its name enters without it, so that one that was merely renamed does the same as before.

Steps that change nothing at all are left out: nobody can tell them from no step.
"""

import hashlib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.uint64]
"""Codes, one a row: two lanes of 64 bits."""

BLOCK = 1 << 14
"""States that are looked at together."""
TABLE_BITS = 10
"""Neighbouring variables are looked up together, up to so many bits."""

_A, _B, _C = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB), np.uint64(0x9E3779B97F4A7C15)


class StateCodes:
    """The codes of a system's packed states, as far as the named variables tell them apart."""

    def __init__(self, system: Any, packing: Any, names: Collection[str]) -> None:
        wanted = [one for one in system.variables if one.name in names]
        places = {one.name: packing.places[one.name] for one in wanted}
        wanted.sort(key=lambda one: (places[one.name].word, places[one.name].shift))
        self._tables = [_table(group, places) for group in _groups(wanted, places)]

    def of(self, rows: Codes) -> Codes:
        """The code of each row."""
        sums = np.zeros((len(rows), 2), np.uint64)
        for word, shift, mask, table in self._tables:
            sums += table[(rows[:, word] >> shift & mask).astype(np.int64)]
        return _mixed(sums)


def _groups(variables: Sequence[Any], places: Any) -> list[list[Any]]:
    """Variables that stand in one word, from the first to the last no more bits apart than a table has."""
    groups: list[list[Any]] = []
    for one in variables:
        place, first = places[one.name], places[groups[-1][0].name] if groups else None
        if first and first.word == place.word and place.shift + place.width - first.shift <= TABLE_BITS:
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def _table(group: Sequence[Any], places: Any) -> tuple[int, np.uint64, np.uint64, Codes]:
    """Where a group is, and the summed codes of its variables for each value of its bits."""
    first, last = places[group[0].name], places[group[-1].name]
    width = last.shift + last.width - first.shift
    bits, total = np.arange(1 << width), np.zeros((1 << width, 2), np.uint64)
    for one in group:
        place = places[one.name]
        own = np.zeros((1 << place.width, 2), np.uint64)
        own[: one.kind.maximum + 1] = [code(f"{one.name}\0{one.kind.show(raw)}") for raw in range(one.kind.maximum + 1)]
        total += own[bits >> (place.shift - first.shift) & (1 << place.width) - 1]
    return first.word, np.uint64(first.shift), np.uint64((1 << width) - 1), total


def code(text: str) -> tuple[int, int]:
    """The code of a text."""
    digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")


def step_codes(before: Codes, after: Codes, labels: Codes) -> Codes:
    """The codes of steps, of those of the states around them and of what they are called."""
    low = before[:, 0] * _A + after[:, 1] * _C + labels[:, 0]
    high = before[:, 1] * _B + after[:, 0] * _A + labels[:, 1]
    return _mixed(np.stack((low, high), axis=1))


def _mixed(lanes: Codes) -> Codes:
    low, high = lanes[:, 0], lanes[:, 1]
    low = _avalanche(low ^ high * _C)
    high = _avalanche(high ^ low * _C)
    return np.stack((low, high), axis=1)


def _avalanche(lane: Codes) -> Codes:
    lane = (lane ^ lane >> np.uint64(30)) * _A
    lane = (lane ^ lane >> np.uint64(27)) * _B
    return lane ^ lane >> np.uint64(31)


def write(folder: Path, system: Any, found: Any, variables: Collection[str], actions: Collection[str]) -> None:
    """Write the codes of the states that were expanded, in the order of discovery, and of the steps out of them.

    `states` and `steps` are rows of two numbers, `sources` and `actions` say of each step from which state it is, by
    number, and by which action, by its place in the system.
    """
    codes = StateCodes(system, found.retracer.kernel.packing, variables)
    labels = np.array([code(one.name if one.name in actions else "") for one in system.actions], np.uint64)
    with (
        (folder / "states").open("wb") as states, (folder / "steps").open("wb") as steps,
        (folder / "sources").open("wb") as sources, (folder / "actions").open("wb") as taken,
    ):  # fmt: skip
        for begin, rows, expansion in _expanded(found):
            before = codes.of(rows)
            by, source = expansion.actions.astype(np.int64), expansion.parents.astype(np.int64)
            order = np.argsort(source, kind="stable")
            by, source = by[order], source[order]
            after = codes.of(expansion.successors[order])
            before.tofile(states)
            step_codes(before[source], after, labels[by]).tofile(steps)
            (begin + source).tofile(sources)
            by.tofile(taken)


def _expanded(found: Any) -> Iterator[tuple[int, Codes, Any]]:
    for begin in range(0, found.expanded, BLOCK):
        rows = found.visited[begin : min(begin + BLOCK, found.expanded)]
        yield begin, rows, found.retracer.kernel.expand(rows)
