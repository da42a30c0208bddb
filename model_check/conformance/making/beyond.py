"""What no walk shows of the specification, with a reason for each: claims, their occasions, lines, a row, an action.

`kcheck vectors` counts what the scripts show, and tells these beside it. It refuses a reason for what is shown, and
what is not shown and has none.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Final

BY_HAND: Final = "a script by hand does"
"""Claims that defects break, and their occasions, by the refs that `by_hand.py` has; and lines that it compares."""
TWO_AND_A_DELETION: Final = "it takes two controllers and a deletion, and no theme has both"
A_REBALANCE_AND_MORE: Final = (
    "it takes the automatic rebalance beside a move, a request or a deletion, and no theme has them"
)
REASONS: Final[Mapping[str, tuple[str, ...]]] = {
    BY_HAND: (
        "a_dead_replica_is_known", "a_known_topic_is_gone", "allowed_elections_are_held",
        "assignments_name_a_replica_once", "batches_are_clean", "controller_znode_is_its_owners",
        "deleted_topics_are_hosted_nowhere", "deletion_threads_live", "failovers_resume_what_is_asked_for",
        "metadata_follows_an_earlier_leader_and_isr", "no_election_of_an_earlier_term_is_resumed",
        "no_failover_fails_on_a_request", "no_failover_fails_on_left_overs", "one_leader_for_each_leader_epoch",
        "only_queued_topics_are_held_back", "partitions_stay",
        "reassignment_requests_are_read_before_they_are_changed", "rebalance_skips_unelectable_preferred_replicas",
        "replicas_are_in_known_states", "resigned_controllers_are_inactive", "the_dead_are_not_in_sync",
        "topics_are_deleted_on_request", "what_is_told_is_no_older_than_what_was_ordered",
        "BrokerChangeError", "ForcedToResign", "PartitionsError", "PartitionsSkipped", "ReassignedIsrError",
        "ReassignedNeverCreated", "TopicChangeError",
    ),
    TWO_AND_A_DELETION: ("nothing_of_a_deleted_topic_is_left", "started_deletions_are_on_their_way"),
    A_REBALANCE_AND_MORE: (
        "a_dying_topic_is_out_of_balance", "a_rebalance_has_to_wait", "a_rebalance_outlives_the_deletion_thread",
    ),
    "it takes a thread that has the lock while a listener resigns, and who is driven ends a shutdown before hearing of"
    " anything else": ("stop_deletions",),
    "it takes another controller amid its work, and in a script another one has ended its work before the driven one"
    " goes on": (
        "P-NEW-OFFLINE", "a_new_term_sends_what_an_earlier_one_wrote", "new_terms_send_the_latest_leadership",
    ),
    "it is of a broker's metadata cache, and in a script the suite is the brokers": (
        "a_later_leader_epoch_is_cached", "caches_get_no_older_leadership", "metadata_reports_a_removed_partition",
    ),
    "a request comes late by it, or once more, and in a script each arrives as it is sent": (
        "deleted_replicas_stay_deleted", "in_sync_replicas_are_not_deleted",
    ),
    "who waits for itself says nothing more, and there is nothing to compare": ("no_controller_waits_for_itself",),
    "a script has no connections": (
        "NotConnected", "RemovalError", "SendThreadFailed", "SendingFailed", "SendingGivenUp",
    ),
    "it takes a call that cannot begin or send its batch, and no walk has one": (
        "LeaderAndIsrNotSent", "PartitionsInvokedError", "PartitionsOnlineError", "ReplicasInvokedError",
        "StopReplicaNotSent", "UpdateMetadataNotSent",
    ),
    "no walk writes what is no JSON": ("NotificationUnreadable", "OldControllerInfo"),
    "it is the last word of a thread, of which no line is compared": ("DeletionThreadFailed",),
    "the reference does not log it, for what is done tells as much": ("NoStateToShrink", "PreferredElectionSkipped"),
    "no handler of a release comes to it": (
        "NeverAsked", "PreferredElectionError", "ReassignmentNotSent", "ReassignmentRefused",
    ),
}  # fmt: skip
BEYOND: Final[Mapping[str, str]] = {name: why for why, names in REASONS.items() for name in names}
"""Why no walk shows it, by name."""


def told(missing: Collection[str]) -> Iterator[str]:
    """What is missing, a line for each reason."""
    for why, names in REASONS.items():
        if there := [one for one in names if one in missing]:
            yield f"no walk shows {', '.join(there)}: {why}"


def amiss(missing: Collection[str]) -> Iterator[str]:
    """The names that have no reason, and those that have one and are shown."""
    yield from (f"no walk shows {one}, and no reason is given" for one in sorted({*missing} - BEYOND.keys()))
    yield from (f"a walk shows {one}, and a reason says why none does" for one in sorted(BEYOND.keys() - {*missing}))
