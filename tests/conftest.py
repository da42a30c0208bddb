"""What every test run shares: which tests are run, Hypothesis's profiles, which tests stay together on one worker, what
follows from a patch, and the Python that child processes use.

Every day all tests run that are not marked `slow`; with `--deep` these, too, and Hypothesis tries more examples. With
`--units` only those run that need nothing that is costly (`tests/needs.py`).
"""

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from spec.collector import freeze_for_good
from tests import every_day
from tests.groups import of_shard
from tests.needs import ROOT, needs

LONG_SECONDS = 2
"""A test that takes longer says why: `@pytest.mark.takes("It starts two processes.")`."""

# No deadline and no complaint about slow data: both measure the machine, which tests share with each other.
# A gate must give the same verdict twice, so its examples are derandomised; at a desk each run tries new ones.
settings.register_profile(
    "every day",
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
    print_blob=True,
)
settings.register_profile("deep", settings.get_profile("every day"), max_examples=200)

# As every process of ours (`model_check/compiled_modules.py`): rubbish is looked for less often, since modules, syntax
# trees and terms are many and stay; here hardly ever, for what thousands of tests keep is looked through each time.
gc.set_threshold(500_000, 20, 20)

# Tests press Ctrl-C, which a shell that starts them in the background has told them, and their children, to ignore.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Spark workers and broker processes must run this interpreter and import this checkout, installed or not.
os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))


class Patching(pytest.MonkeyPatch):  # type: ignore[misc]  # it is final, for whoever patches
    """pytest's own, which has the specification say all anew once any of it is another."""

    def setattr(self, *what: Any, **how: Any) -> None:
        """As pytest has it."""
        super().setattr(*what, **how)
        _forget()

    def undo(self) -> None:
        """As pytest has it."""
        super().undo()
        _forget()


def _forget() -> None:
    if (loaded := sys.modules.get("spec.said_before")) is not None:
        loaded.forget()


@pytest.fixture
def monkeypatch() -> Iterator[pytest.MonkeyPatch]:
    """The fixture of that name, for tests that edit rules and claims, too."""
    patching = Patching()
    yield patching
    patching.undo()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Give pytest `--deep`, the same word that `kcheck verify` has for everything there is, and its opposite."""
    parser.addoption("--deep", action="store_true", help="run the tests marked slow, too, and try more examples")
    parser.addoption("--units", action="store_true", help="run only tests that need nothing that is costly")
    parser.addoption("--accept-tests", action="store_true", help="write down how many tests run every day")
    parser.addoption("--shard", metavar="K/N", help="run the Kth of N parts of the tests")


def pytest_configure(config: pytest.Config) -> None:
    """Choose how many examples Hypothesis tries."""
    settings.load_profile("deep" if config.getoption("--deep") else "every day")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the files that need more than units do; they are not even loaded."""
    is_file = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
    return True if is_file and config.getoption("--units") and needs(collection_path) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of a file together, those with a named group first; leave out what is not to be run."""
    named, others = list[pytest.Item](), list[pytest.Item]()
    for item in items:
        if item.get_closest_marker("xdist_group"):
            named.append(item)
        else:
            # What the tests of a file look at is often made once and kept: two workers would make it twice.
            item.add_marker(pytest.mark.xdist_group(item.location[0]))
            others.append(item)
    # What shares a JVM or what was read takes longest; the files behind it fill in until all workers end together.
    items[:] = [*named, *others]
    if shard := config.getoption("--shard"):
        _keep(of_shard(items, shard), config, items)
    if config.getoption("--units"):
        _keep([item for item in items if not item.get_closest_marker("takes")], config, items)
    if not config.getoption("--deep"):
        skip = pytest.mark.skip(reason="slow: runs with --deep")
        for item in items:
            if every_day.is_slow(item):
                item.add_marker(skip)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """What was loaded and collected stays until the end; nobody needs to look through it for rubbish."""
    if session.config.getoption("--accept-tests"):
        if not every_day.is_whole(session.config):
            raise pytest.UsageError("--accept-tests writes down all tests: name none, and leave none out")
        every_day.accept(session.items)
    gc.collect()
    freeze_for_good()


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """What the tests leave behind is looked through once; pytest would do so twice, for as long.

    A whole run in which too few tests passed fails, whatever became of the others.
    """
    gc.collect()
    freeze_for_good()
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter and not session.config.option.collectonly and every_day.is_whole(session.config):
        passed = len(reporter.stats.get("passed", ()))
        if (told := every_day.ran_too_few(passed, every_day.accepted())) and not session.exitstatus:
            reporter.write_line(f"\n{told}", red=True)
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _keep(kept: list[pytest.Item], config: pytest.Config, items: list[pytest.Item]) -> None:
    config.hook.pytest_deselected(items=list(set(items) - set(kept)))
    items[:] = kept


@pytest.hookimpl(trylast=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    """Refuse a test that takes long without a sentence why."""
    for mark in item.iter_markers("takes"):
        if len(mark.args) != 1 or not str(mark.args[0]).endswith("."):
            raise pytest.UsageError(f'{item.nodeid}: takes("A sentence that says why.")')


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Name the tests that took long and do not say why; that is no failure, for it measures the machine, too."""
    calls = [one for kind in ("passed", "failed") for one in terminalreporter.stats.get(kind, ()) if one.when == "call"]
    late = [one for one in calls if one.duration > LONG_SECONDS and "takes" not in one.keywords]
    if late and not config.getoption("--deep"):
        terminalreporter.section(f"tests that took more than {LONG_SECONDS} s, and do not say why")
        for one in sorted(late, key=lambda one: -one.duration):
            terminalreporter.write_line(f"{one.duration:6.1f} s  {one.nodeid}")
