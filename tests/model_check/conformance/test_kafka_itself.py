"""Kafka's own classes pass all vectors of their dialect, but for lines: they read none, and write some."""

import pytest

from model_check.conformance.conforming import How, Outcome, conform
from tests.model_check.conformance.all_vectors import VECTORS
from tests.model_check.conformance.everyday_vectors import put
from tests.model_check.conformance.kafka_itself import KAFKA

pytestmark = KAFKA

UNWRITTEN = {
    "ElectionFailed", "LeaderAndIsrReceived", "LeaderAndIsrFromOldController", "LeaderEpochNotHigher",
    "NotInAssignedReplicas", "TransitionStarted", "TransitionCompleted", "LeaderUnavailable", "BecomeLeaderUnchanged",
    "FetcherStarted", "StopReplicaStarted", "StopReplicaFromOldController", "PartitionUncached",
    "UpdateMetadataFromOldController", "BecomingController", "EpochIncremented", "EpochRead", "BrokerDifference",
    "RequestDropped",
}  # fmt: skip
"""The kinds of lines that no call of the adapter has Kafka write."""


@pytest.mark.slow
def test_kafka_itself_passes_all_of_its_dialect(kafka_adapter: list[str], request: pytest.FixtureRequest) -> None:
    """Not all of Kafka's threads are held by the adapter: what fails once in some thousand times is asked again."""
    vectors = put(request, every=3)
    found = conform(kafka_adapter, vectors, How(len(vectors)))
    failed = [one.vector for one in found.results if one.outcome is Outcome.FAIL]
    again = conform(kafka_adapter, failed, How(len(failed))).results if failed else ()
    assert [(one.vector.id, one.told) for one in again if one.outcome is not Outcome.PASS] == []
    assert len(failed) <= 1, [one.id for one in failed]
    assert found.counts[Outcome.ERROR] == 0
    of_dialect = [one for one in found.results if "as-coded-0.10.2" in one.vector.dialects]
    skipped = [one.vector for one in of_dialect if one.outcome is Outcome.SKIP]
    assert {one.verb for one in skipped} == {"read_line", "write_line"}
    written, unwritten = (
        {one.given["kind"] for one in some if one.verb == "write_line"}
        for some in ([one.vector for one in of_dialect], skipped)
    )
    assert unwritten == written & UNWRITTEN


def test_what_kafka_does_not_write_is_asked_for() -> None:
    assert {one.given["kind"] for one in VECTORS if one.verb == "write_line"} > UNWRITTEN
