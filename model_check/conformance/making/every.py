"""All cases, by group."""

from model_check.conformance.making.cases import Case
from model_check.conformance.making.elections import election_cases
from model_check.conformance.making.fences import fence_cases
from model_check.conformance.making.requests import hostile_cases, request_cases
from model_check.conformance.making.transitions import transition_cases
from model_check.conformance.making.znodes import znode_cases


def every_case() -> dict[str, list[Case]]:
    """The cases of each group, which is a file."""
    return {
        "transition": list(transition_cases()),
        "elect": list(election_cases()),
        "fence": list(fence_cases()),
        "znode": list(znode_cases()),
        "request": [*request_cases(), *hostile_cases()],
    }
