"""What every test run shares: the `--deep` option, Hypothesis's profile, which tests stay together on one worker, and
the Python that child processes use.
"""

import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]

# No deadline and no complaint about slow data: both measure the machine, which tests share with each other.
# A gate must give the same verdict twice, so its examples are derandomised; at a desk each run tries new ones.
settings.register_profile(
    "project",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
    print_blob=True,
)
settings.load_profile("project")

# Tests press Ctrl-C, which a shell that starts them in the background has told them, and their children, to ignore.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Spark workers and broker processes must run this interpreter and import this checkout, installed or not.
os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Give pytest `--deep`, the same word that `kcheck verify` has for everything there is."""
    parser.addoption("--deep", action="store_true", help="run the tests marked slow, too")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of a file together, and skip those marked slow, unless the run is deep."""
    for item in items:
        # What the tests of a file look at is often made once and kept: two workers would make it twice.
        if not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(item.location[0]))
    if config.getoption("--deep"):
        return
    skip = pytest.mark.skip(reason="slow: runs with --deep")
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(skip)
