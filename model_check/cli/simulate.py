"""`kcheck simulate`: long random runs of the reference, each step of which must be a step of the specification."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, replace
from typing import Annotated

import typer

from model_check.cli import options
from model_check.cli.console import print_document
from model_check.cli.estimates import estimated
from model_check.cli.progress import bar, interruptible
from model_check.verdicts.results import Run, plain_document
from model_check.verdicts.verdict import Verdict
from spec.scopes import scope as scope_named
from spec.variants import Switches, show_switches

ENGINE = "simulation"


def command(
    scope: Annotated[str, typer.Argument(metavar="[SCOPE]", help="A scope; `kcheck show scopes`.")] = "tiny",
    *,
    variant: options.VariantOption = "AS_CODED",
    on: options.WithOption = None,
    off: options.WithoutOption = None,
    runs: Annotated[int, typer.Option(min=1, help="How many runs.")] = 100,
    steps: Annotated[int, typer.Option(min=1, help="How many steps in each.")] = 200,
    seed: Annotated[
        int | None, typer.Option(help="The same seed gives the same runs (default: another each time).")
    ] = None,
    as_json: options.JsonOption = False,
) -> int:
    """Run the reference at random, in a scope with room for faults of every kind but removals by hand.

    The brokers, partitions and parts are those of the scope; what may go wrong, and how long queues may grow, is more
    than in any scope that can be exhausted. Each step of the reference must be a step of the specification, and show
    what it says. Exits with 1 where the two disagree, and tells a shortest such run as a story.

    Ctrl-C ends it with what was found until then, and INCOMPLETE; the same command begins anew, and only
    `kcheck enumerate` and `kcheck campaign` go on where they were.

    For example:
      kcheck simulate
      kcheck simulate topics --runs 2000 --variant FENCED
      kcheck simulate epochs --steps 500 --seed 17
    """
    number = random.randrange(1 << 32) if seed is None else seed
    task = Task(scope, options.chosen_switches(variant, on, off), runs, steps, number)
    return print_document(plain_document("simulate", run(task)), as_json=as_json)


@dataclass(frozen=True)
class Task:
    """Random runs to be: a scope under switches, how many runs of how many steps, and the seed."""

    scope: str
    switches: Switches
    runs: int
    steps: int
    seed: int


def run(task: Task) -> Run:
    """Make the runs, with an estimate and a bar."""
    from model_check.refinement.lockstep import Disagreement, Sides
    from model_check.refinement.replay_report import disagreed, simulated
    from model_check.refinement.simulate import simulate, widened

    sides = Sides(widened(scope_named(task.scope)), task.switches)
    variant, started = show_switches(task.switches), time.perf_counter()
    told = Run(ENGINE, task.scope, variant, Verdict.INCOMPLETE, notes=(f"seed {task.seed}",))
    title, size = f"{task.scope} {variant}", f"{task.runs:,} runs of {task.steps:,} steps"
    with (
        interruptible() as stop,
        estimated("simulate", title, task.runs * task.steps, size=size) as whole,
        bar(title, task.runs) as report,
    ):
        try:
            done = simulate(sides, runs=task.runs, steps=task.steps, number=task.seed, progress=report, stop=stop)
        except Disagreement as found:
            return disagreed(told, sides, found)
        if not done.interrupted:
            whole()
    told = simulated(told, done, sides, (task.runs, task.steps))
    return replace(told, seconds={"runs": time.perf_counter() - started})
