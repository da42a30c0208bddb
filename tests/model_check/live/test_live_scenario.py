"""What the plays do: a move moves, and a controller is stopped amid its work."""

from random import Random
from unittest.mock import MagicMock

from hypothesis import given
from hypothesis import strategies as st

from model_check.live.live_scenario import FAULTS, MANY_PARTITIONS, MORE_TOPICS, Scenario


def scenario(brokers: int, seed: int = 1) -> tuple[Scenario, MagicMock]:
    """The plays of a cluster that only writes down what is done to it; broker 1 is controller."""
    cluster = MagicMock()
    cluster.broker_ids = tuple(range(1, brokers + 1))
    cluster.admin.controller.return_value = 1
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


def test_the_controller_is_stopped_as_it_creates_partitions_also_where_no_topic_is_to_be_created() -> None:
    made, cluster = scenario(3)
    _, play = FAULTS["stop-controller"]
    play(made)
    ((topic, assignment), _) = cluster.admin.create_topic.call_args_list[0]
    assert (topic, len(assignment)) == ("topic-1", MANY_PARTITIONS)
    cluster.admin.see.assert_called_once_with("/brokers/topics/topic-1/partitions", made.session_seconds)
    done = [name for name, _, _ in cluster.mock_calls]
    assert done.index("admin.create_topic") < done.index("admin.see") < done.index("suspend") < done.index("resume")
    made.topics = MORE_TOPICS
    for is_moving in (False, True):
        cluster.reset_mock()
        cluster.admin.is_there.return_value = is_moving
        cluster.admin.add_partition.return_value = 4
        play(made)
        assert not cluster.admin.create_topic.called
        seen = [] if is_moving else [(("/brokers/topics/topic-1/partitions/4", made.session_seconds),)]
        assert cluster.admin.see.call_args_list == seen
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
