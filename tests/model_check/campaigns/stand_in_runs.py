"""Live runs without a cluster: a recorder that only writes down the faults, and a judge that only looks at these.

`Cluster` shows what no behaviour explains when all `guilty` faults are among those of a run. Its seeds in `absent`
cannot be recorded.
"""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from model_check.campaigns.campaign import Campaign
from model_check.campaigns.campaign_folder import opened
from model_check.campaigns.plan import Plan
from model_check.live.live_faults import chosen_faults, faults_in
from model_check.live.live_run import Task, Tell
from model_check.live.live_setup import Setup
from model_check.verdicts.results import Explained, Run, Seen
from model_check.verdicts.verdict import Verdict
from spec.errors import EnvironmentFailure
from spec.variants import Switches

KINDS = ("kill-broker", "lag")
NEXT = Seen("StateWritten", "zookeeper.jsonl:59", 3500, "zxid 0x3b version=1")
WHOLE = Explained(40, 40, 55, 50)
PART = Explained(40, 31, 10_000, 44, (NEXT,), ("write_removal(c=3, p=1, r=1)", "deliver_request(c=1, b=2)"))


def plan(seed: int = 7, runs: int = 3, faults: int = 4) -> Plan:
    return Plan(Task(Setup(3, seed), 1, faults, KINDS), runs, "--only kill-broker --only lag", f"--faults {faults}")


def judged_run(title: str, far: Explained = WHOLE, faults: tuple[str, ...] = ()) -> Run:
    """What the judge says of a recording that is explained so far."""
    verdict = Verdict.HOLDS if far == WHOLE else Verdict.INCOMPLETE
    reason = "" if far == WHOLE else "not explained: no behaviour shows this"
    return Run("live", title, "AS_CODED", verdict, reason, explained=far, faults=faults, seconds={"judge": 0.5})


@dataclass
class Cluster:
    """Records and judges; `recorded` tells what was, in order: the seed and the numbers of the faults."""

    guilty: frozenset[int] | None = None
    absent: frozenset[int] = frozenset()
    recorded: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)

    def record(self, task: Task, folder: Path, stop: Callable[[], bool], tell: Tell) -> str:
        """Each fault begins a second after the one before."""
        assert not stop()
        seed = task.setup.seed
        faults = list(chosen_faults(seed, task.kinds, task.plays, task.faults))
        self.recorded.append((seed, tuple(number for number, _ in faults)))
        tell(0, "start")
        if seed in self.absent:
            raise EnvironmentFailure("within 30 s not: there is a controller", "is the machine overloaded?")
        folder.mkdir()
        acts = [{"action": "note", "number": number, "kind": kind, "ms": 1000 * number} for number, kind in faults]
        (folder / "actions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in acts), encoding="utf-8")
        return ""

    def judge(self, folder: Path, _switches: Switches, _budget: int | None = None, _stop: Any = None) -> list[Run]:
        """Explained, unless the guilty are there."""
        faults = faults_in(folder)
        shows = self.guilty is not None and self.guilty <= {one.number for one in faults}
        return [judged_run(folder.name, PART if shows else WHOLE, tuple(map(str, faults)))]


@contextmanager
def campaign(path: Path, cluster: Cluster, which: Plan | None = None, **options: Any) -> Iterator[Campaign]:
    """A campaign in a folder, judged in a thread."""
    which = which or plan()
    with opened(path, which) as folder, ThreadPoolExecutor(1) as threads:
        yield Campaign(which, folder, threads, cluster.record, cluster.judge, **options)
