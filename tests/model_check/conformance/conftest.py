"""Kafka's own classes as an adapter, which are compiled once for all tests."""

import shutil
from collections.abc import Iterator

import pytest

from model_check.conformance.kafka_adapter import RELEASE, kafka_command
from model_check.live.kafka_jars import is_cached


@pytest.fixture(scope="session")
def kafka_adapter() -> Iterator[list[str]]:
    """The command of Kafka's adapter; who asks for it is skipped where it cannot be."""
    if shutil.which("javac") is None:
        pytest.skip("there is no javac here")
    if not is_cached(RELEASE):
        pytest.skip(f"Kafka {RELEASE} is not here; `make kafka` fetches it")
    with kafka_command(RELEASE) as command:
        yield command
