"""What the plays do: a move moves, and a controller is stopped amid its work."""

from random import Random
from unittest.mock import MagicMock, call

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_check.live.fault_kinds import FAULTS
from model_check.live.live_scenario import MANY_PARTITIONS, MORE_PARTITIONS, MORE_TOPICS, Scenario

SESSION = 2
"""Seconds."""


def scenario(brokers: int, seed: int = 1) -> tuple[Scenario, MagicMock]:
    """The plays of a cluster that only writes down what is done to it; broker 1 is controller."""
    cluster = MagicMock()
    cluster.broker_ids = tuple(range(1, brokers + 1))
    cluster.admin.controller.return_value = 1
    cluster.setup.times.session_timeout_ms = 1000 * SESSION
    return Scenario(cluster, Random(seed), first_topics=0), cluster


@given(st.integers(1, 6), st.integers(0, 2**16), st.data())
def test_a_move_goes_to_another_broker_or_else_to_another_order(brokers: int, seed: int, data: st.DataObject) -> None:
    made, cluster = scenario(brokers, seed)
    drawn = st.lists(st.sampled_from(cluster.broker_ids), min_size=1, max_size=min(3, brokers), unique=True)
    replicas = tuple(data.draw(drawn))
    wanted = made.elsewhere(replicas)
    assert len(wanted) == len({*wanted}) == len(replicas)
    assert {*wanted} <= {*cluster.broker_ids}
    if len(replicas) < brokers:
        assert len({*wanted} - {*replicas}) == 1
    elif brokers > 1:
        assert wanted != replicas


def test_a_rest_follows_the_first_topics() -> None:
    """And nothing comes in between: what their creation breaks is seen before the first fault."""
    made, cluster = scenario(3)
    made.first_topics, cluster.member_ids = 2, (1, 2, 3)
    made.begin()
    done = [name for name, _, _ in cluster.mock_calls]
    assert done[-2:] == ["admin.create_topic", "rest"]


def waited(cluster: MagicMock, asked: str) -> bool:
    """Whether the controller was stopped as soon as it wrote, after a request that was made when its last was known."""
    done = [name for name, _, _ in cluster.mock_calls]
    amid = done[done.index("last_change_of") : done.index("suspend")]
    session, since = cluster.admin.controllers_session.return_value, cluster.last_change_of.return_value
    assert cluster.see_change.call_args_list == [call(session, since, SESSION)]
    assert cluster.last_change_of.call_args_list == [call(session)]
    cluster.suspend.assert_called_once_with(1)
    return [one for one in amid if one != "admin.assignment"] == ["last_change_of", f"admin.{asked}", "see_change"]


def test_the_controller_is_stopped_as_it_creates_partitions_also_where_no_topic_is_to_be_created() -> None:
    made, cluster = scenario(3)
    _, play = FAULTS["stop-controller"]
    play(made)
    ((topic, assignment), _) = cluster.admin.create_topic.call_args_list[0]
    assert (topic, len(assignment)) == ("topic-1", MANY_PARTITIONS)
    assert waited(cluster, "create_topic")
    made.topics = MORE_TOPICS
    cluster.reset_mock()
    cluster.admin.is_there.return_value = False
    play(made)
    assert not cluster.admin.create_topic.called
    assert waited(cluster, "add_partitions")
    ((_, added), _) = cluster.admin.add_partitions.call_args_list[0]
    assert len(added) == MORE_PARTITIONS


REQUESTS = {"add": "add_partitions", "reassign": "reassign", "delete": "delete_topic", "elect": "elect_preferred"}


@pytest.mark.parametrize("kind", REQUESTS)
def test_the_controller_is_stopped_as_it_begins_to_do_what_is_asked(kind: str) -> None:
    made, cluster = scenario(3)
    made.existing.append("t")
    made.topics = MORE_TOPICS
    cluster.admin.assignment.return_value = {0: (1, 2)}
    cluster.admin.is_there.return_value = False
    _, play = FAULTS[f"{kind}-stop-controller"]
    play(made)
    assert waited(cluster, REQUESTS[kind])


@pytest.mark.parametrize("kind", [*(f"{one}-stop-controller" for one in REQUESTS), "stop-controller"])
def test_where_nothing_can_be_asked_the_controller_is_stopped_without_waiting(kind: str) -> None:
    made, cluster = scenario(3)
    made.existing.append("t")
    made.topics = MORE_TOPICS
    cluster.admin.is_there.return_value = True  # a move, and an election
    _, play = FAULTS[kind]
    play(made)
    assert not [one for one in REQUESTS.values() if getattr(cluster.admin, one).called]
    assert not cluster.see_change.called
    cluster.suspend.assert_called_once_with(1)


@given(st.integers(1, 5), st.integers(0, 2**16), st.data())
def test_an_edit_adds_a_replica_or_takes_one_away(brokers: int, seed: int, data: st.DataObject) -> None:
    made, cluster = scenario(brokers, seed)
    replicas = tuple(data.draw(st.lists(st.sampled_from(cluster.broker_ids), min_size=1, unique=True)))
    made.existing.append("t")
    cluster.admin.assignment.return_value = {3: replicas}
    cluster.admin.is_there.return_value = False
    made.edit()
    edits = [call.args for call in cluster.admin.edit_assignment.call_args_list]
    assert [one[:2] for one in edits] == [("t", 3)] * (brokers > 1)
    for *_, written in edits:
        assert len({*written}) == len(written) == len(replicas) + (1 if {*replicas} < {*written} else -1) > 0
        assert {*written} < {*replicas} or {*replicas} < {*written} <= {*cluster.broker_ids}
