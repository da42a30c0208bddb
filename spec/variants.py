"""Variants: the same protocol with the mends of its defects switched on or off.

A switch is a mend, named after what it does. `AS_CODED` is the code of Kafka 0.10.2 and has none on; `DOCUMENTED` adds
the intent of Kafka's own documentation where the code slipped; `FENCED` adds what later versions of Kafka brought.
PROTOCOL.md section 13 numbers the defects.
"""

from __future__ import annotations

import enum

from spec.errors import UnknownName


class Switch(enum.Enum):
    """A mend that can be switched on; the value says what it does and where it comes from."""

    RESIGN_ON_EPOCH_CONFLICT = "D1: a failed epoch increment aborts the failover (0.10.2's intent, 1.1.0's code)"
    FENCED_WRITES = "D2, D6, D52: each write of a controller is one transaction with a check of its epoch (2.1.0)"
    FENCED_RESIGN = "D3: resign() deletes /controller only where the session that owns it is its own (cf. 2.1.0)"
    ATOMIC_ELECTION = "D1, D6: /controller and the next /controller_epoch are written in one transaction (2.1.0)"
    RESIGN_CLEANS_UP = "D4, D56: giving up /controller runs the whole resignation, also in mid-failover (1.0.0)"
    RECOGNISE_OWN_CREATE = "D54: a create that finds exactly what it meant to write counts as done (a mend of ours)"
    ARM_BEFORE_SECOND_TRY = "S11: the timer is armed before the second try, so that no update finds it unarmed (ours)"
    INSERT_UNDER_MONITOR = "S11: a timer entry is looked at and put in its bucket under one monitor (a mend of ours)"
    ANSWER_AS_FOUND = "S11: onComplete answers what tryComplete found, and does not look again (a mend of ours)"
    WAIT_FOR_LEADER = "D48: a reassignment waits, and keeps OAR, until a replica of RAR can lead (a mend of ours)"
    CACHE_BUMPED_EPOCH = "D18: the cache takes over a leader epoch that a reassignment raised (KAFKA-9212, 2.4.0)"
    DELETE_STRAYS = "D38, D47: a starting broker, or a new controller, has replicas deleted that AR lacks (cf. 2.8.0)"
    CLEAR_CONTEXT = "D13: a resignation empties the whole context of the controller (KAFKA-5310, 0.11.0.0)"
    ELECT_ONLY_THE_LED = "D42, D49: a preferred election leaves out partitions without leadership (a mend of ours)"
    KEEP_UNREAD_REQUESTS = "D49: a preferred election request is deleted only by who has read it (a mend of ours)"
    FENCED_ANSWERS = "D5: a controlled shutdown is answered only while /controller_epoch is the answerer's own (ours)"
    BROKER_EPOCHS = "D12: a registration's creation zxid tells a returned broker from one that never left (2.2.0)"
    OFFLINE_WITHOUT_LEADERSHIP = "D16: a replica whose partition has no leadership goes Offline all the same (2.0.0)"
    DYING_TOPICS_GET_NO_LEADERSHIP = "D57: no LeaderAndIsr goes out for a topic that is to be deleted (ours)"
    COMPLETE_UNKNOWN_DELETIONS = "D37: completing the deletion of an unknown topic does not end the thread (1.1.0)"
    MARK_WHAT_IS_QUEUED = "D44, D57: a queued topic that is being reassigned is marked, and let alone (a mend of ours)"
    REFUSE_DOOMED_REASSIGNMENTS = "D44: a failover, too, refuses to reassign a topic that is queued for deletion (ours)"
    COMPLETION_FORGETS_MARK = "D45: a completed deletion takes the topic's ineligible mark along (a mend of ours)"
    REFUSED_DELETIONS_FAIL = "D46: a StopReplica that is refused whole fails the deletion that it asked for (ours)"
    CALLBACK_WITHOUT_LOCK = "D50: no send thread waits for the controller lock; answers are events in a queue (1.0.0)"
    ATOMIC_COMPLETION = "D55: a topic, its configuration and the request are deleted in one transaction (ours)"


Switches = frozenset[Switch]

AS_CODED: Switches = frozenset()
DOCUMENTED: Switches = frozenset({Switch.RESIGN_ON_EPOCH_CONFLICT})
FENCED: Switches = frozenset(Switch)

VARIANTS: dict[str, Switches] = {"AS_CODED": AS_CODED, "DOCUMENTED": DOCUMENTED, "FENCED": FENCED}


def variant(name: str) -> Switches:
    """The switches of a named variant; UnknownName lists the known ones."""
    if name not in VARIANTS:
        raise UnknownName("variant", name, VARIANTS)
    return VARIANTS[name]


def switch(name: str) -> Switch:
    """The switch of that name; UnknownName lists the known ones."""
    if name not in Switch.__members__:
        raise UnknownName("switch", name, Switch.__members__)
    return Switch[name]


def show_switches(switches: Switches) -> str:
    """A set of switches as text: the variant's name if it has one, else the names of the switches."""
    for name, members in VARIANTS.items():
        if members == switches:
            return name
    return "AS_CODED+" + "+".join(sorted(one.name for one in switches))
