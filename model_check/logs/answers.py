"""What comes of the questions: how often each was asked, and what broke it.

The names are those of the claims of the specification and of the monitors, for the questions are the same: only what
tells of an answer is a line here, and not a transaction.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final, NamedTuple

MOST: Final = 100
"""Breaks of a claim that are kept; others are counted."""

ROWS: Final = "transitions_are_rows"
ONE_TERM: Final = "one_term_acts_in_an_epoch"
AT_ONCE: Final = "one_controller_acts_in_an_epoch"
FORWARD: Final = "epochs_never_go_back"
LATEST: Final = "only_the_latest_term_writes"
OLDER: Final = "brokers_obey_no_older_epoch"
REFUSED: Final = "brokers_refuse_only_older_epochs"
HIGHER: Final = "brokers_accept_only_higher_leader_epochs"
KNOWN: Final = "brokers_refuse_only_known_leader_epochs"
CAN_WRITE: Final = "eventually_leaders_can_lead"
CLAIMS: Final = (ROWS, ONE_TERM, AT_ONCE, FORWARD, LATEST, OLDER, REFUSED, HIGHER, KNOWN, CAN_WRITE)
"""All that is asked, in the order in which it is reported."""


class Broken(NamedTuple):
    """A break: the file and line that shows it, when, what it is, and the known defect whose signature it is, if any.

    What several logs tell of one happening is `about` the same.
    """

    place: str
    time: str
    text: str
    row: str = ""
    about: str = ""


@dataclass
class Answers:
    """The answers to all claims."""

    asked: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    breaks: dict[str, list[Broken]] = field(default_factory=dict)
    notes: dict[str, int] = field(default_factory=dict)
    """What could not be decided, and how often."""

    def holds(self, claim: str, times: int = 1) -> None:
        """A claim was asked, and holds."""
        self.asked[claim] += times

    def breaks_it(
        self, claim: str, place: str, time: str, text: str, row: str = "", about: str = "", *, times: int = 1
    ) -> None:
        """A claim was asked so many times, and is broken; of what is about the same the first is reported."""
        kept = self.breaks.setdefault(claim, [])
        if about and any(one.about == about for one in kept):
            return
        self.asked[claim] += times
        self.broken[claim] += 1
        if len(kept) < MOST:
            kept.append(Broken(place, time, text, row, about))

    def note(self, text: str) -> None:
        """Something that could not be decided; of many the first ones are kept."""
        if text in self.notes or len(self.notes) < MOST:
            self.notes[text] = self.notes.get(text, 0) + 1

    def add(self, other: "Answers") -> None:
        """Those of another stream, too."""
        self.asked.update(other.asked)
        for claim, breaks in other.breaks.items():
            for one in breaks:
                self.breaks_it(claim, *one, times=0)
            unkept = other.broken[claim] - len(breaks)
            self.broken[claim] += unkept
        for text, times in other.notes.items():
            self.notes[text] = self.notes.get(text, 0) + times
