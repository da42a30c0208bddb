"""`kcheck accept`: write down what is checked as it is now, and say in words what that changes."""

from typing import Annotated

import typer

from model_check.checks import gate
from model_check.cli.console import say
from model_check.inventory.accepted import FILE, accept, accepted
from model_check.inventory.changes import changes, in_words
from model_check.inventory.inventory_check import present_facts
from model_check.inventory.system_facts import system_facts, system_keys
from model_check.kernel.cache import can_keep
from model_check.waiting.estimates import estimated
from model_check.waiting.progress import bar
from spec.errors import EnvironmentFailure
from spec.expectations import plan, plans


def command(
    scopes: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SCOPE]...", help="Build only the systems of these scopes; others stay as accepted."),
    ] = None,
) -> int:
    """Accept what is checked as it is now, and say in words what that changes.

    The inventory holds what must not get less unnoticed: bounds, flags and expectations of every scope, claims,
    actions, defects, recordings, what `kcheck verify` checks every day, and digests of every system. `kcheck verify`
    fails where it differs. This verb alone writes it: read what it says, and commit the file for a reviewer to read.

    All systems take minutes to build. Where only some scopes changed, name them; `kcheck verify` finds what was left
    out by mistake.

    For example:
      kcheck accept
      kcheck accept tiny small
    """
    if not can_keep(FILE.parent):
        raise EnvironmentFailure(f"{FILE} cannot be written", "accept in a checkout of the repository that is yours")
    for name in scopes or ():
        plan(name)
    known, before = plans(), accepted()
    keys = list(system_keys(known.values()))
    chosen = [one for one in keys if not scopes or one.scope in scopes or one.name not in before]
    after = present_facts(known, gate.gate()) | {one.name: before.get(one.name, "") for one in keys}
    title = f"{len(chosen)} systems"
    with estimated("accept", title, len(chosen)) as whole, bar(title, len(chosen)) as tell:
        after |= dict(system_facts(chosen, tell))
        whole()
    accept(after)
    say(f"{FILE.name}: {in_words(changes(before, after))}")
    return 0
