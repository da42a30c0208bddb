"""The recordings of real clusters that come along, as checks of `kcheck verify`."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from model_check.judging import shipped_recordings
from model_check.judging.shipped_recordings import archives_of
from model_check.reuse.reusable import Reusable
from model_check.verdicts.results import Run
from model_check.verdicts.verification import Check
from model_check.waiting.progress import interruptible

JUDGE: Final = "judge"
RECORDING_COST, LONG_COST = 20_000_000, 1_000_000_000
"""A recording, and a long one, take about as long as exploring so many states."""


def judgements(*, deep: bool) -> Iterator[Check]:
    """Recordings that come along; deep, all of them."""
    for name in shipped_recordings.BROKEN:
        if deep or name not in shipped_recordings.DEEP:
            yield Reusable(JUDGE, name, "AS_CODED", RECORDING_COST, partial(_judged, name), files=archives_of(name))
    for name in shipped_recordings.LONG if deep else ():
        yield Reusable(JUDGE, name, "AS_CODED", LONG_COST, partial(_judged, name), files=archives_of(name))


def _judged(name: str) -> list[Run]:
    with interruptible() as stop:
        return [shipped_recordings.judged(name, stop)]
