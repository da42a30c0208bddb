"""What is led by the hand here is held against its terms, too, where the run is deep."""

import pytest

from tests.spec.stepping import Run


@pytest.fixture(scope="session", autouse=True)
def _terms_too(request: pytest.FixtureRequest) -> None:
    Run.terms_too = request.config.getoption("--deep")
