"""What follows what, as a reader sees it: a table of the handlers, and a drawing of which goes on with what.

Both are computed from spec/protocol/handlers.py. An arrow goes from a handler to what it does next, and says where.
"""

from collections.abc import Iterator

from spec.protocol.handlers import HANDLERS, JUNCTIONS, READS, column
from spec.protocol.junctions import Then
from spec.state.enumerations import Handler
from spec.tables.diagrams import NO_ROW, markdown_line, quoted

TITLE = "what follows what"


def markdown_handlers() -> str:
    """Render a line for each handler, a column for each junction, with what is done next; then the reads."""
    lines = [["handler", "in Kafka", *(one.name for one in JUNCTIONS)], ["---"] * (len(JUNCTIONS) + 2)]
    lines += [
        [one.name, NO_ROW if one is Handler.NONE else one.value, *map(_cell, row)] for one, row in HANDLERS.items()
    ]
    reads = [["read by a failover", "then"], ["---"] * 2]
    reads += [[junction.name, _cell(thens)] for junction, thens in READS.items()]
    return "\n\n".join("\n".join(markdown_line(line) for line in table) for table in (lines, reads))


def _cell(thens: tuple[Then, ...]) -> str:
    """What is done next: the first that a model has."""
    return ", else ".join(then.run.__name__ for then in thens) or NO_ROW


def mermaid_handlers() -> str:
    """Draw the table as a Mermaid flowchart."""
    arrows = [f"    {handler} -->|{where}| {then}" for handler, where, then in _arrows()]
    return "\n".join(["---", f"title: {TITLE}", "---", "flowchart LR", *arrows])


def dot_handlers() -> str:
    """Draw the table in Graphviz's language: handlers as boxes, what they do next as ellipses."""
    lines = [f"digraph {quoted(TITLE)} {{", "    rankdir=LR;"]
    lines += [f"    {quoted(one.name)} [shape=box];" for one in Handler]
    lines += [f"    {quoted(handler)} -> {quoted(then)} [label={quoted(where)}];" for handler, where, then in _arrows()]
    return "\n".join([*lines, "}"])


def _arrows() -> Iterator[tuple[str, str, str]]:
    """Handler, junction and continuation, by their names."""
    for junction in (*JUNCTIONS, *READS):
        for handler, thens in column(junction).items():
            yield from ((handler.name, junction.name, then.run.__name__) for then in thens)
