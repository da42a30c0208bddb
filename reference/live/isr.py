"""The leader's changes of its ISRs, by the clock: a follower that was not heard of leaves, one that follows comes back.

A follower is heard of by its fetches (`live.fetching`). Those that were silent for the lag time are taken out of the
ISR; one that follows, and is not in the ISR, is taken in before its fetch is answered, in whichever leader epoch it
follows (D58), unless that is fixed. Where the write fails because the znode is not as the leader believes, it tries
again some time later with the same version (D6). Changes are announced in one notification, once there have been none
for a while.

Kafka 0.10.2.2: `Partition.maybeShrinkIsr`, `maybeExpandIsr`, `ReplicaManager.maybePropagateIsrChanges`. PROTOCOL.md
section 10.
"""

import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from reference.broker_events.isr_notification import maybe_propagate_isr_changes
from reference.brokers.broker import Broker, Partition
from reference.brokers.isr import maybe_expand_isr, maybe_shrink_isr
from reference.live.fetching import INTERVAL_SECONDS, Fetch, Followed
from reference.live.outside import BLACK_OUT_SECONDS
from reference.live.zkclient import ZkClient
from reference.procedures import THROWABLE, Procedure
from spec.formats.kafka_types import TopicPartition

RECENT_SECONDS: Final = 3 * INTERVAL_SECONDS
"""A fetch that waited longer for its turn does not show that the follower is there now."""

Follower = tuple[TopicPartition, int | None, int]
"""A partition, its leader epoch where that counts, and a replica."""


@dataclass
class IsrManager:
    """The thread of a broker that changes the ISRs it leads; it holds the broker's lock meanwhile."""

    broker: Broker
    lock: threading.RLock
    zookeeper: ZkClient
    lag_seconds: float
    compares_epochs: bool = field(default=False, kw_only=True)
    _heard: dict[Follower, float] = field(default_factory=dict)
    _led_since: dict[tuple[TopicPartition, int], float] = field(default_factory=dict)
    _not_before: dict[TopicPartition, float] = field(default_factory=dict)
    _changed_at: float = 0.0

    def start(self) -> None:
        """Begin."""
        threading.Thread(target=self._run, name="isr-expiration", daemon=True).start()

    def hear(self, fetch: Fetch) -> None:
        """A follower lives, and follows in these epochs: where it is not in the ISR, it has caught up, and comes in."""
        now = time.monotonic()
        for one in fetch.partitions:
            self._heard[self._follower(one.topic_partition, one.leader_epoch, fetch.replica_id)] = now
        with self.lock:
            for one in fetch.partitions:
                is_recent = time.monotonic() - now < RECENT_SECONDS
                if is_recent and self._is_missed(one, fetch.replica_id, now):
                    change = maybe_expand_isr(self.broker, one.topic_partition, fetch.replica_id)
                    self._change(change, one.topic_partition, now)

    def _is_missed(self, followed: Followed, replica: int, now: float) -> bool:
        """Whether a follower is assigned, is not in the ISR, and may be taken in."""
        known = self.broker.partitions.get(followed.topic_partition)
        if known is None or not self._may_change(followed.topic_partition, known, now):
            return False
        counts = known.leadership.leader_epoch == followed.leader_epoch or not self.compares_epochs
        return counts and replica in {*known.assigned_replicas} - {*known.leadership.isr}

    def _run(self) -> None:
        """`KafkaScheduler`: what a run raises ends that run, and the next comes in its time."""
        while True:
            time.sleep(INTERVAL_SECONDS)
            with self.lock, suppress(*THROWABLE):
                self.change_isrs(time.monotonic())

    def change_isrs(self, now: float) -> None:
        """Do what is due at this moment: laggards leave, all of a partition at once; what changed is announced."""
        for partition, known in list(self.broker.partitions.items()):
            if self._may_change(partition, known, now):
                silent = self._silent(partition, known, now)
                if silent:
                    self._change(maybe_shrink_isr(self.broker, partition, *silent), partition, now)
        if self.broker.isr_changes and now - self._changed_at >= BLACK_OUT_SECONDS:
            self.zookeeper.complete(maybe_propagate_isr_changes(self.broker, self.broker.isr_changes))

    def _may_change(self, partition: TopicPartition, known: Partition, now: float) -> bool:
        """Whether this broker leads a partition, and has not failed to change its ISR just now."""
        return known.leadership.leader == self.broker.broker_id and now >= self._not_before.get(partition, 0.0)

    def _silent(self, partition: TopicPartition, known: Partition, now: float) -> tuple[int, ...]:
        """The members of the ISR that were not heard of for the lag time."""
        epoch = known.leadership.leader_epoch
        led_since = self._led_since.setdefault((partition, epoch), now)
        followers = {r: self._follower(partition, epoch, r) for r in known.assigned_replicas}
        heard = {r: max(self._heard.get(one, led_since), led_since) for r, one in followers.items()}
        late = {r for r, then in heard.items() if r != self.broker.broker_id and now - then > self.lag_seconds}
        return tuple(r for r in known.leadership.isr if r in late)

    def _follower(self, partition: TopicPartition, leader_epoch: int, replica: int) -> Follower:
        """Whom a fetch is of: one in any leader epoch, since it names none; with the fix, one in this epoch."""
        return partition, leader_epoch if self.compares_epochs else None, replica

    def _change(self, change: Procedure[bool], partition: TopicPartition, now: float) -> None:
        """Have replicas leave the ISR, or one come in; a failure is not repeated at once."""
        if self.zookeeper.complete(change):
            self._changed_at = now
        else:
            self._not_before[partition] = now + self.lag_seconds
