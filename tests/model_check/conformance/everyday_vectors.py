"""The vectors that are put to a process every day: all of functions and bytes, and every tenth script."""

import pytest

from model_check.conformance.vector import Vector, read_vectors

VECTORS = read_vectors()
SCRIPTS = [one for one in VECTORS if one.verb == "control"]
EVERY_DAY = [one for one in VECTORS if one.verb != "control"] + SCRIPTS[::10]


def put(request: pytest.FixtureRequest) -> list[Vector]:
    """Those of today: with `--deep` all."""
    return VECTORS if request.config.getoption("--deep") else EVERY_DAY
