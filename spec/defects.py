"""Defects are rows: what Kafka's documented design got wrong, as something to enumerate, show and mend.

PROTOCOL.md section 13 numbers the defects and tells their mechanism (S11: races of its section 11). A row here says
how an enumeration finds one: the property that it breaks, in which scope, with which mends already on (else a shorter
story would mask it), after how many steps at the earliest, and the mend that makes it disappear.

The shortest trace that breaks a property need not be the defect's. Then `defining` names the rules that must be taken,
in this order, and only traces that take them count. Nothing else is hinted to the search.
"""

from __future__ import annotations

from dataclasses import dataclass

from spec.errors import UnknownName
from spec.variants import AS_CODED, DOCUMENTED, FENCED, Switch, Switches


@dataclass(frozen=True)
class Defect:
    """One row.

    `breaks` names a property. `first_depth` is the length of the shortest trace under `base` that takes the `defining`
    rules in their order and breaks it; with `fix` switched on as well, there is none.
    """

    id: str
    title: str
    breaks: str
    scope: str
    first_depth: int
    fix: Switches
    base: Switches = AS_CODED
    defining: tuple[str, ...] = ()

    @property
    def mended(self) -> Switches:
        """The switches under which the defect must be gone."""
        return self.base | self.fix


DEFECTS: tuple[Defect, ...] = (
    Defect(
        "D1",
        "A failed increment of /controller_epoch does not stop the new controller",
        breaks="one_term_acts_in_an_epoch",
        scope="election",
        first_depth=16,
        fix=frozenset({Switch.RESIGN_ON_EPOCH_CONFLICT}),
    ),
    Defect(
        "D1-at-once",
        "Two controllers act in the same epoch at the same time",
        breaks="one_controller_acts_in_an_epoch",
        scope="epochs",
        first_depth=15,
        fix=frozenset({Switch.RESIGN_ON_EPOCH_CONFLICT}),
    ),
    Defect(
        "D1-loss",
        "A lost answer is enough: a lone controller acts with its predecessor's epoch",
        breaks="one_term_acts_in_an_epoch",
        scope="losses",
        first_depth=11,
        fix=frozenset({Switch.RESIGN_ON_EPOCH_CONFLICT}),
    ),
    Defect(
        "D1-first",
        "The first epoch is written twice: who found none overwrites the one that another has just created",
        breaks="one_term_acts_in_an_epoch",
        scope="first_epoch",
        first_depth=20,
        base=DOCUMENTED,
        fix=frozenset({Switch.ATOMIC_ELECTION}),
    ),
    Defect(
        "D2",
        "A controller's writes are not fenced: a zombie changes a state znode",
        breaks="only_the_latest_term_writes",
        scope="small",
        first_depth=12,
        fix=frozenset({Switch.FENCED_WRITES}),
    ),
    Defect(
        "D2-assignment",
        "A zombie completes a reassignment; the new controller, which knows nothing of it, begins it again",
        breaks="assignments_change_in_order",
        scope="reassignment_zombie",
        first_depth=33,
        fix=frozenset({Switch.FENCED_WRITES}),
    ),
    Defect(
        "D3",
        "resign() deletes another controller's /controller",
        breaks="controller_znode_is_its_owners",
        scope="election",
        first_depth=11,
        fix=frozenset({Switch.FENCED_RESIGN}),
    ),
    Defect(
        "D3-loss",
        "The answer to resign()'s delete is lost: the client deletes again, and hits the next controller's znode",
        breaks="controller_znode_is_its_owners",
        scope="lost_first_epoch",
        first_depth=12,
        fix=frozenset({Switch.FENCED_RESIGN}),
    ),
    Defect(
        "D4",
        "A controller that gave up stays half active",
        breaks="who_gave_up_is_not_active",
        scope="left_overs",
        first_depth=10,
        fix=frozenset({Switch.RESIGN_CLEANS_UP}),
    ),
    Defect(
        "D6",
        "A leader is stuck with a stale version: a zombie wrote the znode and resigned before anybody was told",
        breaks="recoverable_leaders_can_lead",
        scope="small",
        first_depth=24,
        base=frozenset({Switch.RESIGN_ON_EPOCH_CONFLICT}),
        fix=frozenset({Switch.ATOMIC_ELECTION, Switch.FENCED_WRITES}),
        defining=("write_elected_leader", "on_new_session"),
    ),
    Defect(
        "D12",
        "A broker that leaves and comes back between two reads never gets a LeaderAndIsr",
        breaks="recoverable_live_replicas_are_informed",
        scope="bounce",
        first_depth=4,
        fix=frozenset({Switch.BROKER_EPOCHS}),
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
        "D5-shutdown",
        "A controller that is none any more answers a broker that it leads nothing; its successor has made it leader",
        breaks="who_may_go_leads_nothing",
        scope="shutdown_zombie",
        first_depth=16,
        base=FENCED - {Switch.FENCED_ANSWERS},
        fix=frozenset({Switch.FENCED_ANSWERS}),
    ),
    Defect(
        "D12-shutdown",
        "A broker that stops and is back before anybody looks counts as shutting down for ever, and may not lead",
        breaks="recoverable_who_stays_may_lead",
        scope="shutdown",
        first_depth=10,
        fix=frozenset({Switch.BROKER_EPOCHS}),
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
        "D37",
        "A request left for a topic that is deleted ends the next controller's deletion thread",
        breaks="deletion_threads_live",
        scope="deletion",
        first_depth=29,
        fix=frozenset({Switch.COMPLETE_UNKNOWN_DELETIONS}),
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
        "D42",
        "A request for a preferred election that names a partition without leadership ends every failover",
        breaks="no_failover_fails_on_a_request",
        scope="leaderless_election",
        first_depth=14,
        fix=frozenset({Switch.ELECT_ONLY_THE_LED}),
        defining=("read_election_request",),
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
        "D47",
        "The old leader is told by a deletion only: that dies with the controller, and the old leader leads on",
        breaks="recoverable_only_assigned_replicas_lead",
        scope="reassignment",
        first_depth=19,
        base=frozenset({Switch.BROKER_EPOCHS}),
        fix=frozenset({Switch.DELETE_STRAYS}),
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
        "A failover deletes a request for a preferred election that came after it had read: nobody ever runs it",
        breaks="requests_are_deleted_by_who_read_them",
        scope="preferred_election",
        first_depth=15,
        fix=frozenset({Switch.KEEP_UNREAD_REQUESTS}),
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
        "D48",
        "A reassignment goes on although none of its new replicas could be elected: the only leader is taken down",
        breaks="old_replicas_go_after_the_leader_moved",
        scope="reassignment_zombie",
        first_depth=19,
        fix=frozenset({Switch.WAIT_FOR_LEADER}),
    ),
    Defect(
        "D54",
        "A connection lost on the create of a state znode leaves the partition New and its replicas uninformed",
        breaks="recoverable_leaders_can_lead",
        scope="lost_creation",
        first_depth=5,
        fix=frozenset({Switch.RECOGNISE_OWN_CREATE}),
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
        "D56",
        "What a half-finished controller left behind ends its next failover, too",
        breaks="no_failover_fails_on_left_overs",
        scope="left_overs",
        first_depth=17,
        fix=frozenset({Switch.RESIGN_CLEANS_UP}),
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
    Defect(
        "S11-missed",
        "An update before the timer is armed tries nobody: a request waits although its leaders are there",
        breaks="nobody_waits_in_vain",
        scope="purgatory",
        first_depth=11,
        fix=frozenset({Switch.ARM_BEFORE_SECOND_TRY}),
    ),
    Defect(
        "S11-timer",
        "A timer entry is cancelled before it is put in its bucket: an operation that was answered stays armed",
        breaks="who_is_answered_has_no_timer",
        scope="purgatory",
        first_depth=23,
        fix=frozenset({Switch.INSERT_UNDER_MONITOR}),
    ),
    Defect(
        "S11-answer",
        "A leader is lost between tryComplete and onComplete: what the condition completed is answered with a time-out",
        breaks="what_its_condition_completes_has_not_timed_out",
        scope="purgatory_alone",
        first_depth=9,
        fix=frozenset({Switch.ANSWER_AS_FOUND}),
    ),
)


def defect(id: str) -> Defect:  # noqa: A002 - the name that PROTOCOL.md gives it
    """The defect of that id; UnknownName lists the known ones."""
    known = {one.id: one for one in DEFECTS}
    if id not in known:
        raise UnknownName("defect", id, known)
    return known[id]
