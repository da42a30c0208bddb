"""`kcheck verify`: the verdict of the gate, against everything that the manifest expects."""

from itertools import chain
from typing import Annotated

import typer

from model_check.checks import gate
from model_check.checks.completeness import check_completeness
from model_check.checks.coverage import check_coverage
from model_check.checks.verifying import verified
from model_check.cli import options
from model_check.cli.console import print_document, say
from model_check.cli.verify_options import Chosen, Manner
from model_check.inventory.accepted import accepted
from model_check.kernel.cache import cache_folder, keep
from model_check.verdicts.interrupts import raising
from model_check.verdicts.rendering import text
from model_check.verdicts.results import Document
from model_check.verdicts.screen import screen
from model_check.verdicts.verification import document


def command(
    scopes: options.ScopesArgument = None,
    *,
    which: Chosen,
    manner: Manner,
    deep: Annotated[bool, typer.Option("--deep", help="Everything there is, also what takes hours.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Print the full report, not only one screen.")] = False,
    output: options.Output,
) -> int:
    """Verify that everything is as the manifest expects.

    Every scope is explored under every variant that the manifest names; counts, digests, verdicts and the lengths of
    shortest traces must be exactly those. What holds beyond all bounds is proved, and every edge of cheap scopes is
    replayed on the reference. Recordings of real clusters that come along are judged, and so is a short run of the
    reference on a real ZooKeeper. All explorations together must make every action fire, take every row of the
    transition tables and show the witness of every property (`kcheck coverage` has the table). And what is checked, and
    every system, must be what the inventory has, which `kcheck accept` writes; every check that it names must have been
    made, and have compared something. Exits with 0 only if all is so.

    What was verified before is not verified again while nothing that it depends on has changed: the terms, what is
    expected, the sources of the engine and of all that it uses, Python and the libraries. The first line says how many
    checks that are; --fresh makes all of them again.

    What it prints fits on a screen: how many expectations are met, what was checked, and what is not as expected. The
    full report, with a story of whatever is not as expected, is verify.txt in the cache folder (.kcheck, or
    KCHECK_CACHE); `kcheck explore SCOPE --property NAME` has that of a known violation.

    Ctrl-C ends it with what was found until then, and INCOMPLETE; the same command goes on from there.

    For example:
      kcheck verify
      kcheck verify tiny election
      kcheck verify --only explore,prove --fail-fast
      kcheck verify --since main --within 5m
      kcheck verify --report junit=verify.xml --report html=verify.html
      kcheck verify --deep --shard 1/4 --json > verdict.json
    """
    chosen = options.chosen_plans(scopes, deep=deep)
    is_whole, how = not scopes and not which.is_partial, manner.how
    every = gate.checks(chosen, whole=not scopes, deep=deep)
    here, anywhere = which.of(*every)
    known = accepted()  # which may be damaged: nobody waits for that
    with raising() as stop:
        made = verified(here, anywhere, how, stop)
        runs = list(chain.from_iterable(made.values()))
        if is_whole:
            runs += [check_completeness(made, known, deep=deep), check_coverage(runs, options.others(chosen))]
        found = document(runs)
    return _reported(found, output, verbose=verbose)


def _reported(found: Document, output: options.Output, *, verbose: bool) -> int:
    """Print what was found as it is wanted, and give its exit code; the full text is kept unless it is printed."""
    if output.as_json or verbose:
        return print_document(found, output, found_here=True)
    path, whole = cache_folder() / "verify.txt", text(found)
    keep(path, whole.encode())
    is_kept = path.exists() and path.read_text(encoding="utf-8") == whole
    where = f"the full report: {path}" if is_kept else f"{path} cannot be written; --verbose prints the full report"
    return print_document(found, output, tell=lambda _: say(screen(found, where)), found_here=True)
