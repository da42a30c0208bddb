"""What `kcheck simulate` says of random runs in which both sides agree."""

from dataclasses import replace

from model_check.refinement.lockstep import Sides
from model_check.refinement.replay_report import by_rule
from model_check.refinement.simulate import Simulated
from model_check.verdicts.results import Comparison, Run
from model_check.verdicts.verdict import INTERRUPTED, Verdict


def simulated(told: Run, done: Simulated, sides: Sides, wanted: tuple[int, int]) -> Run:
    """The run of random runs without a disagreement; `wanted` are how many there should be, and how long."""
    runs, steps = wanted
    long_enough, total = sum(length >= steps for length in done.lengths), sum(done.lengths)
    comparison = Comparison.of(f"runs of {steps} steps", runs, min(runs, long_enough))
    average = total / max(1, len(done.lengths))
    size = f"{len(done.lengths):,} runs begun, {total:,} steps, {average:.1f} a run on average"
    counts = {action.rule: done.by_rule[action.rule] for action in sides.system.actions}
    taken = f"{sum(map(bool, counts.values()))} of {len(counts)} rules taken:"
    verdict = Verdict.HOLDS if comparison.is_met else Verdict.INCOMPLETE
    return replace(
        told,
        verdict=verdict,
        reason=INTERRUPTED if done.interrupted else "",
        comparisons=(replace(comparison, verdict=verdict),),
        notes=(size, *told.notes, taken, *by_rule(counts)),
    )
