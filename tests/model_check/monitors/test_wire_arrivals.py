"""wire.jsonl: what was received and answered, by lives, and a torn end where a process was killed."""

from pathlib import Path

import pytest

from model_check.monitors.wire_arrivals import WireLog, read_wire
from spec.errors import MalformedInput
from spec.logs.wire_records import FrameAnswered, FrameReceived, ProcessStarted, WireRecord, print_record

FIRST = (
    ProcessStarted(ms=1),
    FrameReceived(ms=2, connection="a:1-{b}:2", data=b"request"),
    FrameAnswered(ms=3, connection="a:1-{b}:2", data=b"answer"),
)
SECOND = (ProcessStarted(ms=9), FrameReceived(ms=10, connection="a:1-{b}:3", data=b"again"))


def text(*records: WireRecord) -> str:
    return "".join(f"{print_record(one)}\n" for one in records)


def read_text(folder: Path, content: str) -> WireLog:
    file = folder / "broker-1" / "wire.jsonl"
    file.parent.mkdir(exist_ok=True)
    file.write_text(content, encoding="utf-8")
    return read_wire(file)


def test_a_process_may_be_killed_at_any_byte(tmp_path: Path) -> None:
    """What it has written whole is read, and so is all of the next process."""
    whole = text(*FIRST)
    for length in range(len(whole) + 1):
        kept = [one for number, one in enumerate(FIRST) if len(text(*FIRST[: number + 1])) - 1 <= length]
        torn_at = f"broker-1/wire.jsonl:{whole.count(chr(10), 0, length) + 1}"
        is_torn = length not in {len(text(*FIRST[:number])) - end for number in range(4) for end in (0, 1)}
        for after in ((), SECOND):
            read = read_text(tmp_path, whole[:length] + text(*after))
            assert [one for _, one in read.records] == [*kept, *after]
            assert set(read.torn_ends) == ({torn_at} if is_torn else set())


def test_each_record_has_its_place(tmp_path: Path) -> None:
    """A start has the line of what is torn before it."""
    read = read_text(tmp_path, text(*FIRST)[:-9] + text(*SECOND))
    assert [place.rpartition(":")[2] for place, _ in read.records] == ["1", "2", "3", "4"]
    assert read.torn_ends == ("broker-1/wire.jsonl:3",)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (text(*FIRST)[:60] + text(*SECOND[1:]), 2),
        (text(*FIRST)[:60] + "\n", 2),
        (text(FIRST[0]) + "nothing\n" + text(*SECOND), 2),
        (text(FIRST[0]) + "\n" + text(*SECOND), 2),
    ],
)
def test_a_record_that_is_torn_elsewhere_is_refused(content: str, line: int, tmp_path: Path) -> None:
    """While the process goes on; with a line's end; and before a start, with a line's end, and nothing else."""
    with pytest.raises(MalformedInput, match=f"broker-1/wire.jsonl:{line}: is no record of the wire"):
        read_text(tmp_path, content)
