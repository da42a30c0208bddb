"""The controller's channels: a queue of requests for each broker, filled under the controller lock.

A channel lives in its controller. It is closed when the controller removes the broker, resigns or dies, and what is in
its queue is lost then; it does not end with the broker. The consumer of the queue (a sender thread, or a scheduler)
sends the head again and again until it is answered.

The selector of each channel registers metrics under the broker's id with the process. A second channel to the same
broker fails on these, which is what becomes of a controller that is elected on top of what an earlier failover left
behind (D56). Before 0.9.0.0 there are none: a second channel exists beside the first. Here both are one queue, in which
what the earlier term sent comes first.

Kafka 0.10.2.2: `ControllerChannelManager`, `ControllerBrokerStateInfo`, `Selector.SelectorMetrics`.
"""

from collections.abc import Iterable, MutableMapping
from dataclasses import dataclass
from typing import Self

from reference.procedures import LeftOverChannel
from spec.formats.request_schemas import PartitionsResponse, Request


@dataclass(frozen=True)
class QueuedRequest:
    """A request in a broker's queue; `batch` numbers the call of the controller that put it there.

    `broker_epoch` is the registration that the request is meant for, `leader_epoch` that of the replica which it
    deletes, `topic_ids` tell its topics from earlier ones, and an UpdateMetadata that is `whole` names all partitions;
    only later versions send them along. Where the sender is to call back, an `answer` that has come keeps the request
    at the head until the callback is done.
    """

    request: Request
    batch: int
    broker_epoch: int
    calls_back: bool = False
    answer: PartitionsResponse | None = None
    leader_epoch: int | None = None
    topic_ids: tuple[tuple[str, int], ...] | None = None
    whole: bool = False

    @property
    def controller_epoch(self) -> int:
        """The epoch of the controller that sends it."""
        epoch: int = getattr(self.request, "controller_epoch")  # noqa: B009 - every request of a controller has one
        return epoch


class Queue(list[QueuedRequest]):
    """The requests that wait in a channel, head first; `sent` numbers what is sent (the correlation id)."""

    sent = 0

    def fork(self) -> Self:
        """A copy that goes its own way."""
        twin = type(self)(self)
        twin.sent = self.sent
        return twin


class ControllerChannelManager:
    """The open channels: broker id -> queue, head first; `metrics` is the registry that all managers share."""

    def __init__(self, metrics: set[int]) -> None:
        self.metrics = metrics
        self.queues: dict[int, Queue] = {}

    @classmethod
    def started(
        cls, broker_ids: Iterable[int], metrics: set[int], joined: MutableMapping[int, Queue] | None = None
    ) -> Self:
        """Open a channel to each broker, in this order; raises LeftOverChannel with the earlier ones open for ever."""
        manager = cls(metrics)
        manager.add_brokers(broker_ids, joined)
        return manager

    def add_brokers(self, broker_ids: Iterable[int], joined: MutableMapping[int, Queue] | None = None) -> None:
        """Open a channel to each broker, in this order, if there is none.

        LeftOverChannel if another manager of this process has one, unless its queue is among those to be `joined`: it
        goes on as the new one's.
        """
        for broker_id in broker_ids:
            if broker_id in self.queues:
                continue
            queue = joined.pop(broker_id, None) if joined is not None else None
            if queue is None and broker_id in self.metrics:
                raise LeftOverChannel(f"metrics of a channel to broker {broker_id} are registered already")
            self.metrics.add(broker_id)
            self.queues[broker_id] = Queue() if queue is None else queue

    def remove_broker(self, broker_id: int) -> None:
        """Close a channel, if it is open; what is in its queue is lost."""
        if self.queues.pop(broker_id, None) is not None:
            self.metrics.discard(broker_id)

    def is_calling_back(self, broker_ids: Iterable[int]) -> bool:
        """Whether the sender to one of these brokers is in a callback, where it waits for the controller lock."""
        heads = (self.queues[broker_id][:1] for broker_id in broker_ids if broker_id in self.queues)
        return any(head.answer is not None for queue in heads for head in queue)

    def shutdown(self) -> None:
        """Close all channels."""
        for broker_id in tuple(self.queues):
            self.remove_broker(broker_id)

    def send_request(self, broker_id: int, request: QueuedRequest) -> bool:
        """Put a request on a broker's queue; false ("since it is offline") if there is no channel."""
        queue = self.queues.get(broker_id)
        if queue is None:
            return False
        queue.append(request)
        return True

    def fork(self) -> Self:
        """A copy that goes its own way; its owner gives it the registry of its own process."""
        twin = type(self)(self.metrics)
        twin.queues = {broker_id: queue.fork() for broker_id, queue in self.queues.items()}
        return twin
