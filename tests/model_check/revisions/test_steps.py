"""Codes that two files share: what sets say, in portions or at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_check.revisions import steps
from model_check.revisions.steps import Codes, shared

CODES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2**64 - 1) | st.integers(0, 2)), max_size=30)


def rows(codes: list[tuple[int, int]]) -> Codes:
    return np.array(codes, np.uint64).reshape(-1, 2)


@pytest.mark.parametrize("portion", [1, 7, 1 << 20])
def test_shared_codes_are_those_that_both_sets_have(portion: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "PORTION", portion)

    @given(CODES, CODES)
    def check(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> None:
        mine, others = shared(rows(one), rows(other))
        assert mine.tolist() == [code in other for code in one]
        assert others.tolist() == [code in one for code in other]

    check()
