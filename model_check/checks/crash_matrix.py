"""The crash matrix of a handler."""

from collections.abc import Callable

from model_check.matrix.crash_matrix import Matrix, matrix
from model_check.waiting.estimates import estimated
from model_check.waiting.progress import bar
from spec.matrix_plans import FAULTS, MatrixPlan
from spec.scopes import scope as scope_named
from spec.variants import Switches, show_switches


def made(
    scope: str,
    plan: MatrixPlan,
    switches: Switches,
    faults: tuple[str, ...] = FAULTS,
    stop: Callable[[], bool] = lambda: False,
) -> Matrix:
    """The matrix of a handler, with an estimate and a bar."""
    title = f"{scope} {show_switches(switches)}"
    number = len({"none", *faults})
    with estimated("matrix", f"{title}, {number} faults") as whole, bar(title, number) as tell:
        found = matrix(scope_named(scope), plan, switches, faults, tell, stop)
        if not found.interrupted:
            whole()
        return found
