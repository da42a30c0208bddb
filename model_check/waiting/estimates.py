"""An estimate before long work: what the same work took on this machine, or its size at the rate of other such work.

Work that came to its end leaves its seconds in the cache folder, by verb and by what it was about. Where nothing is
known, or it will be short, nothing is said; nor where nobody sits at a terminal.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from model_check.kernel.cache import cache_folder, keep
from model_check.waiting.progress import is_alone, note

WORTH_SAYING: Final = 5
"""Seconds of work of which a person is warned beforehand."""

LARGER: Final = 10
"""How many times larger than what was measured work may be, for the rate still to be about right."""

Known = dict[str, tuple[int, float]]
"""The units of work of a verb, and the seconds, by what it was about."""


@contextmanager
def estimated(
    verb: str, what: str, units: int | None = None, *, size: str = "", usual: float | None = None
) -> Iterator[Callable[..., None]]:
    """Say beforehand how long the work inside will take; whoever does it calls what this gives once it is whole.

    That takes the seconds to remember where they are others: of work that had begun before, or of its units alone.
    `units` is how much there is to do, if anybody knows; of work without a size only the same work tells anything.
    `usual` is seconds for a unit, of a machine on which nothing has been measured; `size` is printed along.
    """
    known = _read().get(verb, {})
    if units == 0:
        units = None
    seconds = seconds_of(known, what, units, usual)
    if seconds is not None and seconds > WORTH_SAYING and is_alone():
        how = ", as last time" if known.get(what, (None,))[0] == (units or 0) else ""
        note(f"{what}: {size}{'; ' if size else ''}about {shown(seconds)}{how}")
    started = time.perf_counter()

    def whole(spent: float | None = None) -> None:
        _keep(verb, what, units or 0, time.perf_counter() - started if spent is None else spent)

    yield whole


def remembered(verb: str) -> dict[str, float]:
    """The seconds of all that a verb is known to have done, by what it was about."""
    return {what: seconds for what, (_, seconds) in _read().get(verb, {}).items()}


def remember(verb: str, seconds: Mapping[str, float]) -> None:
    """Keep the seconds of some things that a verb did."""
    known = _read()
    known.setdefault(verb, {}).update({what: (0, spent) for what, spent in seconds.items()})
    keep(_file(), json.dumps(known, indent=1).encode())


def seconds_of(known: Known, what: str, units: int | None, usual: float | None = None) -> float | None:
    """How long work will take, None if nobody knows: like the same work, else at the rate of the largest other.

    Of what is much smaller, most seconds went into starting: its rate tells nothing.
    """
    if what in known:
        before, seconds = known[what]
        return seconds * units / before if units and before else seconds
    if units is None:
        return None
    most, seconds = max(known.values(), default=(0, 0.0))
    if most * LARGER >= units:
        return seconds * units / most
    return None if usual is None else usual * units


def shown(seconds: float) -> str:
    """A span of time as one would say it."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _file() -> Path:
    return cache_folder() / "durations.json"


def _read() -> dict[str, Known]:
    """What is known of all verbs; a file that is not there, or is no such file, tells nothing."""
    try:
        given = json.loads(_file().read_bytes())
        return {
            verb: {what: (int(units), float(seconds)) for what, (units, seconds) in known.items()}
            for verb, known in given.items()
        }
    except (OSError, ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        return {}


def _keep(verb: str, what: str, units: int, seconds: float) -> None:
    known = _read()
    known.setdefault(verb, {})[what] = units, seconds
    keep(_file(), json.dumps(known, indent=1).encode())
