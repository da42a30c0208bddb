"""`kcheck conform`: does an implementation conform? Each vector is asked of its adapter."""

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from model_check.cli import options
from model_check.cli.console import say
from model_check.conformance.choosing import LEVELS, chosen, ladder
from model_check.conformance.conformance_files import FORMATS, document
from model_check.conformance.conformance_report import text
from model_check.conformance.conforming import PATIENCE_SECONDS, How, conform, parse_expected
from model_check.conformance.kafka_adapter import kafka_command
from model_check.conformance.vector import DIALECTS, read_vectors
from model_check.reports.wanted import wanted
from model_check.verdicts.verdict import EXIT_CODES
from model_check.verdicts.whole_files import write_files
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
    level: Annotated[
        str | None, typer.Option(metavar="NAME", help=f"Only vectors of a level: {' or '.join(LEVELS)}.")
    ] = None,
    shard: Annotated[str | None, typer.Option(metavar="K/N", help="Only the K-th of N shares.")] = None,
    selftest: Annotated[bool, typer.Option("--selftest", help="Ten vectors with which an adapter begins.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="List the vectors, a line each, and ask nothing.")] = False,
    expected: Annotated[
        Path | None, typer.Option("--expected-failures", metavar="FILE", help="An id and a reason a line.")
    ] = None,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", help="End at the first failure or error.")] = False,
    seconds: Annotated[float, typer.Option(min=0.01, max=3600, help="How long an answer may take.")] = PATIENCE_SECONDS,
    jobs: Annotated[int, typer.Option(min=1, max=64, metavar="N", help="Ask so many adapters at once.")] = 1,
    reports: Annotated[list[str] | None, options.report_option(FORMATS)] = None,
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
      kcheck conform --selftest -- ./my-adapter
      kcheck conform --jobs 4 -- ./my-adapter --quiet
      kcheck conform --only elect --fail-fast -- node adapter.js
      kcheck conform --expected-failures known.txt --report junit=report.xml -- ./my-adapter
    """
    written = wanted(reports, FORMATS)
    every = read_vectors()
    if selftest and (only or level or shard):
        raise BadInput("--selftest names its vectors itself: leave --only, --level and --shard out")
    vectors = ladder(every) if selftest else chosen(every, only or (), level, shard)
    if listed:
        if adapter or itself or kafka is not None or as_json or written:
            raise BadInput("--list asks nobody, and prints lines: name only --only, --level or --shard beside it")
        say("".join(f"{one.id}  {one.title}\n" for one in vectors))
        return 0
    dialect = _dialect(adapter, dialect, kafka, itself=itself)
    known = {} if expected is None else parse_expected(_read(expected), str(expected), (one.id for one in every))
    reference = [sys.executable, "-m", "model_check.conformance.reference_adapter", "--dialect", dialect]
    asking = kafka_command(kafka) if kafka is not None else nullcontext(adapter or reference)
    with asking as asked, interruptible() as interrupt:
        how = How(len(vectors if selftest else every), known, seconds, fail_fast, jobs)
        found = conform(asked, vectors, how, interrupt)
    again = ["--self", "--dialect", dialect] if itself else ["--kafka", kafka] if kafka is not None else ["--", *asked]
    say(document(found, again) if as_json else text(found, again))
    write_files({one.path: FORMATS[one.format](found, again) for one in written})
    return EXIT_CODES[found.verdict]


def _dialect(adapter: list[str] | None, dialect: str | None, kafka: str | None, *, itself: bool) -> str:
    """The dialect of the reference; BadInput unless there is one adapter, and a dialect is named only for --self."""
    if itself + bool(adapter) + (kafka is not None) != 1:
        raise BadInput("name one adapter: behind --, the reference with --self, or Kafka with --kafka 0.10.2.2")
    if dialect is not None and not itself:
        raise BadInput("--dialect is for --self: another adapter says itself which it is")
    if dialect is not None and dialect not in DIALECTS:
        raise UnknownName("dialect", dialect, DIALECTS)
    return dialect or "as-coded-0.10.2"


def _read(file: Path) -> str:
    try:
        if not file.is_file():
            raise BadInput(f"{file}: is no file")
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{file}: cannot be read: {error}") from error
