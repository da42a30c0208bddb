"""CreateTopics requests that wait for leaders: the metadata cache, the operation, and the two handlers that meet in it.

Kafka 0.10.2.2: `DelayedCreateTopics`, `AdminManager.createTopics`, `KafkaApis.handleUpdateMetadataRequest`,
`MetadataCache`. PROTOCOL.md section 11.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from reference.purgatory.operations import DelayedOperation, Pieces, Point
from reference.purgatory.purgatory import Purgatory
from spec.formats.error_codes import ErrorCode
from spec.formats.kafka_types import TopicPartition
from spec.state.purgatory import At
from spec.variants import AS_CODED, Switch, Switches

NO_LEADER, LEADER_DURING_DELETE = -1, -2
Answers = Mapping[str, int]
"""An error code for each topic that a request named."""


@dataclass(frozen=True)
class Creation:
    """What became of the creation of one topic in ZooKeeper: its partitions, or an error."""

    topic: str
    partitions: int
    error: int = ErrorCode.NONE


class MetadataCache:
    """The leaders of all partitions, as the controller's last UpdateMetadata said."""

    def __init__(self) -> None:
        self._leaders: dict[TopicPartition, int] = {}
        self._lock = threading.Lock()

    def update(self, leaders: Mapping[TopicPartition, int]) -> None:
        """Take over what a request says; a partition that is being deleted is not here any more."""
        with self._lock:
            self._leaders.update(leaders)
            for deleted in [one for one, leader in leaders.items() if leader == LEADER_DURING_DELETE]:
                del self._leaders[deleted]

    def has_leader(self, partition: TopicPartition) -> bool:
        """Whether a partition is here, with a leader."""
        with self._lock:
            return self._leaders.get(partition, NO_LEADER) != NO_LEADER

    def missing_leaders(self, one: Creation) -> int:
        """How many partitions of a topic are not here, or without a leader."""
        with self._lock:
            found = [self._leaders.get(TopicPartition(one.topic, p), NO_LEADER) for p in range(one.partitions)]
        return found.count(NO_LEADER)


class DelayedCreateTopics(DelayedOperation):
    """The operation of one request: it waits until every partition of every topic that was created has a leader."""

    def __init__(
        self,
        delay: float,
        creations: Sequence[Creation],
        cache: MetadataCache,
        respond: Callable[[Answers], None],
        fixes: Switches = AS_CODED,
    ) -> None:
        super().__init__(delay)
        self.creations, self._cache, self._respond, self._fixes = creations, cache, respond, fixes

    def is_complete(self) -> bool:
        """Whether no partition of a created topic lacks its leader."""
        return not any(self._cache.missing_leaders(one) for one in self.creations if one.error == ErrorCode.NONE)

    def on_complete(self) -> None:
        """Answer: a topic with an error keeps it; one that lacks a leader now has timed out."""
        self._respond({one.topic: self._answer(one) for one in self.creations})

    def _answer(self, one: Creation) -> int:
        found = self.is_by_condition and Switch.ANSWER_AS_FOUND in self._fixes
        if one.error != ErrorCode.NONE or found or not self._cache.missing_leaders(one):
            return one.error
        return ErrorCode.REQUEST_TIMED_OUT


def answer_at_once(creations: Sequence[Creation]) -> Answers:
    """The answer where nobody waits; the cache is not asked."""
    return {one.topic: one.error or int(ErrorCode.REQUEST_TIMED_OUT) for one in creations}


def create_topics(
    cache: MetadataCache,
    creations: Sequence[Creation],
    timeout: float,
    respond: Callable[[Answers], None],
    fixes: Switches = AS_CODED,
) -> DelayedCreateTopics | None:
    """What a request waits in, after its topics were created in ZooKeeper; None if it was answered at once."""
    if timeout <= 0 or all(one.error != ErrorCode.NONE for one in creations):
        respond(answer_at_once(creations))
        return None
    return DelayedCreateTopics(timeout, creations, cache, respond, fixes)


def wait_for_leaders(purgatory: Purgatory, operation: DelayedCreateTopics) -> Pieces[bool]:
    """Complete a request's operation, or leave it in the purgatory under each topic that the request named."""
    return purgatory.try_complete_else_watch(operation, [one.topic for one in operation.creations])


def handle_update_metadata(
    purgatory: Purgatory, cache: MetadataCache, leaders: Mapping[TopicPartition, int]
) -> Pieces[int]:
    """Take over the leaders, and try what is watched under the topics named; how many operations that completed."""
    yield Point(At.IDLE)
    cache.update(leaders)
    yield Point(At.COUNT_DELAYED)
    done = 0
    if purgatory.delayed:
        for topic in dict.fromkeys(one.topic for one in leaders):
            done += yield from purgatory.check_and_complete(topic)
    return done
