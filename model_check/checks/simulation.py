"""Random runs of the reference, each step of which must be a step of the specification."""

import time
from dataclasses import dataclass, replace

from model_check.checks.subject import Subject
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import Verdict
from model_check.waiting.estimates import estimated
from model_check.waiting.progress import bar, interruptible
from spec.scopes import scope as scope_named

ENGINE = "simulation"


@dataclass(frozen=True)
class Task(Subject):
    """Random runs to be: a scope under switches, how many runs of how many steps, and the seed."""

    runs: int
    steps: int
    seed: int


def run(task: Task) -> Run:
    """Make the runs, with an estimate and a bar."""
    from model_check.refinement.lockstep import Disagreement, Sides
    from model_check.refinement.replay_report import disagreed
    from model_check.refinement.simulate import simulate, widened
    from model_check.refinement.simulation_report import simulated

    sides = Sides(widened(scope_named(task.scope)), task.switches)
    started, size = time.perf_counter(), f"{task.runs:,} runs of {task.steps:,} steps"
    told = Run(ENGINE, task.scope, task.variant, Verdict.INCOMPLETE, notes=(f"seed {task.seed}",))
    with (
        interruptible() as stop,
        estimated("simulate", task.title, task.runs * task.steps, size=size) as whole,
        bar(task.title, task.runs) as report,
    ):
        try:
            done = simulate(sides, runs=task.runs, steps=task.steps, number=task.seed, progress=report, stop=stop)
        except Disagreement as found:
            return disagreed(told, sides, found)
        if not done.interrupted:
            whole()
    told = simulated(told, done, sides, (task.runs, task.steps))
    return replace(told, seconds={"runs": time.perf_counter() - started})


def verified(task: Task) -> list[Run]:
    """Random runs, made."""
    return [run(task)]
