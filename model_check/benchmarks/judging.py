"""What judging a recording takes, part by part, and whether an observation costs more where there are more of them.

One long recording of a real cluster is judged as far as its first 500 observations, its first 2,000 and so on: what is
measured is given in processor seconds for a thousand observations, which the length must not change. A beginning is cut
off by the clock, as if somebody had copied all files at that moment.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeVar

from model_check.benchmarks.explorer import Row
from model_check.judging.broken_claims import BrokenClaims
from model_check.judging.explaining import Explainer
from model_check.judging.judge import BUDGET, EACH
from model_check.judging.search import Search
from model_check.judging.shipped_recordings import unpacked
from model_check.monitors.check import check_history
from model_check.recordings.reading import read
from spec.collector import without_collector
from spec.logs.log_entries import START, print_time
from spec.variants import AS_CODED

T = TypeVar("T")

NAME: Final = "11a-random"
LENGTHS: Final = (500, 2_000, 8_000)
MILLISECONDS: Final = re.compile(r'"(?:time|ms)": (\d+)')


def judging_rows(lengths: Sequence[int] = LENGTHS) -> Iterator[Row]:
    """The table of the parts, for each beginning of a recording."""
    with unpacked(NAME) as home:
        whole = home / NAME
        times = sorted(one.time for track in read(whole).tracks.values() for one in track)
        for length in lengths:
            with beginning(whole, times[min(length, len(times) - 1)]) as folder, without_collector():
                rows = list(_rows(folder))
            yield from rows


def _rows(folder: Path) -> Iterator[Row]:
    recording, reading = timed(lambda: read(folder))
    number = recording.observations
    _, asking = timed(lambda: check_history(folder, known=recording))
    explainer, opening = timed(lambda: Explainer(recording, AS_CODED))
    search = Search(explainer, max(BUDGET, EACH * number), lambda *_: None, lambda: False)
    ends, searching = timed(search.explanations)
    claims, paths = BrokenClaims(explainer), [one.path() for one in ends or [search.best]]
    _, first = timed(lambda: claims.broken(paths[0], is_whole=bool(ends)))
    _, others = timed(lambda: [claims.broken(one, is_whole=True) for one in paths[1:]])
    parts = {
        "reading": reading,
        "claims without a search": asking,
        f"search, {search.positions:,} positions": opening + searching,
        f"claims, {len(paths[0]) - 1:,} steps": first,
        f"claims, {len(paths) - 1} other explanations": others,
    }
    yield f"{number:,} observations", f"{sum(parts.values()):.1f} s", ""
    for part, seconds in parts.items():
        yield f"  {part}", f"{seconds:.1f} s, {1000 * seconds / number:.2f} s a thousand", ""


@contextmanager
def beginning(whole: Path, until: int) -> Iterator[Path]:
    """A copy of a recording as far as it was written before a time, in milliseconds; as long as needed."""
    with TemporaryDirectory(prefix="beginning-") as home:
        folder = Path(home) / whole.name
        for file in (one for one in whole.rglob("*") if one.is_file()):
            copy = folder / file.relative_to(whole)
            copy.parent.mkdir(parents=True, exist_ok=True)
            with file.open(encoding="utf-8", errors="backslashreplace") as lines:
                copy.write_text("".join(takewhile(partial(_is_before, until), lines)), encoding="utf-8")
        yield folder


def _is_before(until: int, line: str) -> bool:
    """Whether a line tells no time, or an earlier one."""
    if found := START.match(line):
        return found[1] < print_time(datetime.fromtimestamp(until / 1000, UTC))
    found = MILLISECONDS.search(line)
    return found is None or int(found[1]) < until


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What work gives, and the processor seconds that it takes."""
    before = os.times()
    done = work()
    after = os.times()
    return done, after.user + after.system - before.user - before.system
