"""`kcheck explain`: what else was possible at a step of a story, and why the rest was not."""

from pathlib import Path
from typing import Annotated

import typer

from model_check.cli import options
from model_check.cli.console import print_document, say
from model_check.cli.explained import Asked, of_recording, of_scope
from model_check.cli.saved_traces import Opened, opened
from model_check.traces.replay import ReplayError, replay
from model_check.two_questions import Question
from model_check.verdicts.choices_text import text
from model_check.verdicts.results import Run, plain_document
from spec.errors import BadInput
from spec.scopes import scopes

WHAT = "A scope, a file with a trace in ITF, or a folder with a recording."


def command(
    story: Annotated[
        str, typer.Argument(metavar="SCOPE|TRACE|RECORDING", help="A scope, a trace in ITF, or a recording's folder.")
    ],
    *,
    step: Annotated[
        int | None, typer.Option("--step", min=1, metavar="N", help="In place of this step of the story; the last.")
    ] = None,
    why_not: Annotated[
        str, typer.Option("--why-not", metavar="ACTION", help="Why not this action, or any of this rule's?")
    ] = "",
    claim: Annotated[
        str, typer.Option("--property", metavar="NAME", help="The story of this property; of the first broken.")
    ] = "",
    budget: Annotated[
        int | None, typer.Option("--budget", min=1, metavar="N", help="Of a recording: try so many positions at most.")
    ] = None,
    scope: Annotated[str | None, typer.Option(metavar="SCOPE", help="Not the scope that the trace names.")] = None,
    variant: Annotated[
        str | None, typer.Option(metavar="NAME", help="A variant (AS_CODED); not the one that the trace names.")
    ] = None,
    on: options.WithOption = None,
    off: options.WithoutOption = None,
    output: options.Output,
) -> int:
    """Say what else was possible at a step of a story, and why the rest was not.

    The story is the shortest that breaks a claim of a scope, or shows a witness; or a trace that was saved. For each
    rule of which no action is possible at that step, the report names the action that lacks least, and the first
    conjunct of its guard that is false, in words and with the values that it goes by; with `--why-not`, all actions of
    a rule, or one action. Where an action moves a partition or a replica in its state machine, the report names the row
    of the transition table that it takes, or comes nearest to.

    Of a recording the place is where the judge's explanation ends: for each action that may be what was observed next
    the report says why it is not possible there.

    Exits with 0 if there is an answer: nothing is judged. A step one behind the last asks what can follow the story.

    For example:
      kcheck explain election --property one_term_acts_in_an_epoch --step 9
      kcheck explain bounce --property recoverable_live_replicas_are_informed --step 5 --why-not crash
      kcheck explain small --why-not "deliver_request(c=1, b=2)" --json
      kcheck explain recordings/controller-kill --with RESIGN_ON_EPOCH_CONFLICT
      kcheck explain traces/election-AS_CODED-one_term_acts_in_an_epoch.itf.json --step 4
    """
    asked = Asked(step, why_not)
    if budget is not None and (story in scopes() or not Path(story).is_dir()):
        raise BadInput("--budget is for recordings, whose explanation is searched for; leave it out")
    if story in scopes():
        if scope:
            raise BadInput(f"--scope {scope} is for traces; {story} is a scope itself")
        run = of_scope(story, options.Variant(variant or "AS_CODED", on, off).switches, asked, claim)
    elif Path(story).is_dir():
        refuse_for_a_recording(step, claim)
        switches = options.Variant(variant or "AS_CODED", on, off).switches
        run = of_recording(Path(story), Question(switches, budget=budget), why_not)
    elif not Path(story).is_file():
        raise BadInput(f"{story} is no scope, file or folder; `kcheck show scopes` lists the scopes")
    elif claim:
        raise BadInput(f"{story} is a trace, which is of one property; leave --property out")
    else:
        run = of_trace(opened(Path(story), scope, variant, on, off), asked)
    return print_document(plain_document("explain", run), output, tell=lambda document: say(text(document)))


def refuse_for_a_recording(step: int | None, claim: str) -> None:
    """BadInput where a step or a property is named, of which a recording has none."""
    if step is not None or claim:
        raise BadInput("a recording is explained where its explanation ends; leave --step and --property out")


def of_trace(told: Opened, asked: Asked) -> Run:
    """The answer, of a trace that was saved; BadInput where its steps cannot be taken."""
    try:
        trace = replay(told.built, told.saved.trace)
    except ReplayError as error:
        raise BadInput(f"{error}; say --scope, --variant, --with or --without, as it was saved with") from error
    return asked.run(told.built, trace, told.scope, told.variant)
