"""Verification: what was found, against what the manifest expects.

Every expectation is compared, the counts exactly: a model that shrank passes all its properties and still fails here.
A verdict is met by the same verdict, an expected violation only by a shortest trace of the expected length. Where a
run found more than the manifest knows of (a bound hit, a rule that never fires), that is a difference, too. A check
that breaks is an ERROR run, and the others go on; one for which memory is lacking is put off until they are done.
"""

import json
import time
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final, NoReturn

from model_check.verdicts.extras import missing_extra
from model_check.verdicts.interrupts import is_interrupt
from model_check.verdicts.results import UNWITNESSED, Comparison, Document, Finding, Run, plain_document
from model_check.verdicts.verdict import INTERRUPTED, NOT_BEGUN, Verdict, worst
from spec.errors import EnvironmentFailure, LacksMemory, SpecError
from spec.expectations import Expectation
from spec.tables.taken_rows import ROWS

KINDS = ("VIOLATED", "INCOMPLETE", UNWITNESSED)
"""What may be found of a property other than HOLDS."""


def compared(run: Run, expected: Expectation) -> Run:
    """An exploration's run with all comparisons; its verdict says whether the expectations are met."""
    findings = tuple(replace(one, expected=_explained(one, expected)) for one in run.findings)
    comparisons = (
        *_counts(run, expected),
        *(_verdict(one, run, expected) for one in findings),
        *_missing(run, expected),
        *_names("rules never enabled", run, expected.never_fired, run.never_fired),
        *_names("rules stopped by a bound", run, expected.bounds_hit, run.bounds_hit or ()),
        *_rows(run, expected),
    )
    return replace(run, findings=findings, comparisons=comparisons, verdict=worst(one.verdict for one in comparisons))


def compared_as_asked(run: Run, expected: Expectation, chosen: Collection[str] = ()) -> Run:
    """An exploration's run, compared in what was asked of it: of the chosen properties alone, or of all that it judged.

    What was cut short has no counts yet; a violation that is still to come leaves it INCOMPLETE.
    """
    asked = set(chosen) or {one.property for one in run.findings} | _broken_or_open(expected) - set(run.not_asked)
    within = replace(
        expected,
        violated={name: length for name, length in expected.violated.items() if name in asked},
        incomplete={name: reason for name, reason in expected.incomplete.items() if name in asked},
        unwitnessed=expected.unwitnessed & asked,
    )
    told = compared(run, within)
    is_about_claims = chosen or not is_exhausted(run)
    kept = [one for one in told.comparisons if one.about in asked] if is_about_claims else told.comparisons
    verdicts = [one.verdict for one in kept]
    if not is_exhausted(run):
        verdicts.append(Verdict.INCOMPLETE)
    return replace(told, comparisons=tuple(kept), verdict=worst(verdicts))


def _broken_or_open(expected: Expectation) -> set[str]:
    return {*expected.violated, *expected.incomplete, *expected.unwitnessed}


@dataclass(frozen=True)
class Check:
    """Something to verify, and how; `cost`, in states, tells cheap from dear; `is_made`: by another process."""

    engine: str
    scope: str
    variant: str
    cost: int
    make: Callable[[], Iterable[Run]]
    is_made: Callable[[], bool] = bool  # False, and no lambda, which could not be sent to another process

    @property
    def identity(self) -> str:
        """What it is called, whatever it depends on."""
        return " ".join(part for part in (self.engine, self.scope, self.variant) if part)


def alone(make: Callable[..., Run], *about: object) -> list[Run]:
    """What a check gives that makes one run."""
    return [make(*about)]


def run_checks(
    checks: Iterable[Check], tell: Callable[[Run], None] = lambda _: None, stop: Callable[[], bool] = lambda: False
) -> Iterator[Run]:
    """The runs of all checks, as `run_each` makes them; `tell` hears of each before it is given."""
    for _, runs in run_each(checks, stop):
        for run in runs:
            tell(run)
            yield run


def run_each(
    checks: Iterable[Check], stop: Callable[[], bool] = lambda: False, withheld: Callable[[], str] = str
) -> Iterator[tuple[Check, list[Run]]]:
    """All checks with their runs, in the order given; what breaks is an ERROR, what is interrupted INCOMPLETE.

    After a run that says that it was interrupted, and once `stop` says so, no check is begun, nor once `withheld` gives
    a reason; what another process has made by then is reported. A check that lacks memory is put off until all others
    are done, and is an ERROR only if it still lacks it some while later, when nothing else runs.
    """
    interrupted, lacking = False, list[tuple[Check, LacksMemory]]()
    for check in chain(checks, _once_more(lacking, stop)):
        interrupted = interrupted or stop()
        reason = NOT_BEGUN if interrupted else withheld()
        try:
            runs = [_incomplete(check, reason)] if reason and not check.is_made() else made(check)
        except LacksMemory as error:
            lacking.append((check, error))
            continue
        interrupted = interrupted or any(run.is_cut_short for run in runs)
        yield check, runs


WAITS: Final = (0, 5, 15, 40, 60)
"""Seconds to wait before each time that what lacked memory is tried again; by then others have given it back."""


def _once_more(lacking: list[tuple[Check, LacksMemory]], stop: Callable[[], bool]) -> Iterator[Check]:
    """What was put off, as often as it is put off again; at last as checks that end with the error."""
    for seconds in WAITS:
        if lacking:
            _wait(seconds, stop)
        put_off, lacking[:] = list(lacking), []
        yield from (check for check, _ in put_off)
    yield from (replace(check, make=partial(_given_up, error)) for check, error in lacking)


def _wait(seconds: int, stop: Callable[[], bool]) -> None:
    end = time.monotonic() + seconds
    with suppress(KeyboardInterrupt):  # which `stop` tells of
        while time.monotonic() < end and not stop():
            time.sleep(0.1)


def _given_up(error: LacksMemory) -> NoReturn:
    raise EnvironmentFailure(error.what, error.do)


def made(check: Check) -> list[Run]:
    """The runs of one check, or an ERROR run that tells why there are none; only LacksMemory is raised."""
    try:
        return list(check.make())
    except LacksMemory:
        raise
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - an error in one check must not hide the others
        if is_interrupt(error):
            return [_incomplete(check, INTERRUPTED)]
        where = traceback.extract_tb(error.__traceback__)[-1]
        unforeseen = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
        foreseen = missing_extra(error) or (error if isinstance(error, SpecError) else None)
        reason = str(foreseen or unforeseen)
        return [Run(check.engine, check.scope, check.variant, Verdict.ERROR, reason)]


def _incomplete(check: Check, reason: str) -> Run:
    return Run(check.engine, check.scope, check.variant, Verdict.INCOMPLETE, reason)


def told_as_interrupted(made: Run) -> Run:
    """A run that Ctrl-C may have ended: where it left something open, it says so."""
    if made.verdict is not Verdict.INCOMPLETE:
        return made
    return replace(made, reason="; ".join(filter(None, (INTERRUPTED, made.reason))))


def document(runs: Iterable[Run], verb: str = "verify") -> Document:
    """The document of a verification: HOLDS exactly when every expectation is met, and there was one at least."""
    found = tuple(runs)
    verdict = worst(run.verdict for run in found)
    if verdict is Verdict.HOLDS and not any(run.comparisons for run in found):
        found = (*found, Run(verb, "", "", Verdict.ERROR, "nothing was compared with any expectation"))
    return plain_document(verb, *found)


def _counts(run: Run, expected: Expectation) -> Iterator[Comparison]:
    if run.counts is None:
        return
    verdict = Verdict.VIOLATED if is_exhausted(run) else Verdict.INCOMPLETE
    for name in ("states", "transitions", "depth", "digest"):
        yield Comparison.of(name, getattr(expected, name), getattr(run.counts, name), verdict)


def is_exhausted(run: Run) -> bool:
    """Whether a run saw everything there is; if not, its reason says how far it came."""
    return not run.reason


def _verdict(one: Finding, run: Run, expected: Expectation) -> Comparison:
    wanted, found = _said(one, expected), in_words(one)
    return Comparison.of(one.property, wanted, found, _weight(one, run), wanted.split(maxsplit=1)[0])


def _weight(one: Finding, run: Run) -> Verdict:
    """What it means if this finding is not the expected one: a verdict better than expected is a change, too."""
    open_question = one.verdict is Verdict.INCOMPLETE and not (one.kind == "sometimes" and is_exhausted(run))
    return Verdict.INCOMPLETE if open_question else Verdict.VIOLATED


def _said(one: Finding, expected: Expectation) -> str:
    """What the manifest says of a property, in words."""
    if one.property in expected.violated:
        return f"VIOLATED in {expected.violated[one.property]} steps"
    if one.property in expected.unwitnessed:
        return UNWITNESSED
    return Verdict.INCOMPLETE if one.property in expected.incomplete else Verdict.HOLDS


def _explained(one: Finding, expected: Expectation) -> str:
    return ": ".join([_said(one, expected), *filter(None, [expected.incomplete.get(one.property)])])


def in_words(one: Finding) -> str:
    """What was found of a property, in the words in which the manifest says what it expects."""
    if one.verdict is Verdict.VIOLATED:
        return f"VIOLATED in {one.story.length if one.story else 0} steps"
    if one.kind == "sometimes" and one.verdict is Verdict.INCOMPLETE:
        return UNWITNESSED
    return one.verdict


def _missing(run: Run, expected: Expectation) -> Iterator[Comparison]:
    """Expectations of properties that the run says nothing about."""
    found = {one.property for one in run.findings}
    for name in sorted(_broken_or_open(expected) - found):
        yield Comparison(name, "a verdict", "no such property in this scope, or not asked", Verdict.ERROR)


def _names(about: str, run: Run, expected: Iterable[str], found: Iterable[str]) -> Iterator[Comparison]:
    verdict = Verdict.VIOLATED if is_exhausted(run) else Verdict.INCOMPLETE
    wanted, seen = (", ".join(sorted(names)) or "none" for names in (expected, found))
    yield Comparison.of(about, wanted, seen, verdict)


def _rows(run: Run, expected: Expectation) -> Iterator[Comparison]:
    """The rows of the transition tables that are taken, where anything is expected of them."""
    if expected.rows is not None:
        wanted, found = ([f"{row} ({depth})" for row, depth in rows.items()] for rows in (expected.rows, _taken(run)))
        yield from _names("rows taken, and their first depths", run, wanted, found)


def _taken(run: Run) -> dict[str, int]:
    return {row: depth for row, depth in (run.first_depths or {}).items() if row in ROWS}


def printed_expectation(run: Run) -> str:
    """What a run measured, as the block that the manifest would hold; a person reviews it before it goes there."""
    if run.counts is None or not is_exhausted(run):
        return f"# {run.title} is not exhausted: there is nothing to expect of it yet.\n# {run.reason}"
    of = {kind: [one for one in run.findings if in_words(one).split(maxsplit=1)[0] == kind] for kind in KINDS}
    tables = {
        "violated": [f"{one.property} = {one.story.length if one.story else 0}" for one in of["VIOLATED"]],
        "incomplete": [f'{one.property} = "{one.reason}"' for one in of["INCOMPLETE"]],
        "rows": [f"{row} = {depth}" for row, depth in _taken(run).items()],
    }
    lists = {
        "unwitnessed": [one.property for one in of[UNWITNESSED]],
        "never_fired": list(run.never_fired),
        "bounds_hit": list(run.bounds_hit or ()),
    }
    key = run.variant if "+" not in run.variant else f'"{run.variant}"'
    lines = [f"[scope.{run.scope}.expect.{key}]"]
    lines += [f"{name} = {getattr(run.counts, name)}" for name in ("states", "transitions", "depth")]
    lines += [f'digest = "{run.counts.digest}"']
    lines += [f"{name} = {{ {', '.join(entries)} }}" for name, entries in tables.items() if entries]
    lines += [f"{name} = {json.dumps(entries)}" for name, entries in lists.items() if entries]
    return "\n".join(lines)
