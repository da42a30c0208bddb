"""A broker has handled what its log tells of when it is through with it, which an ISR write may hold up for long."""

from collections.abc import Callable

import pytest

from model_check.recordings.recording import Cluster
from model_check.recordings.requests import Requests
from model_check.recordings.seen import ReplicaStopped, RequestHandled
from spec.formats.error_codes import ErrorCode
from spec.formats.kafka_types import TopicPartition
from spec.logs.broker_change_lines import BrokerLine
from spec.logs.log_entries import LogEntry, read_entries
from spec.logs.state_change_lines import STATE_CHANGE_LOG

CLUSTER = Cluster(
    (1, 2), ("t",), (TopicPartition("t", 0), TopicPartition("t", 1)), ((1, 2), (1, 2)),
    assignments=(frozenset({frozenset({1, 2})}),) * 2,
)  # fmt: skip
TOLD = "LeaderAndIsr request correlationId 4 from controller 2 epoch 3"
STATE = "PartitionState(controllerEpoch=3, leader=1, leaderEpoch=0, isr=[1, 2], zkVersion=0, replicas=[1, 2])"
RECEIVED = f"received LeaderAndIsr request {STATE} correlation id 4 from controller 2 epoch 3 for partition [t,{{}}]"
STARTED = f"handling {TOLD} starting the become-leader transition for partition t-{{}}"
COMPLETED = f"completed {TOLD} for the become-leader transition for partition t-{{}}"
IGNORED = (
    "ignoring LeaderAndIsr request from controller 2 with correlation id 4 epoch 3 for partition [t,{}] since its "
    "associated leader epoch 0 is not higher than the current leader epoch 0"
)
CACHED = (
    "deleted partition t-{} from metadata cache in response to UpdateMetadata request sent by controller 2 epoch 3 "
    "with correlation id 5"
)


def requests(*messages: tuple[int, str], life: Callable[[int], int] = lambda _: 1) -> Requests:
    """What becomes of what broker 1 logs at these milliseconds."""
    texts = [
        f"[1970-01-01 00:00:{ms // 1000:02},{ms % 1000:03}] TRACE Broker 1 {one} (state.change.logger)"
        for ms, one in messages
    ]
    found = Requests(CLUSTER, 1, life, lambda _: None)
    for entry in read_entries(texts, "log"):
        assert isinstance(entry, LogEntry)
        line = STATE_CHANGE_LOG.parse(entry.message)
        assert isinstance(line, BrokerLine)
        found.add(entry, line)
    return found


def handled(*messages: tuple[int, str]) -> list[tuple[str, int]]:
    """What broker 1 handled that logs these messages at these seconds: each with its place, and its second."""
    found = requests(*((1000 * second, one) for second, one in messages))
    return [(one.place, one.time // 1000) for one in found.observed()]


def told(found: Requests) -> tuple[list[tuple[str, str]], list[str]]:
    """The requests by place with what became of their partitions, a letter for each, and the contradictions."""
    those = [one for one in found.observed() if isinstance(one, RequestHandled)]
    return (
        [(one.place, "".join(outcome[0] for _, outcome in sorted(one.outcomes.items()))) for one in those],
        [one.reason for one in found.contradictions],
    )


def test_a_replica_is_stopped_when_its_last_line_is_written() -> None:
    stop, p = "handling stop replica (delete=true) for partition", "t-0"
    cached = "deleted partition t-0 from metadata cache in response to UpdateMetadata request sent by"
    assert handled(
        (1, f"{stop} {p}"), (4, f"finished {stop} {p}"), (4, f"{cached} controller 2 epoch 3 with correlation id 5"),
        (5, f"{stop} {p}"),
    ) == [("log:1", 4), ("log:3", 4), ("log:4", 5)]  # fmt: skip


@pytest.mark.parametrize(("delete", "restarts", "codes"), [(True, 0, {-1}), (False, 0, {0}), (True, 1, {0, -1})])
def test_a_broker_that_goes_on_amid_a_deletion_has_failed(delete: bool, restarts: int, codes: set[int]) -> None:
    """PROTOCOL.md D72: what is raised ends the request; where the process or its log ends, nobody knows."""
    stop = f"handling stop replica (delete={str(delete).lower()}) for partition t-0"
    messages = (1, stop), (2, f"finished {stop}"), (3, stop), (5, stop)
    found = requests(*messages, life=lambda ms: 1 + restarts * (ms > 4))
    stops = [one for one in found.observed() if isinstance(one, ReplicaStopped)]
    done, last = {ErrorCode.NONE}, {ErrorCode.NONE, ErrorCode.UNKNOWN} if delete else {ErrorCode.NONE}
    assert [one.codes for one in stops] == [done, codes, last]


@pytest.mark.parametrize("line", ["ignoring {} as replica doesn't exist on broker", "finished handling {}"])
def test_what_is_said_of_a_stop_is_said_amid_it(line: str) -> None:
    """Kafka stops one replica at a time, under a lock (`ReplicaManager.stopReplica`)."""
    stop = "stop replica (delete=true) for partition t-0"
    begun, said, ended = (0, f"handling {stop}"), (1, line.format(stop)), (2, f"finished handling {stop}")
    amid = [begun, said] if said[1] == ended[1] else [begun, said, ended]
    assert requests(*amid).contradictions == []
    for wrong in ([said, begun], [begun, ended, said]):
        found = [(one.place, one.reason) for one in requests(*wrong).contradictions]
        assert found == [(f"log:{wrong.index(said) + 1}", "is about a stop that was not begun, or has ended")]


def test_a_leader_and_isr_is_handled_when_its_last_line_is_written() -> None:
    assert handled(
        (1, f"handling {TOLD} starting the become-leader transition for partition t-0"),
        (4, f"completed {TOLD} for the become-leader transition for partition t-0"),
    ) == [("log:1", 4)]  # fmt: skip


def of(*steps: tuple[str, str]) -> list[tuple[int, str]]:
    """Lines by their templates, each for some partitions, a second apart."""
    return [
        (1000 * (number + 1), line.format(p))
        for number, (line, p) in enumerate((line, p) for line, partitions in steps for p in partitions)
    ]


LEADS = (STARTED, "01"), (COMPLETED, "01")


@pytest.mark.parametrize(
    ("steps", "places"),
    [
        (((RECEIVED, "01"), *LEADS, (RECEIVED, "01"), (IGNORED, "01")), ("log:3", "log:9")),
        (((RECEIVED, "01"), (RECEIVED, "01"), *LEADS, (IGNORED, "01")), ("log:5", "log:9")),
        (((RECEIVED, "0011"), *LEADS, (IGNORED, "01")), ("log:5", "log:9")),
        (((RECEIVED, "01"), (STARTED, "01"), (RECEIVED, "01"), (COMPLETED, "01"), (IGNORED, "01")), ("log:3", "log:9")),
    ],
)
def test_a_leader_and_isr_comes_again_under_its_number(
    steps: tuple[tuple[str, str], ...], places: tuple[str, str]
) -> None:
    """Received again before it is handled, meanwhile, or after."""
    first, second = places
    assert told(requests(*of(*steps))) == ([(first, "ll"), (second, "ii")], [])


@pytest.mark.parametrize("milliseconds", [1, 350])
def test_what_an_update_metadata_says_again_is_another_one(milliseconds: int) -> None:
    """By 0.8.2 after 300 ms; under the same number of a new channel, maybe right behind it."""
    times = [1000, 1001, 1000 + milliseconds, 1001 + milliseconds]
    found = requests(*zip(times, map(CACHED.format, "0101"), strict=True))
    assert (len(found.observed()), found.contradictions) == (2, [])
    refused = (
        "received update metadata request with correlation id 5 from an old controller 2 with epoch 3. "
        "Latest known controller epoch is 4"
    )
    found = requests((1000, refused), (1000 + milliseconds, refused))
    assert (len(found.observed()), found.contradictions) == (2, [])
