"""An exploration of a scope of the manifest, and its verdict: against the manifest, or beside other switches."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from model_check.checks.subject import Subject
from model_check.explicit_state.findings import Found, run_of, with_stories
from model_check.explicit_state.memory import free_memory
from model_check.inventory.accepted import accepted
from model_check.inventory.accepted_systems import with_system_compared
from model_check.inventory.system_facts import SystemKey, system_fact
from model_check.kernel.system_digest import system_digest
from model_check.traces.itf import SavedTrace, save
from model_check.verdicts.difference import SAME, Outcome, changed_claims, size_change
from model_check.verdicts.exploration_text import told_of
from model_check.verdicts.rendering import unexpected
from model_check.verdicts.results import Run
from model_check.verdicts.state_graphs import StateGraph
from model_check.verdicts.verification import compared, compared_as_asked, is_exhausted
from model_check.waiting.estimates import estimated
from model_check.waiting.progress import GIB, interruptible, refuse_what_cannot_fit, states_bar
from spec.expectations import Expectation, Plan, plan
from spec.language.rules import TransitionSystem
from spec.variants import Switches

USUAL = 10e-9
"""Seconds for a state and action, at most, on a machine of the year 2020."""


@dataclass(frozen=True)
class Task(Subject):
    """An exploration to be: a scope under switches, the system built of them, and whether goals are judged."""

    system: TransitionSystem
    goals: bool

    @classmethod
    def of(cls, scope: str, switches: Switches, *, goals: bool) -> "Task":
        """The exploration of a scope of the manifest."""
        return cls(scope, switches, SystemKey(scope, switches).built(), goals)

    @property
    def arguments(self) -> str:
        """Scope and switches as a command line has them."""
        return f"{self.scope} --variant {self.variant}"

    @property
    def expectation(self) -> Expectation | None:
        """What the manifest expects of it."""
        return plan(self.scope).exploration(self.variant)

    @property
    def row_bytes(self) -> int:
        """What a packed state takes, in bytes."""
        bits = sum(one.kind.width for one in self.system.variables)
        return -(-bits // 64) * 8

    def bytes_for(self, states: int) -> int:
        """What so many states take, with the edges among all of them where goals are judged."""
        known = self.expectation if self.goals else None
        edges = known.transitions * states // known.states if known else 0
        return states * (self.row_bytes + 24) + 4 * edges

    def expected_states(self, limit: int | None) -> int | None:
        """How many states there will be, if the manifest knows; at most about the limit."""
        known = self.expectation
        return min(known.states, limit or known.states) if known else None

    def likely_states(self, limit: int | None) -> int:
        """About how many there may be where the manifest has no counts: the most that it has of the scope, or 0."""
        most = max((known.states for known in plan(self.scope).explorations), default=0)
        return min(most, limit or most)


def run(
    task: Task, *, limit: int | None = None, memory_bytes: int | None = None, until_violated: bool = False
) -> Found:
    """Explore, with a bar; Ctrl-C stops it, and on demand the first violation. EnvironmentFailure if it cannot fit."""
    from model_check.explicit_state.explorer import explore

    states, title = task.expected_states(limit), task.title
    needed = task.bytes_for(states or 0)
    refuse_what_cannot_fit(title, needed, memory_bytes or free_memory())
    units, size = (states or 0) * len(task.system.actions), f"{states or 0:,} states, {needed / GIB:.2f} GiB"
    with (
        interruptible() as stop,
        estimated("explore", title + " with goals" * task.goals, units, size=size, usual=USUAL) as whole,
        states_bar(title, states) as report,
    ):
        found = explore(
            task.system,
            limit=limit,
            expected=states or 0,
            likely=task.likely_states(limit),
            memory_bytes=memory_bytes,
            graph=task.goals,
            until_violated=until_violated,
            progress=report,
            stop=stop,
        )
        if found.exhausted:
            whole(found.seconds["search"] + found.seconds["goals"])
        return found


def explored(task: Task, expected: Expectation | None = None) -> Run:
    """Explore; the run compared with what is expected, if anything is, and a story of whatever is not so."""
    found = run(task)
    told = run_of(task.system, found, scope=task.scope, variant=task.variant)
    return told if expected is None else with_unexpected_told(compared(told, expected), task.system, found)


def with_unexpected_told(told: Run, built: TransitionSystem, found: Found) -> Run:
    """A run that was compared, with a story of whatever is not as expected: nobody reads the others."""
    return with_stories(told, built, found, unexpected(told))


def with_wanted_told(told: Run, built: TransitionSystem, found: Found, chosen: Sequence[str], *, every: bool) -> Run:
    """A run with the stories that are printed: of what was chosen, or else of the first news, or all."""
    wanted = told.findings if every else told_of(told, chosen or None)
    return with_stories(told, built, found, {one.property for one in wanted})


LOOKED_AT = 2_000
"""A graph of more states nobody looks at."""


def with_graph(told: Run, built: TransitionSystem) -> Run:
    """The run with its graph, where that is known as a whole, and small."""
    if told.counts is None or told.counts.states > LOOKED_AT or not is_exhausted(told):
        return told
    from model_check.explicit_state.spanning_tree import spanning_tree

    tree = spanning_tree(built)
    steps = zip(tree.sources.tolist(), tree.labels.tolist(), tree.targets.tolist(), strict=True)
    return replace(told, graph=StateGraph(tree.levels, tree.actions, tuple(steps)))


def judged(told: Run, task: Task, chosen: Collection[str] = ()) -> Run:
    """The run compared with what the manifest expects of it; where it is silent, the run with its plain verdict."""
    expected = task.expectation
    return told if expected is None else compared_as_asked(told, expected, chosen)


def beside(told: Run, task: Task, plain: Switches) -> Run:
    """The run with what its switches change, in notes: beside the same scope under other switches."""
    base = Task.of(task.scope, plain, goals=task.goals)
    return replace(told, notes=(*told.notes, f"beside {base.scope} {base.variant}:", *_changes(told, task, base)))


def _changes(told: Run, task: Task, base: Task) -> Iterator[str]:
    if system_digest(task.system) == system_digest(base.system):
        yield f"  nothing changes: {task.variant} has no other term in this scope"
        return
    before = _outcome(base) if is_exhausted(told) else None
    if before is None:
        yield "  not compared, since not everything was explored"
        return
    after, names = Outcome.found(told), {one.property for one in told.findings}
    known = {one.name for one in base.system.properties}
    yield from (f"  {line}" for line in [*changed_claims(before, after, names & known)] or [SAME])
    yield from (f"  claimed here only: {name}" for name in sorted(names - known))
    yield f"  {size_change(before, after)}"


def _outcome(task: Task) -> Outcome | None:
    """What an exploration comes to: as the manifest says if its terms are the accepted ones, else explored; or None."""
    known = task.expectation
    if known is not None and accepted().get(SystemKey(task.scope, task.switches).name) == system_fact(task.system):
        return Outcome.expected(known)
    seen = run(task)
    return Outcome.found(run_of(task.system, seen, scope=task.scope, variant=task.variant)) if seen.exhausted else None


def save_traces(folder: Path, task: Task, found: Found) -> None:
    """Write every counterexample and witness as a file of its own."""
    goals = {name: one.trace for name, one in found.goals.items() if one.trace is not None}
    digest = system_digest(task.system)
    for name, trace in {**found.violated, **found.witnessed, **goals}.items():
        path = folder / f"{task.scope}-{task.variant}-{name}.itf.json"
        save(path, SavedTrace(trace, task.system.name, digest, task.variant, name), task.system)


def verified(one: Plan, expected: Expectation) -> list[Run]:
    """A scope explored under a variant: what is found against the manifest, its system against the accepted one."""
    task = Task.of(one.scope, expected.switches, goals=one.goals)
    return [with_system_compared(explored(task, expected), task.system, SystemKey(one.scope, expected.switches))]
