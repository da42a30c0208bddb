"""`kcheck export`: the system in the languages of other checkers."""

from pathlib import Path
from typing import Annotated

import typer

from model_check.cli import options
from model_check.cli.console import say
from model_check.cli.failures import guarded
from model_check.explicit_state.promela import COMPILE, SpinError, SpinResult, run_spin
from model_check.explicit_state.promela import export as export_promela
from spec.errors import EnvironmentFailure
from spec.scopes import scope as scope_named
from spec.system import system

app = typer.Typer(help="Write the system in another checker's language.", no_args_is_help=True, rich_markup_mode=None)


def promela(
    scope: options.ScopeArgument,
    *,
    variant: options.Variant,
    to: Annotated[Path, typer.Option(metavar="DIR", help="Where the files go.")] = Path("runs/promela"),
    search: Annotated[bool, typer.Option("--run", help="Let SPIN search, and print what it counts.")] = False,
    memory: Annotated[int, typer.Option(min=1, metavar="MIB", help="What SPIN may use, with --run.")] = 4096,
) -> int:
    """Write a scope for SPIN: a Promela model and a C header.

    SPIN's states and transitions are those of `kcheck explore`, so the two can be compared.

    For example:
      kcheck export promela tiny --to tiny-spin/
      kcheck export promela tiny --to tiny-spin/ --run
    """
    options.folder_to_fill(to)
    built = system(scope_named(scope), variant.switches)
    model = export_promela(built, to)
    if not search:
        compile_it = f"{' '.join(COMPILE)} -o pan pan.c"
        say(f"{model}\n  in that directory: spin -a {model.name} && {compile_it} && ./pan -m1000000\n")
        return 0
    try:
        say(_counted(run_spin(built, to, memory=memory)))
    except SpinError as error:
        raise EnvironmentFailure(f"SPIN did not search: {error}", "see above") from error
    return 0


def _counted(result: SpinResult) -> str:
    return (
        f"{result.states:,} states, {result.transitions:,} transitions, {result.seconds:.1f} s, "
        f"{result.memory / 2**20:.0f} MiB, {result.vector} bytes a state\n"
    )


app.command("promela")(guarded(promela))
