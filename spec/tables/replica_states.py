"""The replica state machine: the seven states that the controller keeps for each replica of each topic-partition.

Four states tell whether a replica serves (New, Online, Offline, NonExistent) and three tell how far its deletion is:
started, successful, or ineligible, which is where a replica waits when its deletion failed or its broker is away.
As with partitions, only the memory of the active controller holds them, and a failover rebuilds them by a rule of its
own (`state_at_start_up`). OnlineReplica does not say that the broker lives: a topic may be created on a dead broker,
and its replica there goes New and Online all the same.

Kafka 0.8.2 to 0.10.2: `kafka.controller.ReplicaStateMachine`, `handleStateChange`. Every source below is that class in
0.10.2.2 unless it names another. Two places where Kafka's documentation and code differ, and the code is taken:

- its comments let only New and Online precede OfflineReplica; the code also lets Offline and DeletionIneligible;
- its prose sends dead replicas of a deleted topic straight to DeletionIneligible; the table refuses that move until
  2.3.0 (KAFKA-3143), which added the row kept apart below in `ROWS_OF_LATER_VERSIONS`. Until then a deletion that
  meets a dead broker can hang, which is one of the known defects, so the row must not be here.

Left out on purpose: what makes a permitted move fail. Every target first looks up the partition's assigned replicas and
fails without them; New fails for a replica that the znode names as leader; Offline fails while the partition has no
leadership information or no znode.
"""

from collections.abc import Collection, Mapping
from typing import Final

from spec.tables.table import KafkaState, Table, Transition, find, well_formed
from spec.tables.table import valid_previous_states as previous_states_of


class ReplicaState(KafkaState):
    """The seven states, with the byte codes of `kafka.controller.ReplicaState`."""

    NEW = "NewReplica", 1
    ONLINE = "OnlineReplica", 2
    OFFLINE = "OfflineReplica", 3
    DELETION_STARTED = "ReplicaDeletionStarted", 4
    DELETION_SUCCESSFUL = "ReplicaDeletionSuccessful", 5
    DELETION_INELIGIBLE = "ReplicaDeletionIneligible", 6
    NON_EXISTENT = "NonExistentReplica", 7


NEW, ONLINE, OFFLINE, DELETION_STARTED, DELETION_SUCCESSFUL, DELETION_INELIGIBLE, NON_EXISTENT = ReplicaState

CASE_ONLINE: Final = "handleStateChange, case OnlineReplica"
CASE_OFFLINE: Final = "handleStateChange, case OfflineReplica; KafkaController.removeReplicaFromIsr"

SENDS_CACHED_LEADERSHIP: Final = (
    "LeaderAndIsr with the cached leader, ISR and epochs goes to this replica and UpdateMetadata to every registered"
    " broker, if leadership information is cached; otherwise only the state changes."
)
LEAVES_THE_ISR: Final = (
    "StopReplica without deletion goes to the replica, the ISR in the znode loses it (and the leader becomes -1 if it"
    " led), and LeaderAndIsr goes to all other assigned replicas and UpdateMetadata to every registered broker, unless"
    " the partition is being deleted."
)

REPLICA_TRANSITIONS: Final[Table[ReplicaState]] = well_formed(
    ReplicaState,
    {
        NON_EXISTENT: {
            NEW: Transition(
                "R-NONEXISTENT-NEW",
                NON_EXISTENT,
                NEW,
                "If the state znode exists, LeaderAndIsr with what it says goes to this replica and UpdateMetadata to"
                " every registered broker; otherwise only the state changes.",
                "handleStateChange, case NewReplica",
            ),
        },
        NEW: {
            ONLINE: Transition(
                "R-NEW-ONLINE",
                NEW,
                ONLINE,
                "The replica is appended to the cached assigned replicas if it is not among them; nothing is sent.",
                CASE_ONLINE,
            ),
            OFFLINE: Transition("R-NEW-OFFLINE", NEW, OFFLINE, LEAVES_THE_ISR, CASE_OFFLINE),
        },
        ONLINE: {
            ONLINE: Transition("R-ONLINE-ONLINE", ONLINE, ONLINE, SENDS_CACHED_LEADERSHIP, CASE_ONLINE),
            OFFLINE: Transition("R-ONLINE-OFFLINE", ONLINE, OFFLINE, LEAVES_THE_ISR, CASE_OFFLINE),
        },
        OFFLINE: {
            ONLINE: Transition("R-OFFLINE-ONLINE", OFFLINE, ONLINE, SENDS_CACHED_LEADERSHIP, CASE_ONLINE),
            OFFLINE: Transition("R-OFFLINE-OFFLINE", OFFLINE, OFFLINE, LEAVES_THE_ISR, CASE_OFFLINE),
            DELETION_STARTED: Transition(
                "R-OFFLINE-DELETIONSTARTED",
                OFFLINE,
                DELETION_STARTED,
                "StopReplica with deletion goes to the replica; its answer decides how the deletion ends.",
                "handleStateChange, case ReplicaDeletionStarted",
            ),
        },
        DELETION_STARTED: {
            DELETION_SUCCESSFUL: Transition(
                "R-DELETIONSTARTED-DELETIONSUCCESSFUL",
                DELETION_STARTED,
                DELETION_SUCCESSFUL,
                "The state only, when the broker has answered that the replica is gone.",
                "handleStateChange, case ReplicaDeletionSuccessful; TopicDeletionManager.completeReplicaDeletion",
            ),
            DELETION_INELIGIBLE: Transition(
                "R-DELETIONSTARTED-DELETIONINELIGIBLE",
                DELETION_STARTED,
                DELETION_INELIGIBLE,
                "The state only, when the broker has answered with an error or has died; the deletion is tried again"
                " once the broker is back.",
                "handleStateChange, case ReplicaDeletionIneligible; TopicDeletionManager.failReplicaDeletion",
            ),
        },
        DELETION_SUCCESSFUL: {
            NON_EXISTENT: Transition(
                "R-DELETIONSUCCESSFUL-NONEXISTENT",
                DELETION_SUCCESSFUL,
                NON_EXISTENT,
                "The replica leaves the cached assigned replicas; the controller forgets its state; nothing is sent.",
                "handleStateChange, case NonExistentReplica",
            ),
        },
        DELETION_INELIGIBLE: {
            ONLINE: Transition(
                "R-DELETIONINELIGIBLE-ONLINE", DELETION_INELIGIBLE, ONLINE, SENDS_CACHED_LEADERSHIP, CASE_ONLINE
            ),
            OFFLINE: Transition(
                "R-DELETIONINELIGIBLE-OFFLINE", DELETION_INELIGIBLE, OFFLINE, LEAVES_THE_ISR, CASE_OFFLINE
            ),
        },
    },
)

ROWS_OF_LATER_VERSIONS: Final[Mapping[str, Transition[ReplicaState]]] = {
    "2.3.0": Transition(
        "R-OFFLINE-DELETIONINELIGIBLE",
        OFFLINE,
        DELETION_INELIGIBLE,
        "The state only: a dead replica of a topic that is being deleted waits for its broker without a StopReplica.",
        "KAFKA-3143; handleStateChange, case ReplicaDeletionIneligible, 2.3.0",
    ),
}
"""By the release that brought them; none of them is in the table above, which is that of 0.8.2 to 2.2."""

START_UP_STATES: Final = frozenset({ONLINE, DELETION_INELIGIBLE})
"""Where a failover may place a replica without a transition (`initializeReplicaState`)."""


def valid_previous_states(target: ReplicaState) -> frozenset[ReplicaState]:
    """Give the states from which a replica may move to `target`."""
    return previous_states_of(REPLICA_TRANSITIONS, target)


def is_valid(previous: ReplicaState, target: ReplicaState) -> bool:
    """Ask whether the table has a row from `previous` to `target`."""
    return find(REPLICA_TRANSITIONS, previous, target) is not None


def state_at_start_up(replica: int, live_broker_ids: Collection[int]) -> ReplicaState:
    """Give the state in which a new controller starts a replica, whether or not its topic is being deleted.

    Source: `initializeReplicaState`, 0.10.2.2.
    """
    return ONLINE if replica in live_broker_ids else DELETION_INELIGIBLE
