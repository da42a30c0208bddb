"""What is in ZooKeeper: the znodes of the protocol, and whose the ephemeral ones are.

PROTOCOL.md sections 1 and 2.
"""

from spec.language.records import Each, Field, Flag, Record, flags
from spec.model import Model
from spec.state.elections import ElectionRequest
from spec.state.per_scope import (
    ASSIGNMENTS,
    BROKER,
    BROKER_LIST,
    BROKER_SET,
    CONTROLLER_EPOCH,
    LEADER_EPOCH,
    NOTIFICATION_SET,
    PARTITIONS,
    TOPIC_IDS,
    TOPICS,
    VERSION,
    budget,
    has,
    per_index,
    per_scope,
)
from spec.variants import Switch


class Leadership(Record):
    """A partition's leader: what a state znode, a cache entry, a broker's memory and a request say of it."""

    leader = Field(BROKER, 0, "The leader; -1: nobody leads.")
    leader_epoch = Field(LEADER_EPOCH, -1, "The leader epoch; -1: there is no leadership here at all.")
    isr = Field(BROKER_LIST, (), "The in-sync replicas, in order.")
    version = Field(VERSION, -1, "The data version of the state znode; -1: it does not exist, or none is known.")
    controller_epoch = Field(CONTROLLER_EPOCH, 0, "The epoch of the controller that wrote this leadership.")


def _at_start(m: Model, p: int) -> tuple[int, ...]:
    """The AR in a topic's znode, if it is there from the start."""
    return m.first_assigned(p) if m.topics_stand and p not in m.scope.added else ()


def _may_be_written_twice(m: Model) -> bool:
    """The data version of /controller_epoch is the epoch minus one, unless the first epoch was written twice.

    That can only be where nobody has been controller yet, and where the election and the epoch are two writes.
    """
    return m.scope.cold and not m.fixes(Switch.ATOMIC_ELECTION)


EPOCH_VERSIONS = per_scope("the first epoch may be written twice", _may_be_written_twice)

STANDS = per_scope("yes, if the topics exist from the start", lambda m: m.topics_stand)


class ZooKeeper(ElectionRequest):
    """The znodes. An ephemeral one is orphaned if it is a dead process's, whose session lives on."""

    controller = Field(BROKER, 0, "The broker that /controller names; -1: it does not exist.")
    controller_orphaned = Flag("/controller is of that broker's previous incarnation.")
    epoch = Field(CONTROLLER_EPOCH, 0, "What /controller_epoch says; 0: it does not exist.")
    registered = Field(BROKER_SET, (), "The brokers that have a /brokers/ids/N.")
    registered_orphaned = Field(BROKER_SET, (), "Those whose registration is of their previous incarnation.")
    epoch_version = Field(
        CONTROLLER_EPOCH, 0, "How often /controller_epoch was written, which its data version tells.",
        kept=EPOCH_VERSIONS,
    )  # fmt: skip
    topics = flags(TOPICS, "/brokers/topics/T exists.", initial=STANDS, kept=has("partitions"))
    state = Each(
        PARTITIONS, Leadership, "The state znode, /brokers/topics/T/partitions/P/state.", kept=has("partitions")
    )
    topic_ids = flags(
        TOPICS, "The id of the topic: each creation gives it another than the one before.", kept=TOPIC_IDS
    )
    notified = Each(
        PARTITIONS, Field(NOTIFICATION_SET, ()), "The children of /isr_change_notification that name the partition.",
        kept=has("notifications"),
    )  # fmt: skip
    assigned = Each(
        PARTITIONS, Field(BROKER_LIST, per_index("AR, if the topic exists from the start", _at_start)),
        "AR, as the topic's znode says it.", kept=ASSIGNMENTS,
    )  # fmt: skip
    requested = Each(
        PARTITIONS, Field(BROKER_LIST, ()),
        "RAR, as /admin/reassign_partitions says it; []: it does not name the partition, or, of all, does not exist.",
        kept=has("reassignment"),
    )  # fmt: skip
    configurations = flags(TOPICS, "/config/topics/T exists.", initial=STANDS, kept=has("deletion"))
    unclean = flags(
        TOPICS, "The topic may elect who is not in sync: /config/topics/T says so, or else the brokers' configuration.",
        initial=per_scope("as the brokers are configured", lambda m: m.unclean),
        kept=has("partitions") & budget("unclean_changes"),
    )  # fmt: skip
    deletions = flags(TOPICS, "/admin/delete_topics/T exists: the topic is to be deleted.", kept=has("deletion"))
