"""The shortest story of what an older release got wrong is a behaviour of the reference, which does it, too.

In each of its states the reference can do what the specification enables, and nothing else.
"""

import pytest

from model_check.checks.defects import halves, shown
from model_check.refinement.lockstep import Sides
from model_check.refinement.simulate import first_disagreement
from reference.memory.cluster import lacking
from spec.defects import Defect
from spec.defects.older import ROWS
from spec.scopes import scope

QUICK = ("D31",)
"""Those that a test has time for."""


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(one, marks=[] if one.id in QUICK else pytest.mark.slow, id=one.id)
        for one in ROWS
        if not lacking(scope(one.scope))
    ],
)
def test_the_shortest_story_of_an_older_defect_is_one_of_the_reference(one: Defect) -> None:
    story = shown(halves(one)[0], told=True).findings[0].story
    assert story is not None
    steps = [step.action for step in story.steps if step.number]
    assert len(steps) == one.first_depth
    assert first_disagreement(Sides(scope(one.scope), one.base), steps) is None
