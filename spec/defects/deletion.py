"""What goes wrong with the deletion of topics."""

from __future__ import annotations

from spec.defects.rows import Defect
from spec.variants import FENCED, Switch

ROWS = (
    Defect(
        "D16",
        "A topic that never had a leader cannot be deleted",
        breaks="recoverable_deletions_complete",
        scope="leaderless_deletion",
        first_depth=9,
        base=frozenset({Switch.CALLBACK_WITHOUT_LOCK, Switch.COMPLETE_UNKNOWN_DELETIONS}),
        fix=frozenset({Switch.OFFLINE_WITHOUT_LEADERSHIP}),
        defining=("on_topic_change", "on_deletion_change", "delete_queued_topic"),
    ),
    Defect(
        "D16-crash",
        "A controller that dies while it deletes a topic's znodes leaves one without leadership, which stays",
        breaks="recoverable_deletions_complete",
        scope="deletion",
        first_depth=16,
        base=frozenset({Switch.CALLBACK_WITHOUT_LOCK, Switch.COMPLETE_UNKNOWN_DELETIONS}),
        fix=frozenset({Switch.OFFLINE_WITHOUT_LEADERSHIP}),
    ),
    Defect(
        "D37",
        "A request left for a topic that is deleted ends the next controller's deletion thread",
        breaks="deletion_threads_live",
        scope="deletion",
        first_depth=29,
        fix=frozenset({Switch.COMPLETE_UNKNOWN_DELETIONS}),
    ),
    Defect(
        "D44",
        "A topic is deleted while it is being reassigned: it is marked as ineligible before it is queued",
        breaks="busy_topics_are_not_deleted",
        scope="doomed_reassignment",
        first_depth=14,
        fix=frozenset({Switch.MARK_WHAT_IS_QUEUED}),
    ),
    Defect(
        "D44-failover",
        "A failover takes up the reassignment of a topic half deleted: each of the two waits for the other",
        breaks="recoverable_deletions_complete",
        scope="doomed_reassignment",
        first_depth=7,
        base=FENCED - {Switch.REFUSE_DOOMED_REASSIGNMENTS},
        fix=frozenset({Switch.REFUSE_DOOMED_REASSIGNMENTS}),
    ),
    Defect(
        "D45",
        "The mark that holds a topic back survives the topic",
        breaks="only_queued_topics_are_held_back",
        scope="deletion",
        first_depth=17,
        fix=frozenset({Switch.COMPLETION_FORGETS_MARK}),
    ),
    Defect(
        "D46",
        "A StopReplica that is refused for its controller epoch leaves its replica's deletion under way for ever",
        breaks="started_deletions_are_on_their_way",
        scope="zombie_deletion",
        first_depth=22,
        fix=frozenset({Switch.REFUSED_DELETIONS_FAIL}),
    ),
    Defect(
        "D50",
        "A controller that removes a broker, or resigns, waits for a callback that waits for its lock",
        breaks="no_controller_waits_for_itself",
        scope="deletion",
        first_depth=12,
        fix=frozenset({Switch.CALLBACK_WITHOUT_LOCK}),
    ),
    Defect(
        "D52",
        "A partition of a deleted topic gets a state znode again: a controller had read it before another deleted it",
        breaks="nothing_of_a_deleted_topic_is_left",
        scope="zombie_deletion",
        first_depth=31,
        fix=frozenset({Switch.FENCED_WRITES}),
    ),
    Defect(
        "D55",
        "A topic that is created again before its deletion is complete loses its configuration",
        breaks="topics_have_their_configuration",
        scope="recreation",
        first_depth=19,
        fix=frozenset({Switch.ATOMIC_COMPLETION}),
    ),
    Defect(
        "D57",
        "The start of a reassignment's target re-creates replicas of a topic whose deletion is halted",
        breaks="deleted_replicas_stay_deleted",
        scope="doomed_reassignment",
        first_depth=26,
        fix=frozenset({Switch.MARK_WHAT_IS_QUEUED}),
    ),
    Defect(
        "D57-start",
        "A broker's start, or a failover, tells brokers to host a topic that is being deleted",
        breaks="dying_topics_get_no_leadership",
        scope="deletion",
        first_depth=9,
        fix=frozenset({Switch.DYING_TOPICS_GET_NO_LEADERSHIP}),
    ),
)
