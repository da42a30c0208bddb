"""Which handlers the crash matrix tries, and what must come of each fault between each pair of their effects.

A handler is a scope of the manifest with a table of its own:

    [scope.matrix_failover.matrix]
    controller = 2                   # whose handler it is
    trigger = ["crash(b=1)"]         # the steps that lead from the settled cluster to where it begins; "settle" takes
                                     # all steps of progress but the start of a process, until none is left, and
                                     # "until STEP" until that one is possible

    [scope.matrix_failover.matrix.expect.AS_CODED]           # by variant
    places = 12                      # how many places a fault may come before, or behind: none vanishes unnoticed

    [scope.matrix_failover.matrix.expect.AS_CODED.crash]     # by variant and fault
    ELECT_CREATE = "recovers"        # by step: the place in the code before which the fault comes, OVER after the last,
                                     # BETWEEN_2 where the lock is free and is to be taken twice more

What is not named recovers. The other outcomes are spelled as they are printed: `violates PROPERTY`, `stuck GOAL`,
several of them after commas; `never tried` where the fault cannot come.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from spec.errors import Where

FAULTS = ("none", "crash", "session_loss", "pause")
"""No fault, to compare with; the process is killed; its session ends and is renewed at once; it stops until it has a
successor, and then goes on as a zombie."""


@dataclass(frozen=True)
class MatrixPlan:
    """A handler and what is expected: outcomes by step, by fault, by variant; and by variant the number of places."""

    controller: int
    trigger: tuple[str, ...]
    expected: Mapping[str, Mapping[str, Mapping[str, str]]]
    places: Mapping[str, int] = field(default_factory=dict)


def read_matrix(given: Mapping[str, Any], where: Where) -> MatrixPlan:
    """The plan from its table in the manifest; MalformedInput says what is wrong with it."""
    _refuse_no_table(given, where)
    for key in given:
        if key not in ("controller", "trigger", "expect"):
            where.key(key).refuse("is not one of controller, trigger, expect")
    controller, trigger = given.get("controller"), given.get("trigger")
    if not isinstance(controller, int) or isinstance(controller, bool):
        where.key("controller").refuse("is missing, or not the number of a broker")
    if not isinstance(trigger, list) or not all(isinstance(one, str) for one in trigger):
        where.key("trigger").refuse("is missing, or not a list of steps")
    expected, places = {}, {}
    _refuse_no_table(given.get("expect", {}), where.key("expect"))
    for variant, table in given.get("expect", {}).items():
        _refuse_no_table(table, where.key("expect").key(variant))
        expected[variant] = {fault: outcomes for fault, outcomes in table.items() if fault != "places"}
        places[variant] = table.get("places")
        if not isinstance(places[variant], int):
            where.key("expect").key(variant).key("places").refuse("is missing, or no number")
        for fault in expected[variant]:
            if fault not in FAULTS:
                where.key("expect").key(variant).key(fault).refuse(f"is not one of places, {', '.join(FAULTS)}")
            _refuse_no_table(expected[variant][fault], where.key("expect").key(variant).key(fault))
    return MatrixPlan(controller, tuple(trigger), expected, places)


def _refuse_no_table(given: Any, where: Where) -> None:
    if not isinstance(given, Mapping):
        where.refuse("is not a table")
