"""Does an implementation conform? Every vector is asked of its adapter, and what comes is compared.

A vector passes, fails, is skipped (with the reason: its dialect or verb is not the implementation's, or the adapter
says so), or ends as an error, after which the adapter is started anew. What is expected to fail is named beforehand; if
it passes, that is a failure, too. The verdict is INCOMPLETE unless every vector was asked or skipped without an error,
and where none passed.
"""

import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from threading import Event
from typing import Any, Final, Self

from model_check.conformance.adapter_process import AdapterFailed, AdapterProcess
from model_check.conformance.driving.conversation import converse
from model_check.conformance.protocol import (
    Answer,
    Hello,
    bye_line,
    hello_line,
    parse_answer,
    parse_hello,
    question_line,
    reset_line,
)
from model_check.conformance.vector import Vector, first_difference, is_legal
from model_check.verdicts.verdict import INTERRUPTED, Verdict
from spec.errors import BadInput, MalformedInput, Where

PATIENCE_SECONDS: Final = 10.0
WHOLE: Final = 12
"""A conversation with a driven controller takes at most so many times as long as one answer may."""
RESTARTS: Final = 20
"""An adapter that fails at so many questions in a row is asked no more."""
GIVEN_UP: Final = f"{RESTARTS} questions in a row ended as errors; no more were asked"


class Outcome(StrEnum):
    """What became of a vector."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    EXPECTED = "expected failure"
    SKIP = "skip"
    ERROR = "error"


@dataclass(frozen=True)
class Result:
    """What became of one vector, and what there is to tell of it."""

    vector: Vector
    outcome: Outcome
    told: str = ""
    found: Any = None


@dataclass(frozen=True)
class Conformance:
    """The adapter, what became of each vector, how many there are in all, and why it ended before all were asked."""

    adapter: Hello
    results: tuple[Result, ...]
    of: int
    ended: str = ""

    @property
    def counts(self) -> Counter[Outcome]:
        """How many vectors came to what."""
        return Counter(one.outcome for one in self.results)

    @property
    def verdict(self) -> Verdict:
        """VIOLATED for a failure; INCOMPLETE for an error, for what was not asked, and where nothing passed."""
        if self.counts[Outcome.FAIL]:
            return Verdict.VIOLATED
        return Verdict.INCOMPLETE if self.reason else Verdict.HOLDS

    @property
    def reason(self) -> str:
        """Why the verdict is INCOMPLETE, if nothing fails."""
        if self.ended:
            return self.ended
        if errors := self.counts[Outcome.ERROR]:
            return f"{errors} of {len(self.results)} vectors ended as errors"
        if len(self.results) < self.of:
            return f"{len(self.results)} of {self.of} vectors were asked"
        return "" if self.counts[Outcome.PASS] else "no vector passed"


@dataclass(frozen=True)
class How:
    """How vectors are asked: what is expected to fail, how long an answer may take, and of how many adapters at once.

    `of` is how many vectors there are in all: fewer results make the verdict INCOMPLETE.
    """

    of: int
    expected_failures: Mapping[str, str] = field(default_factory=dict)
    seconds: float = PATIENCE_SECONDS
    fail_fast: bool = False
    jobs: int = 1


def conform(
    command: Sequence[str], vectors: Sequence[Vector], how: How, stop: Callable[[], bool] = lambda: False
) -> Conformance:
    """Ask vectors of an adapter, or several at once; BadInput where it cannot be started, or says no hello.

    Once `stop` says so nothing more is asked; KeyboardInterrupt is raised if nobody has said hello by then.
    """
    shares = [vectors[number :: how.jobs] for number in range(min(how.jobs, max(1, len(vectors))))]
    ending = Event()
    with ThreadPoolExecutor(len(shares)) as pool:
        asked = [pool.submit(_share, command, share, how, stop, ending) for share in shares]
        found = [one.result() for one in asked]
    place = {vector.id: number for number, vector in enumerate(vectors)}
    results = sorted((one for share in found for one in share.results), key=lambda one: place[one.vector.id])
    ended = next((one.ended for one in found if one.ended), "")
    return Conformance(found[0].adapter, tuple(results), how.of, ended)


def _share(
    command: Sequence[str], vectors: Sequence[Vector], how: How, stop: Callable[[], bool], ending: Event
) -> Conformance:
    """Ask one process of the adapter; at the first failure, where that ends it, the others are told to end."""
    results: list[Result] = []
    ended = ""
    with Asking(command, how.seconds, stop) as asking:
        for vector in vectors:
            if ending.is_set():
                break
            if asking.is_given_up or stop():
                ended = INTERRUPTED if stop() else GIVEN_UP
                break
            try:
                result = asking.result(vector)
            except KeyboardInterrupt:
                ended = INTERRUPTED
                break
            results.append(_with_expectation(result, how.expected_failures))
            if how.fail_fast and results[-1].outcome in {Outcome.FAIL, Outcome.ERROR}:
                ending.set()
                break
    return Conformance(asking.hello, tuple(results), how.of, ended)


class Asking:
    """The adapter that is asked, which may be another process after an error; BadInput where it is not one."""

    def __init__(
        self, command: Sequence[str], seconds: float = PATIENCE_SECONDS, stop: Callable[[], bool] = lambda: False
    ) -> None:
        self._command, self._seconds, self._stop = command, seconds, stop
        self._process: AdapterProcess | None = None
        self._failures = 0
        try:
            self.hello = self._started()
        except (AdapterFailed, MalformedInput) as error:
            self._end()
            page = "model_check/conformance/FORMAT.md says what it has to answer"
            raise BadInput(f"{shlex.join(command)} is no adapter: {error}; {page}") from error
        except KeyboardInterrupt:
            self._end()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            with suppress(AdapterFailed):
                self._process.tell(bye_line())
            self._end()

    def _started(self) -> Hello:
        self._process = AdapterProcess(self._command, self._seconds, self._stop)
        return parse_hello(self._process.ask(hello_line()))

    def _end(self) -> None:
        if self._process is not None:
            self._process.end()
            self._process = None

    @property
    def is_given_up(self) -> bool:
        """Whether so many questions in a row ended as errors that no more are asked."""
        return self._failures >= RESTARTS

    def result(self, vector: Vector) -> Result:
        """What becomes of a vector, whatever is expected of it."""
        if self.hello.dialect not in vector.dialects:
            return Result(vector, Outcome.SKIP, f"it is not of {self.hello.dialect}")
        if vector.verb not in self.hello.verbs:
            return Result(vector, Outcome.SKIP, f"the adapter does not declare {vector.verb}")
        if lacks := self.hello.without & {vector.group, *vector.tags}:
            return Result(vector, Outcome.SKIP, f"the adapter is without {min(lacks)}")
        if self.is_given_up:
            return Result(vector, Outcome.ERROR, GIVEN_UP)
        return self._asked(vector)

    def _asked(self, vector: Vector) -> Result:
        try:
            if self._process is None:
                self._started()
            assert self._process is not None  # noqa: S101 - it was started just now
            if self.hello.resets:
                _reset(self._process, vector)
            line, process = self._process.ask(question_line(vector)), self._process
            if vector.verb == "control":
                answer = converse(vector, line, self._within(process), process.tell)
                if "stopped" in (answer.outcome or {}):
                    self._end()  # it was amid something, and may say more of it
            else:
                answer = parse_answer(line, vector.id)
        except (AdapterFailed, MalformedInput) as error:
            self._end()
            self._failures += 1
            return Result(vector, Outcome.ERROR, str(error))
        self._failures = 0
        return _compared(vector, answer)

    def _within(self, process: AdapterProcess) -> Callable[[str], str]:
        """How a conversation goes on; AdapterFailed once it takes too long as a whole."""
        until = time.monotonic() + WHOLE * self._seconds

        def ask(line: str) -> str:
            if time.monotonic() > until:
                raise AdapterFailed(f"the conversation did not come to its end within {WHOLE * self._seconds:g} s")
            return process.ask(line)

        return ask


def _reset(process: AdapterProcess, vector: Vector) -> None:
    """Have an adapter forget everything; AdapterFailed, which says that this was asked, where it does not."""
    try:
        answer = parse_answer(process.ask(reset_line(vector)), vector.id)
    except (AdapterFailed, MalformedInput) as error:
        raise AdapterFailed(f"it was told to reset, which it says it can: {error}") from error
    if answer.outcome is None:
        raise AdapterFailed(f"it was told to reset, which it says it can, and says {answer.error or answer.skip}")


def _compared(vector: Vector, answer: Answer) -> Result:
    """Whether what came is legal."""
    if answer.error is not None:
        return Result(vector, Outcome.ERROR, answer.error)
    if answer.skip is not None:
        return Result(vector, Outcome.SKIP, answer.skip)
    if is_legal(vector, answer.outcome):
        return Result(vector, Outcome.PASS)
    return Result(vector, Outcome.FAIL, first_difference(vector, answer.outcome), answer.outcome)


def _with_expectation(result: Result, expected: Mapping[str, str]) -> Result:
    """A failure that is expected does not count; a pass where one is expected does."""
    reason = expected.get(result.vector.id)
    if reason is None:
        return result
    if result.outcome is Outcome.FAIL:
        return replace(result, outcome=Outcome.EXPECTED, told=reason)
    if result.outcome is Outcome.PASS:
        return replace(result, outcome=Outcome.FAIL, told=f"it passes, and was expected to fail: {reason}")
    return result


def parse_expected(text: str, place: str, known: Iterable[str]) -> dict[str, str]:
    """Expected failures, an id and a reason a line, and comments behind #; MalformedInput names the line."""
    ids, expected = {*known}, dict[str, str]()
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
        name, *reason = line.partition("#")[0].split(maxsplit=1) or [""]
        where = Where(f"{place}:{number}")
        if not name:
            continue
        if name not in ids:
            where.refuse(f"there is no vector {name}")
        if not reason:
            where.refuse(f"say why {name} is expected to fail")
        if name in expected:
            where.refuse(f"{name} is there twice")
        expected[name] = reason[0].strip()
    return expected
