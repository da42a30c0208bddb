"""All cases, by group."""

from model_check.conformance.making.batches import batch_cases
from model_check.conformance.making.by_hand import hand_cases
from model_check.conformance.making.cases import BY_HAND, Case
from model_check.conformance.making.creations import creation_cases
from model_check.conformance.making.delays import delay_cases
from model_check.conformance.making.departures import failure_cases, shutdown_cases
from model_check.conformance.making.elections import election_cases
from model_check.conformance.making.fences import fence_cases
from model_check.conformance.making.imbalances import imbalance_cases
from model_check.conformance.making.isr_changes import isr_cases
from model_check.conformance.making.lines import line_cases
from model_check.conformance.making.machines import machine_cases
from model_check.conformance.making.notifications import notification_cases
from model_check.conformance.making.reassignments import reassignment_cases
from model_check.conformance.making.removals import removal_cases
from model_check.conformance.making.requests import hostile_cases, request_cases
from model_check.conformance.making.responses import response_cases
from model_check.conformance.making.transitions import transition_cases
from model_check.conformance.making.writes import write_cases
from model_check.conformance.making.znodes import znode_cases


def every_case() -> dict[str, list[Case]]:
    """The cases of each group, which is a file."""
    return {
        "transition": list(transition_cases()),
        "elect": list(election_cases()),
        "creation": list(creation_cases()),
        "removal": list(removal_cases()),
        "reassignment": list(reassignment_cases()),
        "imbalance": list(imbalance_cases()),
        "write": list(write_cases()),
        "batch": list(batch_cases()),
        "machine": list(machine_cases()),
        "shutdown": list(shutdown_cases()),
        "failure": list(failure_cases()),
        "notification": list(notification_cases()),
        "isr": list(isr_cases()),
        "delay": list(delay_cases()),
        "fence": list(fence_cases()),
        "znode": list(znode_cases()),
        "request": [*request_cases(), *hostile_cases()],
        "response": list(response_cases()),
        "line": list(line_cases()),
        BY_HAND: list(hand_cases()),
    }
