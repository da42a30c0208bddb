"""`kcheck prove`: properties of every run, however long, by induction with z3."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from model_check.checks import proof
from model_check.cli import options
from model_check.cli.console import print_document
from model_check.proofs.proof_findings import missing_lemmas, run_of_proof, with_bounded
from model_check.proofs.smtlib import export
from model_check.verdicts.results import plain_document
from spec.scopes import scope as scope_named
from spec.system import system
from spec.variants import show_switches


def command(
    scope: options.ScopeArgument = "proof",
    *,
    variant: options.Variant,
    properties: options.PropertyOption = None,
    timeout: Annotated[
        float, typer.Option(min=0.1, max=1e6, metavar="SECONDS", help="For each question.")
    ] = proof.TIMEOUT_S,
    bounded: Annotated[
        int, typer.Option(min=0, metavar="STEPS", help="Look at all runs of so many steps for what stays open.")
    ] = 0,
    exported: Annotated[
        Path | None, typer.Option("--export", metavar="DIR", help="Write every question of the proof as SMT-LIB.")
    ] = None,
    output: options.Output,
) -> int:
    """Prove properties of all runs, by induction.

    Epochs are mathematical integers, and nothing has a budget. Every `always` and `step` property is proved from the
    lemmas that stand beside it. What a step breaks from a state that the lemmas allow stays INCOMPLETE; for a chosen
    property such a step is shown: it tells which lemma is missing, if the state cannot be reached, and `kcheck explore`
    tells, within a scope, whether it can. Exits with 0 if all is proved, else with 3, or with 1 if a bounded run breaks
    a property.

    Ctrl-C ends it with what was found until then, and INCOMPLETE; the same command begins anew.

    For example:
      kcheck prove
      kcheck prove --variant FENCED --export obligations/
      kcheck prove --property leader_epoch_never_goes_back --bounded 25
    """
    switches = variant.switches
    built = system(scope_named(scope), switches, proving=True)
    provable = [one.name for one in built.properties if one.kind in ("always", "step")]
    left_out = {one.kind for one in built.properties} - {"always", "step"}
    instead = "induction is about steps, and `kcheck explore` judges it"
    chosen = options.chosen_properties(properties, built.properties, leaving_out=left_out, instead=instead) or provable
    options.folder_to_fill(exported)
    report = proof.prove(scope, switches, built, chosen, timeout)
    run = run_of_proof(built, report, scope=scope, variant=show_switches(switches))
    if properties:
        run = replace(run, notes=(*run.notes, *missing_lemmas(report, built)))
    if bounded:
        left = [one.property for one in run.findings if one.verdict == "INCOMPLETE"]
        run = with_bounded(run, built, proof.look_at_runs(scope, switches, built, report, dict.fromkeys(left, bounded)))
    if exported is not None:
        export(report.problems, exported)
    return print_document(plain_document("prove", run), output)
