"""Two-phase commit: a whole model in one file, from which to learn how another is written.

Resource managers agree about a transaction: all commit it, or all abort it. Each of them prepares, and from then on
waits for the decision of the one transaction manager, which may commit once it has heard that all are prepared, and may
abort at any time before. A resource manager that is not prepared yet may abort by itself.

This is `TwoPhase` of Gray and Lamport, "Consensus on Transaction Commit", 2004, in the form with messages: they are a
set that only grows, so each may arrive late, and again, and none is lost. Lamport's messages "Commit" and "Abort" are
there exactly when the transaction manager has decided so, and need no variables of their own here.

Left out on purpose, as there: crashes, messages that get lost, and a second transaction.
"""

import enum
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product

from spec.language.assembly import assembled
from spec.language.records import Choice, Each, PerScope, Record, flags
from spec.language.rules import TransitionSystem, action, claim, claims_of, observe, require, rules_of
from spec.language.terms import Value, both

PAPER = "Gray and Lamport, Consensus on Transaction Commit, 2004"


class Phase(enum.Enum):
    """How far a resource manager is, or what the transaction manager has decided, which is WORKING until then."""

    WORKING = "nothing is decided yet"
    PREPARED = "it has promised to do what is decided"
    COMMITTED = "the transaction is committed"
    ABORTED = "the transaction is aborted"


@dataclass(frozen=True)
class Model:
    """How many resource managers there are; every parameter of a rule or a claim is one of them, counted from 1."""

    managers: int

    def choices(self, names: Iterable[str]) -> Iterable[Mapping[str, int]]:
        """Every choice of resource managers."""
        named = tuple(names)
        return (dict(zip(named, one, strict=True)) for one in product(self.each, repeat=len(named)))

    @property
    def each(self) -> range:
        """The resource managers."""
        return range(1, self.managers + 1)


EACH: PerScope[Iterable[int]] = PerScope("resource manager", lambda m: m.each)


class State(Record):
    """The state of one transaction."""

    decision = Choice(Phase.WORKING, "What the transaction manager has decided, and sent to everyone.")
    heard = flags(EACH, "The transaction manager has received this one's message that it is prepared.")
    sent = flags(EACH, "This one's message that it is prepared is on its way, for ever.")
    managers = Each(EACH, Choice(Phase.WORKING), "How far the resource manager is.")


@action(actor="resource manager {r}", source=f"{PAPER}: RMPrepare")
def prepare(s: State, _m: Model, r: int) -> None:
    """A resource manager promises to do what is decided, and says so."""
    require(s.managers[r] == Phase.WORKING)
    s.managers[r] = Phase.PREPARED
    s.sent[r] = True
    observe(f"resource manager {r}", "prepared")


@action(actor="resource manager {r}", source=f"{PAPER}: RMChooseToAbort")
def abort_alone(s: State, _m: Model, r: int) -> None:
    """A resource manager that has promised nothing aborts, and tells nobody."""
    require(s.managers[r] == Phase.WORKING)
    s.managers[r] = Phase.ABORTED


@action(actor="transaction manager", source=f"{PAPER}: TMRcvPrepared")
def hear(s: State, _m: Model, r: int) -> None:
    """The transaction manager receives the message of a resource manager that is prepared, maybe once more."""
    require(s.decision == Phase.WORKING, s.sent[r])
    s.heard[r] = True


@action(actor="transaction manager", source=f"{PAPER}: TMCommit")
def commit(s: State, m: Model) -> None:
    """The transaction manager has heard that all are prepared, and commits."""
    require(s.decision == Phase.WORKING, *(s.heard[r] for r in m.each))
    s.decision = Phase.COMMITTED
    observe("transaction manager", "commit")


@action(actor="transaction manager", source=f"{PAPER}: TMAbort")
def abort(s: State, _m: Model) -> None:
    """The transaction manager aborts, which it may do for any reason until it has decided."""
    require(s.decision == Phase.WORKING)
    s.decision = Phase.ABORTED
    observe("transaction manager", "abort")


@action(actor="resource manager {r}", source=f"{PAPER}: RMRcvCommitMsg, RMRcvAbortMsg")
def obey(s: State, _m: Model, r: int) -> None:
    """A resource manager receives the decision, maybe once more, and does what it says."""
    require(s.decision != Phase.WORKING)
    s.managers[r] = s.decision


@claim("always", source=f"{PAPER}: TCConsistent", witness="one_commits_while_another_waits")
def nobody_disagrees(s: State, _m: Model, r: int, q: int) -> Value:
    """Never has one resource manager committed while another has aborted."""
    return ~both(s.managers[r] == Phase.COMMITTED, s.managers[q] == Phase.ABORTED)


@claim("sometimes", source=PAPER)
def one_commits_while_another_waits(s: State, _m: Model, r: int, q: int) -> Value:
    """One resource manager has committed, and another does not know the decision yet."""
    return both(s.managers[r] == Phase.COMMITTED, s.managers[q] == Phase.PREPARED)


@claim("step", source=PAPER, witness="one_commits_while_another_waits")
def the_committed_stay_so(before: State, after: State, _m: Model, *, r: int) -> Value:
    """A resource manager that has committed never does anything else."""
    return (before.managers[r] == Phase.COMMITTED).implies(after.managers[r] == Phase.COMMITTED)


@claim("goal", source=PAPER)
def everyone_ends(s: State, _m: Model, r: int) -> Value:
    """Every resource manager has committed or aborted."""
    return (s.managers[r] == Phase.COMMITTED) | (s.managers[r] == Phase.ABORTED)


def two_phase_commit(managers: int) -> TransitionSystem:
    """The system of so many resource managers."""
    here = sys.modules[__name__]
    return assembled(f"two_phase_commit {managers}", State, Model(managers), rules_of(here), claims_of(here))
