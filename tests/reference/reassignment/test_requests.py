"""A request that cannot be used is told of before it ends its listener, as by Kafka's own controller 0.10.2.2.

Its `doHandleDataChange` prints what ZkClient has read, and only then reads it as JSON; what it throws then goes to
ZkClient's thread, which goes on.
"""

import pytest

from reference.journal import Report
from reference.memory.cluster import MemoryCluster
from reference.memory.scheduler import choices, step
from reference.memory.start import initial_cluster
from reference.scripts import REASSIGN_PARTITIONS
from reference.zookeeper.api import Create, Delete
from spec.scopes import scope

NO_REPLICAS = '{"version":1,"partitions":[{"topic":"a","partition":0}]}'

FIRED = (
    "[PartitionsReassignedListener on Controller 1]: Partitions reassigned listener fired for path"
    " /admin/reassign_partitions. Record partitions to be reassigned"
)


def by_hand(cluster: MemoryCluster, operation: Create | Delete) -> None:
    """Somebody does this to the request."""
    cluster.zookeeper.execute(cluster.admin_session, operation)
    cluster.tell_watchers()


def heard(cluster: MemoryCluster) -> list[str]:
    """What the controller reports while it hears of the request."""
    said = []
    while taken := [one for one in choices(cluster) if one.name.startswith("on_reassignment_request(")]:
        step(cluster, taken[0])
        said += [str(entry.line) for entry in cluster.entries if isinstance(entry, Report)]
    return said


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (None, "null"),
        (b"no JSON", "no JSON"),
        (b"[1]", "[1]"),
        (b"\xff", "\N{REPLACEMENT CHARACTER}"),
        (NO_REPLICAS.encode(), NO_REPLICAS),
    ],
)
def test_what_cannot_be_used_is_told_of_and_ends_the_listener(data: bytes | None, text: str) -> None:
    cluster = initial_cluster(scope("early_move"))
    by_hand(cluster, Create(REASSIGN_PARTITIONS, data))
    assert heard(cluster) == [f"{FIRED} {text}"]
    assert cluster.processes[1].own_controller.to_reassign == {}
    by_hand(cluster, Delete(REASSIGN_PARTITIONS))
    assert heard(cluster) == []
    by_hand(cluster, Create(REASSIGN_PARTITIONS, NO_REPLICAS.replace("}", ',"replicas":[2,3]}', 1).encode()))
    assert len(heard(cluster)) == 1, "the next one is heard of"
    assert cluster.processes[1].own_controller.to_reassign != {}
