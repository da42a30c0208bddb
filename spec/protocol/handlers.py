"""What follows what: one table for all handlers, beside the two transition tables.

A row is a handler, a column a junction, where a step that several handlers share is done (spec/protocol/junctions.py);
each cell is what the handler does next. Where no handler comes, the place says NEVER. Behind an exception, ISR
change notifications that were read are deleted, too (spec/protocol/controller/threads.py). Failures that Kafka catches
are no exceptions here.

Kafka 0.10.2.2: the callers of `PartitionStateMachine.handleStateChanges`, `ReplicaStateMachine.handleStateChanges` and
`KafkaController.onPartitionReassignment`. PROTOCOL.md sections 6 to 8.
"""

from collections.abc import Mapping
from typing import Final

from spec.protocol.broker_events.broker_changes import (
    after_startup,
    end_broker_failure,
    on_broker_failure,
    remove_the_dead,
)
from spec.protocol.broker_events.controlled_shutdown import end_of_removal, fail_shutdown
from spec.protocol.controller.threads import end_turn, leave_broker_change
from spec.protocol.deletion.queue import end_thread
from spec.protocol.deletion.thread import end_retry, stop_and_delete
from spec.protocol.elections.rebalance import end_election
from spec.protocol.elections.requested import end_pending_election, end_requested_election, run_pending_elections
from spec.protocol.failover.machine_startup import after_the_dead, start_state_machines
from spec.protocol.failover.steps import after_election_request, load_deletions, resume
from spec.protocol.junctions import Column, Junction, Then, follow, row
from spec.protocol.reassignment.phase_b import delete_old_replicas
from spec.protocol.reassignment.requests import end_listener, end_running
from spec.protocol.topics.creation import finish_creation
from spec.state.controller import Controller
from spec.state.elections import ELECTS
from spec.state.enumerations import Handler
from spec.state.per_scope import has, per_scope

TAKES_THE_DEAD_OFFLINE: Final = per_scope("the replicas of the dead go Offline", lambda m: m.takes_the_dead_offline)
ELECTS_WHERE_ALLOWED: Final = per_scope("a topic's configuration is listened to", lambda m: m.keeps(Controller.allowed))

NEVER: Final[tuple[Then, ...]] = ()
LEAVE: Final = (Then(leave_broker_change),)
ALLOWED: Final = (Then(leave_broker_change, ELECTS_WHERE_ALLOWED),)
RESUME: Final = (Then(resume),)
REMOVE_THE_DEAD: Final = (Then(remove_the_dead),)
AFTER_STARTUP: Final = (Then(after_startup, follows=REMOVE_THE_DEAD[0]),)
AFTER_THE_DEAD: Final = (Then(after_the_dead, TAKES_THE_DEAD_OFFLINE),)
BROKERS_ARE_DEAD: Final = (Then(end_broker_failure),)
BROKERS_FAIL: Final = (Then(on_broker_failure, follows=REMOVE_THE_DEAD[0]),)
CREATED: Final = (Then(finish_creation, has("creation")),)
ELECTED: Final = (Then(end_requested_election, ELECTS),)
PENDING_ELECTED: Final = (Then(end_pending_election, ELECTS),)
ELECT_PENDING: Final = (Then(run_pending_elections),)
REBALANCED: Final = (Then(end_election, has("auto_rebalance"), of_partition=True),)
LEADER_MOVED: Final = (Then(end_turn, has("shutdown")),)
FOLLOWER_LEFT: Final = (Then(end_of_removal, has("shutdown"), of_partition=True),)
SHUTDOWN_FAILS: Final = (Then(fail_shutdown, has("shutdown")), *LEAVE)
RETRIED: Final = (Then(end_retry, has("deletion")),)
STOP_AND_DELETE: Final = (Then(stop_and_delete, has("deletion")),)
THREAD_ENDS: Final = (Then(end_thread, has("deletion")), *LEAVE)
DELETE_OLD: Final = (Then(delete_old_replicas, has("reassignment"), of_partition=True),)
RUN_ENDS: Final = (Then(end_running, has("reassignment")), *LEAVE)
LISTENER_ENDS: Final = (Then(end_listener),)
LOAD_DELETIONS: Final = (Then(load_deletions),)

JUNCTIONS: Final = (Junction.VISITS_DONE, Junction.REMOVALS_DONE, Junction.REASSIGNMENTS_DONE, Junction.EXCEPTION)
"""The columns of the table."""

HANDLERS: Final[Mapping[Handler, tuple[tuple[Then, ...], ...]]] = {
    #                            visits done       removals done     reassignments done  exception
    Handler.FAILOVER:           (RESUME,           DELETE_OLD,       ELECT_PENDING,      RUN_ENDS),
    Handler.BROKER_STARTUP:     (AFTER_STARTUP,    DELETE_OLD,       BROKERS_FAIL,       RUN_ENDS),
    Handler.BROKER_FAILURE:     (REMOVE_THE_DEAD,  NEVER,            NEVER,              LEAVE),
    Handler.CREATION:           (CREATED,          NEVER,            NEVER,              LEAVE),
    Handler.REASSIGNMENT:       (NEVER,            DELETE_OLD,       LISTENER_ENDS,      RUN_ENDS),
    Handler.ISR_CHANGE:         (NEVER,            DELETE_OLD,       LISTENER_ENDS,      RUN_ENDS),
    Handler.REQUESTED_ELECTION: (ELECTED,          NEVER,            NEVER,              LEAVE),
    Handler.PENDING_ELECTION:   (PENDING_ELECTED,  NEVER,            NEVER,              LEAVE),
    Handler.DELETION_RETRY:     (NEVER,            RETRIED,          NEVER,              LEAVE),
    Handler.DELETION_START:     (NEVER,            STOP_AND_DELETE,  NEVER,              THREAD_ENDS),
    Handler.REBALANCE:          (REBALANCED,       NEVER,            NEVER,              LEAVE),
    Handler.SHUTDOWN:           (LEADER_MOVED,     FOLLOWER_LEFT,    NEVER,              SHUTDOWN_FAILS),
    Handler.STARTUP:            (NEVER,            AFTER_THE_DEAD,   NEVER,              LEAVE),
    Handler.NONE:               (ALLOWED,          BROKERS_ARE_DEAD, LOAD_DELETIONS,     LEAVE),
}  # fmt: skip
"""What each handler does next.

With `Handler.NONE`, a failover reads what is to be reassigned, the handling of broker failures takes replicas Offline,
or a topic that is allowed unclean election now is elected for.
"""

READS: Final[Mapping[Junction, tuple[Then, ...]]] = {
    Junction.ELECTION_REQUEST_READ: (Then(after_election_request),),
    Junction.DELETIONS_READ: (Then(start_state_machines),),
}
"""What a failover does when it has read; no handler runs by then."""


def column(junction: Junction) -> Column:
    """What follows a junction, by handler."""
    if junction in READS:
        return {Handler.NONE: READS[junction]}
    return {handler: row[JUNCTIONS.index(junction)] for handler, row in HANDLERS.items()}


ROWS: Final[Mapping[str, tuple[Handler, Junction]]] = {
    row(handler, junction): (handler, junction)
    for junction in (*JUNCTIONS, *READS)
    for handler, thens in column(junction).items()
    if thens != NEVER
}
"""Each place of the table where a handler comes, by the id under which a search counts from how many states."""

follow({junction: column(junction) for junction in Junction})
