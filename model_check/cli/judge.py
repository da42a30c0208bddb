"""`kcheck judge`: whether what was recorded of a cluster is a behaviour of the specification, and what it breaks."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from model_check.checks import judgement
from model_check.cli import options
from model_check.cli.console import print_document, say
from model_check.judging.judge import BUDGET, EACH
from model_check.judging.judgement_report import in_brief
from model_check.recordings.chroots import chroot_named
from model_check.two_questions import Question, property_named
from model_check.verdicts.rendering import text
from model_check.verdicts.results import Document, plain_document
from model_check.verdicts.verification import run_checks
from model_check.waiting.progress import interruptible
from spec.formats.kafka_types import release_named

LIMIT = f"Search no more than so many positions; by default {BUDGET:,}, or {EACH} an observation if that is more."

RELEASE = "Read logs as those of this release line (0.10.1), if members.json does not say; by default they tell it."

CHROOT = "Judge the cluster below this path (/kafka; / is the root); by default what is recorded tells it."


def command(
    recordings: Annotated[list[Path], typer.Argument(metavar="RECORDING...", help="Folders with a recording each.")],
    *,
    variant: options.Variant,
    properties: options.PropertyOption = None,
    budget: Annotated[int | None, typer.Option(min=1, help=LIMIT)] = None,
    release: Annotated[str | None, typer.Option(help=RELEASE)] = None,
    chroot: Annotated[str | None, typer.Option(metavar="PATH", help=CHROOT)] = None,
    story: Annotated[bool, typer.Option("--story", help="Print the whole explanation, step by step.")] = False,
    output: options.Output,
) -> int:
    """Judge recordings of a cluster by the specification.

    Two questions are asked of each. Does what was seen break a claim? That takes no search, and is asked of anybody's
    cluster. And, of a cluster that claims to be Kafka 0.8.2 to 0.10.2: does some behaviour of the specification explain
    it all?

    A recording has the transactions of ZooKeeper's log (zookeeper.jsonl) and the state-change.log of every broker;
    model_check/RECORDING.md tells how to make one. Exits with 1 if a claim is broken, other than by a known
    defect, or a recording contradicts itself; with 3 if nothing is found that explains it,
    the search was cut short, the recording shows what is not modelled, or a chosen property could not be asked of it.
    Of several recordings, one that is malformed is an error in the report, and the others are judged; the exit code is
    2 unless something was found that is worse.

    Ctrl-C ends it with what was found until then, and INCOMPLETE; the same command begins anew.

    For example:
      kcheck judge recordings/controller-kill
      kcheck judge recordings/controller-kill --story
      kcheck judge recordings/controller-kill --report html=controller-kill.html
      kcheck judge recordings/controller-kill --property one_term_acts_in_an_epoch
      kcheck judge recordings/* --variant DOCUMENTED
      kcheck judge recordings/several-clusters --chroot /kafka
    """
    switches = variant.switches
    version = None if release is None else release_named(release)
    below = None if chroot is None else chroot_named(chroot)
    chosen = tuple(property_named(one) for one in properties or ())
    with interruptible() as stop:
        asked = Question(
            switches,
            version,
            below,
            chosen,
            budget,
            whole_story=story or bool(output.report),
            possibilities=output.tells_possibilities,
            stop=stop,
        )
        if len(recordings) == 1:
            runs = judgement.runs_of(recordings[0], asked)
        else:
            runs = list(run_checks((judgement.check(folder, asked) for folder in recordings), stop=stop))
    return print_document(plain_document("judge", *runs), output, tell=None if story else _tell)


def _tell(document: Document) -> None:
    """Print it without the whole stories, which only reports want."""
    say(text(replace(document, runs=tuple(map(in_brief, document.runs)))))
