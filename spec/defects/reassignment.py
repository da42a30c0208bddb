"""What goes wrong with reassignments."""

from __future__ import annotations

from spec.defects.rows import Defect
from spec.variants import Switch

ROWS = (
    Defect(
        "D17-unseen",
        "A partition that is added while a controller comes to work is not noticed: the listener is made too late",
        breaks="recoverable_partitions_are_led",
        scope="addition",
        first_depth=12,
        fix=frozenset({Switch.LISTEN_BEFORE_READING}),
    ),
    Defect(
        "D39",
        "A controller writes a whole topic's assignment from its memory: a partition that was just added is lost",
        breaks="partitions_stay",
        scope="addition_reassignment",
        first_depth=7,
        fix=frozenset({Switch.KEEP_OTHERS_ASSIGNMENTS}),
    ),
    Defect(
        "D39-tool",
        "The tool that adds a partition writes what it read: a reassignment's new replicas are lost",
        breaks="assignments_change_in_order",
        scope="addition_reassignment",
        first_depth=7,
        fix=frozenset({Switch.KEEP_OTHERS_ASSIGNMENTS}),
        defining=("read_for_addition", "write_union", "write_addition"),
    ),
    Defect(
        "D19",
        "A zombie puts a broker into the ISR that a completed reassignment has taken from AR",
        breaks="isr_is_within_assigned",
        scope="reassignment_zombie",
        first_depth=28,
        fix=frozenset({Switch.FENCED_WRITES}),
    ),
    Defect(
        "D22",
        "A copy of a StopReplica comes late, and deletes a replica that is assigned, and in sync, again",
        breaks="in_sync_replicas_are_not_deleted",
        scope="late_copies",
        first_depth=31,
        fix=frozenset({Switch.STOP_REPLICA_HAS_LEADER_EPOCH}),
    ),
    Defect(
        "D13",
        "A controller that is elected again resumes what another has long completed, and undoes a later reassignment",
        breaks="assignments_change_in_order",
        scope="reassignment_again",
        first_depth=51,
        base=frozenset({Switch.ATOMIC_ELECTION, Switch.FENCED_WRITES}),
        fix=frozenset({Switch.CLEAR_CONTEXT}),
    ),
    Defect(
        "D18",
        "A reassignment raises the leader epoch, but not in the cache, from which UpdateMetadata is filled",
        breaks="caches_keep_up_with_their_requests",
        scope="reassignment",
        first_depth=7,
        base=frozenset({Switch.BROKER_EPOCHS}),
        fix=frozenset({Switch.CACHE_BUMPED_EPOCH}),
    ),
    Defect(
        "D18-stuck",
        "A leader that restarts during a reassignment is told the cached, old epoch and version, and is stuck",
        breaks="recoverable_reassignments_complete",
        scope="reassignment",
        first_depth=5,
        base=frozenset({Switch.BROKER_EPOCHS}),
        fix=frozenset({Switch.CACHE_BUMPED_EPOCH}),
    ),
    Defect(
        "D38",
        "A reassignment does not wait for its deletions: the old replica's broker dies, and keeps the log for ever",
        breaks="recoverable_only_assigned_replicas_have_logs",
        scope="reassignment",
        first_depth=19,
        base=frozenset({Switch.BROKER_EPOCHS}),
        fix=frozenset({Switch.DELETE_STRAYS}),
    ),
    Defect(
        "D47",
        "The old leader is told by a deletion only: that dies with the controller, and the old leader leads on",
        breaks="recoverable_only_assigned_replicas_lead",
        scope="reassignment",
        first_depth=19,
        base=frozenset({Switch.BROKER_EPOCHS}),
        fix=frozenset({Switch.DELETE_STRAYS}),
    ),
    Defect(
        "D48",
        "A reassignment goes on although none of its new replicas could be elected: the only leader is taken down",
        breaks="old_replicas_go_after_the_leader_moved",
        scope="reassignment_zombie",
        first_depth=19,
        fix=frozenset({Switch.WAIT_FOR_LEADER}),
    ),
)
