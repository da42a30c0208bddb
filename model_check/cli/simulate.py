"""`kcheck simulate`: long random runs of the reference, each step of which must be a step of the specification."""

import random
from typing import Annotated

import typer

from model_check.checks import simulation
from model_check.cli import options
from model_check.cli.console import print_document
from model_check.verdicts.results import plain_document


def command(
    scope: Annotated[str, typer.Argument(metavar="[SCOPE]", help="A scope; `kcheck show scopes`.")] = "tiny",
    *,
    variant: options.Variant,
    runs: Annotated[int, typer.Option(min=1, help="How many runs.")] = 100,
    steps: Annotated[int, typer.Option(min=1, help="How many steps in each.")] = 200,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same runs (default: a new one).")] = None,
    output: options.Output,
) -> int:
    """Run the reference at random, in a scope with room for faults of every kind but removals by hand.

    The brokers, partitions and parts are those of the scope; what may go wrong, and how long queues may grow, is more
    than in any scope that can be exhausted. Each step of the reference must be a step of the specification, and show
    what it says. Exits with 1 where the two disagree, and tells a shortest such run as a story.

    Ctrl-C ends it with what was found until then, and INCOMPLETE; the same command begins anew.

    For example:
      kcheck simulate
      kcheck simulate topics --runs 2000 --variant FENCED
      kcheck simulate epochs --steps 500 --seed 17
    """
    number = random.randrange(1 << 32) if seed is None else seed
    task = simulation.Task(scope, variant.switches, runs, steps, number)
    return print_document(plain_document("simulate", simulation.run(task)), output)
