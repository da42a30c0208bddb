"""A controller's memory: elector, context, state machines, threads and watches, and where its code is.

Kafka 0.10.2.2: `KafkaController`, `ControllerContext`, `ZookeeperLeaderElector`. PROTOCOL.md section 1.
"""

from spec.language.records import Choice, Each, Field, Flag, Nested, Record, flags
from spec.model import Model
from spec.state.controller_parts import (
    AllowedElections,
    DeletionManager,
    EarlyReads,
    FailedSends,
    LostTopics,
    Notifications,
    Reassigning,
    TopicListeners,
)
from spec.state.elections import Elections, Rebalance, Shutdowns
from spec.state.enumerations import At, Callback, DeletionThread, Handler
from spec.state.listeners import callback_kind, listened_paths, watched_paths
from spec.state.per_scope import (
    ASSIGNMENTS,
    BROKER,
    BROKER_LIST,
    BROKER_SET,
    BROKERS,
    CONTROLLER_EPOCH,
    LEADER_EPOCH,
    PARTITION_NUMBER,
    PARTITIONS,
    PLACES,
    REPLICAS,
    TOPICS,
    VERSION,
    fixes,
    has,
    per_scope,
)
from spec.state.zookeeper import EPOCH_VERSIONS, Leadership
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState
from spec.variants import Switch


def _who_was_named_matters(m: Model) -> bool:
    """Which partitions notifications named is forgotten as soon as UpdateMetadata is sent of them, unless that may
    fail; or is dropped, where it would name only unknown partitions; or what each broker caches is looked at.
    """
    several = len(m.partitions) > 1 and m.has("cached_leaderships")
    return m.has("notifications") and (m.loses_topics or several or (m.topics_vanish and m.tells_only_the_known))


def _may_be_all(m: Model) -> bool:
    """A removal is sent by LeaderAndIsr, too, except where no broker gets one.

    That is of a partition with one replica; and of any, where only the leader is sent it.
    """
    lists = (one for p in m.partitions for one in m.named(p))
    alone = any(len(replicas) == 1 for replicas in lists)
    return m.has("metadata") and (alone or m.reintroduces(Switch.TELL_ONLY_THE_LEADER))


class BatchWords(Record):
    """What is kept of a partition only where some part asks for it."""

    found = Each(
        REPLICAS, Leadership,
        "What the batch sends a replica that is not what is cached: of a state znode that there is already, a new one; "
        "what it was sent before, one that has gone Offline.",
        kept=has("creation"),
    )  # fmt: skip
    assigned = Field(BROKER_LIST, (), "AR: partitionReplicaAssignment.", kept=ASSIGNMENTS)
    named = Flag(
        "An ISR change notification that is being handled names the partition.",
        kept=per_scope("sending what notifications name may fail, or is looked at", _who_was_named_matters),
    )
    informed = Flag(
        "All brokers are to be sent a removal.",
        kept=per_scope("UpdateMetadata may be the only request with a removal", _may_be_all),
    )


class CachedPartition(BatchWords, Leadership):
    """A controller's cache of a partition, its state machines, and where it stands in the running handler.

    Kafka 0.10.2.2: `ControllerContext.partitionLeadershipInfo`, `PartitionStateMachine`, `ReplicaStateMachine`.
    """

    state = Choice(PartitionState.NON_EXISTENT, "The partition's state machine.")
    replicas = Each(REPLICAS, Choice(ReplicaState.NON_EXISTENT), "The state machine of each replica.")
    todo = Flag("The partition is still to be visited.")
    visiting = Field(BROKER_SET, (), "The replicas that are still to be visited.")
    batched = Field(BROKER_SET, (), "The brokers for which the running batch has a LeaderAndIsr of the partition.")


class Decision(Record):
    """A leader and an ISR to be written to a state znode."""

    leader = Field(BROKER, 0, "The leader.")
    leader_epoch = Field(LEADER_EPOCH, -1, "The leader epoch that was read; the next is to be written.")
    isr = Field(BROKER_LIST, (), "The in-sync replicas.")


class ControllerCore(Record):
    """What every controller keeps: its id, what it has taken up, and where its code is."""

    at = Choice(At.IDLE, "What the holder of the controller lock does next.")
    leader_id = Field(BROKER, 0, "The controller, as far as the elector knows; -1: none.")
    epoch = Field(CONTROLLER_EPOCH, 0, "The controller epoch that this broker goes by.")
    active = Flag("The channel manager is there, which is what Kafka calls being active.")
    acted = Flag("History: this term has written a znode or queued a request.")
    live = Field(BROKER_SET, (), "The live brokers: liveBrokerIds.")
    channels = Field(BROKER_SET, (), "The brokers to which there is a channel, with a queue and a send thread.")
    stranded = Field(
        BROKER_SET, (), "The brokers to which an earlier term, or a failed failover, left a channel that nobody owns."
    )
    deletion = Choice(DeletionThread.NONE, "The topic deletion manager, and its thread.")
    watching = Each(per_scope("path", watched_paths), Flag(), "The watch of the path is set.")
    listening = Each(per_scope("path", listened_paths), Flag(), "The controller's own listener is subscribed.")
    callbacks = Each(
        PLACES, Field(per_scope("Callback", callback_kind), Callback.NONE), "The event queue of ZkClient, head first."
    )
    epoch_version = Field(
        CONTROLLER_EPOCH, 0, "The data version of /controller_epoch that the next conditional write or fence goes by.",
        kept=EPOCH_VERSIONS,
    )  # fmt: skip
    seen = flags(BROKERS, "The broker's registration is the very one that was read.", kept=fixes(Switch.BROKER_EPOCHS))
    listed = Field(
        BROKER_SET, (), "The brokers that the first of two reads has listed.",
        kept=per_scope("brokers are read twice", lambda m: "brokers_read_twice" in m.features),
    )  # fmt: skip


class ControllerOfPartitions(Record, kept=has("partitions")):
    """Topics and partitions, and what the running handler keeps of them."""

    topics = flags(TOPICS, "The controller knows the topic: allTopics.")
    partitions = Each(PARTITIONS, CachedPartition, "What is cached of each partition, and its state machines.")
    handler = Choice(Handler.NONE, "Why states of partitions and replicas are changed, which decides what follows.")
    partition = Field(PARTITION_NUMBER, 0, "The partition whose state znode is to be written next.")
    replica = Field(BROKER, 0, "The replica that is taken Offline by that write.")
    read_version = Field(VERSION, -1, "The data version that was read, on which the write is conditional.")
    decided = Nested(Decision, "What is to be written.")
    dead = Field(BROKER_SET, (), "The brokers whose failure is being handled.")
    lost_leader = Flag("A partition has lost its leader by that, so that all brokers are to be sent it.")
    returned = Field(
        BROKER_SET, (), "Those of the dead that are back, and to be handled as new.", kept=fixes(Switch.BROKER_EPOCHS)
    )


class Controller(
    ControllerCore, ControllerOfPartitions, LostTopics, Notifications, Reassigning, DeletionManager, TopicListeners,
    Elections, Shutdowns, Rebalance, FailedSends, AllowedElections, EarlyReads,
):  # fmt: skip
    """The controller module of a broker, which is idle unless the broker is controller."""
