"""What became of each run of a campaign, read off the document: explained or not, a claim broken, or not recorded.

A run may break a claim and be explained, as may one that is not explained: these are two questions. The search is asked
only of a cluster that claims to be a documented release: any other run is neither explained nor unexplained. A claim
that the specification's own exploration breaks as well is no break (D1 is a finding about Kafka, and none about this
run).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from model_check.campaigns.campaign import ENGINE as CAMPAIGN
from model_check.live.live_run import EARLY
from model_check.verdicts.results import Document, Explained, Finding, Run, Seen, is_break
from model_check.verdicts.verdict import Verdict, worst

SHRINK: Final = "shrink"
"""The engine of what shrinking found."""


@dataclass(frozen=True)
class Outcome:
    """A run of the campaign: all that is said of its recording, and what shrinking it found."""

    title: str
    runs: tuple[Run, ...]
    shrunk: Run | None = None

    @property
    def verdict(self) -> Verdict:
        """The worst that is said."""
        return worst(one.verdict for one in self.runs)

    @property
    def failure(self) -> str:
        """Why it could not be recorded, or its recording not be judged; empty if it could."""
        return next((one.reason for one in self.runs if one.verdict is Verdict.ERROR), "")

    @property
    def how_far(self) -> Explained | None:
        """How far the recording is explained, if that was asked."""
        return next((one.explained for one in self.runs if one.explained is not None), None)

    @property
    def is_explained(self) -> bool:
        """Whether all of it is, and nothing that was asked is left open."""
        far = self.how_far
        return far is not None and far.explained == far.observations and not far.next and not self._is_open

    @property
    def is_unexplained(self) -> bool:
        """Whether it was recorded and searched, and is not explained."""
        return not (self.failure or self.is_explained or self.is_not_searched)

    @property
    def is_not_searched(self) -> bool:
        """Whether nothing but its claims was asked."""
        return self.how_far is None and not self.failure and (bool(self.ended_early) or not self._is_open)

    @property
    def _is_open(self) -> bool:
        return any(one.verdict in {Verdict.INCOMPLETE, Verdict.ERROR} for one in self.runs)

    @property
    def ended_early(self) -> str:
        """Why the run ended before its time; empty if it did not."""
        said = (text for one in self.runs for text in (one.reason, *one.notes) if text.startswith(EARLY))
        return next(said, "").removeprefix(EARLY)

    @property
    def breaks(self) -> tuple[Finding, ...]:
        """The claims that are broken, and that the specification's own exploration does not break."""
        violated = (one for run in self.runs if run.verdict is Verdict.VIOLATED for one in run.findings)
        return tuple(one for one in violated if is_break(one))

    @property
    def first_unexplained(self) -> Seen | None:
        """The first observation that no behaviour shows."""
        far = self.how_far
        return far.next[0] if far is not None and far.next else None

    @property
    def faults(self) -> tuple[str, ...]:
        """Number and kind of each fault."""
        return next((one.faults for one in self.runs if one.faults), ())

    @property
    def seconds(self) -> Mapping[str, float]:
        """How long recording and judging took."""
        every = [one.seconds or {} for one in self.runs]
        return {part: sum(one.get(part, 0.0) for one in every) for one in every for part in one}


def outcomes(document: Document) -> list[Outcome]:
    """The runs of a campaign, in their order."""
    made = [run for run in document.runs if run.engine != SHRINK]
    titles = dict.fromkeys(run.scope for run in made if run.engine != CAMPAIGN)
    shrunk = {run.scope: run for run in document.runs if run.engine == SHRINK}
    return [Outcome(title, tuple(run for run in made if run.scope == title), shrunk.get(title)) for title in titles]
