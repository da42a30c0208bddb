"""Topic deletion: from the request in /admin/delete_topics to the last znode of the topic.

A listener queues the topic and wakes the deletion thread. That takes the controller lock, once for all queued topics,
and turns to each: if every replica is deleted, it completes the deletion; else, unless a deletion is under way, it
takes failed replicas Offline and, if the topic is not held back, starts (again). Starting takes the live replicas
Offline and sends each a StopReplica with delete; the dead hold the topic back. The answer comes on the sender's thread,
whose callback takes the controller lock, too. An exception ends the thread; the next controller begins every deletion
from the start.

Left out: that the thread ends where an assigned replica has no state, since no move of it was ever asked for (S8).

Kafka 0.10.2.2: `TopicDeletionManager`. PROTOCOL.md section 7.4. The requests are described in `requests.py`, the
end of a deletion in `completion.py`.
"""

from reference.controller.context import Activity
from reference.controller.controller import KafkaController
from reference.controller.controller_batch import send_update_metadata
from reference.deletion.completion import complete_delete_topic, in_state, list_partitions
from reference.deletion.queue import fail_deletion, hold_back, is_let_alone
from reference.deletion.requests import Topics, listed
from reference.journal import Milestone, TurnedTo
from reference.leadership.effects import Partitions
from reference.leadership.replicas import logged, set_deletion_ended, set_deletion_started, set_offline
from reference.procedures import THROWABLE, Effect, Procedure, Script, any_of
from spec.formats.error_codes import ErrorCode
from spec.formats.kafka_types import TopicPartition
from spec.formats.request_schemas import PartitionsResponse, StopReplicaRequest
from spec.logs.controller_log import topic_deletion as lines
from spec.logs.controller_log.channels import DeletionThreadFailed
from spec.logs.logged_answers import Answer
from spec.state.enumerations import At, DeletionThread, Handler
from spec.tables.replica_states import ReplicaState
from spec.variants import Switch


def start_deletion_thread(controller: KafkaController) -> None:
    """Failover, the last of it: the thread, which waits unless something is queued."""
    controller.deletion = DeletionThread.RUNNING
    controller.deleting.woken = True
    _wait(controller)


# ---------------------------------------------------------------------------------------------- the thread's decisions


class DeleteQueuedTopic(Effect["Partitions | None"]):
    """The thread turns to a topic; where its deletion is to be completed, what is below its znode is listed."""

    topic: str
    remaining: Topics
    completes: bool
    at = At.DELETE_QUEUED

    @property
    def needs_session(self) -> bool:
        """Whether there is something to list."""
        return self.completes

    def script(self) -> Script[Partitions | None]:
        """List it, or do nothing."""
        return (yield from list_partitions(self.topic)) if self.completes else None


def is_due(controller: KafkaController) -> bool:
    """Whether the thread is woken, and something is queued."""
    deleting = controller.deleting
    return controller.deletion is DeletionThread.RUNNING and deleting.woken and bool(deleting.queued)


def delete_topics(controller: KafkaController) -> Procedure[None]:
    """`DeleteTopicsThread.doWork`: turn to every queued topic; an exception ends the thread."""
    controller.deleting.woken = False
    controller.report(lines.HandlingDeletion, topics=listed(controller.deleting.queued))
    left = frozenset(controller.deleting.queued)
    try:
        while left:
            turns = {one: DeleteQueuedTopic(one, left, is_deleted(controller, one)) for one in left}
            topic, below = yield from any_of(turns)
            left -= {topic}
            controller.journal(TurnedTo(controller.broker_id, topic))
            controller.is_about(topic=topic, turns=left)
            yield from _delete(controller, topic, below)
            controller.activity = Activity()
    except THROWABLE:
        controller.deletion = DeletionThread.ENDED
        controller.reach(Milestone.DELETION_THREAD_ENDED)
        controller.report(DeletionThreadFailed)
    else:
        _wait(controller)
    finally:
        controller.activity = Activity()


def _wait(controller: KafkaController) -> None:
    if not is_due(controller):
        controller.report(lines.WaitingForSignal)


def is_deleted(controller: KafkaController, topic: str) -> bool:
    """`areAllReplicasForTopicDeleted`, also where there is none."""
    replicas = controller.context.replicas_of(topic)
    return len(in_state(controller, topic, ReplicaState.DELETION_SUCCESSFUL)) == len(replicas)


def _delete(controller: KafkaController, topic: str, below: Partitions | None) -> Procedure[None]:
    """Complete the deletion if all replicas are deleted; retry what failed; then start it if it is to be started."""
    started = in_state(controller, topic, ReplicaState.DELETION_STARTED)
    if is_deleted(controller, topic):
        yield from complete_delete_topic(controller, topic, below)
        controller.report(lines.TopicDeleted, topic=topic)
    elif started:
        replicas, partitions = sorted({r for _, r in started}), sorted({tp for tp, _ in started})
        controller.report(lines.DeletionInProgress, replicas=tuple(replicas), partitions=tuple(partitions), topic=topic)
    elif not is_let_alone(controller, topic):
        yield from _retry(controller, topic)
    under_way = bool(in_state(controller, topic, ReplicaState.DELETION_STARTED))
    ineligible = topic in controller.deleting.ineligible
    if topic in controller.deleting.queued and not under_way and not ineligible:
        controller.report(lines.DeletionBegun, topic=topic)
        yield from _start(controller, topic)
    elif ineligible:
        controller.report(lines.DeletionIneligible, topic=topic)


def _retry(controller: KafkaController, topic: str) -> Procedure[None]:
    """`markTopicForDeletionRetry`: what failed goes Offline, even if the topic is held back."""
    failed = in_state(controller, topic, ReplicaState.DELETION_INELIGIBLE)
    if failed:
        controller.report(lines.DeletionRetried, topic=topic, replicas=logged(failed))
        controller.is_about(retried=frozenset(failed))
        yield from set_offline(controller, failed, Handler.DELETION_RETRY)
        controller.is_about(handler=Handler.NONE, retried=frozenset())


def _start(controller: KafkaController, topic: str) -> Procedure[None]:
    """`onTopicDeletion`: send UpdateMetadata to all, then StopReplica to live replicas; a dead one holds it back."""
    controller.report(lines.TopicDeletionStarted, topics=(topic,))
    partitions = controller.context.partitions_of(topic)
    controller.is_about(handler=Handler.DELETION_START)
    yield from send_update_metadata(controller, partitions)
    controller.report(lines.PartitionDeletionStarted, partitions=partitions)
    replicas = controller.context.replicas_of(topic)
    dead = [key for key in replicas if key[1] not in controller.live]
    set_deletion_ended(controller, dead, ReplicaState.DELETION_INELIGIBLE)
    deleted = {*dead, *in_state(controller, topic, ReplicaState.DELETION_SUCCESSFUL)}
    chosen = [key for key in replicas if key not in deleted]
    yield from set_offline(controller, chosen, Handler.DELETION_START)
    controller.report(lines.ReplicaDeletionStarted, replicas=logged(chosen))
    set_deletion_started(controller, chosen, calls_back=True)
    if dead:
        controller.report(lines.DeadReplicasFound, replicas=logged(dead), topic=topic)
        hold_back(controller, (topic,))


# --------------------------------------------------------------------------------------------------------- the answer


def on_replica_deleted(
    controller: KafkaController, broker: int, request: StopReplicaRequest, answer: PartitionsResponse
) -> None:
    """`deleteTopicStopReplicaCallback`, on the sender's thread: what was deleted is remembered, the thread is woken.

    What could not be deleted holds its topic back (D72). An answer that names no partition (the request was refused as
    a whole) changes nothing (D46).
    """
    controller.report(lines.DeletionAnswered, answer=Answer(answer))
    refused = answer.error_code is not ErrorCode.NONE
    named = {TopicPartition(one.topic, one.partition): one.error_code for one in answer.partitions}
    failed = {tp for tp, code in named.items() if refused or code is not ErrorCode.NONE}
    if refused and controller.fixes(Switch.REFUSED_DELETIONS_FAIL):
        failed = set(request.partitions)
    holds_back = refused or not controller.fixes(Switch.RETRY_FAILED_DELETIONS)
    fail_deletion(controller, [(tp, broker) for tp in sorted(failed)], holds_back=holds_back)
    if named.keys() - failed:
        deleted = [(tp, broker) for tp in sorted(named.keys() - failed) if tp.topic in controller.deleting.queued]
        controller.report(lines.ReplicasDeleted, replicas=logged(deleted))
        set_deletion_ended(controller, deleted, ReplicaState.DELETION_SUCCESSFUL)
        controller.deleting.woken = True
