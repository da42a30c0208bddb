"""Coverage: whether all that the specification says is exercised by some exploration, how often, and how early.

A property that holds says nothing of a rule that never fires, of a row of the transition tables that is never taken, or
where its premise is never met. So over a number of explorations together it is counted how often each rule fires, from
how many states each row is taken, and how many show the witness of each property; of a goal, how many do not have it
yet. Beside that is the length of the shortest trace, and the scope that has it.

What only large scopes show, a run over the small ones cannot. Where the manifest expects it of a scope that was not to
be explored, that scope is named; the exploration of it will tell.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from model_check.checks import exploration
from model_check.explicit_state.findings import ENGINE as EXPLORER
from model_check.verdicts.manifest_checks import expects_claim, expects_rule
from model_check.verdicts.occurrences import Item, Occurrence, items, occurrence, occurrences
from model_check.verdicts.results import Comparison, Run
from model_check.verdicts.verdict import Verdict, worst
from model_check.verdicts.verification import Check
from spec.expectations import Expectation, Plan
from spec.properties import claims
from spec.system import rules

ENGINE = "coverage"


def check_coverage(runs: Sequence[Run], left: Iterable[Plan] = ()) -> Run:
    """The run that says of everything whether, how often and how early it occurs in these explorations.

    `left` are the scopes that were not to be explored. Only they may have to show what was not seen here.
    """
    explored = [run for run in runs if run.counts is not None and run.fired is not None]
    others = [one for plan in left for one in plan.explorations]
    whole = not any(run.reason for run in runs if run.engine == EXPLORER)
    comparisons = tuple(_comparison(one, occurrence(one.occurrence, explored), others, whole=whole) for one in items())
    return Run(ENGINE, "", "", worst(one.verdict for one in comparisons), comparisons=comparisons)


def _comparison(item: Item, seen: Occurrence | None, others: Iterable[Expectation], *, whole: bool) -> Comparison:
    about = f"{item.kind} {item.name}"
    if seen:
        return Comparison(about, item.demand, str(seen), Verdict.HOLDS)
    left = sorted({one.scope for one in others if _expects(one, item)})
    if left:
        return Comparison(about, item.demand, f"not explored here: {', '.join(left)}", Verdict.HOLDS)
    return Comparison(about, item.demand, "nowhere", Verdict.VIOLATED if whole else Verdict.INCOMPLETE)


def _expects(one: Expectation, item: Item) -> bool:
    """Whether the manifest expects it of an exploration; where a goal is asked, some state may lack it."""
    if item.kind == "row":
        return item.name in (one.rows or ())
    if item.kind == "action":
        return expects_rule(one, next(rule for rule in rules() if rule.name == item.name))
    return expects_claim(one, next(claim for claim in claims() if claim.name == item.occurrence))


def table(runs: Sequence[Run]) -> str:
    """Everything that has to occur, as lines with columns; a property's witness in brackets."""
    told = occurrences(runs)
    head = ("", "runs", "times", "depth", "first in")
    rows = [head]
    for item, seen in told.items():
        by = f" ({item.occurrence})" if item.occurrence != item.name else ""
        cells = (str(seen.runs), f"{seen.times:,}", str(seen.first_depth), seen.first) if seen else ("0", "", "", "")
        rows.append((f"{item.kind} {item.name}{by}", *cells))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "\n".join(
        f"{row[0]:<{widths[0]}} {row[1]:>{widths[1]}} {row[2]:>{widths[2]}} {row[3]:>{widths[3]}}  {row[4]}".rstrip()
        for row in rows
    )


def explorations(chosen: list[Plan]) -> Iterator[Check]:
    """The exploration of every scope and variant, without goals, which need a graph; nothing is compared."""
    for one in chosen:
        for expected in one.explorations:
            yield Check(EXPLORER, one.scope, expected.variant, expected.states, partial(_explored, expected))


def _explored(expected: Expectation) -> list[Run]:
    return [exploration.explored(exploration.Task.of(expected.scope, expected.switches, goals=False))]
