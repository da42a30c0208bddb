"""Frames on a connection: a size in four bytes, then so many bytes.

However a connection ends, or cannot be had, its user gets one exception: EOFError. What the other end does,
and what address it gives, is its own affair; so an OSError that reaches a user of frames is never the network's.

Kafka: `NetworkSend`, `NetworkReceive`, `NetworkClient.initiateConnect`.
"""

import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

Address = tuple[str, int]
"""A host and a port."""
MAX_FRAME_BYTES: Final = 100 * 1024 * 1024
"""`socket.request.max.bytes`; a larger size is no frame of Kafka's."""


def connect(address: Address, timeout_seconds: float) -> socket.socket:
    """A connection to where somebody is said to listen; EOFError if nobody does, or it is no address at all."""
    with _broken_is_gone():
        return socket.create_connection(address, timeout_seconds)


def send_frame(connection: socket.socket, data: bytes) -> None:
    """Send one frame; EOFError if the connection is gone."""
    with _broken_is_gone():
        connection.sendall(struct.pack(">i", len(data)) + data)


def receive_frame(connection: socket.socket) -> bytes:
    """Wait for one frame; EOFError if the connection is gone before it is whole, or what is sent is not one."""
    with _broken_is_gone():
        (size,) = struct.unpack(">i", _receive(connection, 4))
        if not 0 <= size <= MAX_FRAME_BYTES:
            raise EOFError(f"{size} is no size of a frame")
        return _receive(connection, size)


def _receive(connection: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise EOFError(f"the connection was closed {size - len(data)} bytes early")
        data += part
    return bytes(data)


@contextmanager
def _broken_is_gone() -> Iterator[None]:
    """A connection that breaks, is silent for too long, or cannot be made is gone, like one that is closed."""
    try:
        yield
    except (OSError, UnicodeError) as error:  # the latter: a host that is no name
        raise EOFError(f"the connection is gone: {error}") from error
