"""The public face of a whole cluster: any ids and names, everything at any time, by plain calls and JSON.

What is expected is what Kafka 0.10.2 does, by PROTOCOL.md; nothing but `reference` itself is imported, as outsiders do.
"""

import json
from typing import Any

import pytest

import reference
from spec.errors import BadInput

STATE = "/brokers/topics/{}/partitions/{}/state"


def a_cluster(**how: Any) -> Any:
    cluster = reference.cluster([101, 7, 2005], **how)
    cluster.start()
    cluster.create("orders", [[7, 101, 2005], [101, 2005]])
    cluster.rest()
    return cluster


def state(cluster: Any, partition: int = 0, topic: str = "orders") -> Any:
    return cluster.znode(STATE.format(topic, partition))


def test_the_first_to_start_is_controller_and_the_first_live_replica_leads() -> None:
    cluster = a_cluster()
    assert cluster.controller == 101
    assert state(cluster) == {
        "controller_epoch": 1,
        "leader": 7,
        "version": 1,
        "leader_epoch": 0,
        "isr": [7, 101, 2005],
    }
    assert state(cluster, 1)["leader"] == 101


def test_who_is_killed_leaves_the_isr_once_its_session_ends_and_comes_back() -> None:
    cluster = a_cluster()
    cluster.kill(7)
    with cluster.hold("end_orphaned_session"):
        cluster.rest()
    assert state(cluster)["leader"] == 7
    cluster.rest()
    assert (state(cluster)["leader"], state(cluster)["isr"], state(cluster)["leader_epoch"]) == (101, [101, 2005], 1)
    cluster.start(7)
    assert (state(cluster)["leader"], sorted(state(cluster)["isr"])) == (101, [7, 101, 2005])
    cluster.elect_preferred("orders-0")
    cluster.rest()
    assert (state(cluster)["leader"], state(cluster)["leader_epoch"]) == (7, 2)
    assert cluster.znode("/admin/preferred_replica_election") is None


def test_another_is_elected_where_the_controller_dies_or_its_session_expires() -> None:
    cluster = a_cluster()
    cluster.kill(101)
    cluster.rest()
    assert (cluster.controller, cluster.znode("/controller_epoch")) == (7, 2)
    assert state(cluster, 1)["leader"] == 2005
    cluster.start(101)
    cluster.expire(7)
    cluster.rest()
    assert (cluster.controller in {101, 2005}, cluster.znode("/controller_epoch")) == (True, 3)
    assert not cluster.view()["brokers"]["7"]["controller"]["active"]


def test_a_reassignment_ends_with_rar_as_ar_and_deletes_the_other_replicas() -> None:
    cluster = reference.cluster([1, 2, 3, 4])
    cluster.start()
    cluster.create("orders", [[1, 2]])
    cluster.rest()
    since = cluster.now
    cluster.reassign({"orders-0": [3, 4]})
    cluster.rest()
    written = [
        one["data"]["partitions"]["0"]
        for one in cluster.happened("zookeeper", since)
        if one["operation"] == "SetData" and one["path"] == "/brokers/topics/orders"
    ]
    assert written == [[3, 4, 1, 2], [3, 4]], "OAR + RAR, as a set in Scala's order, then RAR"
    assert cluster.znode("/admin/reassign_partitions") is None
    assert (state(cluster)["leader"], sorted(state(cluster)["isr"])) == (3, [3, 4])
    logs = {name: one["broker"]["logs"] for name, one in cluster.view()["brokers"].items()}
    assert logs == {"1": [], "2": [], "3": ["orders-0"], "4": ["orders-0"]}


def test_a_topic_is_deleted_only_once_all_of_its_replicas_live() -> None:
    cluster = a_cluster()
    cluster.kill(2005)
    cluster.rest()
    cluster.delete("orders")
    cluster.rest()
    assert cluster.view()["brokers"]["101"]["controller"]["ineligible"] == ["orders"]
    assert cluster.znode("/brokers/topics/orders") is not None
    cluster.start(2005)
    assert cluster.znode("/brokers/topics/orders") is None
    assert "/admin/delete_topics/orders" not in cluster.view()["znodes"]


def test_partitions_are_added_and_a_topic_that_does_not_exist_is_refused_deletion() -> None:
    cluster = a_cluster()
    cluster.add("orders", {2: [2005]})
    cluster.delete("nothing")
    cluster.rest()
    assert state(cluster, 2)["leader"] == 2005
    assert "/admin/delete_topics/nothing" not in cluster.view()["znodes"]


def test_a_controlled_shutdown_moves_the_leaders_away_first() -> None:
    cluster = a_cluster()
    since = cluster.now
    cluster.stop(7)
    cluster.until(lambda it: state(it)["leader"] != 7)
    assert cluster.view()["brokers"]["7"]["runs"], "it still runs when the other leads"
    cluster.rest()
    assert not cluster.view()["brokers"]["7"]["runs"]
    (answered,) = cluster.happened("shutdown_answered", since)
    assert answered["broker"] == 7


def test_unclean_elections_are_for_the_setting_or_the_topic_to_allow() -> None:
    for elects in (False, True):
        cluster = reference.cluster([1, 2], settings={"unclean.leader.election.enable": elects})
        cluster.start()
        cluster.create("orders", [[1, 2]])
        cluster.rest()
        with cluster.hold("expand_isr"):
            cluster.shrink(1, "orders-0", 2)
            cluster.kill(1)
            cluster.rest()
        assert (state(cluster)["leader"] == 2) is elects
        if not elects:
            cluster.configure("orders", unclean=True)
            cluster.start(1)
            assert state(cluster)["leader"] == 1


def test_the_rebalance_thread_gives_partitions_back_and_a_cluster_rests_while_it_cannot() -> None:
    cluster = reference.cluster([1, 2], settings={"auto.leader.rebalance.enable": True})
    cluster.start()
    cluster.create("orders", [[1, 2]])
    cluster.rest()
    cluster.kill(1)
    cluster.rest()
    cluster.rebalance()
    assert state(cluster)["leader"] == 2
    cluster.start(1)
    cluster.rebalance()
    assert state(cluster)["leader"] == 1


def test_a_zombie_is_fenced_by_its_epoch() -> None:
    """A controller whose session ended while its request waited: brokers that know the new epoch refuse it."""
    cluster = a_cluster()
    with cluster.hold("deliver_*(controller=101*", "on_new_session(controller=101)", "renew_session(broker=101)"):
        cluster.elect_preferred("orders-1")
        cluster.kill(2005)
        cluster.rest()
        cluster.expire(101)
        cluster.rest()
        assert cluster.controller == 7
        waiting = cluster.view()["brokers"]["101"]["controller"]["queues"]["7"]
        assert waiting[0]["body"]["ControllerEpoch"] == 1
    since = cluster.now
    cluster.do("deliver_request(controller=101, broker=7)")
    (answer,) = [one for one in cluster.happened("answer", since) if one["by"] == 7]
    assert answer["answer"]["ErrorCode"] == 11, "StaleControllerEpochCode"


def test_an_effect_may_raise_and_a_foreign_write_may_come_before_it() -> None:
    cluster = reference.cluster([1, 2])
    cluster.start()
    cluster.fail("create_state(*partition=orders-0)", "NodeExists")
    path, taken = (
        STATE.format("orders", 1),
        {"leader": 2, "leader_epoch": 9, "isr": [2], "version": 1, "controller_epoch": 1},
    )
    cluster.before("create_state(*partition=orders-1)", lambda: cluster.by_hand(path, taken))
    cluster.create("orders", [[1, 2], [1, 2], [1, 2]])
    cluster.rest()
    assert state(cluster, 0) is None
    assert state(cluster, 1) == taken
    assert state(cluster, 2)["leader"] == 1, "the others go on"


def test_older_releases_behave_as_they_did() -> None:
    """Up to 0.10.1 a deletion that is not enabled stays asked for (KAFKA-3175); 0.10.2 takes the request away."""
    for release, stays in (("0.8.2", True), ("0.10.1", True), ("0.10.2", False)):
        cluster = reference.cluster([1], settings={"delete.topic.enable": False}, release=release)
        cluster.start()
        cluster.create("orders", [[1]])
        cluster.rest()
        cluster.delete("orders")
        cluster.rest()
        assert ("/admin/delete_topics/orders" in cluster.view()["znodes"]) is stays, release


def test_all_that_is_seen_is_json_and_what_happened_is_in_order() -> None:
    cluster = a_cluster()
    view = cluster.view()
    assert json.loads(json.dumps(view)) == view
    kinds = [one["kind"] for one in view["happened"]]
    assert {"zookeeper", "request", "answer", "log"} <= {*kinds}
    created = next(n for n, one in enumerate(view["happened"]) if one.get("path") == STATE.format("orders", 0))
    sent = next(n for n, one in enumerate(view["happened"]) if one.get("request", {}).get("name") == "LeaderAndIsr")
    assert created < sent
    assert any("become-leader" in one["line"] for one in cluster.happened("log"))


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda it: it.kill(3), "broker"),
        (lambda it: it.start(7), "runs already"),
        (lambda it: it.create("orders", [[7]]), "exists"),
        (lambda it: it.create("more", [[3]]), "broker"),
        (lambda it: it.create("more", [[7], []]), r"\[\] is no AR"),
        (lambda it: it.create("more", [[7, 7]]), r"\[7, 7\] is no AR"),
        (lambda it: it.add("orders", {2: []}), r"\[\] is no AR"),
        (lambda it: it.add("orders", {0: [7]}), "has partition 0"),
        (lambda it: it.add("more", {0: [7]}), "no topic more"),
        (lambda it: it.reassign({"orders": [7]}), "is no partition"),
        (lambda it: it.shrink(7, "orders-1", 101), "does not lead"),
        (lambda it: it.fail("create_state", "Nonsense"), "error"),
        (lambda it: it.rebalance(), "no rebalance thread"),
        (lambda it: it.do("write_leader"), "step"),
        (lambda it: it.fail("write_leader(controller=7)", "NoNode"), "step"),
        (lambda it: it.before("create_states*", lambda: None), "step"),
        (lambda it: it.by_hand("/nowhere", None), "does not exist"),
        (lambda it: it.by_hand("nowhere", "x"), "is no path of a znode"),
        (lambda it: it.by_hand("/a//b", "x"), "is no path of a znode"),
        (lambda it: it.by_hand("/", None), "is no path of a znode"),
        (lambda it: it.by_hand("/a/b", {1}), "cannot be written"),
        (lambda it: it.by_hand("/brokers/ids/7/x/y", "x"), "/brokers/ids/7 is ephemeral"),
        (lambda it: it.create("more", [7]), "expected a list"),
        (lambda it: it.add("orders", [[7]]), "expected an object"),
        (lambda it: it.add("orders", {"2": [7]}), "no number of a partition"),
        (lambda it: it.reassign({"orders-0": 7}), "expected a list"),
        (lambda it: it.reassign(["orders-0"]), "expected an object"),
        (lambda _: reference.cluster([]), "no broker ids"),
        (lambda _: reference.cluster([1, 1]), "no broker ids"),
        (lambda _: reference.cluster([1], settings={"delete.topic.enable": 1}), "true or false"),
        (lambda _: reference.cluster([1], settings={"log.dirs": "x"}), "setting"),
        (lambda _: reference.cluster([1], release="0.7"), "0.7"),
    ],
)
def test_what_cannot_be_is_refused_and_says_why(act: Any, says: str) -> None:
    cluster = a_cluster()
    before = cluster.view()
    with pytest.raises(BadInput, match=says):
        act(cluster)
    assert cluster.view() == before


def test_what_never_comes_is_told_with_what_moves() -> None:
    cluster = a_cluster()
    with pytest.raises(Exception, match="does not come: nothing moves"):
        cluster.do("write_move")
    with cluster.hold("deliver_*"):
        cluster.kill(7)
        with pytest.raises(Exception, match=r"nothing moves any more .* held are deliver"):
            cluster.until(lambda it: it.view()["brokers"]["2005"]["broker"]["partitions"]["orders-0"]["leader"] == 101)
    with pytest.raises(Exception, match=r"no rest after 3 steps; among the last"):
        cluster.rest(bound=3)


def test_every_step_that_is_taken_or_possible_is_listed() -> None:
    cluster = a_cluster()
    cluster.kill(7)
    cluster.rest()
    named = {one.partition("(")[0] for one in (*cluster.view()["taken"], *cluster.possible())}
    assert named <= reference.steps().keys()
    assert all(reference.steps().values())
