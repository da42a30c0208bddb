"""The driver of a distributed enumeration: one level after the other, whoever does the work.

It prepares the run folder, asks for the next level, adds up what the shards report and marks the level complete. The
caller hands in the function that does a level: `spark_engine` lets the workers of a Spark master do it.
"""

import hashlib
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from model_check.explicit_state.exploration import Progress
from model_check.kernel.blueprint import Blueprint, blueprint_of
from model_check.kernel.kernel import Kernel, default_cache, kernel_ir, machine, object_of
from model_check.kernel.packing import Packing
from model_check.spark.folder import attempt
from model_check.spark.run_folder import FINDINGS, GENESIS, Level, Run, RunFolder, Section, ShardLevel
from model_check.spark.shard_expansion import owners
from spec.errors import BadInput
from spec.language.rules import TransitionSystem

MOST_SHARDS = 1 << 16

Worker = Callable[[int], tuple[ShardLevel, ...] | None]
"""Does the level of a depth and gives its parts by shard, or None if it was told to stop."""


@dataclass
class LevelLoop:
    """A run that this process drives: the markers of its complete levels, the genesis first."""

    kernel: Kernel
    folder: RunFolder
    run: Run
    owner: str
    levels: list[Level] = field(default_factory=list)

    @property
    def states(self) -> int:
        """How many states are known."""
        return sum(level.bases[-1] for level in self.levels)

    def search(self, work: Worker, *, limit: int | None, progress: Callable[[Progress], None]) -> str:
        """Do levels until nothing is left to be found; gives what else stopped it, or an empty text."""
        started = time.perf_counter()
        while not self.levels[-1].is_last:
            if limit is not None and self.states >= max(limit, 1):
                return "limit"
            begun = time.perf_counter()
            parts = work(len(self.levels) - 1)
            if parts is None:
                return "stop"
            self.complete(Level(len(self.levels) - 1, time.perf_counter() - begun, parts))
            memory = sum(part.memory_bytes for part in parts)
            progress(Progress(self.states, self.states, len(self.levels) - 2, time.perf_counter() - started, memory))
        self.folder.sweep(self.levels)
        return ""

    def complete(self, level: Level) -> None:
        """Mark a level complete, and delete the blobs that it has received."""
        self.folder.check_owner(self.owner)
        self.folder.complete(level)
        received = {part.blob for before in self.levels[-1:] for part in before.shards if any(part.sends)}
        self.levels.append(level)
        self.folder.forget(*received)


def take_up(
    system: TransitionSystem, place: str | Path, *, shards: int | None, cores: Callable[[], int], resume: bool
) -> LevelLoop:
    """Begin a run in a folder, or take up the one that is there.

    `shards` is how many there must be; None leaves it to the run, and for a new one to `cores`. BadInput if the folder
    holds something else, another system's run, or one with another number of shards.
    """
    if shards is not None and not 1 <= shards <= MOST_SHARDS:
        raise BadInput(f"{shards} shards: there can be from 1 to {MOST_SHARDS}")
    folder, blueprint = RunFolder(place), blueprint_of(system)
    run = folder.run()
    if run is not None and not resume:
        folder.clear()
        run = None
    if run is None:
        run = folder.begin(blueprint.digest, layout_of(blueprint.packing), shards or cores())
    _check(folder, run, blueprint, shards)
    compiled = object_of(system, default_cache())
    loop = LevelLoop(Kernel(system, compiled), folder, run, folder.claim())
    folder.forget(FINDINGS)
    folder.write("system.json", blueprint.to_json())
    folder.write(f"kernels/{machine()}", compiled)
    loop.levels = folder.levels()
    if not loop.levels:
        loop.complete(_genesis(loop))
    folder.sweep(loop.levels)
    return loop


def layout_of(packing: Packing) -> str:
    """A digest of where variables stand in a packed state, and of the hash that tells its owner."""
    probe = np.arange(64 * packing.words, dtype=np.uint64).reshape(-1, packing.words)
    layout = hashlib.blake2b(repr(packing.places).encode() + owners(probe, MOST_SHARDS).tobytes(), digest_size=8)
    return layout.hexdigest()


def _check(folder: RunFolder, run: Run, blueprint: Blueprint, shards: int | None) -> None:
    if run.system != blueprint.digest:
        raise BadInput(
            f"{folder.uri} holds a run of another system (digest {run.system}, not {blueprint.digest}); "
            "name another run folder"
        )
    if run.layout != layout_of(blueprint.packing):
        raise folder.of_another_version()
    if shards not in (None, run.shards):
        raise BadInput(f"the run in {folder.uri} has {run.shards} shards, not {shards}; name that number")


def ship_for_any_machine(loop: LevelLoop) -> None:
    """Put the kernel into the run folder once more, in a form that workers of any make compile for themselves."""
    if not loop.folder.exists("kernels/ir"):
        loop.folder.write("kernels/ir", zlib.compress(kernel_ir(loop.kernel.system).encode()))


def _genesis(loop: LevelLoop) -> Level:
    """The marker before all levels: the initial state, on its way to its owner."""
    initial, shards = loop.kernel.packing.initial.reshape(1, -1), loop.run.shards
    owner, blob = int(owners(initial, shards)[0]), f"blobs/{0:06}-{attempt()}"
    with loop.folder.writer(blob) as stream:
        stream.write(initial.tobytes() + bytes(4))
    asked = len(loop.kernel.predicates)
    nothing = ShardLevel(Section("", 0, 0), (0, 0, 0), (0,) * asked, (-1,) * asked, 0, "", ((),) * shards, 0)
    sends = tuple(((0, 1),) if target == owner else () for target in range(shards))
    return Level(GENESIS, 0.0, (replace(nothing, blob=blob, sends=sends), *(nothing,) * (shards - 1)))
