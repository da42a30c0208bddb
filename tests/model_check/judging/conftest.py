"""A lie is searched for unlikely explanations as long as any recording is only where the run is deep."""

import pytest

from tests.model_check import tampering


@pytest.fixture(scope="session", autouse=True)
def _as_long_as_always(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--deep"):
        tampering.AT_LAST = None
