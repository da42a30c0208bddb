"""What `kcheck refine` says: counts beside the explorer's; and, as `kcheck simulate`, a disagreement as a story."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from model_check.explicit_state.findings import story_of
from model_check.explicit_state.spanning_tree import SpanningTree
from model_check.refinement.edge_replay import Replayed
from model_check.refinement.lockstep import Disagreement, Sides
from model_check.refinement.purgatory.replay import Replay
from model_check.verdicts.rendering import counted
from model_check.verdicts.results import Comparison, Run
from model_check.verdicts.verdict import Verdict, worst
from spec.expectations import Expectation


def agreed(told: Run, tree: SpanningTree, replayed: Replayed, expected: Expectation | None) -> Run:
    """The run of a replay without a disagreement; its counts must be the explorer's, and all of them the manifest's."""
    comparisons = [
        Comparison.of("states", tree.states, replayed.states),
        Comparison.of("edges", tree.edges, replayed.edges),
        *(Comparison.of(f"edges of {rule}", count, replayed.by_rule[rule]) for rule, count in tree.by_rule.items()),
    ]
    if expected is not None and replayed.complete:
        found = (replayed.states, replayed.edges, replayed.depth)
        wanted = (expected.states, expected.transitions, expected.depth)
        comparisons.append(Comparison.of("states, transitions and depth of the manifest", wanted, found))
    reason = "" if replayed.complete else f"not exhausted: all edges out of {replayed.states:,} states, no others"
    verdict = worst([*(one.verdict for one in comparisons), Verdict.HOLDS if not reason else Verdict.INCOMPLETE])
    size = f"{replayed.states:,} states, {replayed.edges:,} edges, depth {replayed.depth}, all of them agree"
    return replace(
        told, verdict=verdict, reason=reason, comparisons=tuple(comparisons), notes=(size, *by_rule(replayed.by_rule))
    )


def by_rule(counts: Mapping[str, int]) -> Iterator[str]:
    """A line for each rule, and one for those that were never taken."""
    width = max(map(len, counts), default=0)
    yield from (f"  {rule:<{width}} {count:>9,}" for rule, count in counts.items() if count)
    if idle := [rule for rule, count in counts.items() if not count]:
        yield f"never: {', '.join(idle)}"


def disagreed(told: Run, sides: Sides | Replay, found: Disagreement) -> Run:
    """The run of a disagreement: what differs, and the steps that lead there in words."""
    after = f"after {counted(len(found.steps), 'step')}" if found.steps else "in the initial state"
    notes = tuple(f"  {reason}" for reason in found.reasons)
    return replace(
        told,
        verdict=Verdict.VIOLATED,
        reason=f"specification and reference disagree {after}",
        notes=(*told.notes, *notes),
        story=story_of(sides.system, sides.story(found.steps)),
    )
