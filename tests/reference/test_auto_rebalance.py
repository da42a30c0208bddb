"""The rebalance thread: a write of its election that is fenced off takes the controller down, as any other writer's."""

from reference.auto_rebalance import find_imbalance, rebalance_partition
from reference.context import Activity
from reference.journal import Milestone
from reference.preferred_election import FinishFailover
from reference.procedures import FencedOff
from reference.state_effects import ReadForElection, WriteElectedLeader
from spec.kafka_types import NO_LEADER
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
