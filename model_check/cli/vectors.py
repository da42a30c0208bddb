"""`kcheck vectors`: the vectors of the conformance suite, made anew."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from model_check.cli import options
from model_check.cli.console import say
from model_check.conformance.making.cases import Case, driven_cases, made_anew, write_vectors
from model_check.conformance.making.changelog import NotRisen
from model_check.conformance.making.every import every_case
from model_check.conformance.vector import FOLDER
from model_check.verdicts.verdict import EXIT_CODES, INTERRUPTED, Verdict
from model_check.waiting.progress import bar, interruptible
from spec.errors import BadInput


def command(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="The folder of the vectors.")] = FOLDER,
    *,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit with 1 if they would change.")] = False,
    keep_driven: Annotated[
        bool, typer.Option("--keep-driven", help="Take those of driven controllers, which need minutes, as they are.")
    ] = False,
    master: options.MasterOption = "local[2]",
) -> int:
    """Make the vectors of the conformance suite from the specification, and count them.

    Those of driven controllers are made by Spark's workers, and are the same for any number of them; what they show of
    the specification is counted. A vector that is made again keeps its id; a new one gets the next number of its group;
    the id of one that is made no more is retired, and never used again. CHANGELOG.md tells which ids came with which
    version; what changes more than the version says is refused.

    For example:
      kcheck vectors
      kcheck vectors --check --keep-driven
      kcheck vectors --master 'local[5]'
    """
    if not folder.is_dir() and (check or folder.exists()):
        raise BadInput(f"{folder}: is no folder")
    if not check:
        options.folder_to_fill(folder)
    cases = {**every_case(), **driven_cases()} if keep_driven else made_here(master)
    if cases is None:
        say(f"{INTERRUPTED}; nothing was written\n")
        return EXIT_CODES[Verdict.INCOMPLETE]
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
    counts = write_vectors(folder, cases)
    say("".join(f"{group}: {count} vectors\n" for group, count in counts.items()))
    say(f"{sum(counts.values())} vectors in {folder}\n")
    return 0


def made_here(master: str) -> Mapping[str, list[Case]] | None:
    """All cases, of which those of driven controllers take long; None where it was interrupted."""
    from model_check.conformance.making.controlled import kept
    from model_check.conformance.making.shares import amiss, told_of
    from model_check.conformance.making.themes import THEMES
    from model_check.spark.spark_vectors import made_by_workers

    start = time.monotonic()
    with interruptible() as stop, bar("themes of driven controllers", len(THEMES)) as told:
        made = made_by_workers(master=master, progress=told, stop=stop)
    if made is None:
        return None
    say("".join(f"{one}\n" for one in told_of(made)) + f"made in {time.monotonic() - start:.0f} s\n")
    if wrong := amiss(made):
        raise BadInput(f"model_check/conformance/making/beyond.py: {'; '.join(wrong)}; mend its reasons")
    return {**every_case(), **kept(made)}
