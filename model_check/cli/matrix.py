"""`kcheck matrix`: every handler of the controller, a fault between each pair of its effects, and what comes of it."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from model_check.checks import crash_matrix
from model_check.cli import options
from model_check.cli.console import aligned, print_document, say, say_table
from model_check.matrix.cells import Matrix
from model_check.matrix.matrix_report import ENGINE, legend, printed_expectation, run_of_matrix, table, where
from model_check.verdicts.rendering import headline
from model_check.verdicts.results import Document, Run, plain_document
from model_check.verdicts.verdict import EXIT_CODES, NOT_BEGUN, Verdict
from model_check.waiting.progress import interruptible
from spec.errors import BadInput, UnknownName
from spec.expectations import plans
from spec.matrix_plans import FAULTS, MatrixPlan
from spec.variants import Switches, show_switches

PREFIX = "matrix_"
"""How the scopes of handlers are called."""


def command(
    handlers: Annotated[list[str] | None, typer.Argument(metavar="[HANDLER]...", help="Only these handlers.")] = None,
    *,
    variant: options.Variant,
    faults: Annotated[
        list[str] | None, typer.Option("--fault", metavar="NAME", help="Only this fault. Repeatable.")
    ] = None,
    traces: Annotated[
        Path | None, typer.Option("--save", metavar="DIR", help="Save the table and every trace, for `kcheck replay`.")
    ] = None,
    print_expectations: Annotated[
        bool, typer.Option("--print-expectations", help="Print what was found as blocks for the manifest.")
    ] = False,
    output: options.Output,
) -> int:
    """Put one fault between each pair of effects of each handler, and see whether the cluster recovers.

    The faults: the controller crashes; its session ends and is renewed at once; it stops until it has a successor, and
    goes on as a zombie. A cell says that the cluster recovers, violates a claim, or is stuck short of a goal, in some
    order in which its parts may move. Exits with 0 if every cell is as the manifest expects; where that expects
    nothing, with 1 unless all recover.

    Ctrl-C ends it with what was found until then, and INCOMPLETE; the same command begins anew.

    For example:
      kcheck matrix
      kcheck matrix failover --fault pause
      kcheck matrix resignation --variant FENCED --save matrix/
    """
    known = {name.removeprefix(PREFIX): plan.matrix for name, plan in plans().items() if plan.matrix is not None}
    for name in handlers or ():
        if name not in known:
            raise UnknownName("handler", name, known)
    for name in faults or ():
        if name not in FAULTS[1:]:
            raise UnknownName("fault", name, FAULTS[1:])
    if print_expectations:
        output.refuse_beside("--print-expectations")
    switches = variant.switches
    chosen = tuple(faults or FAULTS)
    options.folder_to_fill(traces)
    with interruptible() as stop:
        told = output.is_kept or traces is not None
        every = [_made(name, known[name], switches, chosen, stop, told=told) for name in handlers or known]
    if not every:
        raise BadInput("the manifest has no handler: no scope with a table `matrix`")
    document = plain_document("matrix", *(run for _, run in every))
    if print_expectations:
        whole = [found for found, _ in every if found is not None and not found.interrupted]
        say("\n\n".join(printed_expectation(found, show_switches(switches)) for found in whole) + "\n")
        return 0 if len(whole) == len(every) else EXIT_CODES[Verdict.INCOMPLETE]
    code = print_document(document, output, tell=partial(_print, every))
    if traces is not None:
        save(traces, [found for found, _ in every if found is not None], switches, document)
    return code


Made: TypeAlias = tuple[Matrix | None, Run]
"""A handler's matrix, None if Ctrl-C came before it was begun, and its run."""


def _made(
    name: str, plan: MatrixPlan, switches: Switches, faults: tuple[str, ...], stop: Callable[[], bool], *, told: bool
) -> Made:
    scope, variant = PREFIX + name, show_switches(switches)
    if stop():
        return None, Run(ENGINE, scope, variant, Verdict.INCOMPLETE, NOT_BEGUN)
    found = crash_matrix.made(scope, plan, switches, faults, stop)
    return found, run_of_matrix(found, plan, variant, told=told)


def _print(every: list[Made], document: Document) -> None:
    """The headline, then a table for each handler."""
    say(headline(document) + "\n")
    for found, run in every:
        say(f"\n{run.title}: {run.verdict}{f': {run.reason}' if run.reason else ''}\n")
        if found is None:
            continue
        say_table(list(table(found)))
        say("".join(f"  {line}\n" for line in legend(found)))
        unmet = [one for one in run.comparisons if not one.is_met]
        say("".join(f"  {one.verdict:<10} {one.about}: expected {one.expected}, found {one.found}\n" for one in unmet))


def save(folder: Path, found: list[Matrix], switches: Switches, document: Document) -> None:
    """Write the document, the tables, and every trace as a file of its own."""
    from model_check.kernel.system_digest import system_digest
    from model_check.traces.itf import SavedTrace
    from model_check.traces.itf import save as save_trace

    (folder / "matrix.json").write_text(document.to_json() + "\n", encoding="utf-8")
    variant = show_switches(switches)
    for one in found:
        text = aligned(list(table(one))) + "\n".join(legend(one)) + "\n"
        (folder / f"{one.scope}-{variant}.txt").write_text(text, encoding="utf-8")
        digest = system_digest(one.system)
        for cell in one.cells:
            goals = {name: f"eventually_{name}" for name in cell.stuck}
            for name, trace in cell.traces.items():
                path = folder / f"{one.scope}-{variant}-{where(cell).replace(' ', '-')}-{name}.itf.json"
                saved = SavedTrace(trace, one.system.name, digest, variant, goals.get(name, name))
                save_trace(path, saved, one.system)
