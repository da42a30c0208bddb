"""UpdateMetadata goes to everybody with any LeaderAndIsr that is added to a batch, be it for nobody: both side by side.

Kafka 0.10.2.2: `ControllerBrokerRequestBatch.addLeaderAndIsrRequestForBrokers`, which adds UpdateMetadata for the
partition whoever the receivers are. PROTOCOL.md section 9.
"""

from dataclasses import replace

import pytest

from spec.model import Model
from spec.scopes import scope
from spec.state.controller import CachedPartition
from spec.variants import AS_CODED, Switch, Switches
from tests.model_check.side_by_side import SideBySide

ONLY_THE_LEADER = frozenset({Switch.TELL_ONLY_THE_LEADER})
METADATA = replace(scope("metadata"), brokers=3, controllers=1)


def removals(*replicas: tuple[int, int]) -> list[str]:
    """Partition p goes Offline on r, one after the other."""
    return [f"{step}(c=1, p={p}, r={r})" for p, r in replicas for step in ("read_for_removal", "write_removal")]


def gone(*brokers: int) -> list[str]:
    """Brokers die, and the controller learns of it."""
    died = [f"{step}(b={b})" for b in brokers for step in ("crash", "end_orphaned_session")]
    return [*died, "on_broker_change(c=1)"]


@pytest.mark.parametrize(
    ("assigned", "switches", "dead"),
    [
        pytest.param(((2,),), AS_CODED, (2,), id="there is no other replica"),
        pytest.param(((2, 3),), ONLY_THE_LEADER, (2, 3), id="only the leader is told, and there is none (D21)"),
        pytest.param(((2,), (2,)), AS_CODED, (2,), id="the batch goes out when all partitions are done"),
    ],
)
def test_everybody_is_told_of_a_removal_that_nobody_is_ordered(
    assigned: tuple[tuple[int, ...], ...], switches: Switches, dead: tuple[int, ...]
) -> None:
    both = SideBySide(replace(METADATA, assigned=assigned), switches, crashes=len(dead))
    both.do(*gone(*dead), *(f"read_for_election(c=1, p={p})" for p in range(len(assigned))))
    steps = removals(*((p, r) for p in range(len(assigned)) for r in dead))
    both.do(*steps[:-1])
    assert both["connections[1][1][0].stage"] == "EMPTY"
    assert both["controllers[1].partitions[0].informed"] == ("yes" if len(steps) > 2 else "no")
    both.do(steps[-1])
    assert both["connections[1][1][0].stage"] == "UPDATE_METADATA"
    assert both["controllers[1].partitions[0].informed"] == "no"


def test_a_broker_learns_of_the_last_replicas_death() -> None:
    """What it has cached of the partition is of the removal's leader epoch."""
    bounds = replace(METADATA, assigned=((2,),), parts=METADATA.parts | {"cached_leaderships"})
    both = SideBySide(bounds, crashes=1)
    both.do(*gone(2), "read_for_election(c=1, p=0)", *removals((0, 2)), "deliver_request(c=1, b=1)")
    assert both["brokers[1].partitions[0].cached_epoch"] == both["zookeeper.state[0].leader_epoch"] == "1"


def test_where_leadership_always_goes_to_somebody_it_is_not_kept() -> None:
    assert not Model(METADATA, AS_CODED).keeps(CachedPartition.informed)
    assert Model(METADATA, ONLY_THE_LEADER).keeps(CachedPartition.informed)
    assert Model(scope("told_move"), AS_CODED).keeps(CachedPartition.informed)
    assert not Model(scope("addition_deletion"), AS_CODED).keeps(CachedPartition.informed), "nobody is told metadata"
