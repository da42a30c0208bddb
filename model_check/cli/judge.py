"""`kcheck judge`: whether what was recorded of a cluster is a behaviour of the specification, and what it breaks."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from model_check.cli import options
from model_check.cli.console import print_document
from model_check.cli.estimates import estimated
from model_check.cli.progress import Report, bar, interruptible
from model_check.judging.judge import BUDGET, EACH
from model_check.two_questions import Question, claims_run, readable, search_run
from model_check.verdicts.results import Run, is_break, plain_document
from model_check.verdicts.verdict import Verdict
from model_check.verdicts.verification import Check, run_checks, told_as_interrupted
from spec.errors import BadInput
from spec.formats.kafka_types import KafkaVersion, release_named
from spec.properties import claim_named
from spec.variants import Switches, show_switches

ENGINE = "judge"
LIMIT = f"Search no more than so many positions; by default {BUDGET:,}, or {EACH} an observation if that is more."


RELEASE = "Read logs as those of this release line (0.10.1), if members.json does not say; by default they tell it."


def command(
    recordings: Annotated[list[Path], typer.Argument(metavar="RECORDING...", help="Folders with a recording each.")],
    *,
    variant: options.VariantOption = "AS_CODED",
    on: options.WithOption = None,
    off: options.WithoutOption = None,
    properties: options.PropertyOption = None,
    budget: Annotated[int | None, typer.Option(min=1, help=LIMIT)] = None,
    release: Annotated[str | None, typer.Option(help=RELEASE)] = None,
    story: Annotated[bool, typer.Option("--story", help="Print the whole explanation, step by step.")] = False,
    as_json: options.JsonOption = False,
) -> int:
    """Judge recordings of a cluster by the specification.

    Two questions are asked of each. Does what was seen break a claim? That takes no search, and is asked of anybody's
    cluster. And, of who claims to be Kafka 0.8.2 to 0.10.2: does some behaviour of the specification explain it all?

    A recording has the transactions of ZooKeeper's log (zookeeper.jsonl) and the state-change.log of every broker;
    model_check/RECORDING.md tells how to make one. Exits with 1 if a claim is broken, other than by a known
    defect, or a recording contradicts itself; with 3 if nothing is found that explains it,
    the search was cut short, or the recording shows what is not modelled. Of several recordings, one that is malformed
    is an error in the report, and the others are judged; the exit code is 2 unless something was found that is worse.

    Ctrl-C ends it with what was found until then, and INCOMPLETE; the same command begins anew, and only
    `kcheck enumerate` and `kcheck campaign` go on where they were.

    For example:
      kcheck judge recordings/controller-kill
      kcheck judge recordings/controller-kill --story
      kcheck judge recordings/controller-kill --property one_term_acts_in_an_epoch
      kcheck judge recordings/* --variant DOCUMENTED
    """
    switches = options.chosen_switches(variant, on, off)
    version = None if release is None else release_named(release)
    chosen = tuple(claim_named(one).name for one in properties or ())
    with interruptible() as stop:
        tasks = [Task(folder, switches, chosen, budget, story, stop, version) for folder in recordings]
        runs = runs_of(tasks[0]) if len(tasks) == 1 else list(run_checks(map(check, tasks), stop=stop))
    return print_document(plain_document("judge", *runs), as_json=as_json)


@dataclass(frozen=True)
class Task:
    """A recording to be judged: by which switches, on which properties (all, if none), how long, and how it is told.

    Its logs are of the `release`, or tell it.
    """

    folder: Path
    switches: Switches
    chosen: tuple[str, ...]
    budget: int | None
    story: bool
    stop: Callable[[], bool]
    release: KafkaVersion | None = None


def runs_of(task: Task) -> list[Run]:
    """Ask both questions, with an estimate and a bar; Ctrl-C stops the search, with what it explains until then."""
    asked = Question(task.switches, task.release, task.chosen, task.budget, task.story, stop=task.stop)
    recording = readable(task.folder, asked)
    claims = about(claims_run(task.folder, asked, recording), task.chosen)
    if recording is None:
        return [claims]
    title, number = f"{task.folder.name} {show_switches(task.switches)}", recording.observations
    with estimated(ENGINE, title, number, size=f"{number:,} observations") as whole, bar(title, number) as report:
        made = search_run(recording, replace(asked, progress=told(report)))
        if made.verdict is not Verdict.INCOMPLETE:
            whole()
    return [claims, told_as_interrupted(made) if task.stop() else made]


def about(claims: Run, chosen: Collection[str]) -> Run:
    """The claims, as far as they are about some properties."""
    if not chosen:
        return claims
    findings = tuple(one for one in claims.findings if one.property in chosen)
    left = tuple(one for one in claims.not_asked if one.split()[0] in chosen)
    verdict = Verdict.VIOLATED if any(map(is_break, findings)) else Verdict.HOLDS
    return replace(claims, findings=findings, not_asked=left, notes=(), verdict=verdict)


def told(report: Report) -> Callable[[int, int], None]:
    """What a search reports to a bar: the observations that are explained, and how many positions it visited."""
    return lambda explained, positions: report(explained, f"{positions:,} positions")


def check(task: Task) -> Check:
    """The same as one of several checks: what of one recording is malformed must not hide what the others show."""

    def make() -> list[Run]:
        try:
            return runs_of(task)
        except BadInput as error:
            variant = show_switches(task.switches)
            return [Run(ENGINE, task.folder.name, variant, Verdict.ERROR, str(error), refused=True)]

    return Check(ENGINE, task.folder.name, show_switches(task.switches), 0, make)
