"""`kcheck vectors`: the vectors of the conformance suite, made anew."""

from pathlib import Path
from typing import Annotated

import typer

from model_check.cli.console import say
from model_check.conformance.making.cases import made_anew, write_files
from model_check.conformance.making.changelog import NotRisen
from model_check.conformance.making.every import every_case
from model_check.conformance.vector import FOLDER


def command(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where they stand.")] = FOLDER,
    *,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit with 1 if they would change.")] = False,
) -> int:
    """Make the vectors of the conformance suite from the specification, and count them.

    A vector that is made again keeps its id; a new one gets the next number of its group; the id of one that is made no
    more is retired, and never used again. CHANGELOG.md tells which ids came with which version; what changes more than
    the version says is refused.

    For example:
      kcheck vectors
      kcheck vectors --check
    """
    cases = every_case()
    if check:
        try:
            made = made_anew(folder, cases)
        except NotRisen as error:
            say(f"{error}\n")
            return 1
        there = {path.name: path.read_text("utf-8") for path in folder.iterdir()}
        changed = [name for name, text in made.items() if there.get(name) != text]
        say("".join(f"{name} would change\n" for name in changed) or "the vectors are as they are made\n")
        return int(bool(changed))
    counts = write_files(folder, cases)
    say("".join(f"{group}: {count} vectors\n" for group, count in counts.items()))
    say(f"{sum(counts.values())} vectors in {folder}\n")
    return 0
