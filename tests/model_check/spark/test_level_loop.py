"""Shards and the loop around them, without Spark: all shards in this process, against the oracle and by hand."""

import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from model_check.explicit_state.exploration import SpecificationError
from model_check.explicit_state.explorer import explore
from model_check.spark import folder
from model_check.spark.enumeration import Enumeration, enumeration_of
from model_check.spark.level_loop import LevelLoop, ship_for_any_machine, take_up
from model_check.spark.run_folder import RunFolder, ShardLevel
from model_check.spark.shard import Shard
from model_check.spark.shard_expansion import owners
from model_check.traces.replay import replay
from spec.errors import BadInput, EnvironmentFailure
from spec.language.rules import TransitionSystem
from spec.language.terms import Kind
from tests.model_check.plain_exploration import explore_plainly
from tests.model_check.systems import EXPECTED, Counts, clerks, jugs, lamps, lamps_counts, odometer, odometer_counts

SHARDS = (1, 2, 5)


def loop_of(system: TransitionSystem, place: Path, shards: int | None = None, *, resume: bool = True) -> LevelLoop:
    return take_up(system, place, shards=shards, cores=lambda: 2, resume=resume)


class Here:
    """Does levels in this process; `forgetful` makes every shard anew each time, as if no worker lived long."""

    def __init__(self, loop: LevelLoop, *, forgetful: bool = False, outbox_bytes: int = 1 << 20) -> None:
        self.loop, self.forgetful, self.outbox_bytes = loop, forgetful, outbox_bytes
        self.shards = self.new_shards()

    def new_shards(self) -> list[Shard]:
        number = self.loop.run.shards
        return [Shard(self.loop.folder, one, number, outbox_bytes=self.outbox_bytes) for one in range(number)]

    def __call__(self, depth: int) -> tuple[ShardLevel, ...]:
        if self.forgetful:
            self.shards = self.new_shards()
        return tuple(shard.step(depth) for shard in self.shards)


def enumerated(loop: LevelLoop, work: Here | None = None, limit: int | None = None) -> Enumeration:
    stopped = loop.search(work or Here(loop), limit=limit, progress=lambda _: None)
    return enumeration_of(loop.kernel, loop.folder, loop.levels[1:], stopped, {})


@pytest.mark.parametrize("shards", SHARDS)
@pytest.mark.parametrize("name", EXPECTED)
def test_counts_are_those_derived_by_hand(name: str, shards: int, tmp_path: Path) -> None:
    system, counts = EXPECTED[name]
    found = enumerated(loop_of(system, tmp_path, shards))
    assert (found.states, found.transitions, found.levels) == (counts.states, counts.transitions, counts.levels)
    assert sum(found.overflows.values()) == counts.overflows
    assert found.exhausted
    assert found.violated.keys() == counts.failing.keys()
    assert found.witnessed.keys() >= counts.witnessed.keys()


@pytest.mark.parametrize("shards", SHARDS)
@pytest.mark.parametrize("name", EXPECTED)
def test_everything_equals_the_oracle_and_the_native_explorer(name: str, shards: int, tmp_path: Path) -> None:
    system, _ = EXPECTED[name]
    found, plain, native = enumerated(loop_of(system, tmp_path, shards)), explore_plainly(system), explore(system)
    assert (found.fired, found.overflows, found.levels) == (plain.fired, plain.overflows, plain.levels)
    assert (found.occurrences, found.first_depths) == (plain.occurrences, plain.first_depths)
    assert found.digest == native.digest
    for mine, theirs in ((found.violated, plain.violations), (found.witnessed, plain.witnesses)):
        assert {one: len(trace) for one, trace in mine.items()} == {one: len(f.trace) for one, f in theirs.items()}
        for trace in mine.values():
            replay(system, trace)


@pytest.mark.parametrize("outbox_bytes", [1, 4096])
def test_a_small_outbox_sends_more_and_finds_the_same(outbox_bytes: int, tmp_path: Path) -> None:
    system = lamps(8, 3)
    loop = loop_of(system, tmp_path, 3)
    found = enumerated(loop, Here(loop, outbox_bytes=outbox_bytes))
    assert (found.levels, found.digest) == (lamps_counts(8, 3).levels, explore(system).digest)


def test_states_are_numbered_level_by_level_and_each_has_its_shortest_trace(tmp_path: Path) -> None:
    system = odometer(3, 3)
    found = enumerated(loop_of(system, tmp_path, 3))
    states = [found.trace(number).last for number in range(found.states)]
    assert len({tuple(state.values()) for state in states}) == 4**3
    depths = [depth for depth, count in enumerate(odometer_counts(3, 3).levels) for _ in range(count)]
    assert [sum(state.values()) for state in states] == depths
    assert [len(found.trace(number)) for number in range(found.states)] == depths
    with pytest.raises(IndexError, match="no state 64: they are numbered from 0 to 63"):
        found.trace(64)


# ------------------------------------------------------------------------------------------------ who forgets


def test_shards_that_forget_make_their_visited_sets_again(tmp_path: Path) -> None:
    loop = loop_of(lamps(6, 2), tmp_path, 2)
    assert enumerated(loop, Here(loop, forgetful=True)).levels == lamps_counts(6, 2).levels


@pytest.mark.parametrize("level", range(1, 8))
def test_a_level_that_is_done_twice_has_the_same_states_in_the_same_order(level: int, tmp_path: Path) -> None:
    loop = loop_of(lamps(6, 2), tmp_path, 2)
    work = Here(loop)

    def twice(depth: int) -> tuple[ShardLevel, ...]:
        first = work(depth)
        if depth != level:
            return first
        second = work(depth)
        for one, other in zip(first, second, strict=True):
            if one.states.count:
                assert loop.folder.read(one.states.file) == loop.folder.read(other.states.file)
        return second

    loop.search(twice, limit=None, progress=lambda _: None)
    found = enumeration_of(loop.kernel, loop.folder, loop.levels[1:], "", {})
    assert found.levels == lamps_counts(6, 2).levels
    named = {shard.states.file for one in loop.levels for shard in one.shards if shard.states.count}
    assert {f"states/{name}" for name in loop.folder.names("states")} == named


def test_a_stopped_run_goes_on_where_it_was(tmp_path: Path) -> None:
    system = odometer(2, 15)
    first = enumerated(loop_of(system, tmp_path, 2), limit=100)
    assert (first.exhausted, first.stopped) == (False, "limit")
    assert sum(first.levels[:-1]) < 100 <= first.states
    done: list[int] = []
    loop = loop_of(system, tmp_path)
    loop.search(Here(loop), limit=None, progress=lambda one: done.append(one.depth))
    assert done[0] == len(first.levels)
    whole = enumeration_of(loop.kernel, loop.folder, loop.levels[1:], "", {})
    assert (whole.levels, whole.digest) == (odometer_counts(2, 15).levels, explore(system).digest)
    assert loop.folder.names("blobs") == []


def test_a_finished_run_is_read_and_not_done_again(tmp_path: Path) -> None:
    system = jugs()
    first = enumerated(loop_of(system, tmp_path, 2))

    def nobody(_depth: int) -> None:
        raise AssertionError

    loop = loop_of(system, tmp_path)
    loop.search(nobody, limit=None, progress=lambda _: None)
    again = enumeration_of(loop.kernel, loop.folder, loop.levels[1:], "", {})
    assert (again.digest, again.violated, again.fired) == (first.digest, first.violated, first.fired)


def test_without_resuming_a_run_starts_anew(tmp_path: Path) -> None:
    enumerated(loop_of(jugs(), tmp_path, 2))
    found = enumerated(loop_of(lamps(), tmp_path, 3, resume=False))
    assert (found.levels, found.shards) == (lamps_counts().levels, 3)


# ------------------------------------------------------------------------------------------------ what is refused


def test_a_run_folder_is_for_one_system_and_one_number_of_shards(tmp_path: Path) -> None:
    loop_of(odometer(2, 3), tmp_path, 2)
    with pytest.raises(BadInput, match="another system"):
        loop_of(odometer(2, 2), tmp_path)
    with pytest.raises(BadInput, match="has 2 shards, not 3; name that number"):
        loop_of(odometer(2, 3), tmp_path, 3)
    with pytest.raises(BadInput, match="0 shards"):
        loop_of(odometer(2, 3), tmp_path, 0)


def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine")
    for resume in (True, False):
        with pytest.raises(BadInput, match="not empty and not a run folder"):
            loop_of(jugs(), tmp_path, resume=resume)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize(("field", "value"), [("format", 0), ("layout", "of yore")])
def test_a_run_folder_of_another_version_is_refused(field: str, value: object, tmp_path: Path) -> None:
    loop_of(jugs(), tmp_path, 1)
    content = json.loads((tmp_path / "run.json").read_text())
    (tmp_path / "run.json").write_text(json.dumps({**content, field: value}))
    with pytest.raises(BadInput, match="another version"):
        loop_of(jugs(), tmp_path)


@pytest.mark.parametrize("file", ["run.json", "levels/genesis.json", "levels/000000.json"])
@pytest.mark.parametrize("content", ["", "[]", "{}", "\N{LATIN SMALL LETTER E WITH ACUTE}{", '{"format": 1'])
def test_a_damaged_run_folder_is_refused_by_the_name_of_the_file(file: str, content: str, tmp_path: Path) -> None:
    loop_of(jugs(), tmp_path, 1)
    (tmp_path / file).write_text(content, encoding="latin-1")
    names_no_version = (file, content) == ("run.json", "{}")
    with pytest.raises(BadInput, match="another version" if names_no_version else f"{file} in .* is damaged"):
        loop_of(jugs(), tmp_path)


def test_a_run_that_another_driver_took_over_writes_no_more_levels(tmp_path: Path) -> None:
    old = loop_of(jugs(), tmp_path, 1)
    new = loop_of(jugs(), tmp_path)
    with pytest.raises(EnvironmentFailure, match="taken over"):
        enumerated(old)
    assert enumerated(new).states == 16


def test_a_file_that_lost_its_end_is_noticed(tmp_path: Path) -> None:
    loop = loop_of(lamps(), tmp_path, 1)
    enumerated(loop, limit=5)
    path = tmp_path / loop.levels[1].shards[0].states.file
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(EnvironmentFailure, match="shorter than its marker says"):
        enumerated(loop_of(lamps(), tmp_path))


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_file_system_that_takes_no_more_is_one_clear_line_and_the_run_goes_on_later(tmp_path: Path) -> None:
    system = odometer(3, 7)
    loop = loop_of(system, tmp_path, 1)
    work = Here(loop)
    with files_of_at_most(500), pytest.raises(EnvironmentFailure, match=r"cannot write (states|blobs)/") as failure:
        enumerated(loop, work)
    assert "\n" not in str(failure.value)
    assert enumerated(loop_of(system, tmp_path)).levels == odometer_counts(3, 7).levels


def test_a_value_that_a_kind_does_not_have_is_a_mistake_of_the_specification(tmp_path: Path) -> None:
    """A wheel of five positions, 0 to 4, declared to have four, steps to a fifth that fits its three bits."""
    fine = odometer(1, 4)
    kind = fine.variables[0].kind
    narrow = Kind(kind.name, kind.width, 3, kind.show, kind.encode)
    variables = tuple(type(one)(one.name, narrow, one.initial) for one in fine.variables)
    system = TransitionSystem("narrow", variables, fine.actions, fine.properties)
    with pytest.raises(SpecificationError, match=r"turn\(w=1\) sets wheels\[1\] to 4"):
        enumerated(loop_of(system, tmp_path, 2))


# ------------------------------------------------------------------------------------------------ the rest


def test_every_state_has_one_owner_and_owners_share_alike() -> None:
    rows = np.arange(30_000, dtype=np.uint64).reshape(-1, 3)
    for shards in SHARDS:
        counts = np.bincount(owners(rows, shards), minlength=shards)
        assert len(counts) == shards
        # With n states, a share is n/shards give or take its standard deviation, which is below sqrt(n/shards).
        assert abs(counts - 10_000 / shards).max() < 5 * (10_000 / shards) ** 0.5


def test_a_worker_of_another_make_compiles_the_kernel_for_itself(tmp_path: Path) -> None:
    loop = loop_of(clerks(), tmp_path, 2)
    ship_for_any_machine(loop)
    (compiled,) = [name for name in loop.folder.names("kernels") if name != "ir"]
    loop.folder.forget(f"kernels/{compiled}")
    expected: Counts = EXPECTED["clerks"][1]
    assert enumerated(loop).levels == expected.levels
    assert compiled in loop.folder.names("kernels")


def test_a_folder_may_be_named_by_a_uri(tmp_path: Path) -> None:
    loop = take_up(jugs(), (tmp_path / "a run").as_uri(), shards=2, cores=lambda: 1, resume=True)
    assert enumerated(loop).states == 16
    assert RunFolder(tmp_path / "a run").run() == loop.run


def test_a_file_system_that_nobody_knows_is_refused() -> None:
    with pytest.raises(BadInput, match=r"^carrier-pigeon://loft/run is no folder: .*; name a path, or a URI"):
        RunFolder("carrier-pigeon://loft/run").run()


def test_of_an_error_that_takes_pages_the_beginning_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(_: str) -> None:
        raise OSError("no libjvm here\n" * 1000)

    monkeypatch.setattr(folder, "fs", SimpleNamespace(FileSystem=SimpleNamespace(from_uri=lost)))
    with pytest.raises(EnvironmentFailure, match=r"cannot be opened: no libjvm here no .* \.\.\.; see to") as failure:
        RunFolder("hdfs://nowhere/run").run()
    assert len(str(failure.value)) < 500
