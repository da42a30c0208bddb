"""Brokers that come and go: the broker change listener, the two callbacks, controlled shutdown, removal from the ISR.

Kafka: `ReplicaStateMachine.BrokerChangeListener`, `KafkaController` (`onBrokerStartup`, `onBrokerFailure`,
`shutdownBroker`, `removeReplicaFromIsr`).
"""

from spec.logs.controller_log.parts import ON_CONTROLLER, ControllerLogLine, ControllerSays, Thread, listener
from spec.logs.controller_log.values import Brokers, Leaderships


class BrokerListenerSays(
    ControllerLogLine, speaker=listener("ReplicaStateMachine$BrokerChangeListener", ON_CONTROLLER)
):
    """A line of the listener on /brokers/ids."""


class BrokersChanged(
    BrokerListenerSays, text="Broker change listener fired for path /brokers/ids with children {brokers:ids}"
):
    """The callback begins; ZkClient has read the children, the controller reads them again."""


class BrokerDifference(
    BrokerListenerSays, text="Newly added brokers: {new:ids}, deleted brokers: {dead:ids}, all live brokers: {live:ids}"
):
    """What the controller makes of it (sorted from 0.10.0 on)."""

    dead: Brokers
    live: Brokers


class BrokerChangeError(BrokerListenerSays, text="Error while handling broker changes", level="ERROR"):
    """The callback ended with an exception."""


class BrokerStartup(ControllerSays, text="New broker startup callback for {brokers:ids}"):
    """`onBrokerStartup` begins."""


class DeletionSignalled(
    ControllerSays,
    text="Some replicas {replicas} for topics scheduled for deletion {topics} are on the newly"
    " restarted brokers {brokers:ids}. Signaling restart of topic deletion for these topics",
):
    """A broker came back that a deletion was waiting for."""


class BrokerFailure(ControllerSays, text="Broker failure callback for {brokers:ids}"):
    """`onBrokerFailure` begins."""


class ShutDownBrokersGone(ControllerSays, text="Removed {brokers:buffer} from list of shutting down brokers."):
    """Those of the dead brokers that had asked to be shut down."""


class ShuttingDownBroker(ControllerSays, text="Shutting down broker {broker}", unlocked=Thread.REQUESTS):
    """A broker asks for a controlled shutdown."""

    broker: int


class AllShuttingDown(ControllerSays, text="All shutting down brokers: {brokers:ids}", level="DEBUG"):
    """The brokers that have asked and are not gone yet, this one included."""


class LiveBrokers(ControllerSays, text="Live brokers: {brokers:ids}", level="DEBUG"):
    """The others."""


class AllLeaders(ControllerSays, text="All leaders = {leaders}", level="TRACE"):
    """The leadership cache after a controlled shutdown moved what it could."""

    leaders: Leaderships


class RemovingFromIsr(
    ControllerSays, text="Removing replica {replica} from ISR {isr} for partition {partition}.", level="DEBUG"
):
    """A replica goes offline; the ISR is the cached one, the znode is about to be read."""


class LastIsrRetained(
    ControllerSays,
    text="Retaining last ISR {replica} of partition {partition} since unclean leader election is disabled",
):
    """The ISR would be empty, so its last member stays (from 0.8.2 on, where the topic is not unclean)."""


class IsrShrunk(ControllerSays, text="New leader and ISR for partition {partition} is {leader_and_isr:json}"):
    """The state znode has been written, without the replica."""


class NotInIsr(
    ControllerSays,
    text="Cannot remove replica {replica} from ISR of partition {partition} since it is not in the ISR."
    " Leader = {leader} ; ISR = {isr:list}",
    level="WARN",
):
    """The state znode names the replica no more; it is left as it is."""


class NoStateToShrink(
    ControllerSays,
    text="Cannot remove replica {replica} from ISR of {partition} - leaderAndIsr is empty.",
    level="WARN",
):
    """There is no state znode."""
