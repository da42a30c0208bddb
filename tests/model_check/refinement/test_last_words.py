"""Within a batch the last word counts, for each broker by itself: specification and reference side by side.

A request to delete a topic stands before there is one: the partitions of the topic that is created then are not known
to be deleted, so their brokers are told when one after the other goes Offline (S9). Kafka 0.10.2.2:
`KafkaController.removeReplicaFromIsr` and `ReplicaStateMachine.handleStateChange`, which tells all others of AR.
"""

from dataclasses import replace

import pytest

from spec.scopes import scope
from spec.variants import AS_CODED, FENCED
from tests.model_check.refinement.test_controller_batch import TOPICS
from tests.model_check.side_by_side import SideBySide

SCOPE = replace(
    TOPICS, assigned=((1, 2),), topic_of=(0,), requests=(((2, 1),),), parts=TOPICS.parts | {"preferred_election"},
    topics_stand=False, callback_capacity=14,
)  # fmt: skip

LEFT_OVER = (
    "expire_session(b=1, lost=0)", "renew_session(b=1)", "request_stray_deletion(t=0)", "on_new_session(c=1)",
    "elect_read(c=1)", "elect_create(c=1)", "read_epoch(c=1)", "increment_epoch(c=1)", "subscribe(c=1)",
    "read_brokers(c=1)", "read_topics(c=1)", "read_election_request(c=1)", "read_reassignments(c=1)",
    "read_deletions(c=1)", "finish_failover(c=1)", "register_broker(b=1)", "on_broker_change(c=1)",
)  # fmt: skip
CREATED = (
    "create_topic(t=0)", "on_topic_change(c=1)", "read_for_new_replica(c=1, p=0, r=1)",
    "read_for_new_replica(c=1, p=0, r=2)", "create_state(c=1, p=0)",
)  # fmt: skip


@pytest.mark.parametrize(("first", "last"), [(1, 2), (2, 1)])
def test_who_goes_offline_last_is_told_of_the_one_before(first: int, last: int) -> None:
    both = SideBySide(SCOPE, AS_CODED, stray_deletions=1, creations=1, expiries=1)
    both.do(*LEFT_OVER, *CREATED, "deliver_request(c=1, b=1)", "deliver_request(c=1, b=2)")
    both.do("delete_queued_topic(c=1, t=0)", f"read_for_removal(c=1, p=0, r={first})")
    both.do(f"write_removal(c=1, p=0, r={first})", f"read_for_removal(c=1, p=0, r={last})")
    both.do(f"write_removal(c=1, p=0, r={last})")
    told = {b: both[f"connections[1][{b}][0].partitions[0].leader_epoch"] for b in (1, 2)}
    assert told == {first: "2", last: "1"}


def test_where_only_the_dead_could_hear_it_no_such_word_is_kept() -> None:
    """No topic is deleted, so that who goes Offline is dead: both brokers are, one of them the controller's own."""
    both = SideBySide(scope("foreign_removal"), FENCED)
    both.do("crash(b=2)", "end_orphaned_session(b=2)", "expire_session(b=1, lost=0)", "renew_session(b=1)")
    both.do("on_broker_change(c=1)", "read_for_election(c=1, p=1)", "read_for_election(c=1, p=0)")
    both.do("read_for_removal(c=1, p=1, r=1)", "write_removal(c=1, p=1, r=1)", "read_for_removal(c=1, p=1, r=2)")
    both.do("write_removal(c=1, p=1, r=2)")
    assert both["controllers[1].partitions[1].batched"] == "{1,2}"
