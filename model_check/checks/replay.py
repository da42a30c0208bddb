"""A replay of every edge of a scope on the reference; of a large one by Spark's workers."""

import time
from dataclasses import dataclass

from model_check.checks.subject import Subject
from model_check.inventory.system_facts import SystemKey
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import INTERRUPTED, Verdict
from model_check.waiting.estimates import estimated
from model_check.waiting.progress import bar, interruptible
from spec.expectations import Expectation, plan
from spec.model import Model
from spec.scopes import scope as scope_named
from spec.variants import Switches

ENGINE = "refinement"

FEW = 20_000
"""So many states are walked in this process, before Java has started and its workers have built the system again."""


@dataclass(frozen=True)
class Task(Subject):
    """A replay to be: a scope under switches, and the Spark master that does it."""

    master: str = "local[2]"


def run(task: Task, *, depth: int | None = None, limit: int | None = None) -> Run:
    """Replay, with an estimate and a bar; Ctrl-C stops it."""
    expected = plan(task.scope).exploration(task.variant)
    is_whole = expected is not None and depth is None and (limit is None or limit > expected.states)
    states = expected.states if expected is not None and is_whole else None
    with estimated(ENGINE, task.title, states, size=f"{states or 0:,} states") as whole:
        told = _replayed(task, expected, depth, limit)
        if is_whole and not told.reason:
            whole()
    return told


def _replayed(task: Task, expected: Expectation | None, depth: int | None, limit: int | None) -> Run:
    from model_check.explicit_state.spanning_tree import spanning_tree
    from model_check.refinement.edge_replay import joined, walk_here
    from model_check.refinement.lockstep import Disagreement, Sides
    from model_check.refinement.replay_report import agreed, disagreed

    if scope_named(task.scope).purgatory is not None:
        return run_race(task, depth=depth, limit=limit)
    started = time.perf_counter()
    sides = Sides(scope_named(task.scope), task.switches, SystemKey(task.scope, task.switches).built())
    with interruptible() as stop:
        tree = spanning_tree(sides.system, depth=depth, limit=limit, stop=stop)
        built = time.perf_counter()
        with bar(task.title, tree.states) as report:
            if tree.states <= FEW:
                walks = walk_here(sides, tree, report, stop)
            else:
                from model_check.spark.spark_edge_replay import walk_with_workers

                walks = walk_with_workers(sides, tree, master=task.master, progress=report, stop=stop)
    seconds = {"tree": built - started, "replay": time.perf_counter() - built}
    told = Run(ENGINE, task.scope, task.variant, Verdict.INCOMPLETE, INTERRUPTED, seconds=seconds)
    if walks is None:
        return told
    try:
        return agreed(told, tree, joined(sides, tree, walks), expected)
    except Disagreement as found:
        return disagreed(told, sides, found)


def run_race(task: Task, *, depth: int | None = None, limit: int | None = None) -> Run:
    """Replay a system of threads, in this process: a generator cannot be sent to a worker."""
    from model_check.explicit_state.spanning_tree import spanning_tree
    from model_check.refinement.lockstep import Disagreement
    from model_check.refinement.purgatory.replay import Replay
    from model_check.refinement.replay_report import agreed, disagreed

    sides = Replay(Model(scope_named(task.scope), task.switches))
    told = Run(ENGINE, task.scope, task.variant, Verdict.INCOMPLETE, INTERRUPTED)
    with interruptible() as stop:
        tree = spanning_tree(sides.system, depth=depth, limit=limit, stop=stop)
        with bar(task.title, tree.states) as report:
            try:
                replayed = sides.run(tree, report, stop)
            except Disagreement as found:
                return disagreed(told, sides, found)
    return told if replayed is None else agreed(told, tree, replayed, plan(task.scope).exploration(task.variant))


def verified(scope: str, switches: Switches) -> list[Run]:
    """Every edge of a scope under some switches, replayed."""
    return [run(Task(scope, switches))]
