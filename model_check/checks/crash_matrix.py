"""The crash matrix of a handler."""

from collections.abc import Callable

from model_check.inventory.accepted_systems import with_system_compared
from model_check.inventory.system_facts import SystemKey
from model_check.matrix.cells import Matrix
from model_check.matrix.matrix_report import run_of_matrix
from model_check.verdicts.interrupts import raising
from model_check.verdicts.results import Run
from model_check.waiting.estimates import estimated
from model_check.waiting.progress import bar
from spec.matrix_plans import FAULTS, MatrixPlan
from spec.scopes import scope as scope_named
from spec.variants import Switches, show_switches, switches_named


def made(
    scope: str,
    plan: MatrixPlan,
    switches: Switches,
    faults: tuple[str, ...] = FAULTS,
    stop: Callable[[], bool] = lambda: False,
) -> Matrix:
    """The matrix of a handler, with an estimate and a bar."""
    from model_check.matrix.crash_matrix import matrix

    title = f"{scope} {show_switches(switches)}"
    number = len({"none", *faults})
    with estimated("matrix", f"{title}, {number} faults") as whole, bar(title, number) as tell:
        found = matrix(scope_named(scope), plan, switches, faults, tell, stop)
        if not found.interrupted:
            whole()
        return found


def verified(scope: str, plan: MatrixPlan, variant: str) -> list[Run]:
    """A handler's matrix, compared with what the manifest expects, and its system with the accepted one."""
    switches = switches_named(variant)
    with raising() as stop:
        found = made(scope, plan, switches, stop=stop)
    told = run_of_matrix(found, plan, variant)
    return [with_system_compared(told, found.system, SystemKey(scope, switches))]
