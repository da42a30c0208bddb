"""The run folder: everything that a distributed enumeration remembers, on any file system that pyarrow opens.

    run.json                          which system, how many shards, a name for this run
    system.json  kernels/<machine>    what workers need of the system (see `blueprint`)
    findings.json                     the traces found so far, once somebody looked
    owner                             who drives the run now
    levels/<depth>.json               the *marker* of a level: it is complete, and these are its files
    states/<depth>-<shard>-<try>      the states first reached at that depth, and the parent of each
    blobs/<depth>-<shard>-<try>       states found one level before, on their way to the shards that own them

A file counts only if a marker names it. Each try of a task writes under names of its own, and a level's marker is
written last, whole or not at all; so a killed worker, a task that runs twice and a killed run leave nothing behind that
anybody would read. A run belongs to one driver: each writes its name into `owner` and checks it before every marker, so
one that was thought dead cannot write between those of its successor.
"""

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any

from model_check.spark.folder import Folder, attempt
from spec.errors import BadInput, EnvironmentFailure

FORMAT = 1
FINDINGS = "findings.json"
"""The file with the traces found, for whoever has not got the system."""
GENESIS = -1
"""The depth of the marker that comes before all levels: its blob holds the initial state."""


@dataclass(frozen=True)
class Section:
    """Some states within a file: `count` packed rows, then the number of each one's parent as `uint32`."""

    file: str
    offset: int
    count: int

    def size(self, words: int) -> int:
        """Its length in bytes."""
        return self.count * (8 * words + 4)


@dataclass(frozen=True)
class ShardLevel:
    """What a shard did at one depth: the states that it owns and what it found in them.

    `counts` and `first` are by predicate of the blueprint: in how many states it held, and the index of the first one
    (-1 for none). `digest` is that of the states: count, low, high. `blob` is the file that it sends, and `sends[t]`
    has (offset, count) of each section for shard t. `kept` counts the new states that it found of its own.
    """

    states: Section
    digest: tuple[int, int, int]
    counts: tuple[int, ...]
    first: tuple[int, ...]
    kept: int
    blob: str
    sends: tuple[tuple[tuple[int, int], ...], ...]
    memory_bytes: int

    def sections_for(self, target: int) -> list[Section]:
        """What it sends to a shard."""
        return [Section(self.blob, offset, count) for offset, count in self.sends[target]]


@dataclass(frozen=True)
class Level:
    """The marker of a level, shard by shard; `seconds` is how long it took."""

    depth: int
    seconds: float
    shards: tuple[ShardLevel, ...]

    @cached_property
    def bases(self) -> tuple[int, ...]:
        """The number, within the level, of each shard's first state, and at the end that of all states."""
        bases = [0]
        for shard in self.shards:
            bases.append(bases[-1] + shard.states.count)
        return tuple(bases)

    @property
    def is_last(self) -> bool:
        """Whether nothing was kept or sent on, so that no state is left to be found."""
        return not any(shard.kept or any(shard.sends) for shard in self.shards)


@dataclass(frozen=True)
class Run:
    """A run: the digests of its system and of how states are packed and hashed, its shards, and a name of its own."""

    system: str
    layout: str
    shards: int
    name: str


class RunFolder(Folder):
    """The folder of one run; BadInput if it is not one, EnvironmentFailure if the file system fails."""

    def read_section(self, section: Section, words: int) -> Any:
        """The bytes of a section, as a buffer."""
        return self._exactly(section.file, section.offset, section.size(words))

    def read_state(self, section: Section, index: int, words: int) -> tuple[bytes, int]:
        """One state of a section, packed, and its parent's number."""
        row = self._exactly(section.file, section.offset + index * 8 * words, 8 * words)
        parent = self._exactly(section.file, section.offset + section.count * 8 * words + index * 4, 4)
        return bytes(row), int.from_bytes(parent, "little")

    def _exactly(self, name: str, offset: int, size: int) -> Any:
        content = self.read_at(name, offset, size)
        if len(content) != size:
            raise EnvironmentFailure(f"{name} in {self.uri} is shorter than its marker says", "start the run anew")
        return content

    # ------------------------------------------------------------------------------------------------ the run

    def run(self) -> Run | None:
        """What the folder is about; None if it is empty or does not exist. BadInput if it is not a run folder."""
        if not self.exists("run.json"):
            if self.names():
                raise BadInput(f"{self.uri} is not empty and not a run folder; name another one")
            return None
        with self._undamaged("run.json"):
            content = json.loads(self.read("run.json"))
            if content.pop("format", None) != FORMAT:
                raise self.of_another_version()
            return Run(**content)

    @contextmanager
    def _undamaged(self, name: str) -> Iterator[None]:
        """Reading a file of ours; BadInput if somebody else has written to it, or a disk has lost some of it."""
        try:
            yield
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            damage = f"{name} in {self.uri} is damaged ({error})"
            raise BadInput(f"{damage}; delete that folder, or name another one") from error

    def of_another_version(self) -> BadInput:
        """The refusal of a run that another version of this program began."""
        return BadInput(f"{self.uri} was written by another version of this program; name another run folder")

    def begin(self, system: str, layout: str, shards: int) -> Run:
        """Make it the folder of a new run."""
        run = Run(system, layout, shards, uuid.uuid4().hex)
        self.write("run.json", json.dumps({"format": FORMAT, **asdict(run)}).encode())
        return run

    def clear(self) -> None:
        """Delete a run, `run.json` last, so that what is left by a killed clearing is still a run folder."""
        for folder in ("levels", "blobs", "states", "kernels"):
            self.delete(folder)
        self.forget("owner", "system.json", "findings.json", "run.json")

    def claim(self) -> str:
        """Become the run's only driver; gives the name to check with `check_owner`."""
        owner = attempt()
        self.write("owner", owner.encode())
        return owner

    def check_owner(self, owner: str) -> None:
        """EnvironmentFailure if another driver has taken the run over."""
        if self.read("owner") != owner.encode():
            raise EnvironmentFailure(
                f"another process has taken over the run in {self.uri}", "let only one work on a run folder"
            )

    # ------------------------------------------------------------------------------------------------ levels

    def levels(self) -> list[Level]:
        """The markers of all complete levels, the genesis first; a gap ends them."""
        found: list[Level] = []
        present = set(self.names("levels"))
        while _marker(depth := GENESIS + len(found)) in present:
            found.append(self.level(depth))
        return found

    def level(self, depth: int) -> Level:
        """The marker of a complete level."""
        marker = f"levels/{_marker(depth)}"
        with self._undamaged(marker):
            raw = json.loads(self.read(marker))
            return Level(raw["depth"], raw["seconds"], tuple(_shard_level(one) for one in raw["shards"]))

    def complete(self, level: Level) -> None:
        """Mark a level complete."""
        self.write(f"levels/{_marker(level.depth)}", json.dumps(level, default=_fields).encode())

    def sweep(self, levels: list[Level]) -> None:
        """Delete what no marker names, and blobs that have been received."""
        kept = {shard.states.file for level in levels for shard in level.shards}
        kept |= {shard.blob for shard in levels[-1].shards if any(shard.sends)}
        for folder in ("states", "blobs"):
            self.forget(*(name for name in (f"{folder}/{one}" for one in self.names(folder)) if name not in kept))


def _fields(one: Any) -> dict[str, Any]:
    """The fields of a dataclass, not of those within it: `asdict` would copy every number of a marker by itself."""
    return {field.name: getattr(one, field.name) for field in fields(one)}


def _marker(depth: int) -> str:
    return "genesis.json" if depth == GENESIS else f"{depth:06}.json"


def _shard_level(raw: dict[str, Any]) -> ShardLevel:
    made: dict[str, Any] = {name: tuple(raw[name]) for name in ("digest", "counts", "first")}
    made["sends"] = tuple(tuple(map(tuple, sections)) for sections in raw["sends"])
    return ShardLevel(**raw | made | {"states": Section(**raw["states"])})
