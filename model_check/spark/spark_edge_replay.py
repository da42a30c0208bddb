"""Edge replay by many workers: one Spark task for each stretch of the tree.

A worker builds specification and reference once for a scope and keeps them for its next tasks. Tasks need nothing of
each other and nothing but the stretch, so a task that is lost is done again by whoever is free, and what comes back is
a few bytes a state.
"""

import gc
from collections.abc import Callable

from model_check.explicit_state.spanning_tree import SpanningTree, Stretch
from model_check.refinement.edge_replay import SIZE, Walked, walk
from model_check.refinement.lockstep import Sides
from model_check.spark.spark_job import collected, finished_tasks
from model_check.spark.spark_session import spark_session
from spec.collector import freeze_for_good
from spec.scopes import Scope
from spec.variants import Switches

GROUP = "kcheck.refine"

Task = tuple[Scope, Switches, Stretch]

_held: dict[tuple[Scope, Switches], Sides] = {}
"""The sides that this worker has built: those of the scope that it walks."""


def do_stretch(task: Task) -> Walked:
    """A task: walk one stretch."""
    scope, switches, stretch = task
    sides = _held.get((scope, switches))
    if sides is None:
        _held.clear()
        sides = _held[scope, switches] = Sides(scope, switches)
        freeze_for_good()  # what was built is no garbage; looking through it again and again takes a fifth of the time
    gc.disable()
    try:
        return walk(sides, stretch)
    finally:
        gc.enable()
        gc.collect()


def walk_with_workers(
    sides: Sides,
    tree: SpanningTree,
    *,
    master: str = "local[2]",
    progress: Callable[[int], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
) -> list[Walked] | None:
    """The walks of all stretches of a tree, by the workers of a Spark master; None if it was stopped.

    `progress` is called with how many states are done; it and `stop` are called some times a second. EnvironmentFailure
    if Java or a worker fails.
    """
    with spark_session(master) as context:
        if stop():
            return None
        parts = max(2 * context.defaultParallelism, tree.states // SIZE)
        tasks: list[Task] = [(sides.scope, sides.switches, stretch) for stretch in tree.stretches(parts)]
        if not tasks:
            return []
        walks = context.parallelize(tasks, len(tasks)).map(do_stretch)

        def look() -> None:
            progress(tree.states * finished_tasks(context) // len(tasks))

        made = collected(context, GROUP, "replay of edges", walks, stop, look)
        return None if stop() else made
