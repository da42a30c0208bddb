"""Fetching, reduced to a sign of life: a follower tells the leaders that it follows them, some times a second.

In Kafka a follower's fetch says how far its log has come, and a leader takes into the ISR a follower that has caught
up. Logs are not part of the specification: a follower that lives and follows in the leader's own epoch has caught up,
and one that has not been heard of for a while lags. So the frame here has nothing of Kafka's Fetch but its number: the
follower, and its leader epoch. An empty frame answers it, and only one is on its way at a time.

Kafka 0.10.2.2: `ReplicaFetcherThread`, `Partition.updateReplicaLogReadResult`. PROTOCOL.md section 10.
"""

import socket
import threading
import time
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Final

from reference.brokers.broker import Broker
from reference.live.frames import Address, connect, receive_frame, send_frame
from spec.errors import Where
from spec.formats.kafka_types import PartitionId, Topic, TopicPartition
from spec.formats.request_schemas import I32
from spec.formats.wire import ArrayOf, Source, Struct

API_KEY: Final = (1).to_bytes(2, "big")
"""What a fetch begins with, and no request of a controller does."""
INTERVAL_SECONDS: Final = 0.05
TIMEOUT_SECONDS: Final = 0.5


@dataclass(frozen=True)
class Followed:
    """A partition that is followed, in a leader epoch."""

    topic: Topic
    partition: PartitionId
    leader_epoch: I32

    @property
    def topic_partition(self) -> TopicPartition:
        """Which partition it is."""
        return TopicPartition(self.topic, self.partition)


@dataclass(frozen=True)
class Fetch:
    """A follower's sign of life."""

    replica_id: I32
    partitions: Annotated[tuple[Followed, ...], ArrayOf(Struct(Followed))]


FETCH: Final = Struct(Fetch)


def encode_fetch(fetch: Fetch) -> bytes:
    """The frame of a fetch."""
    return API_KEY + FETCH.encode(fetch, 0, Where("fetch"))


def decode_fetch(data: bytes) -> Fetch:
    """The fetch that a frame is; MalformedInput names the field that is wrong."""
    source = Source(data, Where("fetch"), at=len(API_KEY))
    fetch: Fetch = FETCH.decode(source, 0)
    source.within(Where("fetch")).end()
    return fetch


class Fetcher:
    """The thread of a broker that tells leaders it follows them; `addresses` are those of its metadata cache."""

    def __init__(self, broker: Broker, addresses: Mapping[int, Address]) -> None:
        self._broker = broker
        self._addresses = addresses
        self._connections: dict[Address, socket.socket] = {}
        self._lagging_until = 0.0
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ReplicaFetcherThread", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End; a fetch that is on its way is answered first, or given up."""
        self._stopping.set()
        self._thread.join()
        for connection in self._connections.values():
            connection.close()

    def lag(self, seconds: float) -> None:
        """Tell nobody anything for so long."""
        self._lagging_until = time.monotonic() + seconds

    def _run(self) -> None:
        while not self._stopping.wait(INTERVAL_SECONDS):
            if time.monotonic() < self._lagging_until:
                continue
            for address, partitions in self._followed().items():
                self._fetch(address, Fetch(self._broker.broker_id, tuple(partitions)))

    def _followed(self) -> Mapping[Address, list[Followed]]:
        """What this broker follows, by the address of the leader."""
        followed = defaultdict(list)
        for partition, known in dict(self._broker.partitions).items():
            leader, epoch = known.leadership.leader, known.leadership.leader_epoch
            address = self._addresses.get(leader)
            if leader != self._broker.broker_id and not known.is_idle and address is not None:
                followed[address].append(Followed(partition.topic, partition.partition, epoch))
        return followed

    def _fetch(self, address: Address, fetch: Fetch) -> None:
        try:
            if address not in self._connections:
                self._connections[address] = connect(address, TIMEOUT_SECONDS)
            send_frame(self._connections[address], encode_fetch(fetch))
            receive_frame(self._connections[address])
        except EOFError:
            broken = self._connections.pop(address, None)
            if broken is not None:
                with suppress(OSError):
                    broken.close()
