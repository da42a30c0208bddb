"""A shard: the states whose hash makes them its own, in the memory of one worker process.

At each depth a shard takes the blobs that the others sent to it, keeps what it has not seen, expands that, and sends
every successor to its owner. Before it sends, it drops what it found twice; whether a state is old only its owner
knows. What it finds of its own it takes in at once: these are the first states of its next level. The visited set lives
as long as the process; it is nothing but the states of the shard's level files in their order, so any process can make
it again from those, and does when a shard comes to it that it does not know.

Nothing here knows of Spark. What a shard reads and writes is a function of the markers before, so that a level done
twice, here or elsewhere, has the same states in the same order.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from model_check.blueprint import Blueprint, LoadedKernel, compile_ir, machine
from model_check.digest import digest_of
from model_check.expansion import Tally, expand_block, make_tally
from model_check.explorer import free_memory
from model_check.folder import attempt
from model_check.hashing import hash_row
from model_check.native import loop
from model_check.packing import Words
from model_check.run_folder import GENESIS, Level, RunFolder, Section, ShardLevel
from model_check.search import Known, Work
from model_check.slicing import BLOCK
from model_check.visited import Visited, insert, tile
from spec.errors import EnvironmentFailure

OUTBOX_BYTES = 256 << 20
"""How much a shard finds before it sends: duplicates within so much are dropped."""

UNKNOWN = GENESIS - 1
"""The depth of a shard in the midst of a level."""

Parents = npt.NDArray[np.uint32]

OWNER_BITS = 24
"""How many of a hash's lowest bits choose the owner."""

_OWNER = np.uint64((1 << OWNER_BITS) - 1)


@loop
def owners(rows: Words, shards: int) -> npt.NDArray[np.uint16]:
    """The shard that owns each packed state: by the lowest bits of the hash, which a shard's own table does not use."""
    result = np.empty(rows.shape[0], dtype=np.uint16)
    for row in range(rows.shape[0]):
        result[row] = (hash_row(rows, row) & _OWNER) * np.uint64(shards) >> np.uint64(OWNER_BITS)
    return result


@loop
def expand_into(
    addresses: Words, work: Work, rows: Words, start: int, end: int, outbox: Known, room: int
) -> tuple[int, int]:
    """Expand rows from `start` on until they end or more than `room` successors are in the outbox, each once.

    Gives the next row and how many were found; a whole block is readable at the last row.
    """
    used = 0
    base, row_bytes = np.int64(rows.ctypes.data), rows.shape[1] * 8
    while start < end and used <= room:
        valid = min(BLOCK, end - start)
        made = expand_block(addresses, base + start * row_bytes, valid, work.scratch, work.tally, start)
        fresh = used
        found, hashes = work.scratch.successors, work.scratch.hashes
        used = insert(outbox.table, outbox.states, used, found, hashes, made, work.places, work.numbers)
        for row in range(made):
            if work.numbers[row] == fresh:
                outbox.parents[fresh] = start + work.scratch.parents[row]
                fresh += 1
        start += valid
    return start, used


@loop
def first_of_each(numbers: Parents, known: int) -> npt.NDArray[np.int64]:
    """Of some looked-up rows, those that made a new state: the first with number `known`, with the next, and so on."""
    result = np.empty(numbers.shape[0], dtype=np.int64)
    count = 0
    for row in range(numbers.shape[0]):
        if numbers[row] == known + count:
            result[count] = row
            count += 1
    return result[:count]


def unpacked(content: Any, count: int, words: int) -> tuple[Words, Parents]:
    """The states of a section and their parents' numbers, from its bytes."""
    rows = np.frombuffer(content, dtype=np.uint64, count=count * words).reshape(count, words)
    return rows, np.frombuffer(content, dtype=np.uint32, offset=8 * count * words, count=count)


def load_shipped_kernel(folder: RunFolder, blueprint: Blueprint) -> LoadedKernel:
    """The kernel as an object file for this machine, or compiled here from the LLVM IR in the folder."""
    name = f"kernels/{machine()}"
    if folder.exists(name):
        return LoadedKernel(blueprint, folder.read(name))
    compiled = compile_ir(zlib.decompress(folder.read("kernels/ir")).decode())
    folder.write(name, compiled)
    return LoadedKernel(blueprint, compiled)


class Shard:
    """One shard of the run in a folder; `step(depth)` does a level, and needs the marker of the one before."""

    def __init__(self, folder: RunFolder, number: int, shards: int, *, outbox_bytes: int = OUTBOX_BYTES) -> None:
        self.folder, self.number, self.shards = folder, number, shards
        self.kernel = load_shipped_kernel(folder, Blueprint.from_json(folder.read("system.json")))
        self._scratch = self.kernel.make_scratch()
        self._worst = len(self._scratch.parents)
        self._outbox_room = max(1, outbox_bytes // (8 * self.kernel.words))
        self._places = tile()
        self._numbers = np.empty(self._worst, dtype=np.uint32)
        self._parents = np.empty(self._outbox_room + self._worst + 1, dtype=np.uint32)
        self._forget()

    def _forget(self) -> None:
        self.depth, self._start, self._end = GENESIS, 0, 0
        self._own: list[Parents] | None = None
        self.visited = Visited(self.kernel.words, free_memory() // (8 * self.kernel.words) + BLOCK)

    def step(self, depth: int) -> ShardLevel:
        """Do a level: receive, expand, send. EnvironmentFailure if memory or the file system fails."""
        if self.depth != depth - 1:
            self.catch_up(depth - 1)
        self.depth = UNKNOWN  # until the level is done
        parents = self._receive(self.folder.level(depth - 1))
        self._start, self._end = self._end, self.visited.count
        states, digest = self._write(depth, parents), digest_of(self.kernel.packing, self._level()[: len(parents)])
        tally = make_tally(len(self._scratch.masks))
        blob = f"blobs/{depth + 1:06}-{self.number:04}-{attempt()}"
        sends = self._send(blob, tally)
        self.depth = depth
        return ShardLevel(
            states=states,
            digest=(digest.count, digest.low, digest.high),
            counts=tuple(tally.counts.tolist()),
            first=tuple(tally.first.tolist()),
            kept=self.visited.count - self._end,
            blob=blob,
            sends=sends,
            memory_bytes=self.visited.memory_bytes,
        )

    def catch_up(self, depth: int) -> None:
        """Know the states of all levels up to a depth and no others, from the level files."""
        self._forget()
        while self.depth < depth:
            section = self.folder.level(self.depth + 1).shards[self.number].states
            if section.count:
                self._add(*self._read(section))
            self.depth, self._start, self._end = self.depth + 1, self._end, self.visited.count

    def _level(self) -> Words:
        """The states of the level, with a whole block readable at the last."""
        rows: Words = self.visited.rows[self._start : self._end + BLOCK]
        return rows

    # ------------------------------------------------------------------------------------------------ receiving

    def _receive(self, before: Level) -> Parents:
        """Take in what was found of this shard's; the parents of what is new, by their number in the level before."""
        own = self._find_own() if self._own is None else self._own
        parents = [np.empty(0, dtype=np.uint32), *(one + np.uint32(before.bases[self.number]) for one in own)]
        for base, sender in zip(before.bases, before.shards, strict=False):
            parents += [self._add(*self._read(one)) + np.uint32(base) for one in sender.sections_for(self.number)]
        return np.concatenate(parents)

    def _find_own(self) -> list[Parents]:
        """Take in again what this shard found of its own in the level before; nobody wrote that down."""
        tally, found = make_tally(len(self._scratch.masks)), []
        for rows, parents in self._outboxes(tally):
            mine = np.flatnonzero(owners(rows, self.shards) == self.number)
            found.append(self._add(rows[mine], parents[mine]))
        return found

    def _read(self, section: Section) -> tuple[Words, Parents]:
        content = self.folder.read_section(section, self.kernel.words)
        return unpacked(content, section.count, self.kernel.words)

    def _add(self, rows: Words, parents: Parents) -> Parents:
        """Enter some states; gives the parents of the new ones."""
        known = self.visited.count
        needed = rows.nbytes + (self.visited.table.nbytes * 2 if known + len(rows) > self.visited.room else 0)
        if needed > free_memory() or known + len(rows) > self.visited.capacity:
            raise EnvironmentFailure(
                f"no memory for more than {known:,} states of shard {self.number}",
                "give the run more machines and start again with more shards, in another folder",
            )
        numbers = self.visited.add(rows)
        fresh: Parents = parents[first_of_each(numbers, known)]
        return fresh

    # ------------------------------------------------------------------------------------------------ sending

    def _write(self, depth: int, parents: Parents) -> Section:
        """Write the states of this level to their file; no file if there are none."""
        section = Section(f"states/{depth:06}-{self.number:04}-{attempt()}", 0, len(parents))
        if section.count:
            with self.folder.writer(section.file) as stream:
                stream.write(self._level()[: section.count])
                stream.write(parents)
        return section

    def _send(self, blob: str, tally: Tally) -> tuple[tuple[tuple[int, int], ...], ...]:
        """Expand this level's states and write what was found, an outbox at a time, grouped by owner; keep the own."""
        sends: list[list[tuple[int, int]]] = [[] for _ in range(self.shards)]
        self._own = []
        file: Any = self.folder.writer(blob) if self._end > self._start and self.shards > 1 else nullcontext()
        with file as stream:
            for found, parents in self._outboxes(tally):
                owner = owners(found, self.shards)
                order = np.argsort(owner, kind="stable")
                ends = np.searchsorted(owner[order], np.arange(self.shards + 1))
                for target, (begin, end) in enumerate(pairwise(ends.tolist())):
                    chosen = order[begin:end]
                    if target == self.number:
                        self._own.append(self._add(np.take(found, chosen, axis=0), parents[chosen]))
                    elif begin < end:
                        sends[target].append((stream.tell(), end - begin))
                        stream.write(np.take(found, chosen, axis=0))
                        stream.write(parents[chosen])
        return tuple(map(tuple, sends))

    def _outboxes(self, tally: Tally) -> Iterator[tuple[Words, Parents]]:
        """The successors of the level's states, without duplicates as far as one outbox goes, and their parents."""
        rows, start, count = self._level(), 0, self._end - self._start
        work = Work(self._scratch, tally, self._places, self._numbers)
        while start < count:
            room = min(self._outbox_room, 4 * (count - start) + self._worst)
            found = Visited(self.kernel.words, room + self._worst)
            found.make_room(room + self._worst)
            outbox = Known(found.table, found.rows, self._parents)
            start, used = expand_into(self.kernel.addresses, work, rows, start, count, outbox, room)
            yield found.rows[:used], self._parents[:used]
