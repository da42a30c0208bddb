"""Live runs of the reference in its own cluster, as checks of `kcheck verify`: a short one, and longer ones."""

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from model_check.checks.planted_faults import recorded
from model_check.inventory.facts import Fact
from model_check.live.live_run import ENGINE as LIVE
from model_check.live.live_run import Task, checked_run
from model_check.live.live_setup import Setup
from model_check.reuse.reusable import Reusable
from model_check.verdicts.results import Comparison, Run
from model_check.verdicts.verdict import Verdict, worst
from model_check.verdicts.verification import Check
from model_check.waiting.progress import interruptible

LIVE_COST: Final = 80_000_000
"""A live run takes about as long as exploring so many states."""

SHORT: Final = Task(Setup(3, seed=1), topics=1, faults=2, kinds=("kill-controller", "stop-controller"))
"""A failover, and a zombie."""
LONGER: Final = tuple(Task(Setup(3, seed)) for seed in (10, 20, 30))
"""Every kind of fault."""


def live_runs(*, deep: bool) -> Iterator[Check]:
    """A short live run; deep, some more, with every kind of fault."""
    for task in [SHORT, *LONGER] if deep else [SHORT]:
        yield Reusable(LIVE, task.title, "AS_CODED", LIVE_COST, partial(_lived, task))


def live_facts() -> Iterator[Fact]:
    """What each live run does, as facts of the inventory."""
    for task in (SHORT, *LONGER):
        size = f"{len(task.setup.programs)} members, {task.topics} topics, {task.faults} faults"
        yield f"live run {task.title}", f"{size} of {', '.join(task.kinds)}"


def _lived(task: Task) -> list[Run]:
    """A live run, whose recording is kept if it does not hold."""
    folder = Path(tempfile.mkdtemp(prefix="kcheck-live-"))
    try:
        with interruptible() as stop:
            made = checked_run(task, folder, stop)
    except BaseException:
        shutil.rmtree(folder)
        raise
    met = Comparison("every observation explained, nothing newly broken", Verdict.HOLDS, made.verdict, made.verdict)
    done = Comparison.of("faults", task.faults, len(made.faults), Verdict.INCOMPLETE)
    made = replace(made, comparisons=(met, done), verdict=worst((made.verdict, done.verdict)))
    if made.verdict is Verdict.HOLDS:
        planted = recorded(folder / made.scope)
        made = replace(made, comparisons=(met, done, planted), verdict=planted.verdict)
    if made.verdict is Verdict.HOLDS:
        shutil.rmtree(folder)
        return [made]
    return [replace(made, notes=(f"recorded in {folder / made.scope}", *made.notes))]
