"""An enumeration of a scope by the workers of a Spark cluster."""

from typing import TYPE_CHECKING

from model_check.checks.exploration import Task
from model_check.waiting.estimates import estimated
from model_check.waiting.progress import interruptible, states_bar

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
