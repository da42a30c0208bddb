"""The start of a broker resumes deletions when all else about it is done: specification and reference side by side.

Kafka 0.10.2.2: `KafkaController.onBrokerStartup`, which ends with `resumeDeletionForTopics`. PROTOCOL.md section 7.1.
"""

import pytest

from spec.model import Model
from spec.scopes import scope
from spec.state.controller import Controller
from spec.variants import AS_CODED, FENCED, Switches
from tests.model_check.side_by_side import SideBySide

HELD_BACK = "controllers[1].ineligible[0]"

LEADERLESS = (
    "crash(b=3)", "end_orphaned_session(b=3)", "on_broker_change(c=1)", "read_for_election(c=1, p=1)",
    "read_for_removal(c=1, p=1, r=3)", "write_removal(c=1, p=1, r=3)",
)  # fmt: skip
"""Nobody leads the other topic's partition, so that it is visited whenever a broker comes or goes."""

HALTED = (
    "request_deletion(t=0)", "on_deletion_change(c=1)", "crash(b=2)", "end_orphaned_session(b=2)",
    "on_broker_change(c=1)", "read_for_election(c=1, p=1)",
)  # fmt: skip
"""A broker dies that has a replica of the topic that is to go."""


@pytest.mark.parametrize("switches", [AS_CODED, FENCED])
def test_a_topic_is_held_back_until_the_other_topics_partitions_are_visited(switches: Switches) -> None:
    both = SideBySide(scope("threadless_rebalance"), switches, deletions=1, crashes=2)
    both.do(*LEADERLESS, *HALTED, "start_process(b=2)", "register_broker(b=2)", "on_broker_change(c=1)")
    assert (both[HELD_BACK], both["controllers[1].resuming[0]"]) == ("yes", "yes")
    both.do("read_for_election(c=1, p=1)")
    assert (both[HELD_BACK], both["controllers[1].resuming[0]"]) == ("no", "no")
    assert both["controllers[1].woken"] == "yes"


def test_of_a_single_topic_nothing_is_visited_before() -> None:
    assert Model(scope("threadless_rebalance"), AS_CODED).keeps(Controller.resuming)
    assert not Model(scope("recreation"), AS_CODED).keeps(Controller.resuming)
