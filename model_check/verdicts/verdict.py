"""The four verdicts, and the exit codes that a gate reads.

There is no fifth: what was not finished is INCOMPLETE and never a pass, what broke while it was checked is ERROR and
never hides behind the rest. Several verdicts together are as bad as the worst of them; a violation is the worst, for it
remains however the other checks would have ended.
"""

import enum
from collections.abc import Iterable


class Verdict(enum.StrEnum):
    """What a check says; worst last."""

    HOLDS = "HOLDS"
    INCOMPLETE = "INCOMPLETE"
    ERROR = "ERROR"
    VIOLATED = "VIOLATED"


BAD_USAGE = 2
"""The exit code of bad usage or bad input: nothing was checked."""

INTERRUPTED = "interrupted"
"""The reason of what Ctrl-C left INCOMPLETE, or a part of it."""

NOT_BEGUN = f"{INTERRUPTED} before it began"
"""The reason of what was still to come."""

NONE_ASKED = "none of the claims was asked"
NOT_ALL_ASKED = "not all that was chosen was asked"
"""The reasons of what is INCOMPLETE since nothing happened that the claims are about, or some of the chosen ones."""

EXIT_CODES = {Verdict.HOLDS: 0, Verdict.VIOLATED: 1, Verdict.INCOMPLETE: 3, Verdict.ERROR: 4}


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of all of them together; of none, HOLDS."""
    order = list(Verdict)
    return max(verdicts, key=order.index, default=Verdict.HOLDS)
