"""The states, the edges and the witnesses of a finished run as Parquet, for whoever asks questions with a data tool.

    out/states/       id, depth, and a column for each variable, with values as they print
    out/edges/        source, action, target: every transition, also those that change nothing
    out/witnesses/    property, verdict, step, action and the variables: a shortest trace for each that was found

Everything is read from the run folder; the system need not be built. A state's id is its number in the enumeration, so
`Enumeration.trace(id)` tells how it is reached. Each shard writes its states. For the edges it expands them once more,
and sends every successor to its owner, which knows the id and writes the edge; here nobody has to come back to where it
was, and the packed edges go through Spark's own shuffle, some thousands to a row.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import parquet

from model_check.kernel.blueprint import Blueprint
from model_check.kernel.kernel import Edges
from model_check.kernel.packing import Words
from model_check.kernel.slicing import BLOCK
from model_check.spark.folder import Folder
from model_check.spark.run_folder import FINDINGS, Level, RunFolder
from model_check.spark.shard import Shard, unpacked
from model_check.spark.shard_expansion import by_owner
from model_check.spark.spark_job import collected, finished_tasks
from model_check.spark.spark_session import spark_session
from spec.errors import BadInput, EnvironmentFailure

ROWS = 1 << 20
"""Rows to a group of a Parquet file."""

GROUP = "kcheck.tables"

BLOCKS = 8
"""Blocks of states whose edges travel together."""

Place = tuple[str, str, int, int]
"""What a task is given: run folder, folder for the tables, number of its shard, number of shards."""


@dataclass(frozen=True)
class Written:
    """How many rows each table has."""

    states: int
    edges: int
    witnesses: int


def empty_folder(out: str | Path) -> Folder:
    """The folder for tables, which is empty or not there yet; BadInput if there is something in it."""
    target = Folder(out)
    if target.names():
        raise BadInput(f"{target.uri} is not empty; name another folder for the tables")
    return target


def write_tables(
    run_folder: str | Path,
    out: str | Path,
    *,
    edges: bool = True,
    master: str = "local[2]",
    progress: Callable[[int, str, int], None] = lambda _done, _what, _of: None,
    stop: Callable[[], bool] = lambda: False,
) -> Written | None:
    """Write the tables of a finished run into a folder that is empty or not there yet; None if it was stopped.

    Both folders are paths or URIs that pyarrow.fs opens. `progress` is called with how many tasks are done, in
    which table, and of how many in all; it and `stop` are called some times a second. BadInput if the run is not there
    or not finished, or if there is something in `out`; EnvironmentFailure if Spark or a file system fails.
    """
    folder, target = RunFolder(run_folder), empty_folder(out)
    run = folder.run()
    levels = folder.levels() if run else []
    if run is None or not levels or not levels[-1].is_last or not folder.exists(FINDINGS):
        raise BadInput(f"there is no finished run in {folder.uri}; let it end first")
    places: list[Place] = [(folder.uri, target.uri, number, run.shards) for number in range(run.shards)]
    with spark_session(master) as context:
        tasks = context.parallelize(places, run.shards)
        sent = tasks.flatMap(send_edges).partitionBy(run.shards, int)
        linked = sent.mapPartitionsWithIndex(lambda number, rows: write_edges(places[number], rows))
        tables = [("states", tasks.map(write_states)), ("edges", linked)][: 1 + edges]
        rows = dict.fromkeys(("states", "edges"), 0)
        whole = len(tables) * run.shards
        for number, (name, table) in enumerate(tables):

            def told(name: str = name, before: int = number * run.shards) -> None:
                progress(before + finished_tasks(context), name, whole)

            found = collected(context, GROUP, name, table, stop, told)
            if found is None:
                return None
            rows[name] = sum(found)
    witnesses = _write_witnesses(folder, target)
    target.write("_SUCCESS", b"")
    return Written(rows["states"], rows["edges"], witnesses)


# ------------------------------------------------------------------------------------------------ ids


@dataclass(frozen=True)
class Ids:
    """The ids of a shard's states, which it knows level by level: in each, a range that starts somewhere."""

    ends: npt.NDArray[np.int64]
    shifts: npt.NDArray[np.int64]

    @classmethod
    def of(cls, levels: Sequence[Level], number: int) -> "Ids":
        """Those of a shard, from the markers of all levels without the genesis."""
        ends = list(accumulate(level.shards[number].states.count for level in levels))
        starts = accumulate((level.bases[-1] for level in levels), initial=0)
        shifts = [
            start + level.bases[number] - end + level.shards[number].states.count
            for start, level, end in zip(starts, levels, ends, strict=False)
        ]
        return cls(np.array(ends, dtype=np.int64), np.array(shifts, dtype=np.int64))

    def __call__(self, numbers: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """The ids of states by their number within the shard."""
        known: npt.NDArray[np.int64] = numbers + self.shifts[np.searchsorted(self.ends, numbers, side="right")]
        return known


# ------------------------------------------------------------------------------------------------ states


def schema_of(blueprint: Blueprint, *first: tuple[str, pa.DataType]) -> pa.Schema:
    """Some columns, then one for each variable."""
    named = pa.dictionary(pa.int32(), pa.string())
    return pa.schema([*first, *((one.name, named) for one in blueprint.variables)])


def shown_columns(blueprint: Blueprint, rows: Words) -> Iterator[pa.DictionaryArray]:
    """The values of each variable, as they print."""
    for one in blueprint.variables:
        place = blueprint.packing.places[one.name]
        raw = rows[:, place.word] >> np.uint64(place.shift) & np.uint64((1 << place.width) - 1)
        yield pa.DictionaryArray.from_arrays(pa.array(raw.astype(np.int32)), pa.array(one.values, pa.string()))


def write_states(place: Place) -> int:
    """A task: the states of a shard as a Parquet file; gives how many."""
    run_folder, out, number, _ = place
    folder = RunFolder(run_folder)
    blueprint, levels = Blueprint.from_json(folder.read("system.json")), folder.levels()[1:]
    schema, words, ids, known = schema_of(blueprint, *STATE_COLUMNS), blueprint.packing.words, Ids.of(levels, number), 0
    with (
        Folder(out).writer(f"states/part-{number:05}.parquet") as stream,
        parquet.ParquetWriter(stream, schema, compression="zstd") as writer,
    ):
        for depth, level in enumerate(levels):
            section = level.shards[number].states
            rows, _ = unpacked(folder.read_section(section, words) if section.count else b"", section.count, words)
            for begin in range(0, section.count, ROWS):
                part = rows[begin : begin + ROWS]
                numbers = ids(np.arange(known, known + len(part)))
                depths = np.full(len(part), depth, dtype=np.int32)
                columns = [pa.array(numbers), pa.array(depths), *shown_columns(blueprint, part)]
                writer.write_table(pa.Table.from_arrays(columns, schema=schema))
                known += len(part)
    return known


STATE_COLUMNS = (("id", pa.int64()), ("depth", pa.int32()))


# ------------------------------------------------------------------------------------------------ edges


def send_edges(place: Place) -> Iterator[tuple[int, bytes]]:
    """A task: every edge from a shard's states, packed, with the shard that owns its target."""
    run_folder, _, number, shards = place
    folder = RunFolder(run_folder)
    shard, levels = Shard(folder, number, shards), folder.levels()[1:]
    shard.catch_up(len(levels) - 1)
    ids, rows = Ids.of(levels, number), shard.visited.rows[: shard.visited.count + BLOCK]
    for begin in range(0, shard.visited.count, BLOCKS * BLOCK):
        end = min(begin + BLOCKS * BLOCK, shard.visited.count)
        targets, sources, actions = shard.kernel.edges(rows, begin, end)
        for target, chosen in by_owner(targets, shards):
            packed = (targets[chosen], ids(sources[chosen]), actions[chosen])
            yield target, b"".join(column.tobytes() for column in packed)


def write_edges(place: Place, packed: Iterable[tuple[int, bytes]]) -> Iterator[int]:
    """A task: the edges to a shard's states as a Parquet file; gives how many."""
    run_folder, out, number, shards = place
    folder = RunFolder(run_folder)
    shard, levels = Shard(folder, number, shards), folder.levels()[1:]
    shard.catch_up(len(levels) - 1)
    ids, names = Ids.of(levels, number), pa.array(shard.kernel.blueprint.actions, pa.string())
    written = 0
    with (
        Folder(out).writer(f"edges/part-{number:05}.parquet") as stream,
        parquet.ParquetWriter(stream, EDGE_SCHEMA, compression="zstd") as writer,
    ):
        for group in _groups(packed, shard.kernel.words):
            rows, sources, actions = (np.concatenate(column) for column in zip(*group, strict=True))
            targets = ids(_known(shard, rows))
            columns = [pa.array(sources), pa.DictionaryArray.from_arrays(pa.array(actions), names), pa.array(targets)]
            writer.write_table(pa.Table.from_arrays(columns, schema=EDGE_SCHEMA))
            written += len(rows)
    yield written


EDGE_SCHEMA = pa.schema(
    [("source", pa.int64()), ("action", pa.dictionary(pa.int32(), pa.string())), ("target", pa.int64())]
)


def _groups(packed: Iterable[tuple[int, bytes]], words: int) -> Iterator[list[Edges]]:
    """Edges unpacked, as many together as go into a group of rows."""
    group: list[Edges] = []
    for _, content in packed:
        count = len(content) // (8 * words + 12)
        rows = np.frombuffer(content, dtype=np.uint64, count=count * words).reshape(count, words)
        sources = np.frombuffer(content, dtype=np.int64, count=count, offset=8 * count * words)
        actions = np.frombuffer(content, dtype=np.int32, count=count, offset=8 * count * (words + 1))
        group.append((rows, sources, actions))
        if sum(len(one[0]) for one in group) >= ROWS:
            yield group
            group = []
    if group:
        yield group


def _known(shard: Shard, rows: Words) -> npt.NDArray[np.int64]:
    """The numbers of states that a shard knows."""
    before = shard.visited.count
    numbers = shard.visited.add(rows)
    if shard.visited.count != before:
        raise EnvironmentFailure(f"{shard.folder.uri} lacks states that its others lead to", "start the run anew")
    return numbers.astype(np.int64)


# ------------------------------------------------------------------------------------------------ witnesses


def _write_witnesses(folder: RunFolder, target: Folder) -> int:
    """The traces that the run found; gives how many rows they have."""
    blueprint = Blueprint.from_json(folder.read("system.json"))
    told = [
        {"property": one["property"], "verdict": one["verdict"], "step": number, "action": action, "state": state}
        for one in json.loads(folder.read(FINDINGS))
        for number, (action, state) in enumerate(one["steps"])
    ]
    schema = schema_of(blueprint, *WITNESS_COLUMNS)
    columns = [pa.array([one[name] for one in told], kind) for name, kind in WITNESS_COLUMNS]
    for one in blueprint.variables:
        raw = pa.array([row["state"][one.name] for row in told], pa.int32())
        columns.append(pa.DictionaryArray.from_arrays(raw, pa.array(one.values, pa.string())))
    with target.writer("witnesses/part-00000.parquet") as stream:
        parquet.write_table(pa.Table.from_arrays(columns, schema=schema), stream, compression="zstd")
    return len(told)


WITNESS_COLUMNS = (("property", pa.string()), ("verdict", pa.string()), ("step", pa.int32()), ("action", pa.string()))
