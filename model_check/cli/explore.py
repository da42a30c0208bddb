"""`kcheck explore`: every reachable state of a scope, every property's verdict, the shortest counterexample."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from model_check.checks import exploration
from model_check.cli import options
from model_check.cli.console import print_document
from model_check.explicit_state.findings import run_of
from model_check.verdicts.results import plain_document
from model_check.verdicts.verification import printed_expectation
from model_check.waiting.progress import GIB
from spec.expectations import plan
from spec.language.rules import GOALS
from spec.scopes import scope as scope_named
from spec.system import system


def command(
    scope: options.ScopeArgument,
    *,
    variant: options.Variant,
    properties: options.PropertyOption = None,
    limit: options.LimitOption = None,
    memory: Annotated[
        float | None, typer.Option(min=0.01, max=1e6, metavar="GIB", help="Use so much memory at most.")
    ] = None,
    goals: Annotated[
        bool | None, typer.Option("--goals/--no-goals", help="Judge recoverable and eventually (as the manifest says).")
    ] = None,
    traces: Annotated[Path | None, typer.Option(metavar="DIR", help="Save traces there, for `kcheck replay`.")] = None,
    print_expectations: Annotated[
        bool, typer.Option("--print-expectations", help="Print what was measured as a block for the manifest.")
    ] = False,
    telling: options.Stories,
    output: options.Output,
) -> int:
    """Explore every reachable state of a scope.

    Prints the number of states; then every verdict that the manifest does not expect, with the story of the shortest
    new violation; then a line for each violation that it knows, of which `--property` tells the story.

    Exits with 0 if all is as the manifest expects, known violations included; with 1 if anything else is violated, if
    what should be violated is not, or if the counts differ; and with 3 if the exploration was cut short. Of a scope and
    variant of which the manifest expects nothing, 0 means that no property is violated, and 1 that one is.

    With `--with` or `--without` the last lines say what the switches change: which claims are broken now or no longer,
    and how many states there are, beside the same scope without these options.

    Ctrl-C ends it with what was found until then, and INCOMPLETE; the same command begins anew.

    For example:
      kcheck explore tiny
      kcheck explore election --property one_term_acts_in_an_epoch
      kcheck explore election --property one_term_acts_in_an_epoch --timeline
      kcheck explore election --with RESIGN_ON_EPOCH_CONFLICT
      kcheck explore small --variant FENCED --without FENCED_RESIGN --traces traces/
      kcheck explore bounce --report html=bounce.html
      kcheck explore tiny --print-expectations
    """
    if print_expectations:
        output.refuse_beside("--print-expectations")
    switches = variant.switches
    built = system(scope_named(scope), switches)
    left_out = GOALS if goals is False else ()
    chosen = options.chosen_properties(
        properties, built.properties, leaving_out=left_out, instead="leave --no-goals out"
    )
    if goals is None:
        goals = plan(scope).goals or any(built.property_named(name).kind in GOALS for name in chosen)
    task = exploration.Task(scope, switches, built, goals)
    options.folder_to_fill(traces)
    found = exploration.run(task, limit=limit, memory_bytes=None if memory is None else int(memory * GIB))
    told = run_of(built, found, scope=scope, variant=task.variant, chosen=chosen)
    if variant.on or variant.off:
        told = exploration.beside(told, task, options.Variant(variant.variant).switches)
    if found.stopped == "stop":
        told = replace(told, notes=(*told.notes, f"a run that can be resumed: kcheck enumerate {task.arguments}"))
    if print_expectations:
        typer.echo(printed_expectation(told))
        code = 0 if found.exhausted else 3
    else:
        told = exploration.judged(told, task, chosen)
        told = exploration.with_wanted_told(told, built, found, chosen, every=output.is_kept)
        told = exploration.with_graph(told, built) if output.is_kept else told
        document = plain_document("explore", told)
        code = print_document(
            document, output, stories=chosen or None, verbose=telling.verbose, steps=telling.lines, found_here=True
        )
    if traces is not None:
        exploration.save_traces(traces, task, found)
    return code
