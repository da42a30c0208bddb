"""Entries of log files: stack traces stay with their line, and what is torn is told, not fixed."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.formats.kafka_types import TopicPartition
from spec.logs.log_entries import LogEntry, TornLine, entry_of, read_entries
from spec.logs.state_change_lines import LeaderElected
from tests.strategies import printable

HEAD = "[2016-09-21 13:05:09,418] ERROR Controller 1 epoch 2 failed (state.change.logger)"
NEXT = "[2016-09-21 13:05:09,419] TRACE next (state.change.logger)"
EXCEPTION = "kafka.common.NoReplicaOnlineException: No replica for partition [t,0] is alive."
FRAMES = ("\tat kafka.utils.Utils$.inLock(Utils.scala:535)", "\tat sun.misc.Unsafe.park(Native Method)")
CAUSE = ("Caused by: java.lang.RuntimeException", "\tat a.B.c(B.java:1)", "\t... 34 more")


def read(*lines: str) -> list[LogEntry | TornLine]:
    return list(read_entries([line + "\n" for line in lines], "x.log"))


def test_a_stack_trace_belongs_to_the_entry_above_it() -> None:
    first, second = read(HEAD, EXCEPTION, *FRAMES, *CAUSE, NEXT)
    assert isinstance(first, LogEntry)
    assert first.trace == (EXCEPTION, *FRAMES, *CAUSE)
    assert (first.level, first.message) == ("ERROR", "Controller 1 epoch 2 failed")
    assert first.time == datetime(2016, 9, 21, 13, 5, 9, 418_000)  # noqa: DTZ001 - the broker's local time
    assert isinstance(second, LogEntry)
    assert (second.line_number, second.place, second.trace) == (8, "x.log:8", ())
    assert str(first).split("\n") == [HEAD, EXCEPTION, *FRAMES, *CAUSE]


@pytest.mark.parametrize(
    "trace",
    [
        ("org.I0Itec.zkclient.exception.ZkNoNodeException: KeeperErrorCode = NoNode for /a", *FRAMES),
        ("kafka.common.KafkaException: Can't parse json string: {", ' "a": 1', "}", *FRAMES, *CAUSE),
        (EXCEPTION, *FRAMES, "Caused by: java.lang.RuntimeException: first", "second", *FRAMES),
        (EXCEPTION, *FRAMES, "\tSuppressed: java.io.IOException", "\t\tat a.B.c(B.java:1)", "\t\t... 3 more"),
        ("scala.MatchError: null",),
    ],
)
def test_a_trace_has_what_java_puts_there(trace: tuple[str, ...]) -> None:
    first, second = read(HEAD, *trace, NEXT)
    assert isinstance(first, LogEntry)
    assert first.trace == trace
    assert str(second) == NEXT


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[2016-09-21 13:05:09,418] TRACE Controller 1 epo", "does not end with its logger"),
        ("oller 1 epoch 2 failed (state.change.logger)", "does not begin with a time"),
        ("", "does not begin with a time"),
        ("[2016-09-31 13:05:09,418] TRACE x (a)", "has no such time (day is out of range for month)"),
        (EXCEPTION, "does not begin with a time"),
    ],
)
def test_a_torn_line_is_told_with_its_place(line: str, reason: str) -> None:
    before, torn, after = read(NEXT, line, NEXT)
    assert torn == TornLine("x.log", 2, line, reason)
    assert str(torn).startswith(f"x.log:2: {reason}: ")
    assert isinstance(before, LogEntry)
    assert isinstance(after, LogEntry)


@pytest.mark.parametrize("before", ["[2016-09-21 13:05:09,418] TRACE Controller 1", "[2016-09-21 13:0", "\tat a", "t"])
def test_an_entry_may_begin_in_a_torn_line(before: str) -> None:
    """A process was killed, and the next one goes on in the same line; both have its number."""
    first, torn, entry = read(NEXT, before + HEAD, EXCEPTION)
    assert torn == TornLine("x.log", 2, before, "has the beginning of another entry in it", is_cut=True)
    assert isinstance(first, LogEntry)
    assert isinstance(entry, LogEntry)
    assert (first.is_cut, entry.is_cut) == (False, False)
    assert str(entry) == f"{HEAD}\n{EXCEPTION}"
    assert entry.place == "x.log:2"


def test_a_line_without_its_end_says_that_it_is_cut() -> None:
    """It may be whole but for its end, or may have lost its last words: "(delete=true)" is no logger."""
    whole, torn = "[2016-09-21 13:05:09,418] TRACE next (x)", "[2016-09-21 13:05:09,418] TRACE stopping (delete=true)"
    for text in (whole, torn):
        (last,) = read_entries([text], "x.log")
        assert isinstance(last, LogEntry)
        assert last.is_cut
    (cut,) = read_entries(["[2016-09-21 13:05:09,4"], "x.log")
    assert cut == TornLine("x.log", 1, "[2016-09-21 13:05:09,4", "does not begin with a time", is_cut=True)
    assert cut.time is None
    (early,) = read_entries(["[2016-09-21 13:05:09,418] TRA"], "x.log")
    assert isinstance(early, TornLine)
    assert early.time == datetime(2016, 9, 21, 13, 5, 9, 418_000)  # noqa: DTZ001 - the broker's local time


def test_half_an_exception_is_one_torn_line() -> None:
    """Its message has several lines, and the process was killed before it wrote the frames."""
    entry, torn = read(HEAD, "kafka.common.KafkaException: Can't parse json string: {", ' "a": 1', "}")
    assert isinstance(entry, LogEntry)
    assert entry.trace == ("kafka.common.KafkaException: Can't parse json string: {",)
    assert torn == TornLine("x.log", 3, ' "a": 1\n}', "does not begin with a time", is_cut=True)


def test_frames_without_their_exception_are_torn_each() -> None:
    """Two brokers wrote to one file: the second entry came between a failure and its trace."""
    entries = read(HEAD, NEXT, EXCEPTION, *FRAMES)
    assert [type(entry) for entry in entries] == [LogEntry, LogEntry, TornLine, TornLine, TornLine]


def test_what_no_frame_follows_is_no_message_of_an_exception() -> None:
    """The JVM leaves the frames of a frequent exception out; what comes after it may be torn."""
    first, torn, second, last = read(HEAD, EXCEPTION, "oller 1 epoch 2 failed (state.change.logger)", NEXT, NEXT)
    assert isinstance(first, LogEntry)
    assert first.trace == (EXCEPTION,)
    assert isinstance(torn, TornLine)
    assert torn.line_number == 3
    assert str(second) == str(last) == NEXT
    assert [type(one) for one in read(HEAD, EXCEPTION, "a", "b")] == [LogEntry, TornLine]


@given(st.lists(st.tuples(printable, st.sampled_from(["TRACE", "ERROR"]), st.booleans()), max_size=4))
def test_a_file_prints_as_it_was(parts: list[tuple[str, str, bool]]) -> None:
    time = datetime(2016, 9, 21, 1, 2, 3, 4000)  # noqa: DTZ001 - the broker's local time
    entries = [
        LogEntry("x.log", 0, time, level, message, "a.B$", (EXCEPTION, *FRAMES) if traced and level == "ERROR" else ())
        for message, level, traced in parts
    ]
    found = read(*(line for entry in entries for line in str(entry).split("\n")))
    assert list(map(str, found)) == list(map(str, entries))


def test_line_ends_of_windows_do_not_count() -> None:
    (entry,) = read_entries([NEXT + "\r\n"], "x.log")
    assert str(entry) == NEXT


def test_a_line_becomes_an_entry_with_its_level_and_logger() -> None:
    line = LeaderElected(1, 2, 3, TopicPartition("t", 0))
    entry = entry_of(line, datetime(2016, 9, 21, 1, 2, 3, 4999))  # noqa: DTZ001 - the broker's local time
    assert str(entry) == f"[2016-09-21 01:02:03,004] TRACE {line} (state.change.logger)"
