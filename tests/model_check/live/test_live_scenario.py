"""What the plays do: a move moves, and a controller is stopped amid its work."""

from random import Random
from unittest.mock import MagicMock, call

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_check.live.fault_kinds import FAULTS
from model_check.live.live_scenario import MANY_PARTITIONS, MORE_PARTITIONS, MORE_TOPICS, Scenario
from model_check.recordings.tracks import SKEW

SESSION = 2
"""Seconds."""


def scenario(brokers: int, seed: int = 1) -> tuple[Scenario, MagicMock]:
    """The plays of a cluster that only writes down what is done to it; broker 1 is controller."""
    cluster = MagicMock()
    cluster.broker_ids = tuple(range(1, brokers + 1))
    cluster.admin.controller.return_value = 1
    cluster.setup.times.session_timeout_ms = 1000 * SESSION
    cluster.setup.times.lag_ms = 1000
    cluster.member_ids = cluster.broker_ids
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


def acts(kind: str, cluster: MagicMock, made: Scenario) -> list[str]:
    """What a play does to the cluster, in order."""
    made.existing.append("t")
    made.topics = MORE_TOPICS
    cluster.admin.assignment.return_value = {0: (2, 3)}
    cluster.admin.leader.return_value = 2
    FAULTS[kind][1](made)
    told = (
        "kill",
        "suspend",
        "resume",
        "falls_silent",
        "rest",
        "ensure_running",
        *(f"admin.{x}" for x in REQUESTS.values()),
    )
    return [name for name, _, _ in cluster.mock_calls if name in told]


@pytest.mark.parametrize(("kind", "killed"), [("kill-broker", 1), ("kill-many", 2)])
def test_a_cluster_rests_without_whom_it_has_lost(kind: str, killed: int) -> None:
    made, cluster = scenario(3)
    assert acts(kind, cluster, made) == ["kill"] * killed + ["rest"]
    assert cluster.mock_calls[-1] == call.sleep(SKEW / 1000)  # what comes later cannot be taken for that by any clock
    lost = [one.args[0] for one in cluster.kill.call_args_list]
    assert [one.args[0] for one in cluster.wait_until.call_args_list] == [
        f"the session of broker {b} ends" for b in lost
    ]


def test_a_topic_is_deleted_while_one_of_its_replicas_is_down() -> None:
    made, cluster = scenario(3)
    cluster.admin.is_there.return_value = False
    assert acts("delete-without", cluster, made) == ["kill", "admin.delete_topic", "rest"]
    assert cluster.kill.call_args.args[0] in {2, 3}
    assert made.existing == []


STARTED = ["ensure_running"] * 3 + ["rest"]


def test_a_preferred_replica_is_asked_for_while_it_is_down_and_when_it_is_back() -> None:
    made, cluster = scenario(3)
    cluster.admin.is_there.return_value = False
    asked = "admin.elect_preferred"
    assert acts("elect", cluster, made) == ["kill", asked, *STARTED, asked]
    assert cluster.kill.call_args_list == [call(2)]


def test_nobody_asks_for_an_election_while_one_is_asked_for() -> None:
    made, cluster = scenario(3)
    cluster.admin.is_there.side_effect = [False, True]
    assert acts("elect", cluster, made) == ["kill", "admin.elect_preferred", *STARTED]


@pytest.mark.parametrize("can_be_silent", [True, False])
def test_a_preferred_replica_is_asked_for_while_it_is_out_of_the_isr(*, can_be_silent: bool) -> None:
    made, cluster = scenario(3)
    cluster.admin.is_there.return_value = False
    cluster.falls_silent.return_value = can_be_silent
    asked = "admin.elect_preferred"
    amid = [asked] if can_be_silent else ["suspend", asked, "resume"]
    assert acts("elect-lag", cluster, made) == ["kill", asked, *STARTED, "falls_silent", *amid]
    assert cluster.falls_silent.call_args_list == [call(2, 2000)]


@pytest.mark.parametrize("leader", [2, -1, None, 1])
def test_a_leader_is_killed_whose_follower_is_out_of_the_isr_where_one_leads_that_is_assigned(
    leader: int | None,
) -> None:
    made, cluster = scenario(3)
    made.existing.append("more-replicas")
    assignments = {"more-replicas": {0: (3, 2, 1)}, "t": {0: (2, 3)}}
    made.existing.append("t")
    cluster.admin.assignment.side_effect = assignments.get
    cluster.admin.leader.side_effect = lambda one: leader if one.topic == "t" else 3
    cluster.falls_silent.return_value = True
    FAULTS["lag-kill"][1](made)
    if leader == 2:
        assert (cluster.falls_silent.call_args, cluster.kill.call_args) == (call(3, 2000), call(2))
    else:
        assert cluster.kill.call_args == call(3)
    assert cluster.rest.called
