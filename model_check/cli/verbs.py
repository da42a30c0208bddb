"""All verbs as one program, `app`, with its help. Help texts are plain, so that they paste as they are.

A verb is loaded when it is asked for: some need z3 and numba, whose import takes longer than the answer to a typo. So
the list of verbs reads their lines from the text of their modules.
"""

import ast
from importlib import import_module
from importlib.resources import files
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from model_check.cli.failures import guarded

VERBS = (
    "verify", "check", "diff", "mutate", "accept", "explore", "coverage", "enumerate", "prove", "refine", "simulate",
    "defects", "explain", "matrix", "judge", "logs", "live", "campaign", "conform", "vectors", "replay", "export",
    "show",
)  # fmt: skip
"""Each is a module beside this one: a function `command`, or an `app` of several."""


class Verbs(TyperGroup):
    """A group of verbs, each of them loaded when it is asked for."""

    def __init__(self, **attrs: Any) -> None:
        super().__init__(**attrs)
        self.commands = {name: TyperCommand(name, rich_markup_mode=None) for name in VERBS}

    def get_command(self, _ctx: Any, cmd_name: str) -> Any:
        """The verb itself; None if there is none of this name."""
        return loaded(cmd_name) if cmd_name in self.commands else None

    def format_commands(self, _ctx: Any, formatter: Any) -> None:
        """Write the list of verbs."""
        limit = formatter.width - 6 - max(map(len, VERBS))
        told = {name: TyperCommand(name, help=described(name), rich_markup_mode=None) for name in VERBS}
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.get_short_help_str(limit)) for name, one in told.items()])


def described(name: str) -> str:
    """What a verb says of itself, read from its text: the function `command`, or what its `app` is given as help."""
    tree = ast.parse(files("model_check.cli").joinpath(f"{name}.py").read_text(encoding="utf-8"))
    for node in tree.body:
        match node:
            case ast.FunctionDef(name="command"):
                return ast.get_docstring(node) or ""
            case ast.Assign(targets=[ast.Name(id="app")], value=ast.Call(keywords=options)):
                helps = (one.value for one in options if one.arg == "help")
                return next(str(one.value) for one in helps if isinstance(one, ast.Constant))
    raise LookupError(f"model_check/cli/{name}.py has neither a command nor an app")


def loaded(name: str) -> Any:
    """A verb, with all that it needs."""
    module = import_module(f"model_check.cli.{name}")
    if hasattr(module, "app"):
        return get_group(module.app)
    one = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    one.command(name)(guarded(module.command))
    return get_command(one)


app = typer.Typer(
    name="kcheck",
    cls=Verbs,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

HELP = """Check the specification of Kafka's controller of the ZooKeeper era.

\b
Exit codes: 0 all as expected, 1 violated, 2 bad usage or input, 3 incomplete, 4 error.

\b
Begin with:
  kcheck verify                 is everything as it should be?
  kcheck explore tiny           all states of a small cluster, and what holds in them
  kcheck check                  what did my edit do?
  kcheck defects D1             what went wrong in Kafka, as a story
  kcheck show scopes            what there is to explore
"""


def _versions(*, asked: bool) -> None:
    """Print the versions, and end, where they are asked for."""
    if asked:
        from model_check.cli.version import versions

        typer.echo(versions(), nl=False)
        raise typer.Exit


@app.callback(help=HELP)
def kcheck(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=lambda value: _versions(asked=value), is_eager=True,
            help="Print the revision, and the versions of Python, z3, Spark, numba and Java.",
        ),
    ] = False,
) -> None:  # fmt: skip
    """What comes before the verb: nothing but the versions, which end it."""
