"""What a recording's transactions tell of its cluster: which writes put a deleted topic back."""

from itertools import count

from model_check.recordings.cluster import resurrections
from model_check.recordings.sessions import Session
from reference.zookeeper.transactions import Change, NodeCreated, NodeDeleted, Transaction
from spec.formats.znodes import TopicConfigPayload, TopicPayload

SESSION = 7
CONFIGURATION = NodeCreated("/config/topics/t", TopicConfigPayload(config={}).encode(), 0, 0)
TOPIC = NodeCreated("/brokers/topics/t", TopicPayload(partitions={0: (1,)}).encode(), 0, 0)
DELETION = NodeDeleted("/brokers/topics/t"), NodeDeleted("/config/topics/t")


def reintroduced(*changes: Change) -> frozenset[int]:
    """The zxids, from 1 on, at which one broker's session puts a topic back."""
    zxids = count(1)
    return resurrections([Transaction(next(zxids), 0, SESSION, 0, one) for one in changes], {SESSION: Session(1, 1)})


def test_a_broker_creates_a_topic_after_its_configuration_and_puts_it_back_without() -> None:
    assert reintroduced(CONFIGURATION, TOPIC) == frozenset()
    assert reintroduced(TOPIC) == {1}


def test_what_one_session_created_deleted_and_wrote_again_is_put_back() -> None:
    assert reintroduced(CONFIGURATION, TOPIC, *DELETION, TOPIC) == {5}
    assert reintroduced(CONFIGURATION, TOPIC, *DELETION, CONFIGURATION, TOPIC) == frozenset()
