"""Controllers, as one stream of lines shows them: their terms, their epochs, and which acts after which.

The order is that of the file, never that of its clocks. A controller that begins to write a state znode after a later
epoch was named is a zombie, whatever clocks say: either the file is shared, or its own broker has obeyed its successor.
A line that says that something is written proves less: a process may pause between the two.

An ensemble of ZooKeeper that was wiped begins with epoch 1 again, and logs do not say that it was. So a term that may
be the first of a new ensemble is not held against the epochs before it: it is one, if it is said to have raised the
epoch to 1, or if an epoch is lower than before and nothing shows that its process has lived through both. An epoch that
is lower at once (`BLIP`) is not one: nobody wipes an ensemble as fast.
"""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from model_check.logs.answers import AT_ONCE, FORWARD, LATEST, ONE_TERM, Answers
from model_check.logs.facts import Begun, Election, EpochRaised, EpochRead, Resigned, Run
from model_check.logs.lives import Lives, ms

BLIP: Final = 2_000
"""Milliseconds in which nobody wipes an ensemble and starts it again."""
PAUSE: Final = 600_000
"""Milliseconds within which two controllers begin that have one epoch: the second paused before it raised it."""


@dataclass
class Term:
    """What one controller did in one epoch, by the lines of a stream, and the places of the first and the last."""

    controller: int
    epoch: int
    ensemble: int
    first: str
    first_time: str
    last: str
    last_time: str
    lines: int = 0
    decisions: int = 0
    decided: str = ""
    """Where the last of these begins whose begin is logged, and which so came after all before it."""
    decided_time: str = ""
    raised: str = ""
    resigned: str = ""
    is_told: bool = False
    """Whether its own lines tell of it; otherwise only brokers that obeyed it do."""
    is_zombie: bool = False
    is_doubtful: bool = False
    """Whether it may be of two ensembles: another controller has this epoch, or it goes on after a later one."""
    returned: str = ""
    """Where a broker obeys it again, that has obeyed another controller of this epoch in between."""


class Leap(NamedTuple):
    """A controller has read one epoch, and says soon that it has raised it to another than the next."""

    controller: int
    read: EpochRead
    raised: int
    place: str
    time: str


@dataclass
class Terms:
    """The terms of a stream, and what is asked of them."""

    lives: Lives
    answers: Answers
    all: dict[tuple[int, int, int], Term] = field(default_factory=dict)
    ensemble: int = 0
    top: Term | None = None
    """The latest epoch that was named in this ensemble, with its controller."""
    latest: dict[int, Term] = field(default_factory=dict)
    """The last term of each controller in which it wrote something."""
    read: dict[int, tuple[EpochRead, str]] = field(default_factory=dict)
    begun: dict[tuple[int, str], tuple[Begun, str, Term | None]] = field(default_factory=dict)
    """What is about to be written, by controller and partition, with the controller of a later epoch then."""
    followed: dict[int, list[Term]] = field(default_factory=dict)
    """The terms of one epoch that each broker has obeyed, in their order."""
    leaps: list[Leap] = field(default_factory=list)
    """They break a claim if no log names an epoch that was leapt over; otherwise lines are missing in between."""
    versions: dict[int, int] = field(default_factory=dict)
    """How often the znode had been written when it had an epoch, as those say that read it."""

    def act(self, run: Run, first: str, last: str) -> None:
        """A controller has written some lines in its epoch."""
        if run.epoch <= 0:
            return
        term, before = self.all.get((self.ensemble, run.controller, run.epoch)), self.latest.get(run.controller)
        if before is not None and before.ensemble == self.ensemble and before.epoch > run.epoch:
            self._goes_back(run, before, first)
            term = self._told(run, first)
        elif term is None or not term.is_told:
            is_doubtful = self._begin(run, first)
            term = self._told(run, first)
            term.is_doubtful = is_doubtful
        elif self.top is not None and self.top.epoch > run.epoch:
            term = self._acts_late(run, term, first)
        else:
            self._ask_who_returns(run, term, first)
        term.last, term.last_time = last, run.last_time
        term.lines += run.lines
        self.latest[run.controller] = term
        if self.top is None or term.epoch >= self.top.epoch:
            self.top = term

    def _acts_late(self, run: Run, term: Term, first: str) -> Term:
        """A controller goes on below a later epoch; or begins with the same one, of another ensemble."""
        then, now = ms(term.last_time), ms(run.first_time)
        lived_on = self.lives.is_one(run.controller, then, now)
        if lived_on is False:
            self._wiped()
            return self._told(run, first)
        if lived_on is None and abs(now - then) > BLIP:
            term.is_doubtful = True
            self.answers.note(
                f"controller {run.controller} goes on in epoch {run.epoch} after a later one; no log tells whether it"
                " was started in between, and ZooKeeper set up anew"
            )
        return term

    def _told(self, run: Run, first: str) -> Term:
        """The term of which a controller's own line tells for the first time."""
        term = self._term(run.controller, run.epoch, first, run.first_time)
        term.is_told = True
        return term

    def begins(self, one: Begun, place: str) -> None:
        """A controller is about to write a state znode, before or after somebody had a later epoch."""
        top = self.top
        is_late = top is not None and top.epoch > one.epoch and top.controller != one.controller
        term = self.all.get((self.ensemble, one.controller, one.epoch))
        is_sure = term is not None and not term.is_doubtful
        self.begun[one.controller, one.partition] = one, place, top if is_late and is_sure else None

    def decides(self, one: Election, place: str) -> None:
        """A controller has written a state znode; where that begins may be logged."""
        term = self.all.get((self.ensemble, one.controller, one.epoch))
        if term is None or one.cause:
            return
        term.decisions += 1
        begun, begins, successor = self.begun.pop((one.controller, one.partition), (None, "", None))
        if begun is None or begun.epoch != one.epoch:
            return
        self.answers.holds(LATEST)
        term.decided, term.decided_time = begins, begun.time
        if successor is not None and not term.is_zombie:
            term.is_zombie = True
            text = (
                f"controller {one.controller} begins here, in epoch {one.epoch}, to write the state of {one.partition}"
                f" ({place} says that it is written), after controller {successor.controller} has had epoch"
                f" {successor.epoch} ({successor.first})"
            )
            about = f"{one.controller} in {one.epoch}"
            self.answers.breaks_it(LATEST, begins, begun.time, text, "D2", about, times=0)

    def obeyed(self, run: Run, first: str, last: str) -> None:
        """A broker has obeyed a controller, which so has the epoch."""
        if run.epoch <= 0:
            return
        term = self._term(run.controller, run.epoch, first, run.first_time)
        if not term.is_told:
            term.last, term.last_time = last, run.last_time
        self._top(term)
        followed = self.followed.get(run.who, [])
        if not followed or followed[0].epoch != run.epoch:
            self.followed[run.who] = [term]
        elif followed[-1] is not term:
            term.returned = term.returned or (first if term in followed else "")
            followed.append(term)

    def reads(self, one: EpochRead, place: str) -> None:
        """A new controller has read the epoch that it is going to raise."""
        self.read[one.controller] = one, place
        self.versions[one.epoch] = one.version

    def raises(self, one: EpochRaised, place: str) -> None:
        """A controller says that it has raised the epoch: by one, from what it has read."""
        before, read_at = self.read.pop(one.controller, (None, ""))
        longest = PAUSE if before is not None and one.epoch == before.epoch else BLIP
        if before is not None and abs(ms(one.time) - ms(before.time)) > longest:
            before = None  # lines may be missing, and what it had read then is not what it has raised now
        wanted = before.epoch + 1 if before else 1 if one.epoch == 1 else None
        if before is None and one.epoch == 1 and self.top is not None:
            self._wiped()
        elif self.top is not None and one.epoch < self.top.epoch and wanted == one.epoch:
            self._wiped()
            self.answers.note("an epoch is lower than one before it, as when ZooKeeper is set up anew")
        if before is not None and one.epoch == before.epoch:
            text = (
                f"controller {one.controller} had read epoch {before.epoch} and goes on in it: the increment failed,"
                " and the epoch is its predecessor's"
            )
            self.answers.breaks_it(ONE_TERM, place, one.time, text, "D1", f"{one.controller} in {one.epoch}")
        elif before is not None and one.epoch != wanted and not _is_next(place, read_at):
            self.answers.note(f"{place}: lines are missing since {read_at}, and with them what was read last")
        elif before is not None and one.epoch != wanted:
            self.leaps.append(Leap(one.controller, before, one.epoch, place, one.time))
        else:
            self.answers.holds(FORWARD)
            self.answers.holds(ONE_TERM)
        term = self._term(one.controller, one.epoch, place, one.time)
        term.raised, term.is_told = place, True
        term.last, term.last_time = place, one.time
        self.latest[one.controller] = term
        self._top(term)

    def resigns(self, one: Resigned, place: str) -> None:
        """A controller has given up; it may say so more than once."""
        term = self.latest.get(one.controller)
        if term is not None and not term.resigned:
            term.resigned, term.last, term.last_time = place, place, one.time

    def _begin(self, run: Run, first: str) -> bool:
        """A controller writes in an epoch in which it has not written before; whether it may be of another ensemble."""
        top = self.top
        if top is not None and run.epoch < top.epoch:
            then, now = ms(top.last_time), ms(run.first_time)
            if not self.lives.is_one(run.controller, then, now) and abs(now - then) > BLIP:
                self._wiped()
        elif top is not None and run.epoch == top.epoch and run.controller != top.controller:
            if run.creates or abs(ms(run.first_time) - ms(top.first_time)) > PAUSE:
                return True
            text = f"controller {run.controller} acts in epoch {run.epoch}, controller {top.controller}'s ({top.first})"
            about = f"{run.controller} in {run.epoch}"
            self.answers.breaks_it(ONE_TERM, first, run.first_time, text, "D1", about)
        else:
            for claim in (FORWARD, ONE_TERM, AT_ONCE):
                self.answers.holds(claim)
        return False

    def _goes_back(self, run: Run, before: Term, first: str) -> None:
        then, now = ms(before.last_time), ms(run.first_time)
        if self.lives.is_one(run.controller, then, now) or (before.lines and abs(now - then) <= BLIP):
            text = (
                f"controller {run.controller} writes in epoch {run.epoch}, and had epoch {before.epoch} before"
                f" ({before.last})"
            )
            self.answers.breaks_it(FORWARD, first, run.first_time, text)
            return
        self._wiped()
        self.answers.note("an epoch is lower than one before it, as when ZooKeeper is set up anew")

    def _ask_who_returns(self, run: Run, term: Term, first: str) -> None:
        """Whether another controller acted in the same epoch since this one began, and so at the same time."""
        top = self.top
        if top is None or top is term or top.epoch != term.epoch or not top.is_told:
            return
        lived_on = self.lives.is_one(run.controller, ms(term.last_time), ms(run.first_time))
        if (top.is_doubtful or term.is_doubtful) and not lived_on:
            return
        text = (
            f"controller {term.controller} still acts in epoch {term.epoch}, in which controller {top.controller} has"
            f" begun to act ({top.first})"
        )
        about = f"{term.controller} in {term.epoch}"
        self.answers.breaks_it(AT_ONCE, first, run.first_time, text, "D1-at-once", about)

    def _term(self, controller: int, epoch: int, place: str, time: str) -> Term:
        key = (self.ensemble, controller, epoch)
        if key not in self.all:
            self.all[key] = Term(controller, epoch, self.ensemble, place, time, place, time)
        return self.all[key]

    def _top(self, term: Term) -> None:
        if self.top is None or term.epoch > self.top.epoch:
            self.top = term

    def _wiped(self) -> None:
        """From here on epochs are another ensemble's."""
        self.ensemble += 1
        self.top = None


def _is_next(place: str, before: str) -> bool:
    """Whether a line comes right behind another one, as a controller's first two of a term do."""
    (file, _, line), (other, _, above) = place.rpartition(":"), before.rpartition(":")
    return file == other and int(line) == int(above) + 1


class Successors:
    """Of each epoch the first term of a later one to begin, by the clocks of those who tell of it."""

    def __init__(self, terms: Iterable[Term]) -> None:
        self._epochs: dict[int, list[int]] = {}
        self._first: dict[int, list[Term]] = {}
        for term in sorted(terms, key=lambda one: (one.ensemble, -one.epoch)):
            epochs, first = self._epochs.setdefault(term.ensemble, []), self._first.setdefault(term.ensemble, [])
            epochs.append(-term.epoch)
            first.append(min(*first[-1:], term, key=lambda one: one.first_time) if first else term)

    def of(self, term: Term) -> Term | None:
        """The first to begin of all later terms of the same ensemble."""
        later = bisect_left(self._epochs.get(term.ensemble, []), -term.epoch)
        return self._first[term.ensemble][later - 1] if later else None
