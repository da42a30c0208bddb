"""What broker processes keep, and what is on the wires to them."""

import enum

from spec.language.records import Choice, Each, Field, Flag, Record, flags
from spec.state.elections import OnTheWayOut
from spec.state.enumerations import Owes, Session
from spec.state.per_scope import (
    BROKER_LIST,
    BROKER_SET,
    CONTROLLER_EPOCH,
    FENCED_DELETIONS,
    LEADER_EPOCH,
    LIVE_LEADERS,
    MOVES,
    PARTITION_NUMBER,
    PARTITIONS,
    STOPPED_REPLICAS,
    TOPIC_IDS,
    budget,
    fixes,
    has,
)
from spec.state.zookeeper import Leadership
from spec.variants import Switch


class Stage(enum.Enum):
    """How far a batch on a connection is: the request at the head of the queue."""

    EMPTY = "no batch in this place"
    LEADER_AND_ISR = "LeaderAndIsr is next"
    UPDATE_METADATA = "UpdateMetadata is next"
    STOP_REPLICA = "StopReplica without delete is next, perhaps of no partition"
    DELETE_REPLICA = "StopReplica with delete is next, one request a partition"
    ANSWERED = "StopReplica with delete is answered, and the callback waits for the controller lock"
    REFUSED = "the same, but the answer names no partition: the request's controller epoch was stale"


class SessionState(Record):
    """A process's ZooKeeper sessions, and what it has still to do under them."""

    session = Choice(Session.NONE, "The session, as ZooKeeper has it; with none the process is not running.")
    orphan = Flag("The session of the process's previous incarnation lives on.")
    owes = Choice(Owes.NOTHING, "Whether /brokers/ids/N has still to be created, and on which thread.")


class Process(SessionState, OnTheWayOut):
    """A broker process: its session, and whether it is to stop."""


class BrokerPartition(Leadership):
    """A broker's memory of a partition: leadership as last accepted from LeaderAndIsr; only the leader keeps the ISR.

    Kafka 0.10.2.2: `Partition`; the metadata cache is `MetadataCache`.
    """

    topic_id = Flag("The id of the topic that the leadership is of.", kept=TOPIC_IDS)
    cached_epoch = Field(
        LEADER_EPOCH, -1, "The leader epoch in the metadata cache, from UpdateMetadata.", kept=has("cached_leaderships")
    )
    unreported = Flag(
        "The ISR was changed, and that is not announced yet.",
        kept=has("notifications") & ~fixes(Switch.ANNOUNCE_NO_ISR),
    )
    retrying = Field(
        BROKER_LIST, (), "The ISR whose write is to be repeated, since its answer was lost.", kept=budget("losses")
    )
    idle = Flag(
        "A follower whose fetcher was stopped, or never started; it starts for another leader only.",
        kept=STOPPED_REPLICAS | budget("half_requests"),
    )
    assigned = Field(BROKER_SET, (), "AR, as LeaderAndIsr brought it.", kept=MOVES)
    abandoned = Flag(
        "The log on its disk is not the log manager's any more, since it could not be deleted.",
        kept=budget("failed_deletions") & ~fixes(Switch.KEEP_UNDELETED_LOGS),
    )


class Broker(Record):
    """A broker's side of the protocol; all of it is memory, and dies with the process.

    Kafka 0.10.2.2: `ReplicaManager`. PROTOCOL.md section 10.
    """

    controller_epoch = Field(CONTROLLER_EPOCH, 0, "The highest controller epoch that a request has had.")
    partitions = Each(PARTITIONS, BrokerPartition, "What it was sent of each partition.")
    alive = Field(BROKER_SET, (), "The living brokers in the metadata cache.", kept=has("metadata"))


class SlotPartition(Leadership):
    """What the requests of a batch say of a partition."""

    ordered = Flag("LeaderAndIsr names the partition, with the leadership above.")
    topic_id = Flag("The id of its topic.", kept=TOPIC_IDS)
    assigned = Field(BROKER_SET, (), "AR, as LeaderAndIsr says it.", kept=MOVES)
    leader_lives = Flag("LeaderAndIsr lists its leader as registered.", kept=LIVE_LEADERS)


class Slot(Record):
    """A place in a connection's queue: one batch, which is what the controller has to tell one broker at a time.

    Kafka 0.10.2.2: `ControllerBrokerRequestBatch`, and the queue of a `RequestSendThread`.
    """

    stage = Choice(Stage.EMPTY, "Which request of the batch is next.")
    epoch = Field(CONTROLLER_EPOCH, 0, "The controller epoch of its requests.")
    partitions = Each(PARTITIONS, SlotPartition, "What LeaderAndIsr says.")
    metadata = Flag("There is an UpdateMetadata.", kept=has("metadata"))
    alive = Field(BROKER_SET, (), "The living brokers that it lists.", kept=has("metadata"))
    stop = flags(PARTITIONS, "StopReplica without delete names the partition.", kept=STOPPED_REPLICAS)
    delete = flags(PARTITIONS, "StopReplica with delete names the partition.", kept=STOPPED_REPLICAS)
    delete_epoch = Each(
        PARTITIONS, Field(LEADER_EPOCH, -1), "The leader epoch that StopReplica with delete has.", kept=FENCED_DELETIONS
    )
    told = flags(PARTITIONS, "UpdateMetadata names the partition.", kept=has("cached_leaderships"))
    told_epoch = Each(
        PARTITIONS, Field(LEADER_EPOCH, -1), "The leader epoch that it names; -1: the partition is removed.",
        kept=has("cached_leaderships"),
    )  # fmt: skip
    answered = Field(
        PARTITION_NUMBER, 0, "The partition whose deletion was answered, while the callback waits for the lock.",
        kept=has("deletion"),
    )  # fmt: skip
    failed = Flag(
        "The answer has an error for that partition: its log could not be deleted.",
        kept=has("deletion") & budget("failed_deletions"),
    )
    calls_back = Flag(
        "The answers to StopReplica with delete are for the deletion manager.", kept=has("deletion") & MOVES
    )


class LateCopy(Record):
    """A copy of a StopReplica with delete that stayed behind on an old connection."""

    waits = Flag("There is one, which may still come.")
    epoch = Field(CONTROLLER_EPOCH, 0, "Its controller epoch.")
    leader_epoch = Field(LEADER_EPOCH, -1, "Its leader epoch.", kept=FENCED_DELETIONS)
