"""What goes wrong with the election of leaders: when a topic is created, by request, for balance."""

from __future__ import annotations

from spec.defects.rows import Defect
from spec.variants import Switch

ROWS = (
    Defect(
        "D29",
        "The last ISR member is dropped when it dies, where unclean election is on: nobody is in sync any more",
        breaks="isr_is_not_empty",
        scope="unclean",
        first_depth=21,
        fix=frozenset({Switch.KEEP_LAST_IN_SYNC}),
    ),
    Defect(
        "D30",
        "By default a replica that is not in sync is elected when those in sync are dead: committed data is lost",
        breaks="leaders_were_in_sync",
        scope="unclean",
        first_depth=20,
        fix=frozenset({Switch.CLEAN_BY_DEFAULT}),
    ),
    Defect(
        "D63",
        "A topic is allowed unclean election while a partition of it is offline, and nobody elects a leader for it",
        breaks="allowed_elections_are_held",
        scope="allowed_unclean",
        first_depth=8,
        fix=frozenset({Switch.ELECT_WHERE_ALLOWED}),
        defining=("change_unclean_election",),
    ),
    Defect(
        "D36",
        "The rebalance elects a preferred replica that is not in sync, fails, and does so again at the next check",
        breaks="rebalance_skips_unelectable_preferred_replicas",
        scope="out_of_sync_rebalance",
        first_depth=11,
        fix=frozenset({Switch.REBALANCE_ONLY_TO_IN_SYNC}),
        defining=("check_imbalance", "fail election", "check_imbalance"),
    ),
    Defect(
        "D13-elections",
        "A resignation leaves the running preferred elections in memory; the next term of this broker resumes them",
        breaks="no_election_of_an_earlier_term_is_resumed",
        scope="resumed_election",
        first_depth=25,
        fix=frozenset({Switch.CLEAR_CONTEXT}),
    ),
    Defect(
        "D42",
        "A request for a preferred election that names a partition without leadership ends every failover",
        breaks="no_failover_fails_on_a_request",
        scope="leaderless_election",
        first_depth=14,
        fix=frozenset({Switch.ELECT_ONLY_THE_LED}),
        defining=("read_election_request",),
    ),
    Defect(
        "D42-turn",
        "A request for a preferred election that names a partition without leadership fails candidate after candidate",
        breaks="no_failover_fails_on_a_request",
        scope="failing_candidates",
        first_depth=25,
        fix=frozenset({Switch.ELECT_ONLY_THE_LED}),
        defining=("read_election_request", "resign_delete", "read_election_request"),
    ),
    Defect(
        "D49",
        "A preferred election of a partition without leadership sticks: its request is never deleted",
        breaks="recoverable_elections_come_to_an_end",
        scope="leaderless_election",
        first_depth=2,
        fix=frozenset({Switch.ELECT_ONLY_THE_LED}),
        defining=("request_preferred_election", "on_preferred_election"),
    ),
    Defect(
        "D49-rebalance",
        "A preferred election that sticks turns the automatic rebalance off until the next controller",
        breaks="recoverable_leaders_are_in_balance",
        scope="stuck_rebalance",
        first_depth=15,
        fix=frozenset({Switch.ELECT_ONLY_THE_LED}),
    ),
    Defect(
        "D49-lost",
        "A failover deletes a request for a preferred election that it has not read: nobody ever runs it",
        breaks="election_requests_are_read_before_they_are_deleted",
        scope="preferred_election",
        first_depth=15,
        fix=frozenset({Switch.KEEP_UNREAD_REQUESTS}),
    ),
    Defect(
        "D54",
        "A create of a state znode fails when it is repeated for a lost answer: the partition stays New, unannounced",
        breaks="recoverable_leaders_can_lead",
        scope="lost_creation",
        first_depth=6,
        fix=frozenset({Switch.RECOGNISE_OWN_CREATE}),
        defining=("create_state_unanswered", "fail to create state"),
    ),
)
