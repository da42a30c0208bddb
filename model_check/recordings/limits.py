"""Where the specification ends: the first thing in a recording that only a part which is not modelled does.

What follows may depend on it, so a recording is judged up to there. Such a part begins with a transaction
(`writes.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from typing import TypeAlias

from model_check.recordings.recording import NotModelled, Observed

SequencesByName: TypeAlias = Mapping[str, tuple[Observed, ...]]


def limit_of(sequences: SequencesByName) -> NotModelled | None:
    """The first observation, by the clock, of what is not modelled."""
    found = (one for sequence in sequences.values() for one in sequence if isinstance(one, NotModelled))
    return min(found, key=lambda one: one.time, default=None)


def up_to(sequences: SequencesByName, limit: NotModelled | None) -> SequencesByName:
    """The sequences as far as they were observed before a limit."""
    if limit is None:
        return sequences
    return {name: tuple(takewhile(lambda one: one.time < limit.time, track)) for name, track in sequences.items()}
