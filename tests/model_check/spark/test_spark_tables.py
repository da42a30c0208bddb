"""The tables of a run: read back, they are the states, the edges and the traces that a plain search finds."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import dataset, parquet

from model_check.spark.enumeration import Enumeration
from model_check.spark.run_folder import Level, Section, ShardLevel
from model_check.spark.spark_engine import enumerate_states
from model_check.spark.spark_tables import Ids, write_tables
from model_check.traces.trace import State
from spec.errors import BadInput
from spec.language.rules import TransitionSystem
from tests.model_check.conftest import MASTER
from tests.model_check.plain_exploration import explore_plainly, successors
from tests.model_check.systems import EXPECTED, clerks, jugs, lamps

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.usefixtures("spark")]

Shown = tuple[str, ...]


def shown(system: TransitionSystem, state: State) -> Shown:
    return tuple(variable.show(state[variable.name]) for variable in system.variables)


def plain_states(system: TransitionSystem) -> Iterator[State]:
    plain = explore_plainly(system)
    return (dict(zip(plain.names, raw, strict=True)) for raw in plain.reached)


def read(folder: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = dataset.dataset(folder).to_table().to_pylist()
    return rows


def enumerated(system: TransitionSystem, tmp_path: Path, shards: int) -> Enumeration:
    return enumerate_states(system, run_folder=tmp_path / "run", shards=shards, master=MASTER)


@pytest.mark.parametrize(
    ("name", "shards"),
    [
        pytest.param("jugs", 2, marks=pytest.mark.takes("The workers that write tables begin with it.")),
        *(
            pytest.param(*one, marks=pytest.mark.slow)
            for one in (("clerks", 1), ("jugs", 3), ("lamps-3-2", 2), ("odometer-1-1", 5))
        ),
    ],
)
def test_read_back_the_tables_are_what_a_plain_search_finds(name: str, shards: int, tmp_path: Path) -> None:
    system, counts = EXPECTED[name]
    found = enumerated(system, tmp_path, shards)
    written = write_tables(tmp_path / "run", tmp_path / "out", master=MASTER)
    assert written
    assert (written.states, written.edges) == (counts.states, counts.transitions)

    states = read(tmp_path / "out" / "states")
    variables = [variable.name for variable in system.variables]
    by_id: dict[int, Shown] = {row["id"]: tuple(row[variable] for variable in variables) for row in states}
    assert sorted(by_id) == list(range(counts.states))
    assert set(by_id.values()) == {shown(system, state) for state in plain_states(system)}
    assert all(by_id[number] == shown(system, dict(found.trace(number).last)) for number in by_id)
    assert [sum(row["depth"] == depth for row in states) for depth in range(len(counts.levels))] == list(counts.levels)

    edges = {(by_id[row["source"]], row["action"], by_id[row["target"]]) for row in read(tmp_path / "out" / "edges")}
    assert edges == {
        (shown(system, state), action.name, shown(system, after))
        for state in plain_states(system)
        for action, after in successors(system, state)
    }


def test_witnesses_have_a_row_for_each_step(tmp_path: Path) -> None:
    system = clerks()
    found = enumerated(system, tmp_path, 2)
    written = write_tables(tmp_path / "run", tmp_path / "out", edges=False, master=MASTER)
    rows = read(tmp_path / "out" / "witnesses")
    assert written
    assert (written.witnesses, written.edges) == (len(rows), 0)
    assert not (tmp_path / "out" / "edges").exists()
    for verdict, traces in (("violated", found.violated), ("witnessed", found.witnessed)):
        for name, trace in traces.items():
            mine = [row for row in rows if (row["property"], row["verdict"]) == (name, verdict)]
            assert [row["step"] for row in mine] == list(range(len(trace) + 1))
            assert [(row["action"], row["counter"]) for row in mine] == [
                (action, str(state["counter"])) for action, state in trace.steps
            ]
    assert {row["property"] for row in rows} == {*found.violated, *found.witnessed}


@pytest.mark.slow
def test_a_column_for_each_variable_and_types_that_a_stranger_can_read(tmp_path: Path) -> None:
    enumerated(lamps(), tmp_path, 2)
    assert write_tables(tmp_path / "run", tmp_path / "none", master=MASTER, stop=lambda: True) is None
    assert not (tmp_path / "none" / "_SUCCESS").exists()
    told: list[tuple[int, str, int]] = []
    write_tables(tmp_path / "run", tmp_path / "out", master=MASTER, progress=lambda *given: told.append(given))
    assert {(what, of) for _, what, of in told} <= {("states", 4), ("edges", 4)}
    assert [done for done, what, _ in told if what == "edges" and done < 2] == []
    names = ["on[1]", "on[2]", "on[3]", "budget.faults"]
    for part in ("part-00000", "part-00001"):
        assert parquet.read_schema(tmp_path / "out" / "states" / f"{part}.parquet").names == ["id", "depth", *names]
        assert parquet.read_schema(tmp_path / "out" / "edges" / f"{part}.parquet").names == [
            "source",
            "action",
            "target",
        ]
    assert {row["on[1]"] for row in read(tmp_path / "out" / "states")} == {"no", "yes"}
    assert (tmp_path / "out" / "_SUCCESS").exists()


def test_ids_are_numbers_of_the_enumeration() -> None:
    """Two shards, with 1 and 2 states at depth 0, then 3 and 1: ids 0 | 1 2, then 3 4 5 | 6."""

    def level(depth: int, *counts: int) -> Level:
        parts = (ShardLevel(Section("", 0, count), (0, 0, 0), (), (), 0, "", (), 0) for count in counts)
        return Level(depth, 0.0, tuple(parts))

    levels = [level(0, 1, 2), level(1, 3, 1)]
    assert Ids.of(levels, 0)(np.arange(4)).tolist() == [0, 3, 4, 5]
    assert Ids.of(levels, 1)(np.arange(3)).tolist() == [1, 2, 6]


def test_only_a_finished_run_has_tables_and_only_an_empty_folder_gets_them(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no finished run"):
        write_tables(tmp_path / "run", tmp_path / "out")
    enumerate_states(jugs(), run_folder=tmp_path / "run", shards=2, limit=3)
    with pytest.raises(BadInput, match="no finished run"):
        write_tables(tmp_path / "run", tmp_path / "out")
    enumerate_states(jugs(), run_folder=tmp_path / "run")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letter.txt").write_text("mine")
    with pytest.raises(BadInput, match="not empty"):
        write_tables(tmp_path / "run", tmp_path / "out")
