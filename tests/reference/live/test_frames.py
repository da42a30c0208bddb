"""Frames: what is sent is received whole, however the network cuts it; what is no frame ends the connection."""

import socket
import struct
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.live.frames import MAX_FRAME_BYTES, connect, receive_frame, send_frame


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    one, other = socket.socketpair()
    with one, other:
        yield one, other


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=5))
def test_frames_arrive_as_they_were_sent(frames: list[bytes]) -> None:
    one, other = socket.socketpair()
    with one, other:
        for frame in frames:
            send_frame(one, frame)
        assert [receive_frame(other) for _ in frames] == frames


def test_a_frame_may_arrive_in_pieces(ends: tuple[socket.socket, socket.socket]) -> None:
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(receive_frame(ends[1])))
    reader.start()
    for byte in b"\0\0\0\5hello":
        ends[0].sendall(bytes([byte]))
    reader.join()
    assert received == [b"hello"]


@pytest.mark.parametrize("sent", [b"", b"\0\0", b"\0\0\0\5hel"])
def test_a_connection_that_ends_early_gives_no_frame(ends: tuple[socket.socket, socket.socket], sent: bytes) -> None:
    ends[0].sendall(sent)
    ends[0].close()
    with pytest.raises(EOFError, match="the connection was closed"):
        receive_frame(ends[1])


@pytest.mark.parametrize("size", [-1, MAX_FRAME_BYTES + 1])
def test_a_size_that_no_frame_has_is_refused(ends: tuple[socket.socket, socket.socket], size: int) -> None:
    ends[0].sendall(size.to_bytes(4, "big", signed=True))
    with pytest.raises(EOFError, match=f"{size} is no size of a frame"):
        receive_frame(ends[1])


def reset(connection: socket.socket) -> None:
    """Close a connection so that the other end is told ECONNRESET, not its end."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def test_a_connection_that_breaks_is_gone_like_one_that_is_closed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        connection = connect(listening.getsockname(), 10)
        with connection:
            other, _ = listening.accept()
            reset(other)
            with pytest.raises(EOFError, match=r"the connection is gone: .*reset"):
                receive_frame(connection)
            with pytest.raises(EOFError, match=r"the connection is gone: .*[Bb]roken pipe"):
                send_frame(connection, b"late")


def test_a_silence_that_is_too_long_ends_the_connection(ends: tuple[socket.socket, socket.socket]) -> None:
    ends[0].settimeout(0.01)
    with pytest.raises(EOFError, match="the connection is gone: timed out"):
        receive_frame(ends[0])


@pytest.mark.parametrize("address", [("", -1), ("127.0.0.1", -1), ("h" * 70, 9092), ("a..b", 9092), ("\ud800", 9092)])
def test_what_is_no_address_gives_no_connection(address: tuple[str, int]) -> None:
    """A broker without a PLAINTEXT endpoint registers the first of these."""
    with pytest.raises(EOFError, match="the connection is gone: "):
        connect(address, 10)
