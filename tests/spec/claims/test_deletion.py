"""Where `delete.topic.enable` is off, what would be a deletion by a controller; and what is left of a deleted topic."""

from typing import Any

import pytest

from model_check.stepping.open_system import Taken, open_system
from spec.claims.deletion import no_topic_is_deleted, nothing_of_a_deleted_topic_is_left

OPENED = open_system(2, ((1, 2),), (0,), controller_epochs=2, parts=frozenset({"deletion"}))
MOVING = open_system(2, ((1, 2),), (0,), controller_epochs=2, parts=frozenset({"deletion", "reassignment"}))
AR = {0: OPENED.model.brokers.list_kind.encode((1, 2))}
THERE: dict[str, Any] = {"zookeeper": {"topics": {0: 1}, "assigned": AR}, "logs": {1: {0: 1}, 2: {0: 1}}}


def keeps(after: dict[str, Any], **by: int) -> bool:
    """Whether an action of these parameters, by which a topic and its logs become this, keeps the claim."""
    states = OPENED.view(THERE), OPENED.view({**THERE, **after})
    value = no_topic_is_deleted.function(*states, OPENED.model, Taken("any", by))
    return value is None or bool(value.raw)


@pytest.mark.parametrize("after", [{"zookeeper": {"topics": {0: 0}}}, {"logs": {1: {0: 1}, 2: {0: 0}}}])
def test_a_controller_deletes_nothing_where_deletion_is_off(after: dict[str, Any]) -> None:
    assert keeps({}, c=1)
    assert not keeps(after, c=1)
    assert keeps(after)  # by hand


def test_a_move_takes_replicas_away_where_deletion_is_off() -> None:
    """Before AR says so, too: step 9 comes before step 10."""
    for after, kept in (({"logs": {1: {0: 1}, 2: {0: 0}}}, True), ({"zookeeper": {"topics": {0: 0}}}, False)):
        states = MOVING.view(THERE), MOVING.view({**THERE, **after})
        value = no_topic_is_deleted.function(*states, MOVING.model, Taken("any", {"c": 1}))
        assert value is not None
        assert bool(value.raw) is kept


@pytest.mark.parametrize(
    ("zookeeper", "holds"),
    [
        ({"configurations": {0: 1}}, False),
        ({"configurations": {0: 1}, "deletions": {0: 1}}, True),  # the deletion goes on
        ({"configurations": {0: 1}, "unclean": {0: 1}}, True),  # the tool writes it before the topic that it creates
        ({"configurations": {0: 1}, "unclean": {0: 1}, "state": {0: {"version": 1}}}, False),
    ],
)
def test_what_is_left_of_a_topic_is_no_configuration_of_one_to_come(zookeeper: dict[str, Any], holds: bool) -> None:
    value = nothing_of_a_deleted_topic_is_left.function(OPENED.view({"zookeeper": zookeeper}), OPENED.model, 0)
    assert value is not None
    assert bool(value.raw) is holds
