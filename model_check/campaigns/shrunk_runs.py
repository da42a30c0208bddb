"""Shrinking a campaign's unexplained runs: which faults of each are enough to show the same unexplained observation.

Each try is a live run of its own, recorded and judged here. What was found is a result beside the original's, with the
smallest recording; a run whose shrinking was stopped before that has none, and the same command takes it up again.
"""

import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from model_check.campaigns.campaign import Campaign
from model_check.campaigns.campaign_folder import SHRUNK
from model_check.campaigns.outcomes import SHRINK, Outcome, outcomes
from model_check.campaigns.shrinking import Faults, Tally, ever_fewer, tally
from model_check.campaigns.signatures import signature
from model_check.live.live_faults import Fault, faults_in
from model_check.live.live_run import Task
from model_check.verdicts.rendering import counted
from model_check.verdicts.results import Explained, Run
from spec.errors import SpecError

TRY: Final = "try"


class GaveUp(Exception):
    """There is no time for another try, or somebody asked to stop."""


def shrink_runs(campaign: Campaign, seconds: float) -> list[Run]:
    """Shrink each run that is not explained and is not shrunk yet, all in so many seconds, of which each has its part.

    What one does not need is left to those after it. Gives what is to be said of those for which there was no time.
    """
    left = [one for one in outcomes(campaign.document()) if one.is_unexplained and one.shrunk is None]
    left = [one for one in left if one.first_unexplained and campaign.folder.recording(one.title).exists()]
    until, unfinished = time.monotonic() + seconds, list[Run]()
    for number, one in enumerate(left):
        now = time.monotonic()
        shrinking = Shrinking(campaign, one, now + (until - now) / (len(left) - number))
        made = shrinking.run()
        if shrinking.found_nothing_yet:
            unfinished.append(made)
        else:
            campaign.folder.write(f"{one.title}{SHRUNK}", (made,))
    return unfinished


@dataclass
class Shrinking:
    """The shrinking of one run: what it looks for, until when, and the smallest that was found so far."""

    campaign: Campaign
    outcome: Outcome
    deadline: float
    smallest: Faults | None = None
    best: Tally = field(default_factory=lambda: Tally(0, 0))
    runs: int = 0
    gave_up: bool = True

    @property
    def found_nothing_yet(self) -> bool:
        """Whether there was no time to find out anything."""
        return self.gave_up and self.smallest is None

    def run(self) -> Run:
        """What was found."""
        begun, faults = time.monotonic(), faults_in(self.campaign.folder.recording(self.outcome.title))
        with suppress(GaveUp):
            for fewer in ever_fewer([one.number for one in faults], self._last(faults), self._shows):
                self.smallest = fewer
            self.gave_up = False
        if self.smallest is not None:
            self.campaign.folder.keep(f"{self.outcome.title}{SHRUNK}", self._hit)
        return Run(
            SHRINK,
            self.outcome.title,
            self.campaign.plan.variant,
            self.outcome.verdict,
            self._reason,
            notes=() if self.smallest is None else (self.campaign.plan.live_command(self._seed, self.smallest),),
            faults=tuple(str(one) for one in faults if self.smallest is not None and one.number in self.smallest),
            seconds={SHRINK: time.monotonic() - begun},
        )

    @property
    def _reason(self) -> str:
        if self.found_nothing_yet:
            return f"not shrunk yet: the time ended after {self.runs} runs; the same command goes on"
        if self.smallest is None:
            return f"not shown again: {self.best}"
        more = "; there was no time to leave out more" if self.gave_up else ""
        faults = counted(len(self.smallest), "fault")
        return f"shown again in {self.best} with {faults}, found in {self.runs} runs{more}:"

    @property
    def _hit(self) -> Path:
        """Where the recording of the smallest run is that showed it."""
        return self.campaign.folder.under_way / f"{self.outcome.title}{SHRUNK}"

    @property
    def _seed(self) -> int:
        return int(self.outcome.title.rpartition("-")[2])

    def _is_wanted(self, far: Explained) -> bool:
        """Whether a recording shows the same unexplained observation as the original."""
        original = self.outcome.how_far
        wanted = None if original is None else signature(original)
        return wanted is not None and wanted.is_same(signature(far))

    def _last(self, faults: Sequence[Fault]) -> int:
        """The fault in which the observation was made."""
        seen = self.outcome.first_unexplained
        return max((one.number for one in faults if seen is not None and one.time <= seen.time), default=0)

    def _shows(self, plays: Faults) -> bool:
        task = self.campaign.plan.task(self._seed, plays)
        found = tally(lambda: self._shows_once(task))
        if found.shows:
            self.best = found
            shutil.rmtree(self._hit, ignore_errors=True)
            (self.campaign.folder.under_way / TRY).rename(self._hit)
        elif self.smallest is None:
            self.best = found
        return found.shows

    def _shows_once(self, task: Task) -> bool:
        """Make a run; whether it shows the same. Its recording stays until the next try that shows it."""
        if self._is_over():
            raise GaveUp
        self.runs += 1
        folder = self.campaign.folder.under_way / task.title
        shutil.rmtree(folder, ignore_errors=True)
        try:
            self.campaign.record(task, folder, self._is_over, self._told)
            made = [] if self._is_over() else [*self.campaign.judge(folder, task.setup.switches, None, self._is_over)]
        except (SpecError, OSError, RuntimeError):
            return False  # what cannot be recorded or read does not show it
        if self._is_over():
            raise GaveUp
        shows = any(one.explained is not None and self._is_wanted(one.explained) for one in made)
        if shows:
            shutil.rmtree(self.campaign.folder.under_way / TRY, ignore_errors=True)
            folder.rename(self.campaign.folder.under_way / TRY)
        return shows

    def _is_over(self) -> bool:
        return self.campaign.stop() or time.monotonic() > self.deadline

    def _told(self, _number: int, what: str) -> None:
        self.campaign.tell(self.campaign.plan.runs, f"shrinking {self.outcome.title}, run {self.runs}: {what}")
