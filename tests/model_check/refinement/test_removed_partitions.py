"""What UpdateMetadata tells of partitions that are to be deleted: reference and specification agree, or it is seen."""

from dataclasses import replace

import pytest

from model_check.refinement.fingerprint import fingerprint
from model_check.refinement.lockstep import Disagreement, Sides
from reference.controller import batch as request_batch
from reference.memory.cluster import MemoryCluster
from reference.memory.scheduler import choices, step
from reference.memory.start import initial_cluster
from spec.formats.kafka_types import LEADER_DURING_DELETE
from spec.formats.request_schemas import UpdateMetadataRequest
from spec.scopes import scope
from spec.variants import AS_CODED, VARIANTS
from tests.model_check.plain_trees import plain_tree, replay_edges

UNDISTURBED = replace(scope("deletion_metadata"), controllers=1, budgets=(("deletions", 1),))
"""A topic is deleted, and nothing goes wrong."""
BEGUN = ("request_deletion(t=0)", "on_deletion_change(c=1)", "delete_queued_topic(c=1, t=0)")
"""The request is made and heard of, and when the thread begins, everybody is told."""


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_edge_of_an_undisturbed_deletion_is_one_of_the_reference(variant: str) -> None:
    both = Sides(UNDISTURBED, VARIANTS[variant])
    replayed = replay_edges(both, plain_tree(both.machine))
    assert replayed.complete
    assert replayed.by_rule["delete_topic"]


def test_a_controller_that_does_not_tell_of_the_removal_is_found_by_the_shortest_story(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    both = Sides(UNDISTURBED, AS_CODED)
    of = plain_tree(both.machine, len(BEGUN))
    both.initial()
    monkeypatch.setattr(request_batch, "LEADER_DURING_DELETE", 1)
    with pytest.raises(Disagreement) as found:
        replay_edges(both, of)
    assert found.value.steps == BEGUN
    assert found.value.reasons[0].startswith("connections[1][1][0].told_epoch[0] is -1")


def begun() -> MemoryCluster:
    one = initial_cluster(UNDISTURBED)
    for name in BEGUN:
        step(one, next(choice for choice in choices(one) if choice.name == name))
    return one


def test_what_no_broker_reads_of_a_removed_partition_leaves_no_mark_and_the_rest_does() -> None:
    marks = []
    for changes, replicas in (({}, (1,)), ({"isr": (), "controller_epoch": 7}, ()), ({"leader": 1}, (1,))):
        one = begun()
        controller = one.change(1).controller
        assert controller is not None
        queue = controller.queue_to(2)
        request = queue[0].request
        assert isinstance(request, UpdateMetadataRequest)
        (told,) = request.partition_states
        known = told.leadership
        assert (known.leader, known.leader_epoch, known.zk_version) == (LEADER_DURING_DELETE, 0, 0)
        assert told.replicas == (1,)
        told = replace(told, leadership=replace(known, **changes), replicas=replicas)
        queue[0] = replace(queue[0], request=replace(request, partition_states=(told,)))
        marks.append(fingerprint(one))
    assert marks[0] == marks[1] != marks[2]
