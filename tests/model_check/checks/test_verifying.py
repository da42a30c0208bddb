"""Making many checks: how many processes make them."""

import pytest

from model_check.checks.live_checks import live_runs
from model_check.checks.verifying import helpers_for
from model_check.verdicts.verification import Check


@pytest.mark.parametrize(("processes", "with_live_run", "without"), [(1, 0, 0), (2, 2, 1), (4, 4, 3)])
def test_a_live_run_that_waits_is_no_reason_for_a_core_to_wait(
    processes: int, with_live_run: int, without: int
) -> None:
    """But whoever asks for one process gets one."""
    other = Check("explorer", "bounce", "AS_CODED", 1, list)
    assert helpers_for(processes, [*live_runs(deep=False), other]) == with_live_run
    assert helpers_for(processes, [other]) == without
