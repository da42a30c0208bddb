"""What a campaign runs: one task for each of some consecutive seeds, alike except for the seed."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from model_check.live.live_run import Task
from spec.variants import show_switches


@dataclass(frozen=True)
class Plan:
    """The task of the first seed, and how many there are.

    `words` say on a command line what all tasks have in common, `length` how long they last, and `beside` what is asked
    for that decides no run: which folder keeps them, say.
    """

    first: Task
    runs: int
    words: str = ""
    length: str = ""
    beside: str = ""

    @property
    def tasks(self) -> Iterator[Task]:
        """The task of each seed."""
        seed = self.first.setup.seed
        return (self.task(one) for one in range(seed, seed + self.runs))

    def task(self, seed: int, plays: tuple[int, ...] | None = None) -> Task:
        """The task of a seed; of its faults only some, where these are given."""
        return replace(self.first, setup=replace(self.first.setup, seed=seed), plays=plays)

    @property
    def variant(self) -> str:
        """By what the recordings are judged."""
        return show_switches(self.first.setup.switches)

    @property
    def command(self) -> str:
        """The command that makes this campaign, whatever its number of runs: what another call must agree with."""
        return _joined("kcheck campaign", self.words, self.length, f"--seed {self.first.setup.seed}")

    @property
    def command_again(self) -> str:
        """The command that goes on with this campaign, in the same folder, to the same number of runs."""
        return _joined(self.command, f"--runs {self.runs}", self.beside)

    def live_command(self, seed: int, plays: Sequence[int]) -> str:
        """The command that makes a run with some of the faults of a seed."""
        faults = [f"--play {one}" for one in plays] or ["--faults 0"]
        return _joined("kcheck live", self.words, f"--seed {seed}", *faults)


def judge_command(recording: object, variant: str) -> str:
    """The command that judges a recording again."""
    given = "" if variant == "AS_CODED" else f"--variant {variant}"
    return _joined("kcheck judge", shlex.quote(str(recording)), given)


def _joined(*parts: str) -> str:
    return " ".join(filter(None, parts))
