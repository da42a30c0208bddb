"""The vectors that are put to a process every day: all of functions and bytes, and every tenth script of a walk.

Who is slower is put fewer of these. Of the scripts that are written by hand each is asked all: that Kafka comes to the
same is why their outcome is expected. The reference answers most questions for functions in this process, for the slips
that are planted into its answers.
"""

import pytest

from model_check.conformance.making.cases import BY_HAND
from model_check.conformance.vector import Vector
from tests.model_check.conformance.all_vectors import VECTORS

WRITTEN = [one for one in VECTORS if one.group == BY_HAND]
WALKED = [one for one in VECTORS if one.verb == "control" and one.group != BY_HAND]
EVERY_DAY = [one for one in VECTORS if one.verb != "control"] + WALKED[::10]


def put(request: pytest.FixtureRequest, every: int = 1) -> list[Vector]:
    """Those of today, of which one in `every` by verb of those that nobody has written; with `--deep` all."""
    if request.config.getoption("--deep"):
        return VECTORS
    of_verb = {
        verb: [one for one in EVERY_DAY if one.verb == verb] for verb in dict.fromkeys(one.verb for one in EVERY_DAY)
    }
    return [*WRITTEN, *(one for some in of_verb.values() for one in some[::every])]
