"""A run of mutants as a document: a run for each area, a finding for each mutant that was asked about.

A mutant that something notices HOLDS; one that survives is VIOLATED, for a check is missing; one that could not be
decided is INCOMPLETE. A survivor that is known, with a reason, is as expected. Its source is `file:line`, its statement
the change as a difference has it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import sqrt
from typing import Final

from model_check.mutation.fates import Kind
from model_check.mutation.known import OPEN
from model_check.mutation.mutating import AREAS, Made, Mutating
from model_check.verdicts.results import Document, Finding, Run, plain_document
from model_check.verdicts.verdict import INTERRUPTED, Verdict, worst

ENGINE: Final = "mutants"
NOTICED: Final = (Kind.CAUGHT, Kind.TERMS, Kind.STILLBORN)
Z: Final = 1.96
"""Of a normal distribution, so many deviations around the mean hold 95 %."""

VERDICTS: Final = {Kind.SURVIVED: Verdict.VIOLATED, Kind.UNDECIDED: Verdict.INCOMPLETE}


def document(run: Mutating) -> Document:
    """The document of a run."""
    made = sorted(run.made, key=lambda one: (one.mutant.file, one.mutant.at, one.mutant.start, one.mutant.change))
    runs = [_run(area, [one for one in made if area_of(one.mutant.file) == area], run) for area in areas(run)]
    if run.broken is not None:
        runs.append(Run(ENGINE, "baseline", "", Verdict.ERROR, str(run.broken)))
    return plain_document("mutate", *runs)


def area_of(file: str) -> str:
    """The area that a file is in: of those that are mutated if nothing is named, else its folder."""
    return next((one for one in AREAS if file.startswith(f"{one}/")), file.rpartition("/")[0])


def areas(run: Mutating) -> list[str]:
    """The areas of a run's mutants, in the order in which they are printed."""
    found = {area_of(one.file) for one in run.mutants}
    return [*(one for one in AREAS if one in found), *sorted(found - {*AREAS})]


def _run(area: str, made: Sequence[Made], run: Mutating) -> Run:
    findings = [_finding(one, run) for one in made]
    drawn = sum(area_of(one.file) == area for one in run.mutants)
    verdict = worst(one.verdict for one in findings if one.verdict != one.expected)
    reason = ""
    if len(made) < drawn:
        verdict = worst([verdict, Verdict.INCOMPLETE])
        reason = f"{INTERRUPTED}: {len(made)} of {drawn} mutants were asked about"
    seconds = {"asked": sum(one.fate.seconds for one in made)}
    return Run(ENGINE, area, "", verdict, reason, findings=tuple(findings), notes=tuple(notes(made)), seconds=seconds)


def _finding(one: Made, run: Mutating) -> Finding:
    mutant, fate = one.mutant, one.fate
    is_open = one.known is not None and one.known.kind == OPEN
    why = f"{fate.kind}{f': {fate.why}' if fate.why else ''}"
    if one.known is not None and is_open:
        why += f"; known: {one.known.reason}" if fate.kind is Kind.SURVIVED else "; it is listed as open, and is not"
    return Finding(
        mutant.title.partition(" ")[2],
        f"mutant, {mutant.operator}",
        mutant.difference(run.subjects.sources[mutant.file]),
        f"{mutant.file}:{mutant.at}",
        VERDICTS.get(fate.kind, Verdict.HOLDS),
        why,
        expected=Verdict.VIOLATED if is_open and fate.kind is Kind.SURVIVED else "",
    )


def notes(made: Sequence[Made]) -> Iterator[str]:
    """How many there are of each kind, the share that is noticed, with its interval, and what notices how many."""
    kinds = Counter(one.fate.kind for one in made)
    yield ", ".join(f"{kinds[kind]} {kind}" for kind in Kind if kinds[kind]) or "none was asked about"
    for name, without in (("noticed", ()), ("noticed, of those that load", (Kind.STILLBORN,))):
        noticed = sum(kinds[kind] for kind in NOTICED if kind not in without)
        of = noticed + kinds[Kind.SURVIVED] + kinds[Kind.UNDECIDED]
        if of and (not without or kinds[Kind.STILLBORN]):
            low, high = interval(noticed, of)
            yield f"{name}: {noticed} of {of}, {noticed / of:.1%} (95 % interval: {low:.1%} to {high:.1%})"
    by = Counter(_by(one) for one in made if one.fate.kind in NOTICED)
    if by:
        yield f"by: {', '.join(f'{name} {number}' for name, number in by.most_common())}"


def _by(one: Made) -> str:
    """The question that noticed a mutant."""
    return str(one.fate.kind) if one.fate.kind is Kind.TERMS or not one.fate.asked else one.fate.asked[-1]


def interval(noticed: int, of: int) -> tuple[float, float]:
    """Wilson's interval of a share, in which the true one is in 95 of 100 samples."""
    share, spread = noticed / of, Z * Z / of
    middle = (share + spread / 2) / (1 + spread)
    half = Z * sqrt(share * (1 - share) / of + spread / (4 * of)) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)


def text(document: Document, run: Mutating) -> str:
    """The survivors with their changes, then the figures."""
    lines = [f"kcheck mutate: {document.verdict}: {_extent(run)}"]
    for one in document.runs:
        for finding in one.findings:
            if finding.verdict is not Verdict.HOLDS:
                lines += ["", f"{finding.source} {finding.property.partition(':')[0]}: {finding.reason}"]
                lines += [f"  {line}" for line in finding.statement.splitlines()]
    for one in document.runs:
        lines += ["", f"{one.title}: {one.verdict}{f': {one.reason}' if one.reason else ''}"]
        lines += [f"  {note}" for note in one.notes]
    if len(document.runs) > 1 and run.made:
        lines += ["", "all together:", *(f"  {note}" for note in notes(run.made))]
    return "\n".join(lines) + "\n"


def _extent(run: Mutating) -> str:
    """How many mutants there are, how many of them were drawn, and asked about."""
    every = f"{run.of:,} mutants"
    if len(run.mutants) == run.of:
        return f"{len(run.made):,} of {every} asked about"
    return f"{len(run.made):,} asked about of {len(run.mutants):,}, drawn from {every} by seed {run.seed}"
