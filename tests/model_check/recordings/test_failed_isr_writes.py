"""A leader says in server.log which of its ISR changes failed on the version; what nobody speaks of stays open."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from model_check.recordings.failed_isr_writes import with_their_leaders
from model_check.recordings.recording import Cluster
from model_check.recordings.seen import WriteConflicted
from model_check.recordings.tracks import SKEW
from spec.formats.kafka_types import TopicPartition

CLUSTER = Cluster((7, 8), ("t",), (TopicPartition("t", 0), TopicPartition("t", 1)), ((1, 2), (1, 2)))
SECOND = 1_480_000_000_000
BEGINS = "Partition [t,{p}] on broker 8: Shrinking ISR for partition [t,{p}] from 2,1 to 2"
ENDS = "Partition [t,{p}] on broker 8: Cached zkVersion [3] not equal to that in zookeeper, skip updating ISR"


def failed(*times: int, by: int = 2) -> list[WriteConflicted]:
    return [WriteConflicted(place="", time=SECOND + one, text="", zxid=one, by=by) for one in times]


def leaders(folder: Path, changes: list[WriteConflicted], *said: tuple[int | None, int, int]) -> list[int | None]:
    """Of which partition each change is told to be a leader's, where broker 8 says this: begun, ended and partition."""
    log = folder / "broker-8/server.log"
    log.parent.mkdir(exist_ok=True)
    lines = sorted(
        (time, text.format(p=p)) for one, end, p in said for time, text in ((one, BEGINS), (end, ENDS)) if time
    )
    written = (
        f"[2016-11-24 15:06:{40 + time // 1000},{time % 1000:03}] INFO {text} (kafka.cluster.Partition)"
        for time, text in lines
    )
    log.write_text("".join(f"{line}\n" for line in ("no line of Kafka", *written)))
    return [one.of_leader for one in with_their_leaders(changes, CLUSTER, folder) if isinstance(one, WriteConflicted)]


def test_a_write_is_the_leaders_between_whose_lines_it_lies(tmp_path: Path) -> None:
    assert leaders(tmp_path, failed(102, 202), (100, 105, 0), (200, 205, 1)) == [0, 1]
    assert leaders(tmp_path, failed(102, 103, 202), (100, 105, 0), (200, 205, 1)) == [None, None, 1]


def test_each_that_is_spoken_of_has_a_write_of_its_own(tmp_path: Path) -> None:
    """The second may be either's by the clock, but then the other would have none."""
    assert leaders(tmp_path, failed(31, 36), (30, 36, 0), (36, 45, 1)) == [0, 1]
    assert leaders(tmp_path, failed(31, 33), (30, 36, 0), (32, 45, 1)) == [0, 1]
    assert leaders(tmp_path, failed(33, 34), (30, 36, 0), (32, 45, 1)) == [None, None]
    assert leaders(tmp_path, failed(33), (30, 36, 0), (32, 45, 1)) == [None]


def test_others_and_what_is_too_far_off_stay_open(tmp_path: Path) -> None:
    assert leaders(tmp_path, failed(100, by=1), (None, 105, 0)) == [None]
    assert leaders(tmp_path, failed(100), (None, 99, 0), (None, 101 + SKEW, 0)) == [None]
    assert leaders(tmp_path, failed(100), (None, 105, 0)) == [0]
    assert with_their_leaders(failed(100), CLUSTER, tmp_path / "elsewhere") == failed(100)


@given(st.lists(st.integers(1, 9_000), unique=True, max_size=6).map(sorted))
def test_who_speaks_of_each_is_believed_in_each(tmp_path_factory: object, times: list[int]) -> None:
    folder = getattr(tmp_path_factory, "mktemp")("said")  # noqa: B009
    assert leaders(folder, failed(*times), *((one, one, one % 2) for one in times)) == [one % 2 for one in times]
