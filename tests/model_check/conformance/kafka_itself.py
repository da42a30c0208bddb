"""What the tests have in common that ask Kafka's own classes: where they run, and that one worker runs them."""

import shutil
from typing import Final

import pytest

from model_check.conformance.kafka_adapter import RELEASE
from model_check.live.kafka_jars import is_cached

KAFKA: Final = [
    pytest.mark.skipif(shutil.which("javac") is None, reason="there is no javac here"),
    pytest.mark.skipif(not is_cached(RELEASE), reason=f"Kafka {RELEASE} is not here; `make kafka` fetches it"),
    pytest.mark.xdist_group("kafka adapter"),
]
"""The marks of a test that asks for `kafka_adapter`."""
