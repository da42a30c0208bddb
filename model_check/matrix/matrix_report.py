"""What a crash matrix says: as a run with a comparison for each cell, and as rows of a table.

A cell names what is broken by letters, which a legend below the table spells out with the shortest story of each.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from string import ascii_lowercase

from model_check.explicit_state.findings import story_of
from model_check.matrix.cells import Cell, Matrix
from model_check.matrix.fault_injection import LAST, at_or_before, what_comes_next
from model_check.verdicts.results import Comparison, Finding, Run, Story
from model_check.verdicts.verdict import INTERRUPTED, Verdict, worst
from spec.matrix_plans import FAULTS, MatrixPlan

ENGINE = "crash matrix"
RECOVERS = "recovers"
NO_FAULT = "none"
"""The fault, and the place, of the handler that nothing happens to."""


def run_of_matrix(found: Matrix, plan: MatrixPlan, variant: str, *, told: bool = False) -> Run:
    """The run of a handler's matrix: as the manifest expects, or, where it expects nothing, whether all recovers.

    A finding's trace is printed as a story where it is `told`.
    """
    findings = tuple(one for cell in found.cells for one in _findings(found, cell, told=told))
    comparisons = tuple(_comparisons(found, plan, variant)) if variant in plan.expected else ()
    verdicts = [one.verdict for one in comparisons] or [_verdict(cell) for cell in found.cells]
    run = Run(ENGINE, found.scope, variant, worst(verdicts), findings=findings, comparisons=comparisons)
    if found.interrupted:
        return replace(run, verdict=worst([*verdicts, Verdict.INCOMPLETE]), reason=INTERRUPTED)
    return run


def _verdict(cell: Cell) -> Verdict:
    if cell.traces:
        return Verdict.VIOLATED
    return Verdict.INCOMPLETE if cell.open or not cell.states else Verdict.HOLDS


def where(cell: Cell) -> str:
    """A cell in words: `pause before READ_EPOCH`."""
    if cell.fault == NO_FAULT:
        return "no fault"
    return f"{cell.fault} behind the last" if cell.place == LAST else f"{cell.fault} {at_or_before(cell.place)}"


def _findings(found: Matrix, cell: Cell, *, told: bool) -> Iterator[Finding]:
    for name, trace in cell.traces.items():
        claim = next(one for one in found.system.properties if one.name in (name, f"eventually_{name}"))
        story = story_of(found.system, trace, claim) if told else Story(len(trace))
        broken = Finding.of(claim, Verdict.VIOLATED, story=story)
        yield replace(broken, property=f"{where(cell)}: {name}")


def _comparisons(found: Matrix, plan: MatrixPlan, variant: str) -> Iterator[Comparison]:
    """The number of places, each cell against what the manifest says of it, and what that says of others."""
    if found.cells and variant in plan.places:
        yield Comparison.of("places", plan.places[variant], len(found.places))
    wanted = {(fault, at): said for fault, cells in plan.expected[variant].items() for at, said in cells.items()}
    seen = {cell.fault for cell in found.cells}
    for cell in found.cells:
        said = wanted.pop((cell.fault, cell.place), RECOVERS)
        known = Verdict.HOLDS if said == RECOVERS else Verdict.VIOLATED
        yield Comparison.of(where(cell), said, cell.outcome, expected_verdict=known)
    for (fault, place), said in wanted.items():
        if fault in seen:
            yield Comparison(f"{fault} {at_or_before(place)}", said, "the handler is never there", Verdict.VIOLATED)


def printed_expectation(found: Matrix, variant: str) -> str:
    """What was found, as the blocks that the manifest would hold; a person reviews them before they go there."""
    key = variant if "+" not in variant else f'"{variant}"'
    blocks = [f"[scope.{found.scope}.matrix.expect.{key}]\nplaces = {len(found.places)}"]
    for fault in FAULTS:
        cells = [cell for cell in found.cells if cell.fault == fault and cell.outcome != RECOVERS]
        if cells:
            lines = [f'{cell.place} = "{cell.outcome}"' for cell in cells]
            blocks.append("\n".join([f"[scope.{found.scope}.matrix.expect.{key}.{fault}]", *lines]))
    return "\n\n".join(blocks)


def letters(found: Matrix) -> Mapping[str, str]:
    """A letter for each claim and goal that some cell breaks, in the order of the system."""
    broken = {name for cell in found.cells for name in (*cell.traces, *cell.open)}
    order = [one.name.removeprefix("eventually_") for one in found.system.properties if one.kind != "recoverable"]
    return dict(zip([name for name in dict.fromkeys(order) if name in broken], ascii_lowercase, strict=False))


def table(found: Matrix) -> Iterator[tuple[str, ...]]:
    """The rows: the head, then for each place what comes of each fault there, and what the handler does next."""
    short = letters(found)
    faults = [one for one in FAULTS if one != NO_FAULT and any(cell.fault == one for cell in found.cells)]
    yield ("fault before", *faults, "what the handler is about to do")
    for place in found.places:
        said = (_short(found.cell(place, fault), short) for fault in faults)
        yield (place, *said, what_comes_next(place))
    yield ("no fault", *(_short(found.cell(NO_FAULT, NO_FAULT), short) for _ in faults), "")


def _short(cell: Cell, short: Mapping[str, str]) -> str:
    parts = {"violates": cell.violated, "stuck": cell.stuck, "open": cell.open}
    said = [f"{verb} {' '.join(sorted(short[name] for name in names))}" for verb, names in parts.items() if names]
    return ", ".join(said) or cell.outcome


def legend(found: Matrix) -> Iterator[str]:
    """A line for each letter: the claim, and its shortest story."""
    for name, letter in letters(found).items():
        cells = [cell for cell in found.cells if name in cell.traces]
        nearest = min(cells, key=lambda cell: len(cell.traces[name]), default=None)
        told = "" if nearest is None else f", first after {len(nearest.traces[name])} steps ({where(nearest)})"
        yield f"{letter}: {name}{told}"
