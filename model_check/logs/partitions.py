"""Partitions, as a stream of lines shows them: elections that failed and why, leaders that cannot write their ISR.

An election that fails is no break: no replica may have been alive. What counts is why, and which partitions are without
a leader where the log ends. A leader whose zkVersion is not the znode's is sent the right one soon, as a rule; where it
is refused again and again with the same one, it is stuck (D6).
"""

import re
from dataclasses import dataclass, field
from typing import Final

from model_check.logs.answers import CAN_WRITE, ROWS, Answers
from model_check.logs.facts import Election, Illegal, Stale
from model_check.logs.lives import ms
from model_check.logs.patterns import ROWS as LEGAL
from model_check.logs.printing import printable

STUCK_TIMES: Final = 3
STUCK_FOR: Final = 30_000
"""A leader is stuck that was refused so often, over so many milliseconds; it tries every few seconds."""
SILENT: Final = 600_000
"""After so many milliseconds without a refusal it is another zkVersion that looks the same: of a topic made anew."""
MOST_REASONS: Final = 1_000
VALUES: Final = re.compile(r"\[?[\w.-]+[,-]\d+\]?|\d+|\[[^\]]*\]+")


@dataclass
class Failures:
    """Elections that failed for one reason: how many, of how many partitions at least one, and where first and last."""

    times: int
    first: str
    last: str
    controllers: set[tuple[int, int]]
    example: str


@dataclass
class Refusals:
    """How often in a row one zkVersion of a leader was refused."""

    version: int
    times: int
    since: int
    last: int
    place: str
    is_told: bool = False


@dataclass
class Partitions:
    """The partitions of a stream, and what is asked of them."""

    answers: Answers
    failures: dict[str, Failures] = field(default_factory=dict)
    leaderless: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Each partition whose last election failed, with the reason, and the place of that."""
    refused: dict[tuple[int, str], Refusals] = field(default_factory=dict)

    def elects(self, one: Election, place: str) -> None:
        """A partition has come online, or has not."""
        if not one.cause:
            self.leaderless.pop(one.partition, None)
            return
        reason = reason_of(one.cause)
        self.leaderless[one.partition] = (reason, place)
        known = self.failures.get(reason)
        if known is None and len(self.failures) < MOST_REASONS:
            self.failures[reason] = Failures(1, place, place, {(one.controller, one.epoch)}, printable(one.cause[:200]))
        elif known is not None:
            known.times += 1
            known.last = place
            known.controllers.add((one.controller, one.epoch))

    def moves_wrongly(self, one: Illegal, place: str) -> None:
        """A transition has no row."""
        onwards = [target for source, target in LEGAL if source == one.source]
        backwards = [source for source, target in LEGAL if target == one.target]
        text = (
            f"controller {one.controller} in epoch {one.epoch} changed {one.subject} from {one.source} to {one.target};"
            f" no row leads so: from {one.source} to {' or '.join(onwards) or 'nowhere'};"
            f" to {one.target} from {' or '.join(backwards) or 'nowhere'}"
        )
        self.answers.breaks_it(ROWS, place, one.time, text)

    def is_stale(self, one: Stale, place: str) -> None:
        """A leader could not write its ISR."""
        key, now = (one.broker, one.partition), ms(one.time)
        known = self.refused.get(key)
        if known is None or known.version != one.version or now - known.last > SILENT:
            self.refused[key] = Refusals(one.version, 1, now, now, place)
            self.answers.holds(CAN_WRITE)
            return
        known.times += 1
        known.last = now
        if known.times < STUCK_TIMES or now - known.since < STUCK_FOR or known.is_told:
            return
        known.is_told = True
        text = (
            f"broker {one.broker} leads {one.partition} and is refused each write of the ISR since {known.place}, with"
            f" zkVersion {one.version}"
        )
        self.answers.breaks_it(CAN_WRITE, place, one.time, text, "D6")


def reason_of(cause: str) -> str:
    """Why an election failed, without what differs from one to the next."""
    return VALUES.sub("..", cause)[:160]
