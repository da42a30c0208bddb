"""The table of what the handlers do next is drawn whole, and each place says whether it was taken, and how often."""

from dataclasses import replace

from model_check.reports.handlers import handlers, junctions
from model_check.verdicts.results import Run, plain_document
from spec.protocol.handlers import HANDLERS, NEVER, READS, column
from spec.protocol.junctions import Junction
from spec.state.enumerations import Handler
from tests.model_check.documents import run


def explored(**rows: int) -> Run:
    """An exploration that took these rows from so many states, each after three steps."""
    names = {name.replace("_", "-"): times for name, times in rows.items()}
    return replace(run(), fired={}, occurrences=names, first_depths=dict.fromkeys(names, 3))


def test_the_table_is_whole_and_says_of_each_place_what_was_taken() -> None:
    runs = explored(H_FAILOVER_VISITS_DONE=1200, H_NONE_DELETIONS_READ=7), explored(H_FAILOVER_VISITS_DONE=34)
    lines = handlers(plain_document("explore", *runs))
    assert [one.name for one in lines] == [one.name for one in HANDLERS]
    assert {*junctions()} == {*Junction}
    seen = {}
    for handler, line in zip(HANDLERS, lines, strict=True):
        for junction, cell in zip(junctions(), line.cells, strict=True):
            thens = column(junction).get(handler, NEVER)
            assert cell.then == tuple(one.run.__name__ for one in thens)
            if cell.seen:
                seen[handler, junction] = (cell.seen.times, cell.seen.runs, cell.seen.first_depth)
    assert seen == {
        (Handler.FAILOVER, Junction.VISITS_DONE): (1234, 2, 3),
        (Handler.NONE, Junction.DELETIONS_READ): (7, 1, 3),
    }
    assert Junction.DELETIONS_READ in READS


def test_where_nothing_was_explored_there_is_no_table() -> None:
    assert handlers(plain_document("explore", run())) == []
