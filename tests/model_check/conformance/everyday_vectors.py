"""The vectors that are put to a process every day: all of functions and bytes, and every tenth script of a walk.

Of the scripts that are written by hand it is asked all: that Kafka comes to the same is why their outcome is expected.
The reference is asked most functions in this process, for the slips that are planted into its answers; a process of it
is put every fifth of these vectors.
"""

import pytest

from model_check.conformance.making.cases import BY_HAND
from model_check.conformance.vector import Vector
from tests.model_check.conformance.all_vectors import VECTORS

WALKS = [one for one in VECTORS if one.verb == "control" and one.group != BY_HAND]
EVERY_DAY = [one for one in VECTORS if one.verb != "control" or one.group == BY_HAND] + WALKS[::10]


def put(request: pytest.FixtureRequest, every: int = 1) -> list[Vector]:
    """Those of today, or one in `every` of them; with `--deep` all."""
    return VECTORS if request.config.getoption("--deep") else EVERY_DAY[::every]
