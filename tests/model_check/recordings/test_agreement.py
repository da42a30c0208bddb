"""What a broker answers for a partition differs by release; an answer that it cannot have given is a contradiction."""

import pytest

from model_check.recordings.agreement import codes_of
from spec.formats.kafka_types import V0100, V0102, V082, V090, KafkaVersion


@pytest.mark.parametrize(
    ("release", "ignored", "unassigned"), [(V082, 13, None), (V090, 13, 3), (V0100, 11, 3), (V0102, 11, 3)]
)
def test_codes_are_those_of_the_release(release: KafkaVersion, ignored: int, unassigned: int | None) -> None:
    """`ReplicaManager.becomeLeaderOrFollower` at each tag: 0.8.2 puts nothing for who is not assigned."""
    codes = codes_of(release)
    assert (codes["leader"], codes["follower"], codes["unavailable"]) == (0, 0, 0)
    assert (codes["ignored"], codes["unassigned"]) == (ignored, unassigned)
