"""How a leader is chosen: the lines of the five selectors.

The selector of reassigned partitions writes none. A selector chooses before the state znode is written, so its line may
be there though the write failed.

Kafka: `PartitionLeaderSelector` and its implementations.
"""

from typing import Final

from spec.formats.kafka_types import V0102, V082
from spec.logs.controller_log.parts import ControllerLogLine, Speaker


def selector(name: str) -> Speaker:
    """A selector, by the name of its class."""
    return Speaker(f"[{name}]: ", name)


class OfflineSelectorSays(ControllerLogLine, speaker=selector("OfflinePartitionLeaderSelector")):
    """A line of the selector for offline partitions."""


class NoneInIsrAlive(
    OfflineSelectorSays,
    text="No broker in ISR is alive for {partition}. Pick the leader from the alive assigned replicas: {replicas:ids}",
    level="DEBUG",
):
    """An unclean election, which may find nobody."""


class UncleanLeader(
    OfflineSelectorSays,
    text="No broker in ISR is alive for {partition}. Elect leader {leader:id} from live brokers {replicas:ids}."
    " There's potential data loss.",
    level="WARN",
):
    """The unclean election found somebody."""


class CleanLeader(
    OfflineSelectorSays,
    text="Some broker in ISR is alive for {partition}. Select {leader:id} from ISR {isr} to be the leader.",
    level="DEBUG",
):
    """The live members of the ISR, and the one that becomes the leader."""


class OfflineSelected(
    OfflineSelectorSays, text="Selected new leader and ISR {leader_and_isr:json} for offline partition {partition}"
):
    """What is about to be written to the state znode."""


PREFERRED: Final = "Current leader {leader} for partition {partition} is not the preferred replica. "


class PreferredSelected(
    ControllerLogLine,
    speaker=selector("PreferredReplicaPartitionLeaderSelector"),
    text={
        V082: PREFERRED + "Trigerring preferred replica leader election",
        V0102: PREFERRED + "Triggering preferred replica leader election",
    },
):
    """The preferred replica leads not yet; whether it can is checked next."""


class ShutdownSelected(
    ControllerLogLine,
    speaker=selector("ControlledShutdownLeaderSelector"),
    text="Partition {partition} : current leader = {leader}, new leader = {new_leader:id}",
    level="DEBUG",
):
    """Where the leadership goes from a broker that shuts down."""


class NeverAsked(
    ControllerLogLine,
    speaker=selector("NoOpLeaderSelector"),
    text="I should never have been asked to perform leader election, returning the current LeaderAndIsr and replica"
    " assignment.",
    level="WARN",
):
    """The selector of transitions that elect nobody was asked."""
