"""A follower's sign of life: it names what is followed, in which epoch, to the leader that its cache knows, once."""

import socket
import threading
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.brokers.broker import Broker, Partition
from reference.live.fetching import API_KEY, Fetch, Fetcher, Followed, decode_fetch, encode_fetch
from reference.live.frames import receive_frame, send_frame
from spec.errors import MalformedInput
from spec.formats.kafka_types import TopicPartition
from spec.formats.requests import decode_request
from tests.leaderships import led
from tests.strategies import matching

NUMBERS = st.integers(-(2**31), 2**31 - 1)
FOLLOWED = st.builds(Followed, matching("[a-z]{1,9}"), st.integers(0, 99), NUMBERS)
FETCHES = st.builds(Fetch, NUMBERS, st.lists(FOLLOWED, max_size=4).map(tuple))


@given(FETCHES)
def test_what_is_encoded_is_decoded(fetch: Fetch) -> None:
    assert decode_fetch(encode_fetch(fetch)) == fetch


@given(FETCHES)
def test_no_reader_of_requests_takes_a_fetch_for_one(fetch: Fetch) -> None:
    with pytest.raises(MalformedInput):
        decode_request(encode_fetch(fetch))


@pytest.mark.parametrize("data", [API_KEY, API_KEY + b"\0\0\0\1\0\0\0\1", encode_fetch(Fetch(1, ())) + b"x"])
def test_what_is_none_is_refused(data: bytes) -> None:
    with pytest.raises(MalformedInput, match="fetch"):
        decode_fetch(data)


class Leader:
    """A socket that answers fetches and keeps them."""

    def __init__(self) -> None:
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.fetches: list[Fetch] = []
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        with self.listening:
            connection, _ = self.listening.accept()
        with connection, suppress(EOFError):
            while True:
                self.fetches.append(decode_fetch(receive_frame(connection)))
                send_frame(connection, b"")


def test_a_follower_tells_its_leaders_and_nobody_else() -> None:
    leader = Leader()
    broker = Broker(2)
    broker.partitions = {
        TopicPartition("t", 0): Partition(led(1, 4, (), 0), (1, 2)),
        TopicPartition("t", 1): Partition(led(2, 1, (2,), 0), (2, 1)),
        TopicPartition("t", 2): Partition(led(3, 1, (), 0), (3, 2)),
    }
    addresses: dict[int, tuple[str, int]] = {1: leader.listening.getsockname()}
    fetcher = Fetcher(broker, addresses)
    fetcher.start()
    deadline = time.monotonic() + 10
    while len(leader.fetches) < 3:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    fetcher.lag(60)
    time.sleep(0.2)
    told = len(leader.fetches)
    time.sleep(0.3)
    assert len(leader.fetches) == told
    assert set(leader.fetches) == {Fetch(2, (Followed("t", 0, 4),))}
    fetcher.lag(0)
    fetcher.stop()
    told = len(leader.fetches)
    time.sleep(0.2)
    assert len(leader.fetches) == told
