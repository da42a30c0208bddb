"""wire.jsonl: what was received and answered, by lives, and a torn end where a process was killed."""

from pathlib import Path

import pytest

from model_check.recordings.recorded_wire import WireLog, read_wire
from spec.errors import MalformedInput
from spec.logs.wire_records import FrameAnswered, FrameReceived, ProcessStarted, print_record

FIRST = (
    ProcessStarted(ms=1),
    FrameReceived(ms=2, connection="a:1-b:2", data=b"request"),
    FrameAnswered(ms=3, connection="a:1-b:2", data=b"answer"),
)
SECOND = (ProcessStarted(ms=9), FrameReceived(ms=10, connection="a:1-b:3", data=b"again"))


def text(*records: ProcessStarted | FrameReceived | FrameAnswered) -> str:
    return "".join(f"{print_record(one)}\n" for one in records)


def read_text(folder: Path, content: str) -> WireLog:
    file = folder / "broker-1" / "wire.jsonl"
    file.parent.mkdir(exist_ok=True)
    file.write_text(content, encoding="utf-8")
    return read_wire(file)


def test_a_file_that_is_not_there_has_no_records(tmp_path: Path) -> None:
    assert read_wire(tmp_path / "wire.jsonl") == WireLog((), ())


def test_a_process_may_be_killed_at_any_byte(tmp_path: Path) -> None:
    """What it has written whole is read, and so is all of the next process."""
    whole = text(*FIRST)
    for length in range(len(whole) + 1):
        kept = tuple(one for number, one in enumerate(FIRST) if len(text(*FIRST[: number + 1])) - 1 <= length)
        is_torn = length not in {len(text(*FIRST[:number])) - end for number in range(4) for end in (0, 1)}
        torn = (f"broker-1/wire.jsonl:{whole.count(chr(10), 0, length) + 1}",) if is_torn else ()
        assert read_text(tmp_path, whole[:length]) == WireLog(kept, torn)
        assert read_text(tmp_path, whole[:length] + text(*SECOND)) == WireLog((*kept, *SECOND), torn)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (text(*FIRST)[:60] + text(*SECOND[1:]), 2),
        (text(*FIRST)[:60] + "\n", 2),
        (text(FIRST[0]) + "nothing\n" + text(*SECOND), 2),
    ],
)
def test_a_record_that_is_torn_elsewhere_is_refused(content: str, line: int, tmp_path: Path) -> None:
    """While the process goes on; with a line's end; and before a start, with a line's end."""
    with pytest.raises(MalformedInput, match=f"broker-1/wire.jsonl:{line}: is no record of the wire"):
        read_text(tmp_path, content)
