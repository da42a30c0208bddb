"""A turn is told in a form that is the same for all that may differ."""

from model_check.conformance.driving.acts import Sent, Wrote, turn
from model_check.conformance.vector import Object


def stop(partition: str, *, delete: bool) -> Object:
    """A request to stop a replica."""
    return {"name": "StopReplica", "delete": delete, "partitions": [partition]}


def test_which_replica_a_broker_deletes_first_makes_no_difference() -> None:
    first, second = Sent(1, stop("a-0", delete=True)), Sent(1, stop("a-1", delete=True))
    assert turn([first, second]) == turn([second, first])
    (told,) = turn([second, first])
    (group,) = told["sent"]["StopReplica"]
    assert [one["partitions"] for one in group["requests"]] == [["a-0"], ["a-1"]]


def test_what_is_sent_in_between_keeps_its_place() -> None:
    first, second = Sent(1, stop("a-0", delete=True)), Sent(1, stop("a-1", delete=True))
    between = Sent(1, stop("a-2", delete=False))
    assert turn([first, between, second]) != turn([second, between, first])
    assert turn([first, Wrote("delete", "/a"), second]) != turn([second, Wrote("delete", "/a"), first])
    kept = Sent(1, stop("a-1", delete=False)), Sent(1, stop("a-0", delete=False))
    assert turn(kept) != turn(kept[::-1])


def test_a_key_of_another_request_that_nobody_knows_changes_nothing() -> None:
    odd = [Sent(2, {"name": "LeaderAndIsr", "delete": True, "partitions": [{name: 0}]}) for name in "ba"]
    (told,) = turn(odd)
    (group,) = told["sent"]["LeaderAndIsr"]
    assert [one["partitions"] for one in group["requests"]] == [[{"b": 0}], [{"a": 0}]]
