"""Recordings that come with the tool are judged one after the other, in one process."""

import gc

import pytest

from model_check.judging.shipped_recordings import judged
from model_check.verdicts.verdict import Verdict
from tests.model_check.unpacking import RECORDINGS

pytestmark = RECORDINGS


@pytest.mark.slow
@pytest.mark.takes("A recording is judged three times.")
def test_a_judgement_leaves_nothing_behind() -> None:
    """Or a process that judges many would grow by all of them."""
    left = []
    for _ in range(3):
        assert judged("33-D54-connectionloss-on-create").verdict is Verdict.HOLDS
        left.append(len(gc.get_objects()) + gc.get_freeze_count())
    assert abs(left[2] - left[1]) < 1000
