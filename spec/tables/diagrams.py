"""The transition tables as a reader sees them: a matrix, a list of rows, and a drawing.

All four forms are computed from the tables, so that documentation cannot disagree with what is checked. The graph is a
networkx one, which the tests also ask about reachability; Mermaid is what most readers of a repository's pages see
rendered, and DOT is what Graphviz draws. Edges carry the stable ids of the rows, as traces and coverage reports do.

Left out on purpose: guards and effects in the drawings. They are sentences, and a sentence on an arrow is not read.
"""

import networkx as nx

from spec.tables.table import S, Table, find, initial_state, transitions

NO_ROW = "-"


def graph(table: Table[S]) -> nx.DiGraph:
    """Give the table as a directed graph: state names with their `code`, edges with `id`, `effect` and `citation`."""
    drawn = nx.DiGraph(initial=str(initial_state(table)))
    drawn.add_nodes_from((str(state), {"code": state.code}) for state in table)
    drawn.add_edges_from(
        (str(row.source), str(row.target), {"id": row.id, "effect": row.effect, "citation": row.citation})
        for row in transitions(table)
    )
    return drawn


def markdown_matrix(table: Table[S]) -> str:
    """Render who may follow whom: a line for each state, a column for each target, ids where there is a row."""
    lines: list[list[str]] = [["from \\ to", *table], ["---"] * (len(table) + 1)]
    for source in table:
        cells = (find(table, source, target) for target in table)
        lines.append([source, *(NO_ROW if row is None else row.id for row in cells)])
    return "\n".join(markdown_line(line) for line in lines)


def markdown_rows(table: Table[S]) -> str:
    """Render one line for each row, with its effect and its source."""
    lines = [["id", "from", "to", "effect", "source"], ["---"] * 5]
    lines += [[row.id, row.source, row.target, row.effect, row.citation] for row in transitions(table)]
    return "\n".join(markdown_line(line) for line in lines)


def markdown_line(cells: list[str]) -> str:
    """Join cells into a line of a Markdown table; a bar inside a cell is escaped."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def mermaid(table: Table[S]) -> str:
    """Draw the table as a Mermaid state diagram, the start marked."""
    drawn = graph(table)
    lines = ["stateDiagram-v2", f"    [*] --> {drawn.graph['initial']}"]
    lines += [f"    {source} --> {target}: {name}" for source, target, name in drawn.edges(data="id")]
    return "\n".join(lines)


def dot(table: Table[S], title: str) -> str:
    """Draw the table in Graphviz's language, the start with a double line; `title` names the graph."""
    drawn = graph(table)
    lines = [f"digraph {quoted(title)} {{", "    node [shape=box, style=rounded];"]
    for state, code in drawn.nodes(data="code"):
        line = "2" if state == drawn.graph["initial"] else "1"
        lines.append(f"    {quoted(state)} [label={quoted(f'{state} ({code})')}, peripheries={line}];")
    lines += [
        f"    {quoted(source)} -> {quoted(target)} [label={quoted(name)}];"
        for source, target, name in drawn.edges(data="id")
    ]
    return "\n".join([*lines, "}"])


def quoted(text: str) -> str:
    """Quote a string as Graphviz reads it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
