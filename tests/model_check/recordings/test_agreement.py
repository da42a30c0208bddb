"""What a broker answers for a partition differs by release; an answer that it cannot have given is a contradiction."""

from typing import Any

import pytest

from model_check.recordings.agreement import codes_of, disagreements
from model_check.recordings.processes import AnswerReceived, RequestHandled
from model_check.recordings.recording import Cluster
from model_check.recordings.zookeeper import EpochWritten
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


@pytest.mark.parametrize(("epoch", "agrees"), [(2, True), (0, True), (3, True), (4, False), (5, False), (1, False)])
def test_an_answer_is_told_by_the_epoch_that_its_controller_has_by_then(epoch: int, agrees: bool) -> None:
    """0 after a resignation; a later one where an elector resigned, which leaves the channels, and won again (D4)."""
    where: dict[str, Any] = {"place": "", "time": 0, "text": ""}
    request = RequestHandled(
        **where, broker=1, incarnation=1, kind="LeaderAndIsr", controller=2, epoch=2, correlation_id=0,
        states={0: led(1, 0, (1,), 2)}, outcomes={0: "ignored"}, refused=False,
    )  # fmt: skip
    answer = AnswerReceived(**where, controller=2, epoch=epoch, broker=1, error_code=0, codes={0: 11})
    cluster = Cluster((1, 2), ("t",), (TopicPartition("t", 0),), ((1,),))
    written = [(2, 2, 0), (3, 2, 0), (4, 1, 0), (5, 2, 10_000)]  # 4 is another's, and 5 is yet to come
    epochs = tuple(
        EpochWritten(place="", time=at, text="", zxid=0, by=by, epoch=one, version=one) for one, by, at in written
    )
    tracks = {"broker 1": (request,), "zookeeper": epochs}
    found = disagreements(cluster, tracks, [answer], {1: V0102, 2: V0102})
    told = [one.reason for one in found]
    assert told == ([] if agrees else ["is an answer that its broker did not give, or not then"])
