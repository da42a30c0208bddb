"""Pairs: which parts of the protocol, and which faults, some scope has together, which none has, and why.

A defect may need two things at once, as a shutdown that goes on with the next incarnation needs a crash beside it. So
what users do is put beside all else that they do, and beside each kind of fault: each pair is given the cheapest scope
that is explored with both as Kafka has them (a fix may refuse one). A pair without a scope is in `WITHOUT` with its
reason.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from spec.expectations import Expectation, plans
from spec.scopes import scopes

OPERATIONS: Final[Mapping[str, frozenset[str]]] = {
    "creation": frozenset({"creations"}),
    "addition": frozenset({"additions"}),
    "deletion": frozenset({"deletions", "stray_deletions"}),
    "reassignment": frozenset({"reassignments"}),
    "preferred election": frozenset({"elections"}),
    "automatic rebalance": frozenset({"auto_rebalance"}),
    "controlled shutdown": frozenset({"shutdowns"}),
    "ISR change": frozenset({"shrinks", "joint_shrinks", "stale_fetches"}),
    "ISR notification": frozenset({"notifications", "slow_notes"}),
    "UpdateMetadata": frozenset({"metadata"}),
    "unclean election": frozenset({"unclean", "unclean_changes"}),
}
"""What users do, and what goes on by itself, by the parts and budgets of which a scope with it has one."""

FAULTS: Final[Mapping[str, frozenset[str]]] = {
    "crash": frozenset({"crashes", "early_starts"}),
    "session expiry": frozenset({"expiries", "heard_expiries"}),
    "lost answer of ZooKeeper": frozenset({"losses", "move_losses", "deletion_losses"}),
    "repeated or late request": frozenset({"resends", "late_copies", "late_requests"}),
    "failed send or handler": frozenset({"failed_sends", "exceptions", "half_requests"}),
    "log that cannot be removed": frozenset({"failed_deletions"}),
    "/controller removed by hand": frozenset({"controller_removals"}),
    "assignment edited by hand": frozenset({"edits"}),
    "request removed by hand": frozenset({"withdrawals", "move_withdrawals"}),
    "topic removed by hand": frozenset({"removals", "state_removals"}),
}
"""What goes wrong, by the budgets of which a scope with it has one."""


@dataclass(frozen=True)
class Pair:
    """Two things that may come together, and the exploration with the fewest states that has both, if one has."""

    one: str
    other: str
    scope: Expectation | None

    @property
    def reason(self) -> str | None:
        """Why there is no scope."""
        return next((why for ones, others, why in WITHOUT if self.one in ones and self.other in others), None)


def pairs() -> Iterator[Pair]:
    """Every pair of operations, and of an operation and a fault."""
    as_coded = (one for plan in plans().values() for one in plan.explorations if one.variant == "AS_CODED")
    explored = sorted(as_coded, key=lambda one: one.states)
    by_features = [(one, scopes()[one.scope].features) for one in explored]
    for place, (one, first) in enumerate(OPERATIONS.items()):
        for other, second in (*[*OPERATIONS.items()][place + 1 :], *FAULTS.items()):
            yield Pair(one, other, next((had for had, has in by_features if has & first and has & second), None))


WITHOUT: Final[tuple[tuple[frozenset[str], frozenset[str], str], ...]] = (
    (
        frozenset({"addition"}),
        frozenset({"lost answer of ZooKeeper"}),
        "lost answers to its writes are left out (spec/README.md)",
    ),
    (
        frozenset({"creation"}),
        frozenset({"addition", "reassignment"}),
        (
            "an added partition is created in the same way; a partition that has no leadership yet moves in "
            "unborn_reassignment"
        ),
    ),
    (
        frozenset({"addition"}),
        frozenset({"preferred election", "repeated or late request"}),
        "an added partition is initialised as those of a created topic are, which have both",
    ),
    (
        frozenset({"automatic rebalance", "ISR notification"}),
        frozenset({"repeated or late request"}),
        "what they have sent are elections and ISR changes, which have it",
    ),
    (
        frozenset({"UpdateMetadata"}),
        frozenset({"/controller removed by hand"}),
        "a failover tells everything however the office was lost; an expiry has it",
    ),
    (
        frozenset(OPERATIONS) - {"creation", "UpdateMetadata"},
        frozenset({"failed send or handler"}),
        (
            "exceptions end failovers, and sends fail beside deaths and starts of brokers: of other parts the calls "
            "are not asked whether they can begin (spec/protocol/controller/failed_sends.py)"
        ),
    ),
    (
        frozenset(OPERATIONS) - {"deletion", "reassignment"},
        frozenset({"log that cannot be removed"}),
        "nothing else has a broker delete a replica, and nobody looks at what is left on a disk",
    ),
    (
        frozenset(OPERATIONS) - {"reassignment", "deletion", "controlled shutdown"},
        frozenset({"assignment edited by hand"}),
        (
            "what goes by the AR of before, or by one with a replica of which nobody knows, is seen with a deletion "
            "and a shutdown; only a tool that adds partitions writes AR, too, and undoes what it has not read (D39)"
        ),
    ),
    (
        frozenset(OPERATIONS) - {"creation", "deletion", "reassignment", "preferred election", "automatic rebalance"},
        frozenset({"request removed by hand"}),
        "a request is removed beside its own operation: a controller that carries it on (D59) does what is asked for",
    ),
    (
        frozenset(OPERATIONS) - {"creation", "ISR change", "ISR notification"},
        frozenset({"topic removed by hand"}),
        (
            "a state znode that is written anew would create the removed topic's znode, too, which is left out "
            "(spec/protocol/topics/removal_by_hand.py)"
        ),
    ),
    (
        frozenset({"creation", "addition", "deletion", "reassignment", "controlled shutdown"}),
        frozenset({"unclean election"}),
        "it is asked for when nobody in sync lives, and when the last one is taken out: crashes have both",
    ),
    (
        frozenset({"unclean election"}),
        frozenset(FAULTS) - {"crash"},
        "it is asked for when nobody in sync lives, and when the last one is taken out: crashes have both",
    ),
)
"""The pairs without a scope, as operations, with what they lack, and why."""
