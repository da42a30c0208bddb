"""The mutants that the vectors are asked about: of what a function runs, but for what it only says in a log."""

from collections.abc import Iterable
from typing import Final

from model_check.mutation.mutants import Maker, Mutant, lot
from model_check.mutation.operators import OPERATORS

LOGGED: Final = frozenset({
    "report", "log_state_change", "note", "journal", "reach", "is_about", "_log", "_tell", "_log_failure",
    "_report_cache", "_tell_of_attempt",
})  # fmt: skip
"""Functions that only say what goes on, in a log or to the model checker; no vector looks there."""

mutants_of: Final = Maker(OPERATORS, whole=False, silent=LOGGED).mutants_of


def chosen(mutants: Iterable[Mutant], number: int, seed: str) -> list[Mutant]:
    """So many of them, by lot, and spread over functions: no function has two before each has one."""
    by_function: dict[tuple[str, str], list[tuple[str, Mutant]]] = {}
    for one in mutants:
        by_function.setdefault((one.file, one.function), []).append((lot(one, seed), one))
    rounds = [
        (turn, *pair) for some in by_function.values() for turn, pair in enumerate(sorted(some, key=lambda one: one[0]))
    ]
    return [mutant for _, _, mutant in sorted(rounds, key=lambda one: one[:2])[:number]]
