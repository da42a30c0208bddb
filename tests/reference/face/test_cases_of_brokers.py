"""Cases of Kafka's own, put to the public face of a broker: fences, what it becomes, StopReplica, ISR changes.

Each expectation is Kafka 0.10.2's unless a release is named, by PROTOCOL.md sections 2 and 10. Nothing but `reference`
is imported, as outsiders do.
"""

from typing import Any

import pytest

import reference

STATE = "/brokers/topics/o/partitions/0/state"
KEYS = {"LeaderAndIsr": 4, "StopReplica": 5, "UpdateMetadata": 6}
LED = {"leader": 2, "isr": [2, 3], "leader_epoch": 3, "zk_version": 4, "assigned": [2, 3, 1]}


def a_broker(**given: Any) -> Any:
    return reference.broker({
        "broker": 2, "controller_epoch": 5, "partitions": {"o-0": LED}, "alive": [1, 2, 3], **given
    })  # fmt: skip


def asked(name: str, epoch: int = 5, version: int = 0, **body: Any) -> Any:
    header = {"ApiKey": KEYS[name], "ApiVersion": version, "CorrelationId": 7, "ClientId": "1"}
    return {
        "name": name, "version": version, "header": header, "body": {"ControllerId": 1, "ControllerEpoch": epoch} | body
    }  # fmt: skip


def told(leader: int, leader_epoch: int, partition: int = 0, replicas: Any = (2, 3, 1)) -> Any:
    return {
        "Topic": "o", "Partition": partition, "ControllerEpoch": 5, "Leader": leader, "LeaderEpoch": leader_epoch,
        "Isr": [2, 3], "ZkVersion": 5, "Replicas": list(replicas),
    }  # fmt: skip


def leadership(*states: Any, epoch: int = 5, leaders: Any = (1, 3)) -> Any:
    live = [{"Id": broker, "Host": "b", "Port": 9092} for broker in leaders]
    return asked("LeaderAndIsr", epoch, PartitionStates=list(states), LiveLeaders=live)


def stop(*, delete: bool, epoch: int = 5) -> Any:
    return asked("StopReplica", epoch, DeletePartitions=delete, Partitions=[{"Topic": "o", "Partition": 0}])


def metadata(*states: Any, epoch: int = 5) -> Any:
    return asked("UpdateMetadata", epoch, PartitionStates=list(states), LiveBrokers=[{"Id": 1, "Host": "b", "Port": 1}])


def knows(broker: Any) -> Any:
    return broker.view()["broker"]["partitions"].get("o-0")


def codes(answer: Any) -> list[int]:
    return [one["ErrorCode"] for one in answer["Partitions"]]


@pytest.mark.parametrize(("release", "stale"), [("0.8.2", 13), ("0.9.0", 13), ("0.10.0", 11), ("0.10.2", 11)])
def test_a_leader_epoch_that_is_not_higher_has_the_code_of_its_release(release: str, stale: int) -> None:
    """PROTOCOL.md section 10: code 13 up to 0.9, 11 in 0.10."""
    broker = a_broker(release=release)
    assert [codes(broker.request(leadership(told(3, epoch)))) for epoch in (2, 3, 4)] == [[stale], [stale], [0]]


@pytest.mark.parametrize(("release", "answer"), [("0.8.2", []), ("0.9.0", [3]), ("0.10.2", [3])])
def test_who_is_not_assigned_takes_nothing(release: str, answer: list[int]) -> None:
    """PROTOCOL.md section 10: a warning, in 0.8.2 no entry in the answer, later code 3."""
    broker = a_broker(release=release)
    assert codes(broker.request(leadership(told(3, 9, replicas=(1, 3))))) == answer
    assert knows(broker)["leader"] == 2


@pytest.mark.parametrize(("release", "code"), [("0.8.2", -1), ("0.9.0", 11), ("0.10.2", 11)])
def test_metadata_of_an_older_controller_are_refused(release: str, code: int) -> None:
    """PROTOCOL.md section 10, UpdateMetadata."""
    broker = a_broker(release=release)
    assert broker.request(metadata(told(3, 9), epoch=4)) == {"ErrorCode": code}
    assert broker.view()["broker"]["alive"] == [1, 2, 3]


def test_metadata_are_overwritten_whatever_the_leader_epoch_and_removed_with_leader_minus_2() -> None:
    """PROTOCOL.md section 10, D43."""
    broker = a_broker(cached_leader_epochs={"o-0": 9, "o-1": 4})
    broker.request(metadata(told(3, 2), told(-2, 0, partition=1), epoch=6))
    known = broker.view()["broker"]
    assert (known["cached_leader_epochs"], known["alive"], known["controller_epoch"]) == ({"o-0": 2}, [1], 6)


@pytest.mark.parametrize(
    ("release", "alive", "leaders", "follows"),
    [("0.8.2", [2], [3], True), ("0.8.2", [2, 3], [], False), ("0.9.0", [2], [3], False), ("0.10.2", [3], [], True)],
)
def test_whom_it_is_to_follow_must_be_known_to_live(release: str, alive: Any, leaders: Any, follows: bool) -> None:
    """PROTOCOL.md section 10: in 0.8.2 by the request, later by the metadata cache (D11); the answer is 0."""
    broker = a_broker(release=release, alive=alive)
    assert codes(broker.request(leadership(told(3, 9), leaders=leaders))) == [0]
    assert (knows(broker)["leader"], knows(broker)["leader_epoch"]) == ((3, 9) if follows else (2, 3))


def test_a_follower_knows_no_isr_and_fetches() -> None:
    """PROTOCOL.md section 10, become-follower: the local ISR becomes empty."""
    broker = a_broker()
    broker.request(leadership(told(3, 4)))
    assert (knows(broker)["isr"], knows(broker)["zk_version"], knows(broker)["fetches"]) == ([], 5, True)


def test_a_follower_that_was_stopped_does_not_fetch_again_from_the_same_leader() -> None:
    """PROTOCOL.md section 10: a fetcher that StopReplica stopped is not started again where the leader is the same."""
    broker = a_broker()
    broker.request(leadership(told(3, 4)))
    broker.request(stop(delete=False))
    assert knows(broker)["fetches"] is False
    broker.request(leadership(told(3, 5)))
    assert knows(broker)["fetches"] is False
    broker.request(leadership(told(1, 6)))
    assert knows(broker)["fetches"] is True


def test_a_stopped_leader_stays_leader() -> None:
    """PROTOCOL.md section 10, StopReplica without delete: only the fetcher stops."""
    broker = a_broker()
    assert codes(broker.request(stop(delete=False))) == [0]
    assert (knows(broker)["leader"], broker.view()["broker"]["logs"]) == (2, ["o-0"])


def test_what_was_deleted_is_created_again_with_any_leader_epoch() -> None:
    """PROTOCOL.md section 10, D22: deleting a replica forgets its leader epoch."""
    broker = a_broker()
    broker.request(stop(delete=True, epoch=6))
    assert (knows(broker), broker.view()["broker"]["logs"]) == (None, [])
    assert codes(broker.request(leadership(told(2, 0), epoch=6))) == [0]
    assert (knows(broker)["leader_epoch"], broker.view()["broker"]["logs"]) == (0, ["o-0"])


def test_a_stale_stop_of_a_replica_changes_nothing() -> None:
    """PROTOCOL.md section 10: 11 and an empty list."""
    broker = a_broker()
    assert broker.request(stop(delete=True, epoch=4)) == {"ErrorCode": 11, "Partitions": []}
    assert broker.view()["broker"]["logs"] == ["o-0"]


def test_an_isr_write_whose_answer_is_lost_finds_its_own_content() -> None:
    """PROTOCOL.md section 10: the content-equal rule of section 2 holds."""
    broker = a_broker()
    broker.lose_answers()
    assert broker.shrink("o-0", 3)
    assert (knows(broker)["isr"], knows(broker)["zk_version"]) == ([2], 5)
    writes = [one["refused"] for one in broker.view()["happened"] if one.get("operation") == "SetData"]
    assert writes == [None, "BadVersion"]


def test_a_leader_that_was_told_version_minus_1_writes_whatever_stands_there() -> None:
    """PROTOCOL.md section 10, S4: ZooKeeper takes -1 for any version."""
    broker = a_broker(partitions={"o-0": {**LED, "zk_version": -1}})
    broker.by_hand(STATE, {"controller_epoch": 6, "leader": 3, "version": 1, "leader_epoch": 9, "isr": [3]})
    assert broker.shrink("o-0", 3)
    assert broker.view()["znodes"][STATE]["data"]["leader"] == 2


def test_an_isr_write_without_its_znode_fails_and_changes_nothing() -> None:
    """PROTOCOL.md section 2: any failure gives (false, -1), a missing node included."""
    broker = a_broker()
    broker.by_hand("/brokers/topics/o", None)
    assert not broker.shrink("o-0", 3)
    assert (knows(broker)["isr"], knows(broker)["zk_version"]) == ([2, 3], 4)


def test_requests_go_to_bytes_and_back() -> None:
    """PROTOCOL.md section 9, wire format."""
    for request in (leadership(told(3, 4), told(2, 3, partition=1)), stop(delete=True), metadata()):
        assert reference.decode(reference.encode(request)) == request


def test_the_bytes_of_a_stop_replica() -> None:
    """PROTOCOL.md section 9: StopReplica v0, behind key, version, correlation id and client id."""
    assert reference.encode(stop(delete=True)).hex() == (
        "0005" "0000" "00000007" "000131" "00000001" "00000005" "01" "00000001" "00016f" "00000000"
    )  # fmt: skip


def test_what_cannot_be_sent_or_read_is_refused() -> None:
    """PROTOCOL.md section 9: numbers of four bytes; all the bytes are the request."""
    text: Any = "00"
    acts: list[Any] = [
        lambda: a_broker().request(leadership(told(2**40, 9))),
        lambda: a_broker().request(leadership({**told(3, 9), "Leader": "x"})),
        lambda: reference.decode(reference.encode(stop(delete=True)) + b"0"),
        lambda: reference.decode(b""),
        lambda: reference.decode(text),
    ]
    for act in acts:
        with pytest.raises(reference.BadInput):
            act()
