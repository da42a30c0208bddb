"""A real ZooKeeper server for the tests of one process, on a free port, started when the first test asks for it."""

from collections.abc import Iterator

import pytest

from reference.zookeeper.server import ZookeeperServer


@pytest.fixture(scope="session")
def zookeeper_server() -> Iterator[ZookeeperServer]:
    """One server for all tests of this process; each test keeps to a root znode of its own."""
    with ZookeeperServer(tick_time_ms=100) as server:
        yield server
