"""An enumeration of a scope by the workers of a Spark cluster."""

from dataclasses import replace
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from model_check.checks.exploration import Task, with_unexpected_told
from model_check.explicit_state.findings import run_of
from model_check.verdicts.results import Run
from model_check.verdicts.verification import compared
from model_check.waiting.estimates import estimated
from model_check.waiting.progress import interruptible, states_bar
from spec.expectations import Expectation

if TYPE_CHECKING:
    from model_check.spark.enumeration import Enumeration

ENGINE = "Spark"


def run(
    task: Task,
    place: str,
    *,
    master: str = "local[2]",
    shards: int | None = None,
    resume: bool = True,
    limit: int | None = None,
) -> "Enumeration":
    """Enumerate in a run folder, with an estimate and a bar; Ctrl-C stops it."""
    from model_check.spark.spark_engine import enumerate_states

    states, title = task.expected_states(limit), f"{task.scope} {task.variant}"
    with (
        interruptible() as stop,
        estimated("enumerate", title, states, size=f"{states or 0:,} states") as whole,
        states_bar(title, states) as report,
    ):
        found = enumerate_states(
            task.system,
            run_folder=place,
            master=master,
            shards=shards,
            resume=resume,
            limit=limit,
            progress=report,
            stop=stop,
        )
        if found.exhausted:
            whole(found.seconds["search"])
        return found


def verified(expected: Expectation) -> list[Run]:
    """A scope enumerated: what the explorer must find, too, except goals, which Spark's workers are not asked."""
    task = Task.of(expected.scope, expected.switches, goals=False)
    with TemporaryDirectory(prefix="kcheck-enumerate-") as folder:
        found = run(task, folder)
    told = run_of(task.system, found, scope=task.scope, variant=task.variant, engine=ENGINE)
    asked = {name: steps for name, steps in expected.violated.items() if name not in told.not_asked}
    return [with_unexpected_told(compared(told, replace(expected, violated=asked)), task.system, found)]
