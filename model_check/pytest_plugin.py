"""A pytest plugin: `pytest --conform "node adapter.mjs"` asks each vector of an adapter, as a test of its own.

For authors whose CI is pytest: the vectors' ids are the tests' names, `-k` chooses among them, `--junitxml` reports
them. What `kcheck conform` says of a failure is the failure's text; an error is one, too. A run in which vectors were
asked and none passed has failed, as `kcheck conform` would not say that it holds.
"""

import shlex
from collections.abc import Iterator
from typing import Any, Final

import pytest

ASKING: Final = pytest.StashKey[Any]()
"""The adapter that is asked."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option."""
    group = parser.getgroup("conformance")
    group.addoption("--conform", metavar="COMMAND", help="ask the conformance vectors of this adapter, a test a vector")


def pytest_configure(config: pytest.Config) -> None:
    """What becomes of the vectors is counted, by whom reports reach, also where several processes run the tests.

    Nobody sees what is wrong in those, so the adapter is begun once beforehand.
    """
    if config.getoption("--conform") is None:
        return
    config.pluginmanager.register(Tally())
    if config.getoption("dist", "no") != "no" and not hasattr(config, "workerinput"):
        _begun(config).__exit__()


class Tally:
    """How many vectors passed, of those that were asked."""

    def __init__(self) -> None:
        self.outcomes: list[str] = []

    @property
    def is_of_nothing(self) -> bool:
        """Whether vectors were asked, and none passed."""
        return bool(self.outcomes) and "passed" not in self.outcomes

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a vector, which has no other phase that tells anything."""
        if report.when == "call" and report.nodeid.rpartition("::")[2].startswith("kcs-"):
            self.outcomes.append(report.outcome)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A run of skips is no success."""
        if self.is_of_nothing and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say so."""
        if self.is_of_nothing:
            terminalreporter.write_line("no vector passed: this says nothing of the adapter")


def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """A test for each vector, where an adapter is named, beside what else is collected."""
    if session.config.getoption("--conform") is not None:
        from model_check.conformance.vector import read_vectors

        session.config.stash[ASKING] = _begun(session.config)
        items += [VectorItem.from_parent(session, name=one.id, vector=one) for one in read_vectors()]


def _begun(config: pytest.Config) -> Any:
    """The adapter, which has said hello."""
    from model_check.conformance.conforming import Asking
    from spec.errors import BadInput

    try:
        return Asking(_command(config))
    except BadInput as error:
        raise pytest.UsageError(str(error)) from error


def _command(config: pytest.Config) -> list[str]:
    """The adapter, and what it is called with; BadInput where that names no program."""
    from spec.errors import BadInput

    told: str = config.getoption("--conform")
    try:
        command = shlex.split(told)
    except ValueError as error:
        raise BadInput(f"--conform {told!r} is no command: {error}") from error
    if not command:
        raise BadInput("--conform wants a command: the adapter, and what it is called with")
    return command


def pytest_unconfigure(config: pytest.Config) -> None:
    """The adapter ends with the tests."""
    if (asking := config.stash.get(ASKING, None)) is not None:
        asking.__exit__()


class NotConforming(Exception):
    """A vector fails, or ends as an error; the message is what there is to tell of it."""


class VectorItem(pytest.Item):
    """A vector as a test."""

    def __init__(self, *, vector: Any, **rest: Any) -> None:
        super().__init__(**rest)
        self.vector = vector

    def runtest(self) -> None:
        """Ask it."""
        from model_check.conformance.conforming import Outcome

        result = self.config.stash[ASKING].result(self.vector)
        if result.outcome is Outcome.SKIP:
            pytest.skip(result.told)
        if result.outcome is not Outcome.PASS:
            raise NotConforming("\n".join(self._lines(result)))

    def _lines(self, result: Any) -> Iterator[str]:
        from model_check.conformance.conformance_report import of_failure

        yield from of_failure(result, ["--", *_command(self.config)])

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What there is to tell, without a traceback."""
        if isinstance(excinfo.value, NotConforming):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Where it is: in the vectors."""
        from model_check.conformance.vector import FOLDER

        return FOLDER / f"{self.vector.group}.jsonl", None, f"{self.vector.id}: {self.vector.title}"
