"""The transition tables as a reader sees them: a matrix, a list of rows, and a drawing.

All forms are computed from the tables, so that documentation cannot disagree with what is checked. Mermaid is what
most readers of a repository's pages see rendered, and DOT is what Graphviz draws. Edges carry the stable ids of the
rows, as traces and coverage reports do.

Left out on purpose: guards and effects in the drawings. They are sentences, and a sentence on an arrow is not read.
"""

from collections.abc import Iterable, Sequence

from spec.tables.table import S, Table, find, initial_state, transitions

NO_ROW = "-"


def markdown_matrix(table: Table[S]) -> str:
    """Render who may follow whom: a line for each state, a column for each target, ids where there is a row."""
    rows: list[list[str]] = []
    for source in table:
        cells = (find(table, source, target) for target in table)
        rows.append([source, *(NO_ROW if row is None else row.id for row in cells)])
    return markdown_table(["from \\ to", *table], rows)


def markdown_rows(table: Table[S]) -> str:
    """Render one line for each row, with its effect and its source."""
    rows = ((row.id, row.source, row.target, row.effect, row.citation) for row in transitions(table))
    return markdown_table(["id", "from", "to", "effect", "source"], rows)


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Render a table in Markdown: the head, then a line for each row."""
    return "\n".join(map(markdown_line, (header, ["---"] * len(header), *rows)))


def markdown_line(cells: Sequence[str]) -> str:
    """Join cells into a line of a Markdown table; a bar inside a cell is escaped."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def mermaid(table: Table[S]) -> str:
    """Draw the table as a Mermaid state diagram, the start marked."""
    lines = ["stateDiagram-v2", f"    [*] --> {initial_state(table)}"]
    lines += [f"    {row.source} --> {row.target}: {row.id}" for row in transitions(table)]
    return "\n".join(lines)


def dot(table: Table[S], title: str) -> str:
    """Draw the table in Graphviz's language, the start with a double line; `title` names the graph."""
    lines = [f"digraph {quoted(title)} {{", "    node [shape=box, style=rounded];"]
    for state in table:
        line = "2" if state == initial_state(table) else "1"
        lines.append(f"    {quoted(state)} [label={quoted(f'{state} ({state.code})')}, peripheries={line}];")
    lines += [
        f"    {quoted(row.source)} -> {quoted(row.target)} [label={quoted(row.id)}];" for row in transitions(table)
    ]
    return "\n".join([*lines, "}"])


def quoted(text: str) -> str:
    """Quote a string as Graphviz reads it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
