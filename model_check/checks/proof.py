"""Proofs of a scope's properties, and a look at all runs up to a depth for what stays open."""

from collections.abc import Sequence

from model_check.inventory.accepted_systems import with_system_compared
from model_check.inventory.system_facts import SystemKey
from model_check.proofs import induction
from model_check.proofs.bounded import BoundedReport, check_bounded
from model_check.proofs.proof_findings import compared_proof, run_of_proof
from model_check.proofs.proof_report import ProofReport
from model_check.proofs.shown_goals import Shown
from model_check.reuse.kept_goals import KeptGoals
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import INTERRUPTED
from model_check.waiting.estimates import estimated
from model_check.waiting.progress import bar, interruptible
from spec.expectations import ProofExpectation
from spec.language.rules import Property, TransitionSystem
from spec.model import Model
from spec.scopes import scope as scope_named
from spec.variants import Switches, show_switches

TIMEOUT_S = 20.0
"""Seconds for one question."""


def prove(
    scope: str,
    switches: Switches,
    built: TransitionSystem,
    chosen: Sequence[str],
    timeout: float,
    earlier: Sequence[Shown] | None = None,
) -> ProofReport:
    """The proof of the chosen properties, with an estimate and a bar, on top of what was shown earlier."""
    title = f"{scope} {show_switches(switches)}"
    what = f"{title}, {len(chosen)} of its properties"
    with interruptible() as stop, estimated("prove", what) as whole, bar(title) as report:
        found = induction.prove(
            built,
            [built.property_named(name) for name in chosen],
            _lemmas(scope, switches),
            timeout_s=timeout,
            earlier=earlier,
            progress=lambda settled, of, action: report(settled, action.partition("(")[0], of),
            stop=stop,
        )
        if not found.interrupted:
            whole()
        return found


def _lemmas(scope: str, switches: Switches) -> tuple[Property, ...]:
    from spec.lemmas import lemmas_of

    return lemmas_of(Model(scope_named(scope), switches, proving=True))


def look_at_runs(
    scope: str, switches: Switches, built: TransitionSystem, proof: ProofReport, depths: dict[str, int]
) -> dict[str, BoundedReport]:
    """All runs up to a depth for each property, with the help of what was proved; after Ctrl-C, of no further one."""
    known = [one for one in _lemmas(scope, switches) if proof.invariant[one.name].verdict == "HOLDS"]
    looked: dict[str, BoundedReport] = {}
    with interruptible() as stop:
        for name, depth in depths.items():
            if proof.interrupted or any(INTERRUPTED in one.reason for one in looked.values()):
                break
            what = f"{scope} {show_switches(switches)}: {name}, {depth} steps"
            with estimated("prove --bounded", what) as whole, bar(f"{name}, steps", depth) as report:
                looked[name] = check_bounded(
                    built, built.property_named(name), depth, invariants=known, progress=report, stop=stop
                )
                if INTERRUPTED not in looked[name].reason:
                    whole()
    return looked


def verified(expected: ProofExpectation, *, deep: bool) -> list[Run]:
    """What the manifest says of a scope's proofs, compared; how deep open questions hold only in a deep run."""
    key = SystemKey(expected.scope, expected.switches, proving=True)
    built = key.built()
    wanted = [
        one.name for one in built.properties if one.kind in ("always", "step") and one.name not in expected.violated
    ]
    kept = KeptGoals(expected.scope, expected.variant)
    report = prove(expected.scope, expected.switches, built, wanted, TIMEOUT_S, kept.earlier())
    if report.shown is not None:
        kept.put(report.shown)
    run = run_of_proof(built, report, scope=expected.scope, variant=expected.variant)
    depths = dict(expected.bounded) if deep else {}
    looked = look_at_runs(expected.scope, expected.switches, built, report, depths)
    told = compared_proof(run, expected, looked)
    return [with_system_compared(told, built, key)]
