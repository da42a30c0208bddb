"""The loop of a campaign: one run is recorded while a second process judges the one before.

A run that holds leaves its result; of any other the recording stays, too. One that could not be recorded leaves its
reason, and is made again when the campaign goes on. Recordings that are not judged yet when it is stopped are dropped:
at most two, for recording waits until no more than one waits to be judged.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from model_check.campaigns.campaign_folder import SHRUNK, CampaignFolder
from model_check.campaigns.judge_process import Executor
from model_check.campaigns.plan import Plan, judge_command
from model_check.live.live_run import ENGINE as LIVE
from model_check.live.live_run import Task, Tell, judged, record, with_its_making
from model_check.verdicts.results import Document, Run, plain_document
from model_check.verdicts.verdict import INTERRUPTED, Verdict
from model_check.verdicts.verification import Check, made
from spec.variants import Switches

ENGINE: Final = "campaign"
POLL_SECONDS: Final = 0.1
JUDGE_DIED: Final = "the process that judged it was killed (for memory, as a rule)"

Stop: TypeAlias = Callable[[], bool]
Record: TypeAlias = Callable[[Task, Path, Stop, Tell], str]
"""Makes a recording in a folder, and says why it ended early, if it did: `live_run.record`, or a stand-in."""

Judge: TypeAlias = Callable[[Path, Switches, int | None, Stop], Iterable[Run]]
"""Says what is to be said of a recording, within a budget: `live_run.judged`, or a stand-in."""

NEVER: Final = bool
"""Only a kill stops the judge of another process; and no lambda can be sent there."""


@dataclass(frozen=True)
class Recorded:
    """A recording that is to be judged: of what task, where, why it ended early, and how long it took."""

    task: Task
    folder: Path
    ended: str
    seconds: float


@dataclass
class Campaign:
    """A campaign at work: `tell` gets how many runs are over, and what is done now; `stop` is asked to give up."""

    plan: Plan
    folder: CampaignFolder
    elsewhere: Executor
    record: Record = record
    judge: Judge = judged
    keeps_all: bool = False
    stop: Stop = lambda: False
    tell: Tell = lambda _done, _what: None
    _waiting: dict[Future[list[Run]], Recorded] = field(default_factory=dict)

    def make_runs(self) -> None:
        """Make every run that is not there yet, unless stopped."""
        for task in self.missing():
            self._settle(at_most=1)
            if self.stop():
                return
            recorded = self._recorded(task)
            if recorded is not None:
                judging = partial(self.judge, recorded.folder, self._fixes, None, NEVER)
                check = Check(LIVE, task.title, self.plan.variant, 0, judging)
                self._waiting[self.elsewhere.submit(made, check)] = recorded
        self._settle(at_most=0)

    def missing(self) -> list[Task]:
        """The tasks that have no result yet."""
        return [task for task in self.plan.tasks if not self.folder.is_done(task.title)]

    @property
    def _fixes(self) -> Switches:
        return self.plan.first.setup.switches

    def _recorded(self, task: Task) -> Recorded | None:
        """Record a run; what makes that impossible is its result, and stopping leaves none."""
        folder, begun = self.folder.under_way / task.title, time.monotonic()
        ended: list[str] = []

        def make() -> list[Run]:
            ended.append(self.record(task, folder, self.stop, partial(self._told, task.title)))
            return []

        failed = made(Check(LIVE, task.title, self.plan.variant, 0, make))
        seconds = time.monotonic() - begun
        if INTERRUPTED in ended or self.stop() or any(one.is_cut_short for one in failed):
            return None
        if failed:
            self.folder.write(task.title, (replace(failed[0], seconds={"record": seconds}),))
            return None
        return Recorded(task, folder, ended[0], seconds)

    def _told(self, title: str, _number: int, what: str) -> None:
        over = sum(self.folder.has_result(task.title) for task in self.plan.tasks)
        self.tell(over, f"{title}: {what}")

    def _settle(self, *, at_most: int) -> None:
        """Write down what was judged, and wait until no more than so many recordings are not; or until stopped."""
        while True:
            for one in [one for one in self._waiting if one.done()]:
                self._put_away(self._waiting.pop(one), one)
            if len(self._waiting) <= at_most or self.stop():
                return
            wait_for(self._waiting, POLL_SECONDS)

    def _put_away(self, recorded: Recorded, judging: Future[list[Run]]) -> None:
        """Keep a recording or not, and write the result."""
        title = recorded.task.title
        try:
            runs = judging.result()
        except BrokenProcessPool:
            runs = [Run(LIVE, title, self.plan.variant, Verdict.ERROR, JUDGE_DIED)]
        runs = list(with_its_making(tuple(runs), title, recorded.ended, recorded.seconds))
        if self.keeps_all or any(one.verdict is not Verdict.HOLDS for one in runs):
            self.folder.keep(title, recorded.folder)
        self.folder.write(title, tuple(runs))

    def document(self, also: Iterable[Run] = ()) -> Document:
        """What was found so far, and what else is to be said, as one document; where runs are missing, it says so."""
        runs = [run for task in self.plan.tasks for run in self._results(task.title)]
        missing = len(self.missing())
        if missing and self.stop():
            reason = f"{INTERRUPTED}; {self.plan.runs - missing} of {self.plan.runs} runs were made"
            again = f"the same command goes on: {self.plan.command_again}"
            runs.append(Run(ENGINE, "", self.plan.variant, Verdict.INCOMPLETE, reason, notes=(again,)))
        return plain_document("campaign", *runs, *also)

    def _results(self, title: str) -> Iterator[Run]:
        """All that is known of a run, and where to look at it."""
        for name in (title, f"{title}{SHRUNK}"):
            result, recording = self.folder.result(name), self.folder.recording(name)
            for number, run in enumerate(result.runs if result else ()):
                kept = recording.exists() and not number
                again = (f"to judge it again: {judge_command(recording, self.plan.variant)}",) if kept else ()
                yield replace(run, notes=(*again, *run.notes))
