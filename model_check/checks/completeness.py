"""Completeness: whether a verification of everything made every check that the gate is to make.

What is to be made is read from the accepted inventory, and not from the plan of the run itself: a check that is dropped
on the way, before it is begun or after it has ended, is missed. So is one that holds and compared nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from model_check.inventory.inventory_check import gate_names
from model_check.verdicts.results import Comparison, Run
from model_check.verdicts.verdict import Verdict, worst
from model_check.verdicts.verification import Check

ENGINE: Final = "completeness"


def check_completeness(made: Mapping[Check, Sequence[Run]], accepted: Mapping[str, str], *, deep: bool) -> Run:
    """The run that compares the checks that have ended with those that were accepted, one by one."""
    due, ended = gate_names(accepted, deep=deep), {check.identity: runs for check, runs in made.items()}
    missed = list(_missed(due, ended))
    open_ = sum(any(run.verdict is Verdict.INCOMPLETE for run in ended.get(name, ())) for name in due)
    wanted, found = (f"{number:,} made" for number in (len(due), len(due) - len(missed) - open_))
    all_made = Comparison.of("checks", wanted, found, Verdict.ERROR if missed else Verdict.INCOMPLETE)
    if not due:
        all_made = Comparison("checks", "those that were accepted", "none is in the inventory", Verdict.ERROR)
    comparisons = (all_made, *missed)
    return Run(ENGINE, "", "", worst(one.verdict for one in comparisons), comparisons=comparisons)


def _missed(due: Sequence[str], ended: Mapping[str, Sequence[Run]]) -> Iterator[Comparison]:
    """What is due and was not made, or says that it holds although it compared nothing."""
    for name in due:
        runs = ended.get(name, ())
        if not runs:
            yield Comparison(f"check {name}", "made", "not made", Verdict.ERROR)
        elif any(run.verdict is Verdict.HOLDS and not run.comparisons for run in runs):
            yield Comparison(f"check {name}", "compared with what is expected", "nothing was compared", Verdict.ERROR)
