"""A client of ZooKeeper that is only a socket: it sends what it is told to, no heartbeat, and so may fall silent."""

import socket
import struct
from collections.abc import Iterator

from kazoo.protocol import serialization

TIMEOUT = 10


def frame(xid: int | None, request: object) -> bytes:
    """A request as it goes over the wire; the first one of a connection has no number and no type."""
    content = struct.pack("!ii", xid, request.type) if xid else b""  # type: ignore[attr-defined]
    content += bytes(request.serialize())  # type: ignore[attr-defined]
    return struct.pack("!i", len(content)) + content


def frames(connection: socket.socket) -> Iterator[bytes]:
    """What the server sends, frame by frame, until it closes the connection."""
    with connection.makefile("rb") as stream:
        while head := stream.read(4):
            yield stream.read(struct.unpack("!i", head)[0])


def connected(port: int, timeout_ms: int, session: int = 0, password: bytes = bytes(16)) -> socket.socket:
    """A connection that has asked for a new session, or to go on with one, under this time-out from now on."""
    silent = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT)
    silent.sendall(frame(None, serialization.Connect(0, 0, timeout_ms, session, password, False)))
    return silent
