"""The gate: all that `kcheck verify` checks, each with what it costs and depends on, every day or in a deep run."""

from collections.abc import Iterator
from functools import partial
from itertools import chain

from model_check.checks import crash_matrix, defects, enumeration, exploration, proof, replay, simulation
from model_check.checks.defects import halves, is_covered
from model_check.checks.live_checks import live_facts, live_runs
from model_check.checks.planted_faults import planted_faults
from model_check.checks.recorded_checks import judgements
from model_check.explicit_state.findings import ENGINE
from model_check.inventory.facts import Fact, archives
from model_check.inventory.inventory_check import check_inventory, gate_facts
from model_check.inventory.system_facts import SystemKey
from model_check.matrix import matrix_report
from model_check.proofs.proof_findings import ENGINE as PROOF
from model_check.reuse.reusable import Reusable
from model_check.verdicts.manifest_checks import manifest_compared
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import Verdict
from model_check.verdicts.verification import Check, alone
from reference.memory.cluster import lacking
from spec.defects import DEFECTS
from spec.expectations import Plan, plans
from spec.scopes import scope as scope_named
from spec.variants import AS_CODED, show_switches, switches_named

REPLAYABLE, REPLAY_COST = 100_000, 2_000
"""A scope of more states is not replayed whole; to replay one takes as long as to explore so many."""

ENUMERATED, ENUMERATION_COST = ("reassignment", "AS_CODED"), 200
"""The scope and variant that a deep verification has Spark enumerate; a state costs it as much as so many explored."""

RUNS, STEPS = 2_000, 200
"""Where a deep verification makes its random runs, how many in all at least, and how long."""

MATRIX_COST = 50_000_000
"""A handler's crash matrix takes about as long as exploring so many states; most of it is compiling."""

INVENTORY_COST = 50_000_000
"""To write the whole protocol down as terms takes about as long as exploring so many states."""

PROOF_COST = 100_000_000
"""A proof takes about as long as exploring so many states; so do a scope's random runs."""


def checks(chosen: list[Plan], *, whole: bool, deep: bool) -> tuple[list[Check], list[Check]]:
    """What is for the first process (it starts Spark or ZooKeeper, or is deep), and for any; `whole`: of everything."""
    cheap = [one for one in plans().values() if whole and one.replayed and one not in chosen]
    of_few, of_many = (list(refinements([*chosen, *cheap], deep=deep, many=many)) for many in (False, True))
    here = [*of_many, *matrices(chosen)]
    anywhere = [*of_few, *explorations(chosen), *uncovered_defects(chosen), *proofs(chosen, deep=deep)]
    if deep:
        here += [*simulations(chosen), *enumerations(chosen)]
    if whole:
        here += [Reusable("manifest", "", "", 0, manifest_compared), *live_runs(deep=deep)]
        anywhere += [
            Reusable("inventory", "", "", INVENTORY_COST, _inventoried, files=archives()),
            *judgements(deep=deep),
            *planted_faults(),
        ]
    return here, anywhere


def gate() -> list[Fact]:
    """What a verification of everything checks, every day and in a deep run, and its live runs do: as facts."""
    every_one = list(plans().values())
    daily = chain(*checks([one for one in every_one if not one.deep], whole=True, deep=False))
    return [*gate_facts(daily, chain(*checks(every_one, whole=True, deep=True))), *live_facts()]


def _inventoried() -> list[Run]:
    return [check_inventory(plans(), gate())]


def explorations(chosen: list[Plan]) -> Iterator[Check]:
    """An exploration for each expectation; a scope of which nothing is expected is INCOMPLETE."""
    for one in chosen:
        for expected in one.explorations:
            make = partial(exploration.verified, one, expected)
            yield Reusable(
                ENGINE, one.scope, expected.variant, expected.states, make,
                system=SystemKey(one.scope, expected.switches), whole_manifest=False,
            )  # fmt: skip
        if not one.explorations and not one.proofs and not (one.matrix and one.matrix.expected):
            reason = f"the manifest expects nothing; see `kcheck explore {one.scope} --print-expectations`"
            nothing = Run(ENGINE, one.scope, "", Verdict.INCOMPLETE, reason)
            yield Check(ENGINE, one.scope, "", 0, partial(list[Run], [nothing]))


def proofs(chosen: list[Plan], *, deep: bool) -> Iterator[Check]:
    """The proofs that the manifest asks for; how deep the open questions were looked at only in a deep run."""
    for one in chosen:
        for expected in one.proofs:
            make = partial(proof.verified, expected, deep=deep)
            yield Reusable(
                PROOF, one.scope, expected.variant, PROOF_COST, make,
                system=SystemKey(one.scope, expected.switches, proving=True), whole_manifest=False,
            )  # fmt: skip


def refinements(chosen: list[Plan], *, deep: bool, many: bool) -> Iterator[Check]:
    """Every edge on the reference: of cheap scopes, in a deep run of all that are not too large and that it has.

    Those of so `many` states that Spark's workers walk them, or the others.
    """
    for one in chosen:
        scope = scope_named(one.scope)
        for expected in one.explorations:
            if lacking(scope) and scope.purgatory is None:
                continue
            is_cheap = one.replayed and expected is one.explorations[0]
            is_asked = is_cheap or (deep and expected.states <= REPLAYABLE)
            if is_asked and (expected.states > replay.FEW) is many:
                make, cost = partial(replay.verified, one.scope, expected.switches), REPLAY_COST * expected.states
                yield Reusable(replay.ENGINE, one.scope, expected.variant, cost, make, whole_manifest=False)


def simulations(chosen: list[Plan]) -> Iterator[Check]:
    """Random runs, shared out among the scopes that are simulated."""
    scopes = [one.scope for one in chosen if one.simulated]
    for name in scopes:
        task = simulation.Task(name, AS_CODED, -(-RUNS // len(scopes)), STEPS, seed=0)
        make = partial(simulation.verified, task)
        yield Reusable(simulation.ENGINE, name, "AS_CODED", PROOF_COST, make, whole_manifest=False)


def enumerations(chosen: list[Plan]) -> Iterator[Check]:
    """One scope by Spark's workers, too: what the explorer must find, except goals, which they are not asked."""
    for one in chosen:
        for expected in one.explorations:
            if (one.scope, expected.variant) == ENUMERATED:
                make, cost = partial(enumeration.verified, expected), ENUMERATION_COST * expected.states
                yield Reusable(
                    enumeration.ENGINE, one.scope, expected.variant, cost, make,
                    system=SystemKey(one.scope, expected.switches), whole_manifest=False,
                )  # fmt: skip


def matrices(chosen: list[Plan]) -> Iterator[Check]:
    """The crash matrix of each handler, under every variant that the manifest names."""
    for scope, plan in ((one.scope, one.matrix) for one in chosen if one.matrix is not None):
        for variant in plan.expected:
            make = partial(crash_matrix.verified, scope, plan, variant)
            yield Reusable(
                matrix_report.ENGINE, scope, variant, MATRIX_COST, make,
                system=SystemKey(scope, switches_named(variant)), whole_manifest=False,
            )  # fmt: skip


def uncovered_defects(chosen: list[Plan]) -> Iterator[Check]:
    """The defects of the scopes that those explorations do not show anyway."""
    plan_of = {one.scope: one for one in chosen}
    for one in DEFECTS:
        mine = plan_of.get(one.scope)
        for half in halves(one) if mine else ():
            if mine and not is_covered(half, mine):
                cost = max((known.states for known in mine.explorations), default=0)
                yield Reusable(
                    one.id, one.scope, show_switches(half.switches), cost, partial(alone, defects.shown, half),
                    system=SystemKey(one.scope, half.switches), whole_manifest=False,
                )  # fmt: skip
