"""A live run: a cluster on a real ZooKeeper, recorded while its members are killed and stopped, and judged.

Nothing of the model checker is in the cluster: the members are processes, of the reference or of somebody else,
ZooKeeper is the real server, and what they did is read from what they left behind. So a run of the reference is the one
check that passes through everything: the specification, its znodes, requests and log lines, the reference and its
drivers, and the judge.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from model_check.judging.judge import BUDGET
from model_check.judging.judgement_report import NOT_EXPLAINED
from model_check.live.fault_kinds import FAULTS, USUAL
from model_check.live.live_cluster import STATE_CHANGES, EndedEarly, LiveCluster, Stopped
from model_check.live.live_faults import chance, chosen_faults, faults_in
from model_check.live.live_scenario import Scenario
from model_check.live.live_setup import Setup
from model_check.monitors.check import IN_CHARGE, NOTHING_AT_REST
from model_check.recordings.actions import NOTE
from model_check.two_questions import Question, claims_run, readable, search_run, unreadable_run
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import INTERRUPTED, Verdict, worst
from model_check.verdicts.verification import told_as_interrupted
from spec.errors import BadInput
from spec.variants import Switches, show_switches

ENGINE: Final = "live"
EARLY: Final = "the run ended early: "
"""How the reason or note begins that tells why a run ended before its time."""
POSITIONS_EACH: Final = 30
"""How many positions the judge may visit for each observation of a long recording."""


@dataclass(frozen=True)
class Task:
    """What to run: a cluster, topics, and faults of some kinds: so many, for so long, or those numbered in `plays`."""

    setup: Setup
    topics: int = 2
    faults: int = len(USUAL)
    kinds: tuple[str, ...] = USUAL
    seconds: float | None = None
    plays: tuple[int, ...] | None = None

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

    Mostly a bound of the specification has no room for what the cluster did, which another run of it may not do. What
    is not explained is not tried again: that would hide it.
    """
    made = run(task, folder / task.title, stop=stop)
    for attempt in range(1, ATTEMPTS):
        if made.verdict is not Verdict.INCOMPLETE or made.reason.startswith(NOT_EXPLAINED) or stop():
            break
        again = replace(task, setup=replace(task.setup, seed=task.setup.seed + attempt))
        made = run(again, folder / again.title, stop=stop)
    return made


def run(
    task: Task, folder: Path, *, stop: Callable[[], bool] = lambda: False, tell: Tell = lambda _n, _what: None
) -> Run:
    """The worst of what is said of a run, the last if that is said twice; once `stop` says so, it is INCOMPLETE."""
    made = recorded_and_judged(task, folder, stop=stop, tell=tell)
    verdict = worst(one.verdict for one in made)
    return next(one for one in reversed(made) if one.verdict is verdict)


def recorded_and_judged(
    task: Task, folder: Path, *, stop: Callable[[], bool] = lambda: False, tell: Tell = lambda _n, _what: None
) -> tuple[Run, ...]:
    """Record a run in a folder and judge it; all that is said of it."""
    begun = time.monotonic()
    ended = record(task, folder, stop, tell)
    seconds = time.monotonic() - begun
    if ended == INTERRUPTED:
        reason = f"{INTERRUPTED}; what was recorded until then is not judged"
        return (Run(ENGINE, task.title, show_switches(task.setup.switches), Verdict.INCOMPLETE, reason),)
    made = judged(folder, task.setup.switches, stop=stop)
    return with_its_making(made, task.title, ended, seconds)


def judged(
    folder: Path, switches: Switches, budget: int | None = None, stop: Callable[[], bool] = lambda: False
) -> tuple[Run, ...]:
    """What is said of a recording, a run for each question; `budget` positions, or by its length. BadInput."""
    asked, faults = Question(switches, budget=budget, stop=stop), tuple(map(str, faults_in(folder)))
    try:
        recording = readable(folder, asked)
    except BadInput as why:
        return (replace(unreadable_run(folder, asked, why), faults=faults),)
    claims = replace(claims_run(folder, asked, recording), faults=faults)
    if claims.verdict is Verdict.HOLDS and not any(one.property == IN_CHARGE for one in claims.findings):
        claims = replace(claims, verdict=Verdict.INCOMPLETE, reason=NOTHING_AT_REST)
    if recording is None:
        return (claims,)
    begun = time.monotonic()
    made = search_run(recording, asked, max(BUDGET, POSITIONS_EACH * recording.observations))
    made = told_as_interrupted(made) if stop() else made
    return claims, replace(made, engine=ENGINE, faults=faults, seconds={"judge": time.monotonic() - begun})


def with_its_making(made: tuple[Run, ...], title: str, ended: str, seconds: float) -> tuple[Run, ...]:
    """What is said of a recording, named as its run; the first tells how that went, INCOMPLETE if it ended early."""
    first, *others = (replace(one, scope=title) for one in made)
    if ended:
        reason, *said = f"{EARLY}{ended}".splitlines()
        if first.verdict in {Verdict.HOLDS, Verdict.INCOMPLETE}:
            notes = (*said, *filter(None, [first.reason]), *first.notes)
            first = replace(first, verdict=Verdict.INCOMPLETE, reason=reason, notes=notes)
        else:
            first = replace(first, notes=(reason, *said, *first.notes))
    return replace(first, seconds={"record": seconds, **(first.seconds or {})}), *others


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
            cluster.act(NOTE, text=f"{EARLY}{early.reason}")
        cluster.finish()
        return ended


def _play(task: Task, cluster: LiveCluster, tell: Tell) -> None:
    seed = task.setup.seed
    cluster.act("seed", seed=seed, topics=task.topics, kinds=list(task.kinds))
    scenario = Scenario(cluster, chance(seed, 0), task.topics)
    tell(0, "start")
    scenario.begin()
    _refuse_without_logs(cluster)
    until = None if task.seconds is None or task.plays is not None else time.monotonic() + task.seconds
    done = 0
    for number, kind in chosen_faults(seed, task.kinds, task.plays, task.faults if until is None else None):
        if until is not None and time.monotonic() >= until:
            break
        tell(done, kind)
        cluster.act(NOTE, number=number, kind=kind, text=f"{kind}: {FAULTS[kind][0]}")
        scenario.random = chance(seed, number)
        FAULTS[kind][1](scenario)
        scenario.settle()
        done += 1
    tell(done, "judging")


def _refuse_without_logs(cluster: LiveCluster) -> None:
    """BadInput if nobody of a program that claims a release has begun a log, once the first topics are there."""
    for program in {one.runs: one for one in cluster.setup.programs.values() if one.release is not None}.values():
        members = [member for member, one in cluster.setup.programs.items() if one.runs == program.runs]
        if not any((cluster.folder / f"broker-{member}" / STATE_CHANGES).exists() for member in members):
            raise BadInput(
                f"{program.runs} is to be judged as {program.release}, and has written no {{folder}}/{STATE_CHANGES}"
                "; without --release only claims are asked, which need no logs"
            )
