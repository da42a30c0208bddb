"""Requests to delete topics: what the listener of /admin/delete_topics makes of them, and what a new controller does.

The listener queues the topics that are known and drops the requests for all others. A new controller queues what is
asked for, known or not, and holds back what has a dead replica, or is busy. With `delete.topic.enable` off both drop
all requests, the listener those for unknown topics first, and nothing is ever queued (KAFKA-3175). Before 0.10.2.0
there is no listener then, and the requests stay (D71).

Kafka 0.10.2.2: `PartitionStateMachine.DeleteTopicsListener`, `KafkaController.initializeTopicDeletion`. PROTOCOL.md
section 7.4.
"""

from collections.abc import Iterable

from reference.controller.context import Deleting
from reference.controller.controller import KafkaController
from reference.deletion.queue import doom, enqueue, hold_back
from reference.procedures import Effect, Procedure, Script, any_of
from reference.scripts import DELETE_TOPICS, Fence, check, children_of, delete_recursively, delete_topic_path
from spec.logs.controller_log.failover import IneligibleTopics, TopicsToBeDeleted
from spec.logs.controller_log.topic_deletion import (
    DeletionQueued,
    DeletionRequested,
    RequestRefused,
    RequestRefusedAtStart,
    UnknownTopicsIgnored,
)
from spec.logs.log_lines import Line
from spec.state.enumerations import At, DeletionThread, Handler
from spec.variants import Switch

Topics = frozenset[str]


def _read_requests() -> Script[Topics]:
    """The topics whose deletion is asked for."""
    return frozenset((yield from children_of(DELETE_TOPICS)) or ())


class OnDeletionChange(Effect[Topics]):
    """A child callback of /admin/delete_topics: the topics whose deletion is asked for."""

    given: Topics | None = None

    def script(self) -> Script[Topics]:
        """Children."""
        return self.given if self.given is not None else (yield from _read_requests())


class ReadDeletions(Effect[Topics]):
    """Failover: the topics whose deletion is asked for."""

    at = At.READ_DELETIONS
    parts = frozenset({"deletion"})
    script = staticmethod(_read_requests)


class DropRequest(Effect[None]):
    """A request to delete a topic that is not known goes; `remaining` are all such topics, `known` come after them."""

    topic: str
    remaining: Topics
    known: Topics
    fence: Fence | None
    at = At.DROP_REQUEST

    def script(self) -> Script[None]:
        """`deletePathRecursive`."""
        yield from check(self.fence)
        yield from delete_recursively(delete_topic_path(self.topic))


def on_deletion_change(controller: KafkaController, given: Topics | None = None) -> Procedure[None]:
    """`DeleteTopicsListener`: requests for unknown topics are dropped, then the others are queued, the thread is woken.

    A topic that is being elected for or reassigned is marked ineligible before it is queued, which is in vain (D44).
    """
    requested = yield from OnDeletionChange(given)
    known, unknown = requested & controller.context.all_topics, requested - controller.context.all_topics
    controller.report(DeletionRequested, topics=listed(requested))
    if unknown:
        controller.report(UnknownTopicsIgnored, topics=listed(unknown))
        yield from _drop_requests(controller, unknown, known)
    if not controller.configuration.deletes_topics:
        yield from _drop_requests(controller, known, frozenset(), RequestRefused)
        return
    if known:
        controller.report(DeletionQueued, topics=listed(known))
    if not known or controller.deletion is DeletionThread.NONE:
        return
    if controller.fixes(Switch.MARK_WHAT_IS_QUEUED):
        enqueue(controller, known)
    for topic in filter(controller.context.is_busy, sorted(known)):
        hold_back(controller, [topic])
    enqueue(controller, known)
    controller.deleting.woken = True


def _drop_requests(
    controller: KafkaController, dropped: Topics, known: Topics, line: type[Line] | None = None
) -> Procedure[None]:
    """Delete requests, each with a line if there is one for it; what is known comes after them."""
    while dropped:
        topic, _ = yield from any_of({one: DropRequest(one, dropped, known, controller.fence) for one in dropped})
        if line is not None:
            controller.report(line, topic=topic)
        dropped -= {topic}


def initialize_topic_deletion(controller: KafkaController) -> Procedure[None]:
    """Failover: queue what is asked for, known or not; a topic that has a dead replica, or is busy, is held back.

    Before 0.10.2.0 the requests stay where topics are not deleted, and every UpdateMetadata says that their partitions
    are removed (D71).
    """
    requested = yield from ReadDeletions()
    context = controller.context
    assigned = context.partition_replica_assignment.items()
    dead = {tp.topic for tp, replicas in assigned if not controller.live.issuperset(replicas)}
    busy = {tp.topic for tp in (*context.partitions_being_reassigned, *context.partitions_undergoing_election)}
    ineligible = dead | busy
    controller.report(TopicsToBeDeleted, topics=listed(requested))
    controller.report(IneligibleTopics, topics=listed(ineligible))
    controller.deleting = Deleting()
    controller.topic_listeners = context.all_topics
    if controller.configuration.deletes_topics:
        enqueue(controller, requested)
        controller.deleting.ineligible = requested & ineligible
    elif controller.reintroduces(Switch.LEAVE_REFUSED_DELETIONS):
        doom(controller, requested)
    elif requested:
        controller.is_about(handler=Handler.FAILOVER)
        yield from _drop_requests(controller, requested, frozenset(), RequestRefusedAtStart)
        controller.is_about(handler=Handler.NONE)
    controller.deletion = DeletionThread.MANAGER_ONLY


def listed(topics: Iterable[str]) -> tuple[str, ...]:
    """Topics as controller.log has them."""
    return tuple(sorted(topics))
