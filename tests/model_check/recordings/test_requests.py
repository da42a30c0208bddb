"""A broker has handled what its log tells of when it is through with it, which an ISR write may hold up for long."""

from model_check.recordings.recording import Cluster
from model_check.recordings.requests import Requests
from spec.formats.kafka_types import TopicPartition
from spec.logs.broker_change_lines import BrokerLine
from spec.logs.log_entries import LogEntry, read_entries
from spec.logs.state_change_lines import STATE_CHANGE_LOG

CLUSTER = Cluster((1, 2), ("t",), (TopicPartition("t", 0),), ((1, 2),))
TOLD = "LeaderAndIsr request correlationId 4 from controller 2 epoch 3"


def handled(*messages: tuple[int, str]) -> list[tuple[str, int]]:
    """What broker 1 handled that logs these messages at these seconds: each with its place, and its second."""
    texts = [
        f"[1970-01-01 00:00:{second:02},000] TRACE Broker 1 {one} (state.change.logger)" for second, one in messages
    ]
    requests = Requests(CLUSTER, 1, lambda _: 1, lambda _: None)
    for entry in read_entries(texts, "log"):
        assert isinstance(entry, LogEntry)
        line = STATE_CHANGE_LOG.parse(entry.message)
        assert isinstance(line, BrokerLine)
        requests.add(entry, line)
    return [(one.place, one.time // 1000) for one in requests.observed()]


def test_a_replica_is_stopped_when_its_last_line_is_written() -> None:
    stop, p = "handling stop replica (delete=true) for partition", "t-0"
    cached = "deleted partition t-0 from metadata cache in response to UpdateMetadata request sent by"
    assert handled(
        (1, f"{stop} {p}"), (2, f"{cached} controller 2 epoch 3 with correlation id 5"), (4, f"finished {stop} {p}"),
        (5, f"{stop} {p}"),
    ) == [("log:1", 4), ("log:2", 2), ("log:4", 5)]  # fmt: skip


def test_a_leader_and_isr_is_handled_when_its_last_line_is_written() -> None:
    assert handled(
        (1, f"handling {TOLD} starting the become-leader transition for partition t-0"),
        (4, f"completed {TOLD} for the become-leader transition for partition t-0"),
    ) == [("log:1", 4)]  # fmt: skip
