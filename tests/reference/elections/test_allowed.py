"""The election for a topic that is allowed unclean election (a fix): who turns out to be overtaken is taken down."""

import pytest

from reference.controller.context import Activity
from reference.elections.allowed import elect_where_allowed
from reference.leadership.effects import ReadForElection, WriteElectedLeader
from reference.procedures import FencedOff
from spec.tables.partition_states import PartitionState
from tests.reference.hands import TP, Hand, working, znode


@pytest.mark.parametrize("moved", [False, True])
def test_an_offline_partition_of_the_topic_gets_a_leader_unless_another_controller_is_active(moved: bool) -> None:
    one, _ = working((2, 3), znode(2, (2, 3)))
    one.partition_machine.states[TP] = PartitionState.OFFLINE
    hand = Hand(elect_where_allowed(one, "t"))
    hand.expect(ReadForElection, znode(1, (1, 2, 3)))
    if moved:
        hand.fail(WriteElectedLeader, FencedOff("/controller_epoch is not at version 4 any more"))
    else:
        hand.expect(WriteElectedLeader, 1)
    assert hand.ended
    assert one.is_active == (not moved)
    assert one.partition_machine.states == ({} if moved else {TP: PartitionState.ONLINE})
    assert one.activity == Activity()
