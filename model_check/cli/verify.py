"""`kcheck verify`: the verdict of the gate, against everything that the manifest expects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from model_check.cli import explore, options
from model_check.cli.console import note, print_document
from model_check.cli.progress import is_watched
from model_check.findings import ENGINE, run_of
from model_check.results import Run
from model_check.verdicts import Verdict
from model_check.verification import compared, document
from spec.errors import EnvironmentFailure
from spec.expectations import Expectation, Plan, plan, plans
from spec.scopes import scope as scope_named
from spec.system import system


def command(
    scopes: Annotated[
        list[str] | None, typer.Argument(metavar="[SCOPE]...", help="Only these scopes, whether deep or not.")
    ] = None,
    deep: Annotated[bool, typer.Option("--deep", help="Everything there is, also what takes hours.")] = False,
    as_json: options.JsonOption = False,
) -> int:
    """Verify that everything is as the manifest expects.

    Every scope is explored under every variant that the manifest names; counts, digests, verdicts and the lengths of
    shortest traces must be exactly those. Exits with 0 only if all are, and says in the first line how many are.

    For example:
      kcheck verify
      kcheck verify tiny election
      kcheck verify --deep --json > verdict.json
    """
    chosen = [plan(name) for name in scopes] if scopes else [one for one in plans().values() if deep or not one.deep]
    return print_document(document(runs(chosen)), as_json=as_json)


def runs(chosen: list[Plan]) -> Iterator[Run]:
    """One run for each expectation, small ones first; what breaks or is interrupted is told, and hides nothing else."""
    expectations = [(one, expected) for one in chosen for expected in one.explorations]
    interrupted = False
    for one in chosen:
        if not one.explorations and not one.proofs:
            reason = f"the manifest expects nothing; see `kcheck explore {one.scope} --print-expectations`"
            yield Run(ENGINE, one.scope, "", Verdict.INCOMPLETE, reason)
    for one, expected in sorted(expectations, key=lambda pair: pair[1].states):
        if interrupted:
            yield Run(ENGINE, one.scope, expected.variant, Verdict.INCOMPLETE, "interrupted before it began")
            continue
        made = _guarded(one, expected)
        interrupted = "interrupted" in made.reason
        if is_watched():
            note(f"{made.title}: {'as expected' if made.verdict is Verdict.HOLDS else made.verdict}")
        yield made


def _guarded(one: Plan, expected: Expectation) -> Run:
    try:
        return _explored(one, expected)
    except KeyboardInterrupt:
        return Run(ENGINE, one.scope, expected.variant, Verdict.INCOMPLETE, "interrupted")
    except EnvironmentFailure as error:
        return Run(ENGINE, one.scope, expected.variant, Verdict.ERROR, str(error))
    except Exception as error:  # noqa: BLE001 - an error in one check must not hide the others
        return Run(ENGINE, one.scope, expected.variant, Verdict.ERROR, f"{type(error).__name__}: {error}")


def _explored(one: Plan, expected: Expectation) -> Run:
    built = system(scope_named(one.scope), expected.switches)
    task = explore.Task(one.scope, expected.switches, built, one.goals)
    found = explore.run(task)
    return compared(run_of(built, found, scope=one.scope, variant=expected.variant), expected)
