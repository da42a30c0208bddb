"""A shard: the states whose hash makes them its own, in the memory of one worker process.

At each depth a shard takes the blobs that the others sent to it, keeps what it has not seen, expands that, and sends
every successor to its owner. What it finds of its own it takes in at once: these are the first states of its next
level. The others wait in an outbox where none is twice; whether one is old only its owner knows. The visited set lives
as long as the process; it is nothing but the states of the shard's level files in their order, so any process can make
it again from those, and does when a shard comes to it that it does not know.

Nothing here knows of Spark. What a shard reads and writes is a function of the markers before, so that a level done
twice, here or elsewhere, has the same states in the same order.
"""

import zlib
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any, cast

import numpy as np

from model_check.explicit_state.digest import digest_of
from model_check.explicit_state.memory import free_memory
from model_check.explicit_state.search import Known, Parents, Work
from model_check.explicit_state.visited import Visited, reserved, tile
from model_check.kernel.blueprint import Blueprint, LoadedKernel
from model_check.kernel.expansion import Tally, make_tally
from model_check.kernel.kernel import compile_ir, machine
from model_check.kernel.packing import Words
from model_check.kernel.slicing import BLOCK
from model_check.spark.folder import attempt
from model_check.spark.run_folder import GENESIS, Level, RunFolder, Section, ShardLevel
from model_check.spark.shard_expansion import Outbox, Rooms, Share, by_owner, expand_into, first_of_each
from spec.errors import EnvironmentFailure

OUTBOX_BYTES = 256 << 20
"""How much of others' a shard finds before it sends: duplicates within so much are dropped."""

PARCEL = 1 << 13
"""States that are put in order together before they are written."""

UNKNOWN = GENESIS - 1
"""The depth of a shard in the midst of a level."""


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
        self._scratch, self._aside = self.kernel.make_scratch(), self.kernel.make_scratch()
        self._worst = len(self._scratch.parents)
        self._outbox = Outbox(self.kernel.words, max(1, outbox_bytes // (8 * self.kernel.words)), self._worst)
        self._places, self._numbers = tile(), np.empty(self._worst, dtype=np.uint32)
        self._forget()

    def _forget(self) -> None:
        self.depth, self._start, self._end = GENESIS, 0, 0
        self._own: Parents | None = None
        capacity = free_memory() // (8 * self.kernel.words) + BLOCK
        self.visited, self._parents = Visited(self.kernel.words, capacity), reserved(capacity, 0, np.uint32)

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
        if self._own is None:  # nobody wrote it down, so it is found again
            for _ in self._expand(make_tally(len(self._scratch.masks))):
                pass
        parents = [cast("Parents", self._own) + np.uint32(before.bases[self.number])]
        for base, sender in zip(before.bases, before.shards, strict=False):
            parents += [self._add(*self._read(one)) + np.uint32(base) for one in sender.sections_for(self.number)]
        return np.concatenate(parents)

    def _read(self, section: Section) -> tuple[Words, Parents]:
        content = self.folder.read_section(section, self.kernel.words)
        return unpacked(content, section.count, self.kernel.words)

    def _add(self, rows: Words, parents: Parents) -> Parents:
        """Enter some states; gives the parents of the new ones."""
        known = self.visited.count
        self._make_room(len(rows))
        numbers = self.visited.add(rows)
        fresh: Parents = parents[first_of_each(numbers, known)]
        return fresh

    def _make_room(self, more: int) -> None:
        """Let there be room for so many more states; EnvironmentFailure if the memory does not allow them."""
        visited, wanted = self.visited, self.visited.count + more
        needed = more * 8 * self.kernel.words + (visited.table.nbytes * 2 if wanted > visited.room else 0)
        if needed > free_memory() or wanted > visited.capacity:
            raise EnvironmentFailure(
                f"no memory for more than {visited.count:,} states of shard {self.number}",
                "give the run more machines and start again with more shards, in another folder",
            )
        visited.make_room(more)

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
        """Expand this level's states, keep the own, write the others an outbox at a time, grouped by owner."""
        sends: list[list[tuple[int, int]]] = [[] for _ in range(self.shards)]
        file: Any = self.folder.writer(blob) if self._end > self._start and self.shards > 1 else nullcontext()
        with file as stream:
            for found, parents in self._expand(tally):
                for target, its in by_owner(found, self.shards):
                    sends[target].append((stream.tell(), len(its)))
                    for chosen in np.split(its, range(PARCEL, len(its), PARCEL)):
                        stream.write(np.take(found, chosen, axis=0))
                    stream.write(parents[its])
        return tuple(map(tuple, sends))

    def _expand(self, tally: Tally) -> Iterator[tuple[Words, Parents]]:
        """Expand the level: take in the shard's own, give others with parents, none twice within one outbox."""
        rows, first, share = self._level(), self.visited.count, Share(self._end - self._start, self.number, self.shards)
        work, outbox = Work(self._scratch, tally, self._places, self._numbers), self._outbox
        start = sent = 0
        while start < share.rows:
            self._make_room(self._worst)
            if not sent:
                outbox.empty(4 * (share.rows - start) + self._worst)
            visited = self.visited
            known = Known(visited.table, visited.rows, first, self._parents)
            rooms = Rooms(known, visited.room - self._worst, outbox.found, outbox.most)
            start, visited.count, sent = expand_into(
                self.kernel.program, work, self._aside, rooms, rows, (start, visited.count, sent), share
            )
            if sent > outbox.most or start == share.rows:
                yield outbox.found.states[:sent], outbox.found.parents[:sent]
                sent = 0
        self._own = self._parents[: self.visited.count - first].copy()
