"""Kafka's own classes as an adapter, which are compiled once for all tests."""

from collections.abc import Iterator

import pytest

from model_check.conformance.kafka_adapter import RELEASE, kafka_command


@pytest.fixture(scope="session")
def kafka_adapter() -> Iterator[list[str]]:
    """The command of Kafka's adapter; who asks for it has the marks of `kafka_itself.py`."""
    with kafka_command(RELEASE) as command:
        yield command
