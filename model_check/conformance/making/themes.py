"""What scripts for a driven controller are about: for each group of them a scope, in which nothing runs yet."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from spec.scopes import Scope

PARTS: Final = frozenset({"partitions", "connections", "metadata"})
PLENTY: Final = 15
IN_SYNC: Final = ("expand_isr(b=1, p=0, r=2)", "expand_isr(b=2, p=1, r=3)")
"""Both partitions have both of their replicas in the ISR."""
LED_BY_ANOTHER: Final = (
    *IN_SYNC, "expire_session(b=2, lost=0)", "renew_session(b=2)", "register_broker(b=2)", "expand_isr(b=3, p=1, r=2)",
)  # fmt: skip
"""Then the preferred replica of the second has lost the leadership, and is in sync again."""


@dataclass(frozen=True)
class Theme:
    """A group of vectors: what its scope has, Kafka's settings, and how many turns are walked.

    They are walked from where all brokers have registered, and again from where what is `begun` has happened, too; what
    is named in `together` may happen in twos, beside what may in every theme, and with a `faulty_start` something may
    come amid the first turns, too. Walks of one that is `unheard` are changed (`unheard.py`). `since` is the version of
    the vectors with which a theme came.
    """

    about: str
    section: str
    assigned: tuple[tuple[int, ...], ...] = ((1, 2), (2, 3))
    parts: frozenset[str] = frozenset()
    budgets: Mapping[str, int] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    brokers: int = 3
    controllers: int = 1
    begun: tuple[str, ...] = ()
    together: frozenset[str] = frozenset()
    faulty_start: bool = False
    unheard: bool = False
    turns: int = 300
    since: str = "0.4.0"

    def scope(self, name: str) -> Scope:
        """Its scope, in which nothing runs at first."""
        return Scope(
            name, self.about, self.brokers, self.controllers, assigned=self.assigned, parts=PARTS | self.parts,
            budgets=tuple(self.budgets.items()), callback_capacity=PLENTY, connection_capacity=PLENTY,
            controller_epochs=PLENTY, versions=PLENTY, cold=True, **{"topics_stand": True, **self.more},
        )  # fmt: skip


THEMES: Final[Mapping[str, Theme]] = {
    "broker": Theme(
        "Brokers come and go, and leaders change ISRs.",
        "PROTOCOL.md section 7.1",
        budgets={"crashes": 2, "expiries": 1, "shrinks": 1, "losses": 2},
        begun=IN_SYNC,
    ),
    "unclean": Theme(
        "Who is not in sync may be elected.",
        "PROTOCOL.md section 5",
        budgets={"crashes": 2, "shrinks": 1, "losses": 1},
        more={"unclean": True},
        settings={"unclean.leader.election.enable": True},
        begun=IN_SYNC,
    ),
    "failover": Theme(
        "Controllers are elected, deposed, and elected again, beside another.",
        "PROTOCOL.md section 6",
        ((1, 2), (2,)),
        budgets={"expiries": 2, "controller_removals": 1, "losses": 2, "crashes": 1},
        brokers=2,
        controllers=2,
    ),
    "topic": Theme(
        "Topics are created.",
        "PROTOCOL.md section 7.3",
        parts=frozenset({"creation"}),
        budgets={"creations": 2, "crashes": 1, "losses": 1, "expiries": 1},
        more={"topic_of": (0, 1), "topics_stand": False},
    ),
    "addition": Theme(
        "Partitions are added to a topic, and somebody edits an assignment by hand.",
        "PROTOCOL.md section 7.3",
        parts=frozenset({"creation", "addition"}),
        budgets={"additions": 1, "crashes": 1, "edits": 1, "expiries": 1},
        more={"added": (1,), "edited": (((2, 3), ()),)},
    ),
    "deletion": Theme(
        "Topics are deleted.",
        "PROTOCOL.md section 7.4",
        ((1, 2), (2,)),
        frozenset({"creation", "deletion"}),
        {
            "deletions": 2,
            "crashes": 1,
            "failed_deletions": 1,
            "deletion_losses": 1,
            "stray_deletions": 1,
            "expiries": 1,
        },
        {"topic_of": (0, 1)},
        brokers=2,
        begun=IN_SYNC[:1],
    ),
    "move": Theme(
        "Partitions are reassigned.",
        "PROTOCOL.md section 8",
        ((1, 2),),
        frozenset({"reassignment"}),
        {"reassignments": 2, "crashes": 1, "shrinks": 1, "move_losses": 1, "move_withdrawals": 1, "expiries": 1},
        {"requests": (((2, 3),), ((3,),), ((2, 1),))},
        begun=IN_SYNC[:1],
    ),
    "requested": Theme(
        "Preferred replicas are elected on request.",
        "PROTOCOL.md section 7.5",
        parts=frozenset({"preferred_election"}),
        budgets={"elections": 2, "crashes": 1, "withdrawals": 1, "expiries": 2},
        begun=LED_BY_ANOTHER,
    ),
    "rebalance": Theme(
        "The automatic rebalance gives partitions back.",
        "PROTOCOL.md section 7.6",
        parts=frozenset({"auto_rebalance"}),
        budgets={"crashes": 1, "expiries": 2},
        settings={"auto.leader.rebalance.enable": True},
        begun=LED_BY_ANOTHER,
    ),
    "departure": Theme(
        "Brokers ask for their controlled shutdown.",
        "PROTOCOL.md section 7.2",
        ((1, 2), (2, 3), (3,)),
        parts=frozenset({"shutdown"}),
        budgets={"shutdowns": 2, "crashes": 1},
        begun=IN_SYNC,
    ),
    "report": Theme(
        "Leaders report that they have changed ISRs.",
        "PROTOCOL.md section 7.7",
        parts=frozenset({"notifications"}),
        budgets={"shrinks": 2, "crashes": 1},
        begun=IN_SYNC,
    ),
    "kept": Theme(
        "Topics are not to be deleted.",
        "PROTOCOL.md section 7.4",
        ((1, 2),),
        frozenset({"creation", "deletion"}),
        {"deletions": 1, "stray_deletions": 1, "expiries": 1},
        {"deletes_topics": False},
        {"delete.topic.enable": False},
        brokers=2,
        turns=60,
    ),
    "moves": Theme(
        "Several partitions are reassigned at once.",
        "PROTOCOL.md section 8",
        parts=frozenset({"reassignment"}),
        budgets={"reassignments": 1, "crashes": 1, "expiries": 1},
        more={"requests": (((3, 1), (3, 1)),)},
        begun=IN_SYNC,
        turns=100,
    ),
    "busy": Theme(
        "A topic is deleted while its partition moves.",
        "PROTOCOL.md section 8",
        ((1, 2),),
        frozenset({"reassignment", "deletion"}),
        {"reassignments": 1, "deletions": 1, "crashes": 1, "expiries": 1},
        {"requests": (((2, 3),),)},
        turns=200,
    ),
    "life": Theme(
        "Topics are created and deleted in one term.",
        "PROTOCOL.md section 7.4",
        ((1, 2),),
        frozenset({"creation", "deletion"}),
        {"creations": 2, "deletions": 2, "crashes": 1, "failed_deletions": 1, "deletion_losses": 1},
        {"topics_stand": False},
        brokers=2,
        turns=200,
        since="0.5.0",
    ),
    "unborn": Theme(
        "Somebody asks for a topic to be deleted that never had a leader.",
        "PROTOCOL.md section 7.4",
        ((2,),),
        frozenset({"creation", "deletion"}),
        {"creations": 1, "deletions": 1, "crashes": 1, "failed_deletions": 1},
        {"topics_stand": False},
        brokers=2,
        begun=("crash(b=2)", "end_orphaned_session(b=2)", "create_topic(t=0)"),
        turns=100,
        since="0.5.0",
    ),
    "found": Theme(
        "A failover finds a topic that is to be deleted, and that moves.",
        "PROTOCOL.md section 6",
        ((1, 2), (1,)),
        frozenset({"reassignment", "deletion"}),
        {"reassignments": 1, "deletions": 1, "expiries": 1},
        {"requests": (((1,), (1, 2)),)},
        brokers=2,
        begun=("expire_session(b=1, lost=0)",),
        turns=60,
        since="0.5.0",
    ),
    "nobody": Theme(
        "A partition is reassigned to nobody.",
        "PROTOCOL.md section 8",
        ((1, 2),),
        frozenset({"reassignment", "preferred_election"}),
        {"reassignments": 1, "elections": 2, "expiries": 1},
        {"requests": (((0,),),)},
        brokers=2,
        turns=200,
        since="0.5.0",
    ),
    "reading": Theme(
        "Several reports of ISR changes stand at a time.",
        "PROTOCOL.md section 7.7",
        parts=frozenset({"notifications", "notification_reads"}),
        budgets={"shrinks": 2, "expiries": 1},
        more={"notification_capacity": 2},
        begun=IN_SYNC,
        turns=200,
        since="0.5.0",
    ),
    "starting": Theme(
        "What goes wrong when the first controller starts.",
        "PROTOCOL.md section 6",
        ((1, 2),),
        budgets={"losses": 2, "expiries": 1, "controller_removals": 1},
        brokers=2,
        controllers=2,
        faulty_start=True,
        turns=0,
        since="0.5.0",
    ),
    "unheard": Theme(
        "Elections are requested, of which only the end of a session tells.",
        "PROTOCOL.md section 6",
        parts=frozenset({"preferred_election"}),
        budgets={"elections": 1, "expiries": 1},
        begun=LED_BY_ANOTHER,
        unheard=True,
        turns=20,
        since="0.5.0",
    ),
    "refused": Theme(
        "Controlled shutdowns are refused.",
        "PROTOCOL.md section 7.2",
        ((1, 2), (2, 3)),
        frozenset({"shutdown", "failed_removals"}),
        {"shutdowns": 1, "expiries": 1, "controller_removals": 1},
        controllers=2,
        together=frozenset({"request_shutdown", "remove_controller"}),
        turns=200,
        since="0.5.0",
    ),
}
"""By group."""
