"""The leader's changes of its ISRs, by the clock: who was not heard of leaves, who follows comes back.

A follower is heard of by its fetches (`live.fetching`). One that was silent for the lag time is taken out of the ISR;
one that follows in this leader's epoch, and is not in the ISR, is taken in before its fetch is answered. Where the
write fails because the znode is not as the leader believes, it tries again some time later with the same version (D6).
Changes are announced in one notification, once there have been none for a while.

Kafka 0.10.2.2: `Partition.maybeShrinkIsr`, `maybeExpandIsr`, `ReplicaManager.maybePropagateIsrChanges`. PROTOCOL.md
section 10.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from reference.broker_events.isr_notification import maybe_propagate_isr_changes
from reference.brokers.broker import Broker, Partition
from reference.live.fetching import INTERVAL_SECONDS, Fetch, Followed
from reference.live.zkclient import ZkClient
from reference.procedures import THROWABLE, Procedure
from spec.formats.kafka_types import TopicPartition

RECENT_SECONDS: Final = 3 * INTERVAL_SECONDS
"""A fetch that waited longer for its turn tells nothing of who is there now."""
BLACK_OUT_SECONDS: Final = 1.0
"""How long no ISR must have changed before changes are announced (`IsrChangePropagationBlackOut`, 5 s)."""

Follower = tuple[TopicPartition, int, int]
"""A partition, its leader epoch, and a replica."""
Change = Callable[[TopicPartition, int], Procedure[bool]]


class IsrManager:
    """The thread of a broker that changes the ISRs it leads; it holds the broker's lock meanwhile."""

    def __init__(self, broker: Broker, lock: threading.RLock, zookeeper: ZkClient, lag_seconds: float) -> None:
        self._broker = broker
        self._lock = lock
        self._zookeeper = zookeeper
        self._lag_seconds = lag_seconds
        self._heard: dict[Follower, float] = {}
        self._led_since: dict[tuple[TopicPartition, int], float] = {}
        self._not_before: dict[TopicPartition, float] = {}
        self._changed_at = 0.0

    def start(self) -> None:
        """Begin."""
        threading.Thread(target=self._run, name="isr-expiration", daemon=True).start()

    def hear(self, fetch: Fetch) -> None:
        """A follower lives, and follows in these epochs: where it is not in the ISR, it has caught up, and comes in."""
        now = time.monotonic()
        for one in fetch.partitions:
            self._heard[one.topic_partition, one.leader_epoch, fetch.replica_id] = now
        with self._lock:
            for one in fetch.partitions:
                is_recent = time.monotonic() - now < RECENT_SECONDS
                if is_recent and self._is_missed(one, fetch.replica_id, now):
                    self._change(one.topic_partition, self._broker.maybe_expand_isr, fetch.replica_id, now)

    def _is_missed(self, followed: Followed, replica: int, now: float) -> bool:
        """Whether a follower in this leader's epoch is assigned, is not in the ISR, and may be taken in."""
        known = self._broker.partitions.get(followed.topic_partition)
        if known is None or not self._may_change(followed.topic_partition, known, now):
            return False
        is_missed = replica in known.assigned_replicas and replica not in known.leadership.isr
        return is_missed and known.leadership.leader_epoch == followed.leader_epoch

    def _run(self) -> None:
        """`KafkaScheduler`: what a run raises ends that run, and the next comes in its time."""
        while True:
            time.sleep(INTERVAL_SECONDS)
            with self._lock, suppress(*THROWABLE):
                self.change_isrs(time.monotonic())

    def change_isrs(self, now: float) -> None:
        """Do what is due at this moment: one replica of a partition leaves at a time; what changed is announced."""
        for partition, known in list(self._broker.partitions.items()):
            if self._may_change(partition, known, now):
                silent = self._silent(partition, known, now)
                if silent is not None:
                    self._change(partition, self._broker.maybe_shrink_isr, silent, now)
        if self._broker.isr_changes and now - self._changed_at >= BLACK_OUT_SECONDS:
            self._zookeeper.complete(maybe_propagate_isr_changes(self._broker, self._broker.isr_changes))

    def _may_change(self, partition: TopicPartition, known: Partition, now: float) -> bool:
        """Whether this broker leads a partition, and has not failed to change its ISR just now."""
        return known.leadership.leader == self._broker.broker_id and now >= self._not_before.get(partition, 0.0)

    def _silent(self, partition: TopicPartition, known: Partition, now: float) -> int | None:
        """The first member of the ISR that was not heard of for the lag time."""
        epoch, isr = known.leadership.leader_epoch, known.leadership.isr
        led_since = self._led_since.setdefault((partition, epoch), now)
        for replica in known.assigned_replicas:
            heard = self._heard.get((partition, epoch, replica), led_since)
            if replica in isr and replica != self._broker.broker_id and now - heard > self._lag_seconds:
                return replica
        return None

    def _change(self, partition: TopicPartition, change: Change, replica: int, now: float) -> None:
        """Have a replica leave the ISR, or come in; a failure is not repeated at once."""
        if self._zookeeper.complete(change(partition, replica)):
            self._changed_at = now
        else:
            self._not_before[partition] = now + self._lag_seconds
