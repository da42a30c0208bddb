"""`kcheck coverage`: what the explorations of all scopes exercise, how often, and after how few steps."""

from dataclasses import replace
from operator import attrgetter
from typing import Annotated

import typer

from model_check.checks import coverage
from model_check.checks.coverage import check_coverage, table
from model_check.checks.processes import shared_out
from model_check.cli import options
from model_check.cli.console import print_document
from model_check.verdicts.interrupts import raising
from model_check.verdicts.occurrences import added_up
from model_check.verdicts.results import plain_document
from model_check.verdicts.verdict import Verdict
from model_check.verdicts.verification import run_checks
from spec.errors import BadInput


def command(
    scopes: options.ScopesArgument = None,
    *,
    deep: Annotated[bool, typer.Option("--deep", help="All scopes, also those that take hours.")] = False,
    output: options.Output,
) -> int:
    """Count what is exercised: every action, every row of the transition tables, the witness of every property.

    The scopes are explored under every variant that the manifest names. The report says of each action in how many of
    these explorations it fires, how often in all, and by which step at the earliest, in which scope; of each row, from
    how many states it is taken; of each property, how many states show its witness, or do not have the goal yet. What
    only a scope shows that was not explored is left to that one. Exits with 1 if anything else occurs nowhere.

    For example:
      kcheck coverage
      kcheck coverage tiny creation deletion
      kcheck coverage --report html=coverage.html
      kcheck coverage --deep --json > coverage.json
    """
    chosen = options.chosen_plans(scopes, deep=deep)
    if idle := [one.scope for one in chosen if not one.explorations and scopes]:
        raise BadInput(f"{idle[0]} is not explored: the manifest has no counts for it; name another scope")
    checks = sorted(coverage.explorations(chosen), key=attrgetter("cost"), reverse=True)
    with raising() as stop, shared_out(checks) as shared:
        runs = list(run_checks(shared.checks(), stop=stop))
    found = added_up(check_coverage(runs, options.others(chosen)), runs)
    found = replace(found, notes=tuple(table(runs).splitlines()))
    broken = [run for run in runs if run.verdict is Verdict.ERROR or run.is_cut_short]
    return print_document(plain_document("coverage", *broken, found), output)
