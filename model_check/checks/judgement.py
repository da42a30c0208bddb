"""Judgements of recordings: what breaks a claim in one, and whether some behaviour explains it."""

from dataclasses import replace
from pathlib import Path

from model_check.two_questions import (
    Question,
    claims_run,
    is_monitored,
    is_searched,
    readable,
    search_run,
    unreadable_run,
)
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import Verdict
from model_check.verdicts.verification import Check, told_as_interrupted
from model_check.waiting.estimates import estimated
from model_check.waiting.progress import bar
from spec.errors import BadInput
from spec.variants import show_switches

ENGINE = "judge"


def runs_of(folder: Path, asked: Question) -> list[Run]:
    """Ask both questions, with an estimate and a bar; Ctrl-C ends it with what is explained, and broken, until then."""
    try:
        recording = readable(folder, asked)
    except BadInput as why:
        return [unreadable_run(folder, asked, why)]
    made = []
    if recording is None or is_monitored(asked.chosen):
        made.append(claims_run(folder, asked, recording))
    if recording is None or not is_searched(asked.chosen):
        return made
    title, number = f"{folder.name} {show_switches(asked.switches)}", recording.observations
    with estimated(ENGINE, title, number, size=f"{number:,} observations") as whole, bar(title, number) as report:
        judged = search_run(recording, replace(asked, progress=report))
        if judged.verdict is not Verdict.INCOMPLETE:
            whole()
    return [*made, told_as_interrupted(judged) if asked.stop() else judged]


def check(folder: Path, asked: Question) -> Check:
    """The same as one of several checks: what of one recording is malformed must not hide what the others show."""
    variant = show_switches(asked.switches)

    def make() -> list[Run]:
        try:
            return runs_of(folder, asked)
        except BadInput as error:
            return [Run(ENGINE, folder.name, variant, Verdict.ERROR, str(error), refused=True)]

    return Check(ENGINE, folder.name, variant, 0, make)
