"""What a distributed enumeration found, read from the markers of its run folder.

Goals stay empty, since no graph is kept. A state's number is its place in the order of levels, then shards, then
the shard's own order. Its parent's number within the level before stands beside it in the level file, so a trace costs
one short read for each of its steps.
"""

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np

from model_check.explicit_state.digest import SetDigest
from model_check.explicit_state.exploration import refuse_out_of_range, tallied
from model_check.explicit_state.findings import Found
from model_check.explicit_state.retracing import Retracer
from model_check.kernel.kernel import Kernel
from model_check.kernel.predicates import FIRSTS, Kind
from model_check.spark.run_folder import FINDINGS, Level, RunFolder
from model_check.traces.trace import Trace


@dataclass(frozen=True, kw_only=True)
class Enumeration(Found):
    """What the shards of a run found, and where it is.

    It was stopped by a limit or by the caller; the run folder can then be gone on with. A level is complete only once
    all its states are expanded. `level_seconds` are by level, `memory_bytes` those of all visited sets together.
    """

    set_digest: SetDigest
    shards: int
    level_seconds: tuple[float, ...]
    history: "History" = field(repr=False)

    @property
    def digest(self) -> str:
        """The name of the set of states found."""
        return str(self.set_digest)

    @property
    def folder(self) -> RunFolder:
        """Where the states are."""
        return self.history.folder

    def save_findings(self) -> None:
        """Put the traces found into the run folder: property, verdict, and steps as [action, raw values by name]."""
        found = [("violated", self.violated), ("witnessed", self.witnessed)]
        told = [
            {"property": name, "verdict": verdict, "steps": trace.steps}
            for verdict, traces in found
            for name, trace in traces.items()
        ]
        self.folder.write(FINDINGS, json.dumps(told).encode())

    def trace(self, number: int) -> Trace:
        """A shortest trace to a state by number."""
        return self.history.trace(number)


@dataclass(frozen=True)
class History:
    """The level files of a run (without the genesis), and the kernel that finds actions again."""

    kernel: Kernel
    folder: RunFolder
    levels: tuple[Level, ...]

    def depth_of(self, number: int) -> tuple[int, int]:
        """The depth of a state by number, and its number within that level."""
        starts = [0, *accumulate(level.bases[-1] for level in self.levels)]
        if not 0 <= number < starts[-1]:
            raise IndexError(f"there is no state {number}: they are numbered from 0 to {starts[-1] - 1}")
        depth = bisect_right(starts, number) - 1
        return depth, number - starts[depth]

    def path(self, depth: int, index: int) -> Retracer:
        """The states on a shortest way to one, numbered from 0 for the initial one to `depth`."""
        rows = []
        for level in reversed(self.levels[: depth + 1]):
            shard = bisect_right(level.bases, index, hi=len(level.shards)) - 1
            section = level.shards[shard].states
            row, index = self.folder.read_state(section, index - level.bases[shard], self.kernel.words)
            rows.append(np.frombuffer(row, dtype=np.uint64))
        parents = np.maximum(np.arange(depth + 1, dtype=np.int64) - 1, 0).astype(np.uint32)
        return Retracer(self.kernel, np.stack(rows[::-1]), parents)

    def trace(self, number: int) -> Trace:
        """A shortest trace to a state."""
        depth, index = self.depth_of(number)
        return self.path(depth, index).trace(depth)

    def first(self, predicate: int) -> tuple[int, int] | None:
        """Where a predicate of the kernel held first: depth and number within the level; None if nowhere."""
        for depth, level in enumerate(self.levels):
            for base, shard in zip(level.bases, level.shards, strict=False):
                if shard.first[predicate] >= 0:
                    return depth, base + shard.first[predicate]
        return None


def enumeration_of(
    kernel: Kernel, folder: RunFolder, levels: Sequence[Level], stopped: str, seconds: Mapping[str, float]
) -> Enumeration:
    """Everything that the markers tell; SpecificationError if a value was out of range."""
    history = History(kernel, folder, tuple(levels))
    shards = [shard for level in levels for shard in level.shards]
    nothing = (0,) * len(kernel.predicates)
    counts = [sum(column) for column in zip(nothing, *(shard.counts for shard in shards), strict=True)]
    sizes = tuple(level.bases[-1] for level in levels)
    for _, where in _firsts(history, Kind.OUT_OF_RANGE):
        refuse_out_of_range(kernel.system, history.path(*where).trace(where[0]))
    violated = {name: history.path(*where).trace(where[0]) for name, where in _firsts(history, Kind.VIOLATED)}
    for name, where in _firsts(history, Kind.BROKEN):
        violated[name] = history.path(*where).trace_breaking(name, where[0])
    return Enumeration(
        **tallied(kernel.predicates, counts),
        states=sum(sizes),
        expanded=sum(sizes),
        levels=sizes[:-1] if sizes and not sizes[-1] else sizes,
        first_depths={
            name: depth + steps for kind, steps in FIRSTS.items() for name, (depth, _) in _firsts(history, kind)
        },
        violated=violated,
        witnessed={name: history.path(*where).trace(where[0]) for name, where in _firsts(history, Kind.WITNESSED)},
        exhausted=bool(levels) and levels[-1].is_last,
        stopped=stopped,
        set_digest=sum((SetDigest(*shard.digest) for shard in shards), SetDigest()),
        shards=len(levels[-1].shards) if levels else 0,
        seconds=seconds,
        level_seconds=tuple(level.seconds for level in levels),
        memory_bytes=sum(shard.memory_bytes for level in levels[-1:] for shard in level.shards),
        history=history,
    )


def _firsts(history: History, kind: Kind) -> Iterator[tuple[str, tuple[int, int]]]:
    for number, one in enumerate(history.kernel.predicates):
        where = history.first(number) if one.kind is kind else None
        if where is not None:
            yield one.name, where
