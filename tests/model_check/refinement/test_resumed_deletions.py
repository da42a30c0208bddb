"""The start of a broker resumes deletions when all else about it is done: specification and reference side by side.

Kafka 0.10.2.2: `KafkaController.onBrokerStartup`, which ends with `resumeDeletionForTopics`. PROTOCOL.md section 7.1.
"""

import pytest

from reference.journal import Report
from spec.logs.controller_log.topic_deletion import DeletionHalted, ReplicaDeletionFailed
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


REFUSED = (
    "request_deletion(t=0)", "crash(b=1)", "end_orphaned_session(b=1)", "on_controller_change(c=2)", "elect_read(c=2)",
    "elect_create(c=2)", "subscribe(c=2)", "read_brokers(c=2)", "read_topics(c=2)", "read_state(c=2, p=0)",
    "read_deletions(c=2)", "start_process(b=1)", "elect_read(c=1)", "register_broker(b=1)", "finish_failover(c=2)",
    "on_controller_change(c=2)", "on_broker_change(c=2)", "delete_queued_topic(c=2, t=0)",
    "read_for_removal(c=2, p=0, r=1)", "write_removal(c=2, p=0, r=1)", "read_for_removal(c=2, p=0, r=2)",
    "write_removal(c=2, p=0, r=2)", "expire_session(b=2, lost=0)", "deliver_request(c=2, b=2)",
    "deliver_deletion(c=2, b=2, p=0)",
)  # fmt: skip
"""A broker's registration is over when it is sent StopReplica, which it refuses whole."""


def test_a_refused_deletion_is_told_like_the_death_of_a_broker() -> None:
    """D46, where it is fixed: `failReplicaDeletion` writes two lines, which side by side are compared."""
    both = SideBySide(scope("deletion"), FENCED, deletions=1, crashes=1, expiries=1)
    both.do(*REFUSED, "on_replica_deleted(c=2, b=2, p=0)")
    told = [type(one.line) for one in both.cluster.entries if isinstance(one, Report)]
    assert {ReplicaDeletionFailed, DeletionHalted} <= set(told)


def test_of_a_single_topic_nothing_is_visited_before() -> None:
    assert Model(scope("threadless_rebalance"), AS_CODED).keeps(Controller.resuming)
    assert not Model(scope("recreation"), AS_CODED).keeps(Controller.resuming)
