"""Ports of this machine that nobody listens on: one to be used at once, or some that outlast their owner's absence.

A system hands out the ports of its ephemeral range to whoever connects or asks for any port. A broker that is down for
a while would not find such a one again; so ports that are to be kept are taken from below that range.
"""

import socket
from contextlib import suppress
from pathlib import Path
from random import SystemRandom
from typing import Final

HOST: Final = "127.0.0.1"
EPHEMERAL: Final = Path("/proc/sys/net/ipv4/ip_local_port_range")
FIRST_EPHEMERAL: Final = 32768
"""Where the ephemeral range begins if the system does not say: Linux's own default, lower than that of others."""
FIRST_KEPT: Final = 10_000
"""Below are the ports of well-known services, ZooKeeper's and Kafka's among them."""
TRIES: Final = 1000


def free_port() -> int:
    """A TCP port on which nobody listens at this moment."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def kept_ports(count: int) -> list[int]:
    """Distinct TCP ports on which nobody listens, and which the system hands out to nobody; OSError if there are none.

    Where the ephemeral range leaves nothing below it, they are any free ones.
    """
    end = first_ephemeral()
    if end - FIRST_KEPT < TRIES:
        return [free_port() for _ in range(count)]
    chosen: list[int] = []
    random = SystemRandom()
    for _ in range(TRIES):
        if len(chosen) == count:
            return chosen
        port = random.randrange(FIRST_KEPT, end)
        if port not in chosen and _is_free(port):
            chosen.append(port)
    raise OSError(f"no {count} free ports from {FIRST_KEPT} to {end - 1} of {HOST}")


def first_ephemeral() -> int:
    """Where the range begins from which the system hands out ports."""
    with suppress(OSError, ValueError, IndexError):
        return int(EPHEMERAL.read_text(encoding="ascii").split()[0])
    return FIRST_EPHEMERAL


def is_listening(port: int | None) -> bool:
    """Whether somebody takes connections on a port."""
    with suppress(OSError), socket.create_connection((HOST, port or 0), timeout=1):
        return True
    return False


def _is_free(port: int) -> bool:
    with suppress(OSError), socket.socket() as probe:
        probe.bind((HOST, port))
        return True
    return False
