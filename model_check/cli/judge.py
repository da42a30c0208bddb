"""`kcheck judge`: whether what was recorded of a cluster is a behaviour of the specification, and what it breaks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from model_check.cli import options
from model_check.cli.console import print_document
from model_check.judge import BUDGET, judge
from model_check.judgement_report import run_of
from model_check.recordings import read
from model_check.results import plain_document
from spec.variants import show_switches


def command(
    recordings: Annotated[list[Path], typer.Argument(metavar="RECORDING...", help="Folders with a recording each.")],
    *,
    variant: options.VariantOption = "AS_CODED",
    on: options.WithOption = None,
    off: options.WithoutOption = None,
    budget: Annotated[int, typer.Option(min=1, help="Search no more than so many positions.")] = BUDGET,
    story: Annotated[bool, typer.Option("--story", help="Tell the whole explanation, step by step.")] = False,
    as_json: options.JsonOption = False,
) -> int:
    """Judge recordings of a cluster by the specification.

    A recording has the transactions of ZooKeeper's log (zookeeper.jsonl) and the state-change.log of every broker;
    model_check/RECORDING.md tells how to make one. Exits with 1 if no behaviour explains a recording, or if one breaks
    a property that the specification's own exploration does not, and with 3 if the search was cut short or the
    recording shows what is not modelled.

    For example:
      kcheck judge recordings/controller-kill
      kcheck judge recordings/controller-kill --story
      kcheck judge recordings/* --variant DOCUMENTED
    """
    switches = options.chosen_switches(variant, on, off)
    runs = []
    for folder in recordings:
        recording = read(folder)
        runs.append(
            run_of(recording, judge(recording, switches, budget=budget), show_switches(switches), whole_story=story)
        )
    return print_document(plain_document("judge", *runs), as_json=as_json)
