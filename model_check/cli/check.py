"""`kcheck check`: what an edit of the specification did, scope by scope, the quickest first."""

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Annotated, Final

import typer

from model_check.checks import exploration
from model_check.cli import options
from model_check.cli.console import print_document, say
from model_check.explicit_state.findings import ENGINE
from model_check.inventory.accepted import accepted
from model_check.inventory.changed_terms import changed_terms
from model_check.inventory.system_facts import SystemKey
from model_check.verdicts.difference import TERMS, ending_lines, first_newly_broken, scope_lines
from model_check.verdicts.interrupts import raising
from model_check.verdicts.results import Comparison, Run, plain_document
from model_check.verdicts.verdict import INTERRUPTED, Verdict
from model_check.verdicts.verification import Check, run_checks
from model_check.waiting.progress import bar
from spec.expectations import Expectation, plan

MINUTES: Final = 5
"""After so many minutes no further scope is explored, unless one says otherwise."""


def command(
    scopes: options.ScopesArgument = None,
    *,
    minutes: Annotated[
        float, typer.Option(min=0, max=1e4, metavar="N", help="Explore no further scope after so many minutes.")
    ] = MINUTES,
    deep: Annotated[bool, typer.Option("--deep", help="The deep scopes, too.")] = False,
    telling: options.Stories,
    output: options.Output,
) -> int:
    """Say what an edit of the specification did.

    Builds the systems that `kcheck verify` explores every day, and compares their terms with the accepted ones. Where
    they differ the scope is explored, the smallest first, and a line says how many states there were and are, and
    others which claims are broken now, or no longer. The story of the first claim that is newly broken comes last.

    Exits with 0 if no terms changed, or if all that was explored is as the manifest expects; with 1 if anything is
    not; with 3 if the minutes were over before all was explored, or if a scope that is named is not explored at all.
    Proofs, crash matrices, the reference and recordings are for `kcheck verify`.

    Ctrl-C ends it with what was found until then, and INCOMPLETE; the same command begins anew.

    For example:
      kcheck check
      kcheck check tiny small
      kcheck check --deep --minutes 60
    """
    chosen = options.chosen_plans(scopes, deep=deep)
    known = sorted((one for some in chosen for one in some.explorations), key=lambda one: one.states)
    compared_terms = Terms(known, [one.scope for one in chosen if not one.explorations] if scopes else [])
    expected = {(one.scope, one.variant): one for one in known}

    def tell(run: Run) -> None:
        if not output.as_json:
            say("".join(f"{line}\n" for line in scope_lines(run, expected[run.scope, run.variant])))

    with raising() as stop:
        end = time.monotonic() + 60 * minutes
        runs = list(run_checks(_checks(compared_terms, lambda: time.monotonic() > end, minutes), tell, stop))
    document = plain_document("check", compared_terms.run(len(runs)), *runs)
    new = first_newly_broken([(run, expected[run.scope, run.variant]) for run in runs])
    ending = "".join(f"{line}\n" for line in ending_lines(document, compared_terms.unchanged, new, telling.lines))
    return print_document(document, output, tell=lambda _: say(ending), found_here=True)


class Terms:
    """The comparison of the terms of some systems with the accepted ones, with a bar while nothing else has one.

    Of scopes that are asked for and not explored, `others`, nothing is compared.
    """

    def __init__(self, known: Sequence[Expectation], others: Sequence[str]) -> None:
        self.known, self.others, self.unchanged = known, others, 0

    def changed(self) -> Iterator[Expectation]:
        """What is expected of each system whose terms are others, in the order given."""
        keys = [SystemKey(one.scope, one.switches) for one in self.known]
        pairs = zip(self.known, changed_terms(keys, accepted()), strict=True)
        done = 0
        while True:
            with bar("comparing terms", len(keys)) as report:
                for one, (_, is_changed) in pairs:
                    done += 1
                    report(done, one.scope)
                    if is_changed:
                        break
                    self.unchanged += 1
                else:
                    return
            yield one

    def run(self, changed: int) -> Run:
        """What there is to say of the systems whose terms are the accepted ones: how many there are."""
        same = Comparison("systems unchanged", str(self.unchanged), str(self.unchanged), Verdict.HOLDS)
        reason = f"nothing is explored of {', '.join(self.others)}" if self.others else ""
        if self.unchanged + changed < len(self.known):
            reason = f"{INTERRUPTED} before all terms were compared"
        verdict = Verdict.INCOMPLETE if reason else Verdict.HOLDS
        return Run(TERMS, "", "", verdict, reason, comparisons=(same,))


def _checks(terms: Terms, is_late: Callable[[], bool], minutes: float) -> Iterator[Check]:
    """An exploration of each system whose terms are others, in as much time as there is."""
    for one in terms.changed():
        make = partial(_put_off, one, minutes) if is_late() else partial(_explored, one)
        yield Check(ENGINE, one.scope, one.variant, one.states, make)


def _put_off(one: Expectation, minutes: float) -> list[Run]:
    reason = f"its terms changed, and the {minutes:g} minutes were over; kcheck explore {one.scope}"
    return [Run(ENGINE, one.scope, one.variant, Verdict.INCOMPLETE, f"{reason} --variant {one.variant}")]


def _explored(one: Expectation) -> list[Run]:
    task = exploration.Task.of(one.scope, one.switches, goals=plan(one.scope).goals)
    return [exploration.explored(task, one)]
