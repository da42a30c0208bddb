"""Channels: in order, one at a time, the same request again until it is answered, and nothing after the close."""

import queue
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from reference.controller.context import Registration
from reference.controller.controller import Configuration, KafkaController
from reference.journal import Entry, StateChange
from reference.live.channels import Channels
from reference.live.frames import receive_frame, send_frame
from reference.requests.connections import ControllerChannelManager, QueuedRequest
from spec.formats.error_codes import ErrorCode
from spec.formats.request_schemas import UpdateMetadataRequest, UpdateMetadataResponse
from spec.formats.requests import decode_request, encode_response
from spec.formats.znodes import BrokerPayload

Seen = tuple[int, int]
"""A correlation id, and the controller epoch by which the tests tell requests apart."""
TIMEOUT = 10


class Receiver:
    """A broker that keeps what it is sent; orders say what it does with each.

    It answers, cuts the connection, sends something (in hex digits) that is no answer, or waits.
    """

    def __init__(self, port: int = 0) -> None:
        self.listening = socket.create_server(("127.0.0.1", port))
        self.seen: queue.Queue[Seen] = queue.Queue()
        self.orders: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self.listening.accept()
            except OSError:
                return
            with connection, suppress(EOFError, OSError, queue.Empty):
                self._serve(connection)

    def _serve(self, connection: socket.socket) -> None:
        while True:
            header, request = decode_request(receive_frame(connection))
            assert isinstance(request, UpdateMetadataRequest)
            self.seen.put((header.correlation_id, request.controller_epoch))
            order = self.orders.get(timeout=TIMEOUT)
            if order == "cut":
                return
            if order != "answer":
                send_frame(connection, bytes.fromhex(order))
                continue
            answer = UpdateMetadataResponse(ErrorCode.NONE)
            send_frame(connection, encode_response(header.correlation_id, answer, request.api_key, header.api_version))

    def close(self) -> None:
        with suppress(OSError):
            self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()

    @property
    def port(self) -> int:
        port: int = self.listening.getsockname()[1]
        return port


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.close()


def active(*ports: int) -> tuple[KafkaController, ControllerChannelManager, list[Entry]]:
    """A controller with a channel to a broker on each port, numbered from 1."""
    journal: list[Entry] = []
    controller = KafkaController(Configuration(9), journal.append)
    controller.context.live_brokers = {
        broker: Registration(BrokerPayload(4, "127.0.0.1", port, timestamp=0), 0)
        for broker, port in enumerate(ports, start=1)
    }
    manager = ControllerChannelManager.started(controller.context.live_brokers, controller.metrics)
    controller.context.controller_channel_manager = manager
    return controller, manager, journal


def queue_up(manager: ControllerChannelManager, broker: int, *epochs: int) -> None:
    for epoch in epochs:
        manager.send_request(broker, QueuedRequest(UpdateMetadataRequest(9, epoch, (), ()), 0, 0))


def test_requests_arrive_in_order_each_answered_before_the_next_is_sent(receiver: Receiver) -> None:
    controller, manager, journal = active(receiver.port)
    channels = Channels(controller)
    queue_up(manager, 1, 10, 11)
    channels.follow()
    assert manager.queues[1] == []
    assert receiver.seen.get(timeout=TIMEOUT) == (0, 10)
    with pytest.raises(queue.Empty):
        receiver.seen.get(timeout=0.2)
    receiver.orders.put("answer")
    assert receiver.seen.get(timeout=TIMEOUT) == (1, 11)
    receiver.orders.put("answer")
    deadline = time.monotonic() + TIMEOUT
    while len(journal) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    sent_to = f"for a request sent to broker 127.0.0.1:{receiver.port} (id: 1 rack: null)"
    lines = [str(one.line) for one in journal if isinstance(one, StateChange)]
    assert lines == [f"Controller 9 epoch 0 received response {{error_code=0}} {sent_to}"] * 2


def test_the_head_is_sent_again_until_it_is_answered(receiver: Receiver) -> None:
    controller, manager, _ = active(receiver.port)
    queue_up(manager, 1, 10, 11)
    Channels(controller).follow()
    seen = []
    for order in ("cut", "cut", "answer", "answer"):
        seen.append(receiver.seen.get(timeout=TIMEOUT))
        receiver.orders.put(order)
    assert seen == [(0, 10), (1, 10), (2, 10), (3, 11)]


@pytest.mark.parametrize(
    "wrong",
    ["", "00000000", "00000000 000c", "00000000 0000 00", "00000001 0000"],
    ids=["empty", "cut short", "an unknown error code", "too long", "the number of another request"],
)
def test_what_is_no_answer_has_the_request_sent_again_on_a_new_connection(receiver: Receiver, wrong: str) -> None:
    controller, manager, journal = active(receiver.port)
    queue_up(manager, 1, 10, 11)
    Channels(controller).follow()
    for seen, told, order in (((0, 10), 0, wrong), ((1, 10), 0, "answer"), ((2, 11), 1, "answer")):
        assert receiver.seen.get(timeout=TIMEOUT) == seen
        assert len(journal) == told
        receiver.orders.put(order)


def test_a_broker_whose_address_is_none_is_tried_until_it_goes() -> None:
    """As a broker registers that has no PLAINTEXT endpoint, or one of somebody else's making."""
    controller, manager, journal = active(-1)
    channels = Channels(controller)
    queue_up(manager, 1, 10)
    channels.follow()
    time.sleep(0.05)
    manager.remove_broker(1)
    channels.follow()
    assert journal == []


def test_a_broker_that_is_not_up_yet_is_tried_again(receiver: Receiver) -> None:
    port = receiver.port
    receiver.close()
    controller, manager, _ = active(port)
    queue_up(manager, 1, 10)
    Channels(controller).follow()
    time.sleep(0.3)
    late = Receiver(port)
    assert late.seen.get(timeout=TIMEOUT)[1] == 10
    late.orders.put("answer")
    late.close()


def test_closing_waits_for_the_request_in_flight_and_drops_the_rest(receiver: Receiver) -> None:
    controller, manager, _ = active(receiver.port)
    channels = Channels(controller)
    queue_up(manager, 1, 10, 11)
    channels.follow()
    assert receiver.seen.get(timeout=TIMEOUT) == (0, 10)
    manager.remove_broker(1)
    closing = threading.Thread(target=channels.follow)
    closing.start()
    closing.join(0.2)
    assert closing.is_alive()
    receiver.orders.put("answer")
    closing.join(TIMEOUT)
    assert not closing.is_alive()
    with pytest.raises(queue.Empty):
        receiver.seen.get(timeout=0.2)


def test_a_channel_that_is_opened_again_is_a_new_one(receiver: Receiver) -> None:
    controller, manager, _ = active(receiver.port)
    channels = Channels(controller)
    queue_up(manager, 1, 10)
    channels.follow()
    receiver.orders.put("answer")
    assert receiver.seen.get(timeout=TIMEOUT) == (0, 10)
    manager.remove_broker(1)
    manager.add_brokers([1])
    queue_up(manager, 1, 12)
    channels.follow()
    assert receiver.seen.get(timeout=TIMEOUT) == (0, 12)
    receiver.orders.put("answer")


def test_abandoned_queues_are_still_sent(receiver: Receiver) -> None:
    """A manager that was replaced without having been closed keeps its channels open."""
    controller, manager, _ = active(receiver.port)
    channels = Channels(controller)
    channels.follow()
    controller.abandoned = dict(manager.queues)
    controller.context.controller_channel_manager = None
    controller.abandoned[1].append(QueuedRequest(UpdateMetadataRequest(9, 10, (), ()), 0, 0))
    channels.follow()
    assert receiver.seen.get(timeout=TIMEOUT) == (0, 10)
    receiver.orders.put("answer")
