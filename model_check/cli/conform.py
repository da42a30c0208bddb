"""`kcheck conform`: does an implementation conform? Each vector is asked of its adapter."""

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from model_check.cli import options
from model_check.cli.console import say
from model_check.conformance import conformance_report as report
from model_check.conformance.conforming import PATIENCE_SECONDS, conform, parse_expected
from model_check.conformance.kafka_adapter import kafka_command
from model_check.conformance.vector import DIALECTS, Vector, read_vectors
from model_check.verdicts.verdict import EXIT_CODES
from model_check.waiting.progress import interruptible
from spec.errors import BadInput, UnknownName


def command(
    adapter: Annotated[
        list[str] | None, typer.Argument(metavar="[-- COMMAND...]", help="The adapter, and what it is called with.")
    ] = None,
    *,
    itself: Annotated[bool, typer.Option("--self", help="Ask the reference itself.")] = False,
    dialect: Annotated[
        str | None, typer.Option(metavar="NAME", help=f"With --self, one of {', '.join(DIALECTS)}.")
    ] = None,
    kafka: Annotated[
        str | None, typer.Option(metavar="RELEASE", help="Ask Kafka's own classes: 0.10.2.2, fetched if need be.")
    ] = None,
    only: Annotated[list[str] | None, typer.Option(metavar="ID|TAG", help="Only these vectors. Repeatable.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the vectors, a line each, and ask nothing.")] = False,
    expected: Annotated[
        Path | None, typer.Option("--expected-failures", metavar="FILE", help="An id and a reason a line.")
    ] = None,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", help="End at the first failure or error.")] = False,
    seconds: Annotated[float, typer.Option(min=0.01, max=3600, help="How long an answer may take.")] = PATIENCE_SECONDS,
    as_json: options.JsonOption = False,
) -> int:
    """Ask the vectors of an implementation: any program that answers JSON on its standard output, a line for a line.

    Passes, failures, skips (what the implementation does not declare) and errors are counted; a failure is shown with
    what was asked, expected and found, its source, and the command that asks it again. Without the network, and
    without our Python: model_check/conformance/FORMAT.md says what an adapter has to answer.

    Exits with 0 if all passes or is skipped, 1 if a vector fails, or passes that was expected to fail, and 3 if
    vectors ended as errors, were not asked, or none passed.

    For example:
      kcheck conform --self
      kcheck conform --kafka 0.10.2.2
      kcheck conform -- ./my-adapter --quiet
      kcheck conform --only elect --fail-fast -- node adapter.js
      kcheck conform --expected-failures known.txt -- ./my-adapter
    """
    every = read_vectors()
    vectors = _chosen(every, only)
    if listed:
        if adapter or itself or kafka is not None or as_json:
            raise BadInput("--list asks nobody, and prints lines: name nothing else than --only beside it")
        say("".join(f"{one.id}  {one.title}\n" for one in vectors))
        return 0
    if itself + bool(adapter) + (kafka is not None) != 1:
        raise BadInput("name one adapter: behind --, the reference with --self, or Kafka with --kafka 0.10.2.2")
    if dialect is not None and not itself:
        raise BadInput("--dialect is for --self: another adapter says itself which it is")
    dialect = dialect or "as-coded-0.10.2"
    if dialect not in DIALECTS:
        raise UnknownName("dialect", dialect, DIALECTS)
    known = {} if expected is None else parse_expected(_read(expected), str(expected), (one.id for one in every))
    reference = [sys.executable, "-m", "model_check.conformance.reference_adapter", "--dialect", dialect]
    asking = kafka_command(kafka) if kafka is not None else nullcontext(adapter or reference)
    with asking as asked, interruptible() as interrupt:
        found = conform(
            asked, vectors, of=len(every), expected_failures=known, seconds=seconds, fail_fast=fail_fast,
            stop=interrupt,
        )  # fmt: skip
    again = ["--", *asked]
    if itself:
        again = ["--self", "--dialect", dialect]
    elif kafka is not None:
        again = ["--kafka", kafka]
    say(json.dumps(report.document(found), indent=1) + "\n" if as_json else report.text(found, again))
    return EXIT_CODES[found.verdict]


def _chosen(every: list[Vector], only: list[str] | None) -> list[Vector]:
    """The vectors that are named, by id or tag or group; UnknownName where one names none."""
    if not only:
        return every
    names = {name for one in every for name in (one.id, one.group, *one.tags)}
    for name in only:
        if name not in names:
            raise UnknownName("vector, group or tag", name, names, listed_by="kcheck conform --list")
    return [one for one in every if not {one.id, one.group, *one.tags}.isdisjoint(only)]


def _read(file: Path) -> str:
    try:
        if not file.is_file():
            raise BadInput(f"{file}: is no file")
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{file}: cannot be read: {error}") from error
