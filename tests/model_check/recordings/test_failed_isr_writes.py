"""A leader says in server.log which of its ISR changes failed on the version; what nobody speaks of stays open."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from model_check.recordings.failed_isr_writes import with_their_leaders
from model_check.recordings.recording import Cluster
from model_check.recordings.tracks import SKEW
from model_check.recordings.zookeeper import WriteConflicted
from spec.formats.kafka_types import TopicPartition

CLUSTER = Cluster((7, 8), ("t",), (TopicPartition("t", 0), TopicPartition("t", 1)), ((1, 2), (1, 2)))
SECOND = 1_480_000_000_000
SAYS = "Partition [t,{p}] on broker 8: Cached zkVersion [3] not equal to that in zookeeper, skip updating ISR"


def failed(*times: int, by: int = 2) -> list[WriteConflicted]:
    return [WriteConflicted(place="", time=SECOND + one, text="", zxid=one, by=by) for one in times]


def leaders(folder: Path, changes: list[WriteConflicted], *said: tuple[int, int]) -> list[int | None]:
    """Of which partition each change is told to be a leader's, where broker 8 says this, each with its time."""
    log = folder / "broker-8/server.log"
    log.parent.mkdir(exist_ok=True)
    lines = (
        f"[2016-11-24 15:06:{40 + time // 1000},{time % 1000:03}] INFO {SAYS.format(p=p)} (kafka.cluster.Partition)"
        for time, p in said
    )
    log.write_text("".join(f"{line}\n" for line in ("no line of Kafka", *lines)))
    return [one.of_leader for one in with_their_leaders(changes, CLUSTER, folder) if isinstance(one, WriteConflicted)]


def test_a_leader_speaks_of_the_write_that_has_failed_since_it_spoke_last(tmp_path: Path) -> None:
    assert leaders(tmp_path, failed(100, 200), (105, 0), (205, 1)) == [0, 1]
    assert leaders(tmp_path, failed(100, 101, 200), (105, 0), (205, 1)) == [None, None, 1]


def test_others_and_what_is_too_far_off_stay_open(tmp_path: Path) -> None:
    assert leaders(tmp_path, failed(100, by=1), (105, 0)) == [None]
    assert leaders(tmp_path, failed(100), (99, 0), (101 + SKEW, 0)) == [None]
    assert with_their_leaders(failed(100), CLUSTER, tmp_path / "elsewhere") == failed(100)


@given(st.lists(st.integers(1, 9_000), unique=True, max_size=6).map(sorted))
def test_who_speaks_of_each_is_believed_in_each(tmp_path_factory: object, times: list[int]) -> None:
    folder = getattr(tmp_path_factory, "mktemp")("said")  # noqa: B009
    assert leaders(folder, failed(*times), *((one, one % 2) for one in times)) == [one % 2 for one in times]
