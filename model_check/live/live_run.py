"""A live run: the reference on a real ZooKeeper, recorded while brokers are killed and stopped, and judged.

Nothing of the model checker is in the cluster: the brokers are processes that run the reference's handlers, ZooKeeper
is the real server, and what they did is read from what they left behind, just as with a cluster of Kafka's. So this is
the one check that passes through everything: the specification, its znodes, requests and log lines, the reference and
its drivers, and the judge.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Final

from model_check.judging.judge import BUDGET, judge
from model_check.judging.judgement_report import run_of
from model_check.live.live_cluster import EndedEarly, LiveCluster, Stopped
from model_check.live.live_scenario import FAULTS, Scenario, drawn
from model_check.live.live_setup import Setup
from model_check.recordings.reading import read
from model_check.results import Run
from model_check.verdicts import INTERRUPTED, Verdict
from model_check.verification import told_as_interrupted
from spec.variants import show_switches

ENGINE: Final = "live"
POSITIONS_EACH: Final = 30
"""How many positions the judge may visit for each observation of a long recording."""


@dataclass(frozen=True)
class Task:
    """What to run: a cluster, its first topics, and faults of these kinds, so many, or for so many seconds."""

    setup: Setup
    topics: int = 2
    faults: int = len(FAULTS)
    kinds: tuple[str, ...] = tuple(FAULTS)
    seconds: float | None = None

    @property
    def title(self) -> str:
        """What a report calls it."""
        return f"seed-{self.setup.seed}"


Tell = Callable[[int, str], None]
"""Told how many faults are over, and which comes next, or that judging does."""


ATTEMPTS: Final = 3
"""How often a run is made while its judgement stays INCOMPLETE."""


def checked_run(task: Task, folder: Path, stop: Callable[[], bool] = lambda: False) -> Run:
    """A run in a folder of its own; where it is INCOMPLETE, unless it was stopped, the next seed's, a few times.

    Mostly a bound of the specification has no room for what the cluster did, which another run of it may not do.
    """
    made = run(task, folder / task.title, stop=stop)
    for attempt in range(1, ATTEMPTS):
        if made.verdict is not Verdict.INCOMPLETE or stop():
            break
        again = replace(task, setup=replace(task.setup, seed=task.setup.seed + attempt))
        made = run(again, folder / again.title, stop=stop)
    return made


def run(
    task: Task, folder: Path, *, stop: Callable[[], bool] = lambda: False, tell: Tell = lambda _n, _what: None
) -> Run:
    """Record a run in a folder and judge it; `stop` is asked whether to give up, which leaves INCOMPLETE."""
    begun = time.monotonic()
    ended = record(task, folder, stop, tell)
    recorded = time.monotonic()
    variant = show_switches(task.setup.switches)
    if ended == INTERRUPTED:
        reason = f"{INTERRUPTED}; what was recorded until then is not judged"
        return Run(ENGINE, task.title, variant, Verdict.INCOMPLETE, reason)
    recording = read(folder)
    budget = max(BUDGET, POSITIONS_EACH * recording.observations)
    made = run_of(recording, judge(recording, task.setup.switches, budget=budget, stop=stop), variant)
    made = told_as_interrupted(made) if stop() else made
    notes = (*([f"the run ended early: {ended}"] if ended else []), *made.notes)
    seconds = {"record": recorded - begun, "judge": time.monotonic() - recorded}
    return replace(made, engine=ENGINE, scope=task.title, notes=notes, seconds=seconds)


def record(task: Task, folder: Path, stop: Callable[[], bool], tell: Tell) -> str:
    """Run a cluster and leave its recording in a folder; say why it ended before its time, if it did."""
    with LiveCluster(task.setup, folder, stop) as cluster:
        ended = ""
        try:
            _play(task, cluster, tell)
        except Stopped:
            ended = INTERRUPTED
        except EndedEarly as early:
            ended = str(early)
            cluster.act("note", text=f"the run ended early: {ended}")
        cluster.finish()
        return ended


def _play(task: Task, cluster: LiveCluster, tell: Tell) -> None:
    random = Random(task.setup.seed)
    cluster.act("seed", seed=task.setup.seed, topics=task.topics, kinds=list(task.kinds))
    scenario = Scenario(cluster, random, task.topics)
    tell(0, "start")
    scenario.begin()
    until = None if task.seconds is None else time.monotonic() + task.seconds
    for number, kind in zip(itertools.count(), drawn(random, task.kinds), strict=False):
        if time.monotonic() >= until if until is not None else number >= task.faults:
            tell(number, "judging")
            break
        tell(number, kind)
        cluster.act("note", text=f"{kind}: {FAULTS[kind][0]}")
        FAULTS[kind][1](scenario)
        scenario.settle()
