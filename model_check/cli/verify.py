"""`kcheck verify`: the verdict of the gate, against everything that the manifest expects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from operator import attrgetter
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from model_check.cli import defects, explore, matrix, options, prove, refine, simulate
from model_check.cli import enumerate as enumerate_states
from model_check.cli.console import note, print_document, say
from model_check.cli.estimates import estimated
from model_check.cli.progress import is_watched
from model_check.cli.recorded_checks import judgements, live_runs
from model_check.cli.second_process import in_a_second_process
from model_check.coverage import check_coverage
from model_check.defects import halves, is_covered
from model_check.explicit_state.findings import ENGINE, run_of
from model_check.inventory.facts import Fact
from model_check.inventory.inventory_check import check_inventory, gate_facts, with_system_compared
from model_check.kernel.cache import cache_folder, keep
from model_check.matrix import matrix_report
from model_check.proofs.proof_findings import ENGINE as PROOF
from model_check.proofs.proof_findings import compared_proof, run_of_proof
from model_check.verdicts.interrupts import raising
from model_check.verdicts.manifest_checks import check_manifest
from model_check.verdicts.rendering import text
from model_check.verdicts.results import Document, Run
from model_check.verdicts.screen import screen
from model_check.verdicts.verdict import Verdict
from model_check.verdicts.verification import Check, alone, compared, document, run_checks
from reference.memory.cluster import lacking
from spec.defects import DEFECTS
from spec.expectations import Expectation, Plan, ProofExpectation, plans
from spec.scopes import scope as scope_named
from spec.system import system
from spec.variants import AS_CODED, show_switches, switches_named

REPLAYABLE, REPLAY_COST = 100_000, 2_000
"""A scope of more states is not replayed whole; to replay one takes as long as to explore so many."""

ALWAYS_REPLAYED = (
    "tiny", "lost_isr_write", "foreign_recreation", "out_of_sync_rebalance", "addition", "move", "dead_replica",
    "unasked_deletion", "creation_shutdown", "told_move", "preferred_election",
)  # fmt: skip
"""The scopes that every verification replays AS_CODED, deep or not: the cheapest of every part that has one.

Failed removals, soft failures and delayed operations have only large ones, which are for a deep verification.
"""

ENUMERATED, ENUMERATION_COST = ("reassignment", "AS_CODED"), 200
"""The scope and variant that a deep verification has Spark enumerate; a state costs it as much as so many explored."""

SIMULATED = (
    "small", "epochs", "partitions", "metadata", "topics", "reassignment_zombie", "recreation", "preferred_election",
    "rebalance", "shutdown", "addition_deletion", "addition_reassignment",
)  # fmt: skip
RUNS, STEPS = 2_000, 200
"""Where a deep verification makes its random runs, how many in all at least, and how long."""

MATRIX_COST = 50_000_000
"""A handler's crash matrix takes about as long as exploring so many states; most of it is compiling."""

INVENTORY_COST = 50_000_000
"""To write the whole protocol down as terms takes about as long as exploring so many states."""

PROOF_COST = 100_000_000
"""A proof takes about as long as exploring so many states; so do a scope's random runs."""


def command(
    scopes: options.ScopesArgument = None,
    *,
    deep: Annotated[bool, typer.Option("--deep", help="Everything there is, also what takes hours.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Print the full report, not only one screen.")] = False,
    as_json: options.JsonOption = False,
) -> int:
    """Verify that everything is as the manifest expects.

    Every scope is explored under every variant that the manifest names; counts, digests, verdicts and the lengths of
    shortest traces must be exactly those. What holds beyond all bounds is proved, and every edge of cheap scopes is
    replayed on the reference. Recordings of real clusters that come along are judged, and so is a short run of the
    reference on a real ZooKeeper. All explorations together must make every action fire, take every row of the
    transition tables and show the witness of every property (`kcheck coverage` has the table). And what is checked, and
    every system, must be what the inventory has, which `kcheck accept` writes. Exits with 0 only if all is so.

    What it prints fits on a screen: how many expectations are met, what was checked, and what is not as expected. The
    full report, with every story, is verify.txt in the cache folder (.kcheck, or KCHECK_CACHE).

    Ctrl-C ends it with what was found until then, and INCOMPLETE; the same command begins anew, and only
    `kcheck enumerate` and `kcheck campaign` go on where they were.

    For example:
      kcheck verify
      kcheck verify tiny election
      kcheck verify --deep --json > verdict.json
    """
    chosen = options.chosen_plans(scopes, deep=deep)
    here, anywhere = checks(chosen, whole=not scopes, deep=deep)
    what = " ".join(["verify", *(scopes or ()), *(["--deep"] if deep else [])])
    by_cost = attrgetter("cost")
    with (
        estimated("verify", what) as whole,
        raising() as stop,
        in_a_second_process(sorted(anywhere, key=by_cost, reverse=True)) as shared,
    ):
        runs = list(run_checks([*sorted(here, key=by_cost), *reversed(shared)], _tell, stop))
        found = document(runs if scopes else [*runs, check_coverage(runs, plans())])
        if not any(run.is_cut_short for run in found.runs):
            whole()
    return _reported(found, as_json=as_json, verbose=verbose)


def _reported(found: Document, *, as_json: bool, verbose: bool) -> int:
    """Print what was found as it is wanted, and give its exit code; the full text is kept unless it is printed."""
    if as_json or verbose:
        return print_document(found, as_json=as_json)
    path, report = cache_folder() / "verify.txt", text(found)
    keep(path, report.encode())
    is_kept = path.exists() and path.read_text(encoding="utf-8") == report
    where = f"the full report: {path}" if is_kept else f"{path} cannot be written; --verbose prints the full report"
    say(screen(found, where))
    return found.exit_code


def checks(chosen: list[Plan], *, whole: bool, deep: bool) -> tuple[list[Check], list[Check]]:
    """What is for the first process, since it starts Spark or ZooKeeper, or is deep only; and what any may make.

    `whole` is a verification of everything, which is more than that of all scopes.
    """
    cheap = [one for name, one in plans().items() if whole and name in ALWAYS_REPLAYED and one not in chosen]
    here = [*refinements([*chosen, *cheap], deep=deep), *matrices(chosen)]
    anywhere = [*explorations(chosen), *uncovered_defects(chosen), *proofs(chosen, deep=deep)]
    if deep:
        here += [*simulations(chosen), *enumerations(chosen)]
    if whole:
        here += [Check("manifest", "", "", 0, lambda: [check_manifest(plans())]), *live_runs(deep=deep)]
        anywhere += [Check("inventory", "", "", INVENTORY_COST, _inventoried), *judgements(deep=deep)]
    return here, anywhere


def gate() -> list[Fact]:
    """What a verification of everything checks, every day and in a deep run, as facts of the inventory."""
    every_one = list(plans().values())
    daily = chain(*checks([one for one in every_one if not one.deep], whole=True, deep=False))
    return list(gate_facts(daily, chain(*checks(every_one, whole=True, deep=True))))


def _inventoried() -> list[Run]:
    return [check_inventory(plans(), gate())]


def _tell(made: Run) -> None:
    """Say to whoever waits what came of a check."""
    if is_watched():
        note(f"{made.title}: {'as expected' if made.verdict is Verdict.HOLDS else made.verdict}")


def explorations(chosen: list[Plan]) -> Iterator[Check]:
    """An exploration for each expectation; a scope of which nothing is expected is INCOMPLETE."""
    for one in chosen:
        for expected in one.explorations:
            yield Check(ENGINE, one.scope, expected.variant, expected.states, partial(_explored, one, expected))
        if not one.explorations and not one.proofs and not (one.matrix and one.matrix.expected):
            reason = f"the manifest expects nothing; see `kcheck explore {one.scope} --print-expectations`"
            nothing = Run(ENGINE, one.scope, "", Verdict.INCOMPLETE, reason)
            yield Check(ENGINE, one.scope, "", 0, partial(list[Run], [nothing]))


def _explored(one: Plan, expected: Expectation) -> list[Run]:
    task = explore.Task.of(one.scope, expected.switches, goals=one.goals)
    told = compared(explore.explored(task), expected)
    return [with_system_compared(told, task.system, one.scope, expected.switches, proving=False)]


def proofs(chosen: list[Plan], *, deep: bool) -> Iterator[Check]:
    """The proofs that the manifest asks for; how deep the open questions were looked at only in a deep run."""
    for one in chosen:
        for expected in one.proofs:
            yield Check(PROOF, one.scope, expected.variant, PROOF_COST, partial(_proved, expected, deep=deep))


def _proved(expected: ProofExpectation, *, deep: bool) -> list[Run]:
    built = system(scope_named(expected.scope), expected.switches, proving=True)
    wanted = [
        one.name for one in built.properties if one.kind in ("always", "step") and one.name not in expected.violated
    ]
    report = prove.prove(expected.scope, expected.switches, built, wanted, prove.TIMEOUT_S)
    run = run_of_proof(built, report, scope=expected.scope, variant=expected.variant)
    depths = dict(expected.bounded) if deep else {}
    looked = prove.look_at_runs(expected.scope, expected.switches, built, report, depths)
    told = compared_proof(run, expected, looked)
    return [with_system_compared(told, built, expected.scope, expected.switches, proving=True)]


def refinements(chosen: list[Plan], *, deep: bool) -> Iterator[Check]:
    """Every edge on the reference: of cheap scopes, in a deep run of all that are not too large and that it has."""
    for one in chosen:
        scope = scope_named(one.scope)
        for expected in one.explorations:
            if lacking(scope) and scope.purgatory is None:
                continue
            is_cheap = one.scope in ALWAYS_REPLAYED and expected.variant == "AS_CODED"
            if is_cheap or (deep and expected.states <= REPLAYABLE):
                replayed = partial(alone, refine.run, refine.Task(one.scope, expected.switches))
                yield Check(refine.ENGINE, one.scope, expected.variant, REPLAY_COST * expected.states, replayed)


def simulations(chosen: list[Plan]) -> Iterator[Check]:
    """Random runs, shared out among the scopes that are simulated."""
    scopes = [one.scope for one in chosen if one.scope in SIMULATED]
    for name in scopes:
        task = simulate.Task(name, AS_CODED, -(-RUNS // len(scopes)), STEPS, seed=0)
        yield Check(simulate.ENGINE, name, "AS_CODED", PROOF_COST, partial(alone, simulate.run, task))


def enumerations(chosen: list[Plan]) -> Iterator[Check]:
    """One scope by Spark's workers, too: what the explorer must find, but for goals, which they are not asked."""
    for one in chosen:
        for expected in one.explorations:
            if (one.scope, expected.variant) == ENUMERATED:
                cost = ENUMERATION_COST * expected.states
                yield Check(enumerate_states.ENGINE, one.scope, expected.variant, cost, partial(_enumerated, expected))


def _enumerated(expected: Expectation) -> list[Run]:
    task = explore.Task.of(expected.scope, expected.switches, goals=False)
    with TemporaryDirectory(prefix="kcheck-enumerate-") as folder:
        found = enumerate_states.run(task, folder)
    told = run_of(task.system, found, scope=task.scope, variant=task.variant, engine=enumerate_states.ENGINE)
    asked = {name: steps for name, steps in expected.violated.items() if name not in told.not_asked}
    return [compared(told, replace(expected, violated=asked))]


def matrices(chosen: list[Plan]) -> Iterator[Check]:
    """The crash matrix of each handler, under every variant that the manifest names."""
    for one in chosen:
        for variant in one.matrix.expected if one.matrix is not None else ():
            yield Check(matrix_report.ENGINE, one.scope, variant, MATRIX_COST, partial(_tried, one, variant))


def _tried(one: Plan, variant: str) -> list[Run]:
    if one.matrix is None:
        return []
    switches = switches_named(variant)
    with raising() as stop:
        found = matrix.made(one.scope, one.matrix, switches, stop=stop)
    told = matrix_report.run_of_matrix(found, one.matrix, variant)
    return [with_system_compared(told, found.system, one.scope, switches, proving=False)]


def uncovered_defects(chosen: list[Plan]) -> Iterator[Check]:
    """The defects of the scopes that those explorations do not show anyway."""
    plan_of = {one.scope: one for one in chosen}
    for one in DEFECTS:
        mine = plan_of.get(one.scope)
        for half in halves(one) if mine else ():
            if mine and not is_covered(half, mine):
                states = max((known.states for known in mine.explorations), default=0)
                yield Check(
                    one.id, one.scope, show_switches(half.switches), states, partial(alone, defects.shown, half)
                )
