"""Every rendering, read back, is the table again: nothing lost, nothing added."""

import re

import pytest

from spec.tables.diagrams import dot, markdown_line, markdown_matrix, markdown_rows, mermaid, quoted
from spec.tables.partition_states import PARTITION_TRANSITIONS
from spec.tables.replica_states import REPLICA_TRANSITIONS
from spec.tables.table import KafkaState, Table, transitions

TABLES = [
    pytest.param(PARTITION_TRANSITIONS, 4, 8, id="partition"),
    pytest.param(REPLICA_TRANSITIONS, 7, 13, id="replica"),
]
Moves = set[tuple[str, str, str]]


def moves(table: Table[KafkaState]) -> Moves:
    return {(str(row.source), str(row.target), row.id) for row in transitions(table)}


def cells(markdown: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in markdown.splitlines()]


@pytest.mark.parametrize(("table", "states", "rows"), TABLES)
def test_the_matrix_reads_back(table: Table[KafkaState], states: int, rows: int) -> None:
    (_, *targets), _, *lines = cells(markdown_matrix(table))
    assert targets == [line[0] for line in lines] == list(table)
    found = {(source, target, cell) for source, *row in lines for target, cell in zip(targets, row, strict=True)}
    assert len(found) == states * states
    assert {move for move in found if move[2] != "-"} == moves(table)
    assert len(moves(table)) == rows


@pytest.mark.parametrize(("table", "states", "rows"), TABLES)
def test_the_list_of_rows_reads_back(table: Table[KafkaState], states: int, rows: int) -> None:
    heading, _, *lines = cells(markdown_rows(table))
    assert heading == ["id", "from", "to", "effect", "source"]
    assert lines == [[row.id, row.source, row.target, row.effect, row.citation] for row in transitions(table)]
    assert (len(lines), len({line[1] for line in lines})) == (rows, states)


@pytest.mark.parametrize(("table", "states", "rows"), TABLES)
def test_the_mermaid_drawing_reads_back(table: Table[KafkaState], states: int, rows: int) -> None:
    first, start, *arrows = mermaid(table).splitlines()
    assert (first, start.strip()) == ("stateDiagram-v2", f"[*] --> {next(iter(table))}")
    found = [re.fullmatch(r" +(\w+) --> (\w+): ([\w-]+)", arrow) for arrow in arrows]
    assert {match.groups() for match in found if match} == moves(table)
    assert (len(found), len(table)) == (rows, states)


@pytest.mark.parametrize(("table", "states", "rows"), TABLES)
def test_the_dot_drawing_reads_back(table: Table[KafkaState], states: int, rows: int) -> None:
    drawn = dot(table, "states")
    found = re.findall(r'^    "(\w+)" -> "(\w+)" \[label="([\w-]+)"\];$', drawn, re.MULTILINE)
    boxes = re.findall(r'^    "(\w+)" \[label="\w+ \((\d)\)", peripheries=(\d)\];$', drawn, re.MULTILINE)
    assert (set(found), len(found)) == (moves(table), rows)
    assert [(name, int(code)) for name, code, _ in boxes] == [(str(state), state.code) for state in table]
    assert [name for name, _, lines in boxes if lines == "2"] == [next(iter(table))]
    assert len(drawn.splitlines()) == 1 + 1 + states + rows + 1


def test_the_documents_picture_of_the_partition_table() -> None:
    """The validity matrix as the protocol's description prints it, its columns in the order of the rows."""
    _, _, *lines = cells(markdown_matrix(PARTITION_TRANSITIONS))
    picture = {source: ["-" if cell == "-" else "yes" for cell in row] for source, *row in lines}
    assert picture == {
        "NonExistentPartition": ["-", "yes", "-", "-"],
        "NewPartition": ["-", "-", "yes", "yes"],
        "OnlinePartition": ["-", "-", "yes", "yes"],
        "OfflinePartition": ["yes", "-", "yes", "yes"],
    }


def test_marks_of_the_languages_are_escaped() -> None:
    assert markdown_line(["a|b", "c"]) == "| a\\|b | c |"
    assert quoted('say "no" \\ yes') == '"say \\"no\\" \\\\ yes"'
