"""The partition state machine: the four states that the controller keeps for each topic-partition.

A partition is New when the controller has heard of it but has not yet written its state znode, Online when the
controller believes that it has a live leader, Offline when that leader is gone, and NonExistent before and after all
of it. "Believes" is meant: the states live only in the memory of the active controller, are rebuilt by a rule of their
own at each failover (`state_at_start_up`), and neither ZooKeeper nor any broker ever sees them.

Kafka 0.8.2 to 0.10.2: `kafka.controller.PartitionStateMachine`, `handleStateChange`; the rows are the same up to 2.8.
Every source below is that class in 0.10.2.2 unless it names another.

Left out on purpose: what makes a permitted move fail (no live replica, a newer controller's epoch in the znode, no
election needed). That is the actions' affair; the sentence of a row says what happens when nothing goes wrong.
Differences between versions that do not touch the table: 0.8.2 also re-reads the assigned replicas from ZooKeeper on
the way to New; 2.x moves the partitions of a topic to NonExistent when its deletion starts, not when it ends.
"""

from collections.abc import Collection, Mapping
from typing import Final

from spec.tables.table import KafkaState, Table, Transition, find, well_formed
from spec.tables.table import valid_previous_states as previous_states_of


class PartitionState(KafkaState):
    """The four states, with the byte codes of `kafka.controller.PartitionState`."""

    NEW = "NewPartition", 0
    ONLINE = "OnlinePartition", 1
    OFFLINE = "OfflinePartition", 2
    NON_EXISTENT = "NonExistentPartition", 3


NEW, ONLINE, OFFLINE, NON_EXISTENT = PartitionState

PARTITION_TRANSITIONS: Final[Table[PartitionState]] = well_formed(
    PartitionState,
    {
        NON_EXISTENT: {
            NEW: Transition(
                "P-NONEXISTENT-NEW",
                NON_EXISTENT,
                NEW,
                "The controller starts to track the partition under the assigned replicas that it has cached; nothing"
                " is written and nothing is sent.",
                "handleStateChange, case NewPartition",
            ),
        },
        NEW: {
            ONLINE: Transition(
                "P-NEW-ONLINE",
                NEW,
                ONLINE,
                "The first live assigned replica becomes leader and all live ones the ISR, at leader_epoch 0; the state"
                " znode is created, then LeaderAndIsr goes to the live replicas and UpdateMetadata to every registered"
                " broker.",
                "initializeLeaderAndIsrForPartition",
            ),
            OFFLINE: Transition(
                "P-NEW-OFFLINE",
                NEW,
                OFFLINE,
                "The state only; there is no znode yet and none is written.",
                "handleStateChange, case OfflinePartition",
            ),
        },
        ONLINE: {
            ONLINE: Transition(
                "P-ONLINE-ONLINE",
                ONLINE,
                ONLINE,
                "The caller's selector chooses another leader although there is one; the state znode is rewritten on"
                " the version read, LeaderAndIsr goes to the selector's receivers and UpdateMetadata to every"
                " registered broker.",
                "electLeaderForPartition (reassignment, preferred election, controlled shutdown)",
            ),
            OFFLINE: Transition(
                "P-ONLINE-OFFLINE",
                ONLINE,
                OFFLINE,
                "The state only; the znode keeps the dead leader until an election or the removal from the ISR.",
                "handleStateChange, case OfflinePartition; KafkaController.onBrokerFailure",
            ),
        },
        OFFLINE: {
            ONLINE: Transition(
                "P-OFFLINE-ONLINE",
                OFFLINE,
                ONLINE,
                "The caller's selector, as a rule the offline one, chooses a leader; the state znode is rewritten on"
                " the version read, LeaderAndIsr goes to the selector's receivers and UpdateMetadata to every"
                " registered broker.",
                "electLeaderForPartition",
            ),
            OFFLINE: Transition(
                "P-OFFLINE-OFFLINE",
                OFFLINE,
                OFFLINE,
                "Nothing changes; asking twice is permitted.",
                "handleStateChange, case OfflinePartition",
            ),
            NON_EXISTENT: Transition(
                "P-OFFLINE-NONEXISTENT",
                OFFLINE,
                NON_EXISTENT,
                "The state only, at the end of a topic's deletion; the deletion manager removes the znodes.",
                "handleStateChange, case NonExistentPartition; TopicDeletionManager.completeDeleteTopic",
            ),
        },
    },
)

ROWS_OF_LATER_VERSIONS: Final[Mapping[str, Transition[PartitionState]]] = {}
"""By the release that brought them: none, the partition table never changed."""

START_UP_STATES: Final = frozenset({NEW, ONLINE, OFFLINE})
"""Where a failover may place a partition without a transition (`initializePartitionState`)."""


def valid_previous_states(target: PartitionState) -> frozenset[PartitionState]:
    """Give the states from which a partition may move to `target`."""
    return previous_states_of(PARTITION_TRANSITIONS, target)


def is_valid(previous: PartitionState, target: PartitionState) -> bool:
    """Ask whether the table has a row from `previous` to `target`."""
    return find(PARTITION_TRANSITIONS, previous, target) is not None


def state_at_start_up(cached_leader: int | None, live_broker_ids: Collection[int]) -> PartitionState:
    """Give the state in which a new controller starts a partition: by the leader it has read, None for no state znode.

    A leader of -1 (none could be elected) is never among the live brokers, so such a partition starts Offline.
    Source: `initializePartitionState`, 0.10.2.2.
    """
    if cached_leader is None:
        return NEW
    return ONLINE if cached_leader in live_broker_ids else OFFLINE
