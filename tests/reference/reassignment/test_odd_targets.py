"""Where that is fixed, the reference refuses a reassignment to a list that is not of distinct brokers, and says so."""

import pytest

from reference.journal import Report
from reference.memory.scheduler import choices, step
from reference.memory.start import initial_cluster
from reference.scripts import REASSIGN_PARTITIONS, topic_path
from spec.logs.controller_log.reassignment import ReassignmentRefused
from spec.scopes import scope
from spec.variants import FENCED

REFUSED = ("request_reassignment", "on_reassignment_request", "read_remaining", "write_remaining")


@pytest.mark.parametrize(("number", "shown"), [(0, "List()"), (1, "List(2, 2)"), (2, "List(1)")])
def test_what_is_odd_is_refused_with_a_sentence_and_does_not_stay(number: int, shown: str) -> None:
    cluster = initial_cluster(scope("odd_targets"), FENCED)
    before, lines = cluster.zookeeper.tree[topic_path("a")].data, []
    for rule in REFUSED:
        possible = [one for one in choices(cluster) if one.name.startswith(f"{rule}(")]
        step(cluster, possible[number] if rule == "request_reassignment" else possible[0])
        lines += [entry.line for entry in cluster.entries if isinstance(entry, Report)]
    refusal = next(one for one in lines if isinstance(one, ReassignmentRefused))
    assert str(refusal).endswith(
        f"Refusing to reassign partition [a,0] to replicas {shown}: not a list of distinct ids"
    )
    assert REASSIGN_PARTITIONS not in cluster.zookeeper.tree
    assert cluster.zookeeper.tree[topic_path("a")].data == before
