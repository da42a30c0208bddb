"""The topic deletion manager's memory: which topics are queued for deletion, which are held back, whether it is woken.

A topic is queued from the request to the end of its deletion. A mark as ineligible holds a queued topic back; the mark
of a topic that is not queued is lost (D44), and the mark of one whose deletion completes stays (D45).

Kafka 0.10.2.2: `TopicDeletionManager`: `enqueueTopicsForDeletion`, `markTopicIneligibleForDeletion`,
`resumeDeletionForTopics`, `failReplicaDeletion`. PROTOCOL.md section 7.4.
"""

from collections.abc import Collection, Iterable

from reference.controller.controller import KafkaController
from reference.leadership.effects import Replica
from reference.leadership.replicas import logged, set_deletion_ended
from spec.logs.controller_log.topic_deletion import DeletionHalted, ReplicaDeletionFailed
from spec.tables.replica_states import ReplicaState
from spec.variants import Switch


def enqueue(controller: KafkaController, topics: Collection[str]) -> None:
    """Queue topics, with the partitions that are known of them by now."""
    controller.deleting.queued |= set(topics)
    doom(controller, topics)


def doom(controller: KafkaController, topics: Iterable[str]) -> None:
    """From now on every UpdateMetadata says that the partitions which are known of topics by now are removed."""
    controller.deleting.partitions |= {tp for topic in topics for tp in controller.context.partitions_of(topic)}


def hold_back(controller: KafkaController, topics: Iterable[str]) -> None:
    """Mark topics as ineligible for deletion, which does nothing to those that are not queued (yet)."""
    halted = controller.deleting.queued & set(topics)
    controller.deleting.ineligible |= halted
    if halted:
        controller.report(DeletionHalted, topics=tuple(sorted(halted)))


def resume_deletion(controller: KafkaController, topics: Iterable[str]) -> None:
    """What held topics back is over: those that are queued are not held back any more."""
    resumed = controller.deleting.queued & set(topics)
    if not resumed:
        return
    still = frozenset(topic for topic in resumed if is_let_alone(controller, topic))
    controller.deleting.ineligible = controller.deleting.ineligible - resumed | still
    controller.deleting.woken = True


def is_let_alone(controller: KafkaController, topic: str) -> bool:
    """Whether a topic that is being reassigned or elected for stays as it is (a fix)."""
    return controller.fixes(Switch.MARK_WHAT_IS_QUEUED) and controller.context.is_busy(topic)


def fail_deletion(controller: KafkaController, replicas: Iterable[Replica], *, holds_back: bool = True) -> None:
    """Replicas of queued topics are not deleted, or are so no more; the topics are held back, the thread is woken.

    What a broker could not delete `holds_back` nothing where that is fixed.
    """
    failed = [key for key in replicas if key[0].topic in controller.deleting.queued]
    if not failed:
        return
    topics = frozenset(partition.topic for partition, _ in failed)
    controller.report(ReplicaDeletionFailed, replicas=logged(failed), topics=tuple(sorted(topics)))
    set_deletion_ended(controller, failed, ReplicaState.DELETION_INELIGIBLE)
    if holds_back:
        hold_back(controller, topics)
    controller.deleting.woken = True
