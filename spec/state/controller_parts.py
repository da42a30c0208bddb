"""What a controller keeps in memory for the larger parts of the protocol, which a scope may lack."""

from spec.language.records import Each, Field, Flag, Record, flags
from spec.model import Model
from spec.state.elections import GivenElections
from spec.state.per_scope import (
    ASSIGNMENTS,
    BROKER,
    BROKER_LIST,
    BROKER_SET,
    GIVEN,
    LOST_TOPICS,
    NOTIFICATION_SET,
    PARTITION_NUMBER,
    PARTITIONS,
    PLACES,
    SEVERAL_TOPICS,
    TOPIC_IDS,
    TOPIC_NUMBER,
    TOPICS,
    budget,
    fixes,
    has,
    per_scope,
)
from spec.variants import Switch

#: The fixes by which nobody else changes the request to reassign that a controller has read, unless answers are lost.
ONE_REQUEST_A_TERM = frozenset({Switch.FENCED_WRITES, Switch.CLEAR_CONTEXT, Switch.RESIGN_CLEANS_UP})


def _may_be_left(m: Model) -> bool:
    """An exception leaves nothing in the controller's own batch but where it meets a topic that is gone, or a send that
    failed since the term is over.
    """
    return m.loses_topics or (m.sends_after_terms and m.reintroduces(Switch.KEEP_DIRTY_BATCH))


def _may_come_again(m: Model) -> bool:
    """A topic that is new to the listener on topics is unknown, but where it was lost, and created again; or it was
    deleted, and the listener on its own znode finds it there again first, created or written back.
    """
    again = m.loses_topics and bool(m.scope.budget("creations"))
    return again or (m.has("addition") and m.has("deletion"))


def _another_may_stand(m: Model) -> bool:
    """The request in ZooKeeper is the one that was read, except where answers to writes of it may be lost.

    A fix goes by it wherever else another may be there: where a controller may write that is deposed, or that a term
    has left something to complete, and where a request may be removed by hand.
    """
    others = bool(m.scope.budget("move_withdrawals")) or not all(m.fixes(one) for one in ONE_REQUEST_A_TERM)
    return bool(m.scope.budget("move_losses")) or (m.fixes(Switch.KEEP_UNREAD_REQUESTS) and others)


def _has_another_writer(m: Model) -> bool:
    """Of AR: another controller, or somebody by hand. RAR may be in the ISR then, and not in AR any more."""
    return len(m.controllers) > 1 or bool(m.scope.budget("edits"))


def _something_comes_before(m: Model) -> bool:
    """Between the start of a broker and the deletions that it resumes come visits of partitions whose topics are not
    queued, and reassignments.
    """
    return m.has("reassignment") or m.has_several_topics


def _are_deletions_stopped(m: Model) -> bool:
    """A resignation stops deletions before it has the lock, which is modelled where a shutdown may come in between."""
    return "deletions_stopped_before_the_lock" in m.features and m.has("deletion") and m.has("shutdown")


NAMED = has("deletion") & ASSIGNMENTS
"""A topic may be known by its name only, without partitions."""


class LostTopics(Record):
    """What a controller keeps only where topics may be gone without its doing, or new to one listener only."""

    dirty = Flag(
        "The controller's own batch holds what an exception left in it.",
        kept=per_scope("an exception may leave something in the controller's own batch", _may_be_left),
    )
    started = Flag("The state machines are up.", kept=LOST_TOPICS)
    resigns_again = Flag("A failover has found the batch dirty: elect() is to resign for that, too.", kept=LOST_TOPICS)
    created = flags(
        TOPICS, "The creation of the topic is being handled.",
        kept=per_scope("a topic may be new to its listener, and something known of it", _may_come_again),
    )  # fmt: skip
    topic_ids = flags(TOPICS, "The id of the topic that the controller knows.", kept=TOPIC_IDS)


class FailedSends(Record, kept=budget("failed_sends")):
    """What a send that fails leaves behind. Kafka 0.10.2.2: `ControllerBrokerRequestBatch`. PROTOCOL.md section 9."""

    send_fails = Flag("The next batch of a state machine cannot be sent.")
    partition_batch_left = Flag("The partition state machine's batch holds what could not be sent.")
    replica_batch_left = Flag("The replica state machine's batch holds what could not be sent.")


class AllowedElections(Record):
    """What came of a topic's configuration. Kafka 2.1.0: `KafkaController.enableTopicUncleanLeaderElection`."""

    allowed = flags(
        TOPICS, "The topic was allowed to elect who is not in sync, and the controller has yet to look.",
        kept=fixes(Switch.ELECT_WHERE_ALLOWED) & has("partitions") & budget("unclean_changes"),
    )  # fmt: skip


class EarlyReads(GivenElections, kept=GIVEN):
    """What ZkClient has read for the listener at the head of its queue, which waits for the controller lock.

    ZkClient 0.10 `fireDataChangedEvents`, `fireChildChangedEvents`. PROTOCOL.md section 6.1.
    """

    given = Flag("The callback at the head has been read for; its listener waits for the lock.")
    given_id = Field(BROKER, 0, "The id in /controller that its listener is given; -1: there was none.")
    given_brokers = Field(BROKER_SET, (), "The children of /brokers/ids that their listener is given.")
    given_topics = flags(TOPICS, "The topic is among the children that the listener on topics is given.", kept=NAMED)
    given_requests = flags(
        TOPICS, "The topic is among the requests that the listener on deletions is given.",
        kept=has("deletion") & per_scope("a listener hears of them", lambda m: "heard_deletions" in m.features),
    )  # fmt: skip
    given_moves = Each(
        PARTITIONS, Field(BROKER_LIST, ()), "RAR in the request that the listener on reassignments is given.",
        kept=has("reassignment"),
    )  # fmt: skip
    stopped = Flag(
        "The listener is to resign, and has stopped the deletion thread and emptied what is queued.",
        kept=per_scope("a resignation stops deletions before it has the lock", _are_deletions_stopped),
    )


class Notifications(Record, kept=has("notifications")):
    """ISR change notifications. Kafka 0.10.2.2: `IsrChangeNotificationListener`. PROTOCOL.md section 7.7."""

    taken = Field(NOTIFICATION_SET, (), "The notifications that are being handled.")
    unread = Field(NOTIFICATION_SET, (), "Those that are yet to be read.", kept=has("notification_reads"))
    gone = Field(
        NOTIFICATION_SET, (),
        "Those that another controller has deleted meanwhile, by places in which others may stand by now.",
    )  # fmt: skip


class Reassigning(Record, kept=has("reassignment")):
    """Reassignments. Kafka 0.10.2.2: `ControllerContext.partitionsBeingReassigned`. PROTOCOL.md section 8."""

    remaining_read = Flag(
        "The request that stands in ZooKeeper is the very one that was read for the next write.",
        kept=per_scope("another request may stand by the next write", _another_may_stand),
    )
    reassigned = Each(PARTITIONS, Field(BROKER_LIST, ()), "RAR of a partition that is being reassigned; []: it is not.")
    due = Each(PARTITIONS, Field(BROKER_LIST, ()), "RAR of a partition with which the running handler has to begin.")
    reassigning = Field(PARTITION_NUMBER, 0, "The partition that is in work.")
    leaving = Field(BROKER_SET, (), "Its replicas that are to go.")
    outside = Field(
        BROKER_SET, (), "Those of RAR that AR does not have; they are in the ISR, and step 7 tells them nothing.",
        kept=per_scope("AR has another writer than the controller", _has_another_writer),
    )  # fmt: skip
    remaining = Each(PARTITIONS, Field(BROKER_LIST, ()), "What the next write of /admin/reassign_partitions will say.")
    isr_listening = flags(PARTITIONS, "The listener on the state znode is subscribed.")
    isr_watching = flags(PARTITIONS, "The watch on the state znode is set.")
    concerns = Each(PLACES, Field(PARTITION_NUMBER, 0), "The partition, or topic, that the callback there is about.")


class TopicListeners(Record, kept=has("addition")):
    """The listeners on the topics' own znodes. Kafka 0.10.2.2: `PartitionModificationsListener`."""

    topic_listening = flags(TOPICS, "The listener on the topic's znode is subscribed.")
    topic_watching = flags(TOPICS, "The watch on the topic's znode is set.")
    concerns = Each(
        PLACES, Field(PARTITION_NUMBER, 0), "The topic that the callback there is about.",
        kept=has("reassignment") | SEVERAL_TOPICS,
    )  # fmt: skip


class DeletionManager(Record, kept=has("deletion")):
    """The deletion of topics. Kafka 0.10.2.2: `TopicDeletionManager`. PROTOCOL.md section 7.4."""

    resuming = flags(
        TOPICS, "The topic is held back no more once the start of brokers is handled.",
        kept=per_scope("something may come before deletions are resumed", _something_comes_before),
    )  # fmt: skip
    to_queue = flags(
        TOPICS, "The listener queues the topic once it has dropped the requests for others.", kept=SEVERAL_TOPICS
    )
    queued = flags(TOPICS, "The topic is queued for deletion: topicsToBeDeleted.")
    doomed = flags(PARTITIONS, "The partition was its topic's when that was queued: partitionsToBeDeleted.")
    ineligible = flags(TOPICS, "The deletion is held back: topicsIneligibleForDeletion.")
    modified = flags(TOPICS, "The controller listens to the topic's znode: partitionModificationsListeners.")
    woken = Flag("The deletion thread is woken.")
    turns = flags(TOPICS, "The thread, which has the lock, has yet to turn to the topic.")
    topic = Field(TOPIC_NUMBER, 0, "The topic that the thread is busy with.")
    unanswered = flags(
        PARTITIONS, "The answer to the delete of the partition's znodes is lost; ZkClient deletes again.",
        kept=budget("deletion_losses"),
    )  # fmt: skip
    retried = Each(PARTITIONS, Field(BROKER_SET, ()), "Replicas whose deletion failed, while they are taken Offline.")
