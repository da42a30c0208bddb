"""The rebalance thread: from when it runs; and who is fenced off in its election is controller no more."""

import pytest

from reference.controller.context import Activity
from reference.elections.rebalance import find_imbalance, is_running, rebalance_partition
from reference.elections.requested import FinishFailover
from reference.journal import Milestone
from reference.leadership.effects import ReadForElection, WriteElectedLeader
from reference.procedures import FencedOff
from spec.formats.kafka_types import NO_LEADER
from spec.state.enumerations import DeletionThread
from spec.variants import Switch
from tests.reference.hands import TP, Hand, controller, failed_over, milestones, znode


def test_who_is_fenced_off_in_a_rebalance_is_controller_no_more() -> None:
    one, journal = controller(Switch.FENCED_WRITES)
    led_by_another = znode(2, (2, 1), epoch=4)
    failed_over(one, (1, 2), [led_by_another]).expect(FinishFailover, None)
    one.imbalanced = find_imbalance(one, 1)
    assert one.imbalanced == {TP}
    hand = Hand(rebalance_partition(one, TP))
    hand.expect(ReadForElection, led_by_another)
    hand.fail(WriteElectedLeader, FencedOff("/controller_epoch is not at version 4 any more"))
    assert hand.ended
    assert (one.is_active, one.leader_id, one.imbalanced, one.activity) == (False, NO_LEADER, frozenset(), Activity())
    assert milestones(journal)[-1] is Milestone.RESIGNED


@pytest.mark.parametrize("thread", list(DeletionThread))
def test_the_scheduler_goes_on_where_the_deletion_thread_has_ended(thread: DeletionThread) -> None:
    one, _ = controller()
    failed_over(one, (1, 2), [znode(1, (1, 2), epoch=4)]).expect(FinishFailover, None)
    one.deletion = thread
    assert is_running(one) == (thread in {DeletionThread.RUNNING, DeletionThread.ENDED})
