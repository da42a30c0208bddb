"""Frames on a connection: a size in four bytes, then so many bytes.

Kafka: `NetworkSend`, `NetworkReceive`.
"""

from __future__ import annotations

import socket
import struct
from typing import Final

MAX_FRAME_BYTES: Final = 100 * 1024 * 1024
"""`socket.request.max.bytes`; a larger size is no frame of Kafka's."""


def send_frame(connection: socket.socket, data: bytes) -> None:
    """Send one frame."""
    connection.sendall(struct.pack(">i", len(data)) + data)


def receive_frame(connection: socket.socket) -> bytes:
    """Wait for one frame; EOFError if the other end closes before it is whole, or sends what is none."""
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
