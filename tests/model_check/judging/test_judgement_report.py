"""A judgement as a run: how often a claim is broken is told in words."""

from dataclasses import replace

import pytest

from model_check.judging.judgement_report import run_of
from spec.variants import AS_CODED
from tests.model_check.unpacking import RECORDINGS, judged_before, recorded

pytestmark = RECORDINGS

NAME = "12-D1-epoch-write-delayed"


@pytest.mark.parametrize(("count", "told"), [(1, "once, first"), (2, "2 times, first"), (30, "30 times, first")])
def test_how_often_a_claim_is_broken_is_told(count: int, told: str) -> None:
    recording = recorded(NAME)
    judged = judged_before(recording, AS_CODED)
    counted = replace(judged, broken=tuple(replace(one, count=count) for one in judged.broken))
    assert counted.broken
    run = run_of(recording, counted, "AS_CODED")
    names = {one.claim.name for one in counted.broken}
    assert all(one.reason.startswith(told) for one in run.findings if one.property in names)
