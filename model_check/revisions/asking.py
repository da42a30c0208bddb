"""The processes that answer for two revisions, asked the same at the same time.

A question is a line of JSON and so is its answer; between the two a process says how far it is. Ctrl-C is asked for
several times a second. Whatever ends the block ends both processes; should this one be killed, they end by themselves.
"""

import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import IO, Any, Final

from model_check.revisions.revision import Revision
from spec.errors import BadInput, EnvironmentFailure

OFTEN: Final = 0.2
"""Seconds between two looks at whether somebody wants to stop."""
SIDES: Final = ("before", "after")

Answers = tuple[dict[str, Any], dict[str, Any]]
Tell = Callable[[str, int, int], None]
"""Told of one side how many states it has found, and how deep."""


class Stopped(Exception):
    """Somebody pressed Ctrl-C while an answer was awaited."""


class Pair:
    """Both processes."""

    def __init__(self, before: Revision, after: Revision, stop: Callable[[], bool]) -> None:
        self.revisions = before, after
        self._stop = stop
        self._said: SimpleQueue[tuple[int, str]] = SimpleQueue()
        self._processes: list[subprocess.Popen[str]] = []
        self._complaints: list[IO[bytes]] = []

    def start(self, ending: ExitStack) -> None:
        """Start both; they end with what is given."""
        for side, revision in enumerate(self.revisions):
            complaints = ending.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - entered here
            process = subprocess.Popen(
                revision.command, cwd=revision.folder, env=dict(revision.environment), text=True, encoding="utf-8",
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints, start_new_session=True,
            )  # fmt: skip
            listener = Thread(target=self._listen, args=(side, process), daemon=True)
            ending.callback(_end, process, listener)
            self._processes.append(process)
            self._complaints.append(complaints)
            listener.start()

    def _listen(self, side: int, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None  # noqa: S101 - a pipe, as asked for
        for line in process.stdout:
            self._said.put((side, line))
        self._said.put((side, ""))

    def ask(self, question: Mapping[str, Any], tell: Tell = lambda _side, _states, _depth: None) -> Answers:
        """Both answers to one question; see `ask_each`."""
        return self.ask_each((question, question), tell)

    def ask_each(
        self, questions: Sequence[Mapping[str, Any]], tell: Tell = lambda _side, _states, _depth: None
    ) -> Answers:
        """The answer of each side to its question.

        Stopped if somebody wants to stop, BadInput if a revision's code does not do what is asked of it,
        EnvironmentFailure if a process is gone.
        """
        for side, question in enumerate(questions):
            self._send(side, json.dumps(question))
        found: dict[int, dict[str, Any]] = {}
        while len(found) < len(self.revisions):
            side, said = self._next()
            if "answer" in said:
                found[side] = said["answer"]
            elif "error" in said:
                name = self.revisions[side].name
                raise BadInput(f"{name} cannot be compared, it is too old or broken: {_one_line(said['error'])}")
            else:
                tell(SIDES[side], said["states"], said["depth"])
        return found[0], found[1]

    def _send(self, side: int, line: str) -> None:
        pipe = self._processes[side].stdin
        try:
            assert pipe is not None  # noqa: S101 - a pipe, as asked for
            pipe.write(line + "\n")
            pipe.flush()
        except OSError:
            self._refuse_ended(side)

    def _next(self) -> tuple[int, dict[str, Any]]:
        while not self._stop():
            try:
                side, line = self._said.get(timeout=OFTEN)
            except Empty:
                continue
            if not line:
                self._refuse_ended(side)
            return side, json.loads(line)
        raise Stopped

    def _refuse_ended(self, side: int) -> None:
        """EnvironmentFailure, or BadInput where it could not even begin."""
        code, name = self._processes[side].wait(), self.revisions[side].name
        self._complaints[side].seek(0)
        said = self._complaints[side].read().decode(errors="replace").strip().splitlines() or ["it does not say why"]
        if code == 1:
            raise BadInput(f"{name} cannot be compared, it is too old or broken: {_one_line(said[-1])}")
        what = f"the process that explores {name} ended with {code}"
        raise EnvironmentFailure(f"{what}: {_one_line(said[-1])}", "take fewer states with --limit, or smaller scopes")


def _one_line(text: str) -> str:
    return " ".join(text.split())[:300]


def _end(process: "subprocess.Popen[str]", listener: Thread) -> None:
    process.kill()
    with suppress(OSError), process:
        listener.join()


@contextmanager
def asked(before: Revision, after: Revision, stop: Callable[[], bool]) -> Iterator[Pair]:
    """Both processes, as long as the block lasts."""
    with ExitStack() as ending:
        pair = Pair(before, after, stop)
        pair.start(ending)
        yield pair
