"""Extras: libraries that only some verbs need, each with what pip calls the extra that brings it.

Whoever shows, explores or judges needs neither a JVM nor a connection to ZooKeeper, and may install the project without
what they run on. A library is loaded where it is needed, and one that is not there is reported in one line.
"""

from collections.abc import Mapping
from typing import Final

from spec.errors import EnvironmentFailure

EXTRAS: Final[Mapping[str, str]] = {"pyspark": "spark", "py4j": "spark", "kazoo": "live"}
"""The extra that a library comes with; pyproject.toml says the same, from the other side."""


def missing_extra(error: BaseException) -> EnvironmentFailure | None:
    """What to do where an error is that such a library is not installed; None where it is anything else."""
    name = error.name or "" if isinstance(error, ModuleNotFoundError) else ""
    library = name.partition(".")[0]
    if library not in EXTRAS:
        return None
    return EnvironmentFailure(
        f"{library} is not installed, which this needs", f"pip install 'kafka-controller-spec[{EXTRAS[library]}]'"
    )
