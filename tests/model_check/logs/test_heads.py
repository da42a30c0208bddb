"""Entries as they stream by: those that the specification's reader finds, of any file, and of hostile ones."""

import tarfile
from collections import Counter
from io import TextIOWrapper
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_check.logs.heads import FOREIGN, LONGEST, TORN, TRACE, Head, Odd, read_heads
from spec.logs.log_entries import LogEntry, print_time, read_entries

DATA = Path(__file__).parents[2] / "data"
PLACED = "[2016-09-21 13:05:09,418] "
ENTRY = f"{PLACED}TRACE a line (state.change.logger)"


def heads(text: str) -> tuple[list[Head | Odd], Counter[str]]:
    """What is read of a text, and what was counted."""
    counts = Counter[str]()
    return list(read_heads(text.splitlines(keepends=True), counts)), counts


@pytest.mark.takes("It reads ten files of real clusters, twice.")
def test_of_real_files_the_entries_are_those_of_the_specification() -> None:
    seen = traced = 0
    with tarfile.open(DATA / "kafka-public-logs.tar.xz") as opened:
        for member in opened:
            stream = opened.extractfile(member)
            assert stream is not None
            text = TextIOWrapper(stream, encoding="utf-8").read()
            wanted = [
                one for one in read_entries(text.splitlines(keepends=True), member.name) if isinstance(one, LogEntry)
            ]
            found, counts = heads(text)
            assert [
                (one.number, one.time, one.level, one.message, one.logger, one.cause)
                for one in found
                if isinstance(one, Head)
            ] == [
                (one.line_number, print_time(one.time), one.level, one.message, one.logger, next(iter(one.trace), ""))
                for one in wanted
            ]
            assert not [one for one in found if isinstance(one, Odd)]
            seen, traced = seen + len(found), traced + counts[TRACE]
    assert (seen, traced) == (3_341, 10_545 - 3_341)  # as `grep -c '^\['` and `wc -l` count them


LINES = st.lists(
    st.one_of(
        st.text(max_size=60).map(lambda text: "".join(text.splitlines())),
        st.sampled_from(
            [ENTRY, ENTRY[:40], ENTRY[:40] + ENTRY, "\tat a.b(C.scala:1)", "java.io.IOException: no", "", PLACED]
        ),
        st.just(ENTRY.replace("TRACE", "ERROR")),
    ),
    max_size=12,
)


@given(LINES)
def test_every_line_is_an_entry_or_counted_and_entries_are_those_of_the_specification(lines: list[str]) -> None:
    text = "".join(f"{one}\n" for one in lines)
    cut = text.split("\n")[:-1]
    found, counts = heads("".join(f"{one}\n" for one in cut))
    entries = [one for one in read_entries([f"{one}\n" for one in cut], "x") if isinstance(one, LogEntry)]
    if len(cut) == len(text.splitlines()):
        assert [(one.number, one.message) for one in found if isinstance(one, Head)] == [
            (one.line_number, one.message) for one in entries
        ]
    numbers = {one.number for one in found}
    assert len(numbers) + counts[TRACE] + sum(not one.strip() for one in cut) >= len(cut)


def test_what_two_processes_wrote_into_one_line_is_taken_apart() -> None:
    found, _ = heads(f"{ENTRY[:45]}{ENTRY}\n")
    assert [(type(one).__name__, one.number) for one in found] == [("Odd", 1), ("Head", 1)]
    assert isinstance(found[0], Odd)
    assert found[0].kind == TORN


@pytest.mark.parametrize("line", ["\x00\x01\x1b[31m", "<script>alert(1)</script>", "{}", "x" * (2 * LONGEST)])
def test_what_is_no_line_of_a_log_is_foreign(line: str) -> None:
    ((one,), _) = heads(line)
    assert isinstance(one, Odd)
    assert one.kind == FOREIGN


@pytest.mark.parametrize(
    "time", ["[2016-13-21 13:05:09,418]", "[0000-00-00 00:00:00,000]", "[2015-02-29 13:05:09,418]"]
)
def test_a_day_that_the_calendar_has_not_is_torn(time: str) -> None:
    ((one,), _) = heads(f"{time} TRACE a line (state.change.logger)")
    assert isinstance(one, Odd)
    assert one.kind == TORN


def test_settings_are_no_torn_lines() -> None:
    settings = f"{PLACED}INFO KafkaConfig values: \n\tbroker.id = 1\n (kafka.server.KafkaConfig)\n"
    found, counts = heads(settings + ENTRY)
    assert [type(one) for one in found] == [Head]
    assert counts[TRACE] == 3
