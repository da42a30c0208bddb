"""Ctrl-C is told from other errors, also where it comes while ctypes converts an argument."""

import ctypes
from typing import Any

import pytest

from model_check.interrupts import is_interrupt
from model_check.verdicts import Verdict
from model_check.verification import Check, run_checks


def call_into_c(raised: type[BaseException]) -> None:
    """Call a function of C; what is raised comes while its argument is converted."""

    class Converted:
        @classmethod
        def from_param(cls, _: object) -> Any:
            raise raised("on the way")

    function: Any = ctypes.CDLL(None).labs
    function.argtypes = [Converted]
    function(1)


@pytest.mark.parametrize(("raised", "is_one"), [(KeyboardInterrupt, True), (ValueError, False)])
def test_an_interrupt_within_a_call_is_one(raised: type[BaseException], is_one: bool) -> None:
    with pytest.raises(ctypes.ArgumentError) as failed:
        call_into_c(raised)
    assert is_interrupt(failed.value) is is_one


def test_no_other_check_begins_after_it() -> None:
    def made() -> list[Any]:
        call_into_c(KeyboardInterrupt)
        return []

    checks = [Check("first", "", "", 0, made), Check("second", "", "", 1, list)]
    assert [run.verdict for run in run_checks(checks)] == [Verdict.INCOMPLETE, Verdict.INCOMPLETE]
