"""Before 0.10.2.0 each replica is stopped by a request of its own: specification and reference side by side."""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from spec.scopes import scope
from spec.variants import AS_CODED, Switch, Switches
from tests.model_check.side_by_side import SideBySide

OLDER = frozenset({Switch.RUN_WHEN_NOT_ACTIVE})
TWO_PARTITIONS = replace(scope("deletion"), assigned=((1, 2), (1, 2)), topic_of=(0, 0))
STOPS = (
    "request_deletion(t=0)", "on_deletion_change(c=1)", "delete_queued_topic(c=1, t=0)",
    "read_for_removal(c=1, p=0, r=1)", "write_removal(c=1, p=0, r=1)",
    "read_for_removal(c=1, p=0, r=2)", "write_removal(c=1, p=0, r=2)",
    "read_for_removal(c=1, p=1, r=1)", "write_removal(c=1, p=1, r=1)",
    "read_for_removal(c=1, p=1, r=2)", "write_removal(c=1, p=1, r=2)",
)  # fmt: skip
"""The deletion of a topic has its replicas stopped, and then deleted."""


@pytest.mark.parametrize(("switches", "stopped"), [(AS_CODED, ["deliver_request"]), (OLDER, ["deliver_stop"] * 2)])
def test_a_broker_may_have_stopped_one_of_two_replicas_only_before_0_10_2(
    switches: Switches, stopped: list[str]
) -> None:
    both = SideBySide(TWO_PARTITIONS, switches, deletions=1)
    both.do(*STOPS)
    while both["connections[1][2][0].stage"] != "STOP_REPLICA":
        both.do("deliver_request(c=1, b=2)")
    for number, rule in enumerate(stopped):
        assert both["connections[1][2][0].stage"] == "STOP_REPLICA"
        p = f", p={1 - number}" if rule == "deliver_stop" else ""
        assert Counter(both.do(f"{rule}(c=1, b=2{p})"))["stop replica"] == 2 // len(stopped)
    assert both["connections[1][2][0].stage"] == "DELETE_REPLICA"


def test_what_lies_with_a_broker_of_several_stops_is_one() -> None:
    both = SideBySide(TWO_PARTITIONS, OLDER, deletions=1, late_requests=1)
    both.do(*STOPS)
    while both["connections[1][2][0].stage"] != "STOP_REPLICA":
        both.do("deliver_request(c=1, b=2)")
    both.do("leave_late_stop(c=1, b=2, p=1)", "deliver_stop(c=1, b=2, p=1)")
    assert both.do("execute_late_request(c=1, b=2)") == ["stop replica"]


@pytest.mark.parametrize("switches", [OLDER, OLDER | {Switch.CLOSE_OLD_CONNECTIONS}])
def test_a_stop_through_a_newer_connection_closes_the_older_one_where_that_is_fixed(switches: Switches) -> None:
    both = SideBySide(TWO_PARTITIONS, switches, deletions=1, late_requests=1)
    both.do(*STOPS)
    while both["connections[1][2][0].stage"] != "STOP_REPLICA":
        both.do("deliver_request(c=1, b=2)")
    both.do("leave_late_stop(c=1, b=2, p=1)", "deliver_stop(c=1, b=2, p=0)")
    assert both.can("execute_late_request(c=1, b=2)") == (switches == OLDER)


@pytest.mark.parametrize(
    ("name", "walks"),
    [("deletion", 8), *(pytest.param(one, 20, marks=pytest.mark.slow) for one in ("deletion", "shutdown"))],
)
def test_walks_with_single_stops_agree(name: str, walks: int) -> None:
    """With late copies and lost answers."""
    both = SideBySide(scope(name), OLDER, **dict(scope(name).budgets) | {"late_requests": 2, "resends": 2})
    steps = [step for seed in range(walks) for step in (list(both.walk(Random(seed), 120)), both.way)[1]]
    taken = {step.partition("(")[0] for step in steps}
    assert {"deliver_stop", "deliver_stop_unanswered", "leave_late_stop"} <= taken
