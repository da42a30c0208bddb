"""Lies: one fact of a recording is changed, after which no behaviour explains it, and the judge says where."""

from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from model_check.judging import search
from model_check.judging.judge import Outcome, judge
from model_check.recordings.reading import read
from tests.model_check.unpacking import Change, changed

BUDGET = 20_000
"""Positions to be searched at most."""
BUDGET_OF_ENDLESS = 3_000
"""Where it is known that they do not suffice to try everything."""
AT_LAST: int | None = 100
"""Positions to be searched for an unlikely explanation, when there is no likely one; None: as many as always."""


class Lie(NamedTuple):
    """The recording, the file in it, what is changed there, and a place that cannot be explained any more."""

    recording: str
    file: str
    change: Change
    place: str


def assert_found_out(lie: Lie, folder: Path) -> None:
    """The search comes to its end, and what it could not go on from is where the lie shows."""
    with patch.object(search, "AT_LAST", AT_LAST or search.AT_LAST):
        found = judge(read(changed(lie.recording, folder, lie.file, lie.change)), budget=BUDGET)
    assert found.outcome is Outcome.UNEXPLAINED
    assert found.stuck is not None
    assert lie.place in [one.place for one in found.stuck.next]
    assert found.explained < found.observations


def assert_not_explained(lie: Lie, folder: Path) -> None:
    """The search does not come to its end, but what it could not go on from is where the lie shows."""
    found = judge(read(changed(lie.recording, folder, lie.file, lie.change)), budget=BUDGET_OF_ENDLESS)
    assert found.outcome is not Outcome.EXPLAINED
    assert found.stuck is not None
    assert lie.place in [one.place for one in found.stuck.next]
