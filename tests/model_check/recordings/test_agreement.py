"""What a broker answers for a partition differs by release; an answer that it cannot have given is a contradiction.

So is a number that a channel gives twice.
"""

from typing import Any

import pytest

from model_check.recordings.agreement import codes_of, disagreements
from model_check.recordings.recording import Cluster
from model_check.recordings.seen import AnswerReceived, BrokerRegistered, EpochWritten, RequestHandled
from model_check.recordings.tracks import SKEW
from spec.formats.kafka_types import V0100, V0102, V082, V090, KafkaVersion, TopicPartition
from tests.leaderships import led


@pytest.mark.parametrize(
    ("release", "ignored", "unassigned"), [(V082, 13, None), (V090, 13, 3), (V0100, 11, 3), (V0102, 11, 3)]
)
def test_codes_are_those_of_the_release(release: KafkaVersion, ignored: int, unassigned: int | None) -> None:
    """`ReplicaManager.becomeLeaderOrFollower` at each tag: 0.8.2 puts nothing for who is not assigned."""
    codes = codes_of(release)
    assert (codes["leader"], codes["follower"], codes["unavailable"]) == (0, 0, 0)
    assert (codes["ignored"], codes["unassigned"]) == (ignored, unassigned)


CLUSTER = Cluster((1, 2), ("t",), (TopicPartition("t", 0),), ((1,),))


def at(time: int) -> dict[str, Any]:
    return {"place": "", "time": time, "text": ""}


def handled(
    number: int, time: int, life: int = 1, received: int | None = None, *, epoch: int = 2, outcome: str = "ignored"
) -> RequestHandled:
    """A LeaderAndIsr of controller 2, which tells broker 1 nothing new; it is handled at once, unless that is given."""
    return RequestHandled(
        **at(time), broker=1, incarnation=life, received=time if received is None else received, kind="LeaderAndIsr",
        controller=2, epoch=epoch, correlation_id=number, states={0: led(1, 0, (1,), 2)}, outcomes={0: outcome},
        refused=False,
    )  # fmt: skip


@pytest.mark.parametrize(("epoch", "agrees"), [(2, True), (0, True), (3, True), (4, False), (5, False), (1, False)])
def test_an_answer_is_told_by_the_epoch_that_its_controller_has_by_then(epoch: int, agrees: bool) -> None:
    """0 after a resignation; a later one where an elector resigned, which leaves the channels, and won again (D4)."""
    answer = AnswerReceived(**at(0), controller=2, epoch=epoch, broker=1, error_code=0, codes={0: 11})
    written = [(2, 2, 0), (3, 2, 0), (4, 1, 0), (5, 2, 10_000)]  # 4 is another's, and 5 is yet to come
    epochs = tuple(EpochWritten(**at(time), zxid=0, by=by, epoch=one, version=one) for one, by, time in written)
    tracks = {"broker 1": (handled(0, 0),), "zookeeper": epochs}
    found = disagreements(CLUSTER, tracks, [answer], {1: V0102, 2: V0102})
    told = [one.reason for one in found]
    assert told == ([] if agrees else ["is an answer that its broker did not give, or not then"])


ONCE = [(0, 0), (2, 1000), (2, 2000)]
"""Numbers of requests, and when they are handled: one comes twice."""


@pytest.mark.parametrize(
    ("requests", "registered", "release", "twice"),
    [
        ([(0, 0), (2, 1000), (5, 2000)], (), V0102, 0),
        (ONCE, (), V0102, 1),
        (ONCE, (-1,), V0102, 1),  # what the broker had registered before is its first channel
        (ONCE, (1500,), V0102, 0),  # who registers anew has another one
        (ONCE, (500, 5000), V0102, 0),
        ([(8, 0), (0, 100), (8, 2000)], (-50,), V0102, 0),  # the first came through the channel to the process before
        ([(8, 0), (0, 100), (3, 200), (3, 2000)], (-50, 1500), V0102, 0),  # and then it has a third
        ([(8, 0), (8, 2000)], (-50,), V0102, 1),
        ([(8, 0), (0, 100), (0, 200)], (-50,), V0102, 1),
        ([(8, 0), (0, 100), (8, 2000)], (-50 - SKEW,), V0102, 1),
        ([(2, 1000, 1, 0), (0, 1100), (2, 2000)], (500,), V0102, 0),  # it registered with the first one in hand
        ([(0, 0), (2, 1000), (0, 2000), (2, 3000), (2, 4000)], (1500,), V0102, 1),
        ([(5, 0), (3, 1000), (4, 2000)], (), V0102, 0),  # a late copy, of its own number
        ([(2, 0), (2, 1000, 2)], (), V0102, 0),  # of another process
        (ONCE, (), V090, 1),
        (ONCE, (), V082, 0),  # all brokers are told of a batch by one number
    ],
)
def test_a_channel_gives_no_number_twice(
    requests: list[tuple[int, ...]], registered: tuple[int, ...], release: KafkaVersion, twice: int
) -> None:
    anew = tuple(BrokerRegistered(**at(time), zxid=0, by=1, may_be_unanswered=False) for time in registered)
    tracks = {"broker 1": tuple(handled(*one) for one in requests), "zookeeper": anew}
    found = [one.reason for one in disagreements(CLUSTER, tracks, [], {1: release, 2: release})]
    assert found == ["has a number that its channel has given before"] * twice


@pytest.mark.parametrize(("second_term", "agrees"), [(2, False), (3, True)])
def test_answers_come_in_the_order_of_their_requests_through_one_channel(second_term: int, agrees: bool) -> None:
    """Those of two terms come through two, of which an elector leaves the first open where it resigns (D4)."""
    epochs = tuple(EpochWritten(**at(0), zxid=0, by=2, epoch=one, version=one) for one in (2, 3))
    requests = handled(0, 0, outcome="leader"), handled(1, 0, epoch=second_term)
    answers = [
        AnswerReceived(**at(0), controller=2, epoch=3, broker=1, error_code=0, codes={0: code}) for code in (11, 0)
    ]
    found = list(disagreements(CLUSTER, {"broker 1": requests, "zookeeper": epochs}, answers, {1: V0102, 2: V0102}))
    assert [one.reason for one in found] == (
        [] if agrees else ["is an answer that its broker did not give, or not then"]
    )


@pytest.mark.parametrize("codes", [(11, 0, 11), (0, 11, 11), (11, 11, 0)])
def test_it_is_not_told_which_of_two_channels_an_answer_came_through(codes: tuple[int, ...]) -> None:
    """Both terms had a request that was ignored, the first one behind a request that was not."""
    epochs = tuple(EpochWritten(**at(0), zxid=0, by=2, epoch=one, version=one) for one in (2, 3))
    requests = handled(0, 0, outcome="leader"), handled(1, 0), handled(0, 0, epoch=3)
    answers = [AnswerReceived(**at(0), controller=2, epoch=3, broker=1, error_code=0, codes={0: one}) for one in codes]
    tracks = {"broker 1": requests, "zookeeper": epochs}
    found = list(disagreements(CLUSTER, tracks, answers, {1: V0102, 2: V0102}))
    assert len(found) == (codes == (11, 11, 0))


def test_an_answer_is_given_once() -> None:
    epochs = tuple(EpochWritten(**at(0), zxid=0, by=2, epoch=one, version=one) for one in (2, 3))
    answers = [AnswerReceived(**at(0), controller=2, epoch=3, broker=1, error_code=0, codes={0: 11})] * 2
    tracks = {"broker 1": (handled(0, 0),), "zookeeper": epochs}
    assert len(list(disagreements(CLUSTER, tracks, answers, {1: V0102, 2: V0102}))) == 1


@pytest.mark.parametrize(("number", "agrees"), [(None, True), (0, True), (7, True), (3, False)])
def test_an_answer_that_names_its_request_is_to_no_other(number: int | None, agrees: bool) -> None:
    """As 0.8.2 prints it."""
    answer = AnswerReceived(
        **at(0), controller=2, epoch=2, broker=1, error_code=0, codes={0: 13}, correlation_id=number
    )
    found = list(disagreements(CLUSTER, {"broker 1": (handled(0, 0), handled(7, 0))}, [answer], {1: V082, 2: V082}))
    assert bool(found) is not agrees
