"""A leader says in server.log which of its ISR changes failed on the version; what nobody speaks of stays open."""

from itertools import accumulate
from operator import itemgetter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_check.recordings.failed_isr_writes import with_their_leaders
from model_check.recordings.recording import Cluster
from model_check.recordings.seen import WriteConflicted
from model_check.recordings.sessions import Session
from model_check.recordings.tracks import SKEW
from reference.zookeeper.transactions import ERROR_NAMES, Transaction, WriteRefused
from spec.formats.kafka_types import TopicPartition

CLUSTER = Cluster((7, 8), ("t",), (TopicPartition("t", 0), TopicPartition("t", 1)), ((1, 2), (1, 2)))
SESSIONS = {1: Session(7, 1), 2: Session(8, 1)}
CODES = {name: code for code, name in ERROR_NAMES.items()}
SECOND = 1_480_000_000_000
BEGINS = "Partition [t,{p}] on broker 8: Shrinking ISR for partition [t,{p}] from 2,1 to 2"
ENDS = "Partition [t,{p}] on broker 8: Cached zkVersion [3] not equal to that in zookeeper, skip updating ISR"
Said = tuple[int | None, int, int]
"""When broker 8 says that it changes an ISR, and that it has failed, and of which partition."""


def failed(*times: int, by: int = 2) -> list[WriteConflicted]:
    return [WriteConflicted(place="", time=SECOND + one, text="", zxid=one, by=by) for one in times]


def leaders(
    folder: Path, changes: list[WriteConflicted], *said: Said, ahead: int = 0, absent: tuple[int, ...] = ()
) -> list[int | None]:
    """Of which partition each change is told to be a leader's; others find at some times that a node is `absent`."""
    log = folder / "broker-8/server.log"
    log.parent.mkdir(exist_ok=True)
    spoken = [(time, text.format(p=p)) for one, end, p in said for time, text in ((one, BEGINS), (end, ENDS))]
    lines = sorted(((time, text) for time, text in spoken if time is not None), key=itemgetter(0))
    written = (
        f"[2016-11-24 15:06:{40 + time // 1000},{time % 1000:03}] INFO {text} (kafka.cluster.Partition)"
        for time, text in lines
    )
    log.write_text("".join(f"{line}\n" for line in ("no line of Kafka", *written)))
    refused = [
        *(Transaction(one.zxid, one.time, one.by, 1, WriteRefused(CODES["BadVersion"])) for one in changes),
        *(Transaction(one, SECOND + one, 2, 1, WriteRefused(CODES["NoNode"])) for one in absent),
    ]
    found = with_their_leaders(changes, refused, SESSIONS, CLUSTER, folder, {7: 0, 8: ahead})
    return [one.of_leader for one in found if isinstance(one, WriteConflicted)]


def test_a_write_is_the_leaders_between_whose_lines_it_lies(tmp_path: Path) -> None:
    assert leaders(tmp_path, failed(102, 202), (100, 105, 0), (200, 205, 1)) == [0, 1]
    assert leaders(tmp_path, failed(102, 103, 202), (100, 105, 0), (200, 205, 1)) == [None, None, 1]


def test_each_that_is_spoken_of_has_a_write_of_its_own(tmp_path: Path) -> None:
    """The second may be either's by the clock, but then the other would have none."""
    assert leaders(tmp_path, failed(31, 36), (30, 36, 0), (36, 45, 1)) == [0, 1]
    assert leaders(tmp_path, failed(31, 33), (30, 36, 0), (32, 45, 1)) == [None, None]
    assert leaders(tmp_path, failed(33), (30, 36, 0), (32, 45, 1)) == [None]


def test_others_and_what_does_not_say_when_it_began_stay_open(tmp_path: Path) -> None:
    assert leaders(tmp_path, failed(100, by=1), (90, 105, 0)) == [None]
    assert leaders(tmp_path, failed(100), (None, 105, 0)) == [None]
    assert leaders(tmp_path, failed(100, 5_202), (None, 105, 0), (5_200, 5_205, 1)) == [None, 1]
    assert leaders(tmp_path, failed(5101), (100, 5103, 0)) == [0]
    elsewhere = with_their_leaders(failed(100), [], SESSIONS, CLUSTER, tmp_path / "elsewhere", {8: 0})
    assert elsewhere == failed(100)


@pytest.mark.parametrize("ahead", [-SKEW, -1_000, 0, 1_000, SKEW])
def test_a_clock_may_be_off(tmp_path: Path, ahead: int) -> None:
    """Two that are as far from each other as two writes are theirs; of three writes they may be the later two, too."""
    said = [(3_100 + ahead, 3_105 + ahead, 0), (4_300 + ahead, 4_305 + ahead, 1)]
    assert leaders(tmp_path, failed(3_102, 4_302), *said) == [0, 1]
    too_far = ahead - 1_200 < -SKEW
    assert leaders(tmp_path, failed(3_102, 4_302, 5_502), *said) == ([0, 1, None] if too_far else [None] * 3)


def test_clocks_may_begin_their_milliseconds_apart(tmp_path: Path) -> None:
    assert leaders(tmp_path, failed(99, 200), (100, 100, 0), (200, 200, 1)) == [0, 1]


def test_a_failure_without_a_write_leaves_all_of_its_broker_open(tmp_path: Path) -> None:
    """As its clock is off by more than is known."""
    assert leaders(tmp_path, failed(102, 5_102), (5_100, 5_105, 0), (9_900, 9_905, 1)) == [None, None]
    assert leaders(tmp_path, failed(102, 5_102), (5_100, 5_105, 0), (10_100, 10_105, 1), ahead=4_998) == [0, 1]


def test_a_leaders_write_may_have_found_no_node(tmp_path: Path) -> None:
    assert leaders(tmp_path, failed(102), (100, 105, 0)) == [0]
    assert leaders(tmp_path, failed(102), (100, 105, 0), absent=(103,)) == [None]


def test_whoever_is_paused_while_it_writes_may_be_a_controller_as_it_wakes(tmp_path: Path) -> None:
    assert leaders(tmp_path, failed(102, 5_101), (100, 5_103, 0)) == [None, None]


@given(st.lists(st.integers(1, 9_000), unique=True, max_size=6).map(sorted))
def test_who_speaks_of_each_is_believed_in_each(tmp_path_factory: object, times: list[int]) -> None:
    folder = getattr(tmp_path_factory, "mktemp")("said")  # noqa: B009
    assert leaders(folder, failed(*times), *((one, one, one % 2) for one in times)) == [one % 2 for one in times]


CHANGES = st.lists(st.tuples(*[st.integers(1, 15)] * 3), max_size=4)
"""How long after the one before a change begins, its write after that, and its end after that."""


@given(st.tuples(CHANGES, CHANGES, CHANGES), st.integers(-SKEW, SKEW))
def test_what_is_told_is_true(
    tmp_path_factory: object, made: tuple[list[tuple[int, int, int]], ...], ahead: int
) -> None:
    """A leader changes two partitions, and a controller writes, all at the same time; the clock is off."""
    folder = getattr(tmp_path_factory, "mktemp")("told")  # noqa: B009
    truth, said = dict[int, int | None](), list[Said]()
    for p, several in zip((0, 1, None), made, strict=True):
        times = list(
            accumulate((3 * one for each in several for one in each), initial=SKEW + (p if p is not None else 2))
        )
        for begin, write, end in zip(times[1::3], times[2::3], times[3::3], strict=True):
            truth[write] = p
            said += [] if p is None else [(begin + ahead, end + ahead, p)]
    told = leaders(folder, failed(*truth), *said)
    assert all(one in (None, p) for one, p in zip(told, truth.values(), strict=True))
