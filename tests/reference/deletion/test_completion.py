"""The end of a topic's deletion, by PROTOCOL.md section 7.4: handlers led by the hand, scripts on a server."""

from typing import Any

import pytest

from reference.controller.effects import OnBrokerChange
from reference.deletion.completion import (
    DeleteConfiguration,
    DeleteRequest,
    DeleteState,
    DeleteTopic,
    list_partitions,
    partition_path,
)
from reference.deletion.thread import DeleteQueuedTopic, is_due
from reference.elections.requested import FinishFailover
from reference.journal import Milestone
from reference.memory.zookeeper import MemoryZookeeper
from reference.procedures import PastZkClient, Script
from reference.scripts import delete_topic_path, state_path, topic_config_path, topic_path
from reference.threads import on_callback, on_deletion_thread
from reference.zookeeper.api import Children, Create, GetChildren, NotEmpty, OperationRefused, Stat
from spec.formats.znodes import PartitionStatePayload
from spec.state.enumerations import Callback, DeletionThread
from spec.variants import Switch
from tests.leaderships import led
from tests.reference.deletions import ASSIGNED, P0, P1, SUCCESSFUL, Cluster, said
from tests.reference.hands import Hand, controller, failed_over, milestones, registered

# ------------------------------------------------------------------------------------------------------- the completion


@pytest.mark.parametrize("fixes", [(), (Switch.ATOMIC_COMPLETION,)])
def test_the_znodes_go_in_order_and_the_topic_is_forgotten(fixes: tuple[Switch, ...]) -> None:
    """Recording 08-delete, zk 56 to 63."""
    cluster = Cluster(*fixes)
    cluster.deleted()
    assert cluster.replica_states() == {SUCCESSFUL}
    rest = [] if fixes else [DeleteConfiguration, DeleteRequest]
    assert cluster.complete() == [P0, P1, DeleteTopic, *rest]
    context, one = cluster.one.context, cluster.one
    assert (context.all_topics, context.partition_replica_assignment, context.partition_leadership_info) == (
        frozenset(), {}, {},
    )  # fmt: skip
    assert not one.deleting.queued | one.topic_listeners
    assert not one.deleting.partitions
    assert one.replica_machine.states == {}
    assert not is_due(one)
    assert said(cluster.journal)[-2:] == ["TopicDeleted", "WaitingForSignal"]


@pytest.mark.parametrize("fixes", [(), (Switch.COMPLETION_FORGETS_MARK,)])
def test_the_mark_that_holds_a_topic_back_survives_it(fixes: tuple[Switch, ...]) -> None:
    """D45: a broker dies whose replica is deleted already."""
    cluster = Cluster(*fixes)
    cluster.deleted()
    Hand(on_callback(cluster.one, Callback.BROKERS)).expect(OnBrokerChange, registered(1, 2))
    assert cluster.replica_states() == {SUCCESSFUL}
    cluster.complete()
    assert cluster.one.deleting.ineligible == (set() if fixes else {"a"})


@pytest.mark.parametrize("fixes", [(), (Switch.COMPLETE_UNKNOWN_DELETIONS,)])
def test_a_request_for_a_topic_that_is_gone_ends_the_thread(fixes: tuple[Switch, ...]) -> None:
    """D37: all of its no replicas are deleted, and it has no listener to be unsubscribed."""
    one, journal = controller(*fixes)
    failed_over(one, (1, 2), deletions=frozenset({"x"})).expect(FinishFailover, None)
    hand = Hand(on_deletion_thread(one))
    hand.expect(DeleteQueuedTopic, None)
    assert hand.ended == (not fixes)
    assert one.deletion is (DeletionThread.RUNNING if fixes else DeletionThread.ENDED)
    assert (milestones(journal)[-1] is Milestone.DELETION_THREAD_ENDED) == (not fixes)
    if not fixes:
        one.deleting.woken = True
        assert not is_due(one)


def test_a_znode_that_appears_below_the_topic_ends_the_thread() -> None:
    cluster = Cluster()
    cluster.deleted()
    hand = Hand(on_deletion_thread(cluster.one))
    hand.expect(DeleteQueuedTopic, frozenset())
    hand.fail(DeleteTopic, NotEmpty(topic_path("a")))
    assert hand.ended
    assert cluster.one.deletion is DeletionThread.ENDED


@pytest.mark.parametrize("fixes", [(), (Switch.GONE_IS_DELETED,)])
def test_a_znode_that_is_gone_already_ends_the_recursion(fixes: tuple[Switch, ...]) -> None:
    """D70: ZkClient's `deleteRecursive` gives up on the rest, and nobody asks what it returned."""
    cluster = Cluster(*fixes)
    cluster.deleted()
    hand = Hand(on_deletion_thread(cluster.one))
    hand.expect(DeleteQueuedTopic, frozenset(ASSIGNED))
    hand.expect(DeleteState, False, partition=P1)
    assert isinstance(hand.pending, DeleteState if fixes else DeleteConfiguration)


def test_what_is_deleted_again_is_the_last_znode_alone() -> None:
    """After a lost answer: nothing is listed anew, and what is there by then is in the way, or is taken, too (D70)."""
    server = MemoryZookeeper()
    session, topic = server.open_session(), topic_path("a")
    for path in ("/brokers", "/brokers/topics", topic, f"{topic}/partitions", f"{topic}/partitions/0"):
        server.execute(session, Create(path, b""))
    first = DeleteState(None, P0, frozenset({P0}))
    assert [carry_out(server, session, one.script()) for one in (first, first.repeated)] == [
        (True, [partition_path(P0)]), (False, [partition_path(P0)]),
    ]  # fmt: skip
    for path in (partition_path(P0), state_path(P0)):
        server.execute(session, Create(path, b""))
    with pytest.raises(NotEmpty):
        carry_out(server, session, first.repeated.script())
    server.execute(session, Create(topic_path("b"), b""))
    again = DeleteTopic(None, "b", True, False).repeated
    assert carry_out(server, session, again.script()) == (True, [topic_path("b")])


# -------------------------------------------------------------------------------------------------------- on a server


def carry_out(server: MemoryZookeeper, session: int, script: Script[Any]) -> tuple[Any, list[str]]:
    """Run a script; its result, and the paths that it deleted or tried to."""
    give: Any = script.send
    value: Any = None
    deleted = list[str]()
    while True:
        try:
            operation = give(value)
        except StopIteration as end:
            return end.value, deleted
        if isinstance(operation, PastZkClient):
            operation = operation.operation
        if type(operation).__name__ == "Delete":
            deleted.append(operation.path)
        try:
            give, value = script.send, server.execute(session, operation)
        except OperationRefused as refusal:
            give, value = script.throw, refusal


def test_the_scripts_delete_what_a_real_controller_deleted_in_its_order() -> None:
    """Recording 08-delete, zk 56 to 63."""
    server = MemoryZookeeper()
    session, state = (server.open_session(), PartitionStatePayload(leadership=led(-1, 2, (3,), 1)))
    topic, partitions = topic_path("a"), f"{topic_path('a')}/partitions"
    for path in (
        "/brokers", "/brokers/topics", topic, partitions, f"{partitions}/0", state_path(P0), f"{partitions}/1",
        state_path(P1), "/config", "/config/topics", topic_config_path("a"), "/admin", "/admin/delete_topics",
        delete_topic_path("a"),
    ):  # fmt: skip
        server.execute(session, Create(path, state.encode() if path.endswith("state") else b""))
    below, _ = carry_out(server, session, list_partitions("a"))
    assert below == {P0, P1}
    effects = [
        DeleteState(None, P0, below), DeleteState(None, P1, below), DeleteTopic(None, "a", True, False),
        DeleteConfiguration(None, "a"), DeleteRequest(None, "a"),
    ]  # fmt: skip
    done = [carry_out(server, session, effect.script()) for effect in effects]
    assert [result for result, _ in done] == [True] * 5
    assert [path for _, paths in done for path in paths] == [
        state_path(P0), f"{partitions}/0", state_path(P1), f"{partitions}/1", partitions, topic,
        topic_config_path("a"), delete_topic_path("a"),
    ]  # fmt: skip
    again = [carry_out(server, session, effect.script())[0] for effect in effects]
    assert again == [True, True, False, True, False]
    assert carry_out(server, session, list_partitions("a"))[0] is None


def test_a_deletion_sets_no_watch_on_a_state_znode_that_is_listened_to() -> None:
    """ZkClient's `deleteRecursive` lists with `getChildren(path, false)`; a reassignment listens to the state znode."""
    script = DeleteState(None, P0, frozenset({P0})).script()
    assert next(script) == PastZkClient(GetChildren(partition_path(P0)))
    assert script.send(Children(("state",), Stat(1, 1, 1, 0, 1, 0, 0, 1))) == PastZkClient(GetChildren(state_path(P0)))
