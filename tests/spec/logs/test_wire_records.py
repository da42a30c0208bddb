"""The records of the wire: what is written is read again, and what is none is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.errors import MalformedInput
from spec.logs.wire_records import FrameAnswered, FrameReceived, ProcessStarted, WireRecord, parse_record, print_record
from tests.strategies import characters

MS = st.integers(0, 1 << 50)
RECORDS = st.one_of(
    st.builds(ProcessStarted, ms=MS),
    st.builds(FrameReceived, ms=MS, connection=st.text(characters), data=st.binary()),
    st.builds(FrameAnswered, ms=MS, connection=st.text(characters), data=st.binary()),
)


@given(RECORDS)
def test_what_is_written_is_read_again(record: WireRecord) -> None:
    assert parse_record(print_record(record)) == record


def test_a_record_reads_as_its_format_page_says() -> None:
    frame = FrameReceived(ms=7, connection="127.0.0.1:9092-127.0.0.1:5", data=b"\0\4\0\0")
    assert print_record(frame) == '{"ms":7,"connection":"127.0.0.1:9092-127.0.0.1:5","received":"AAQAAA=="}'
    assert print_record(ProcessStarted(ms=8)) == '{"ms":8,"started":true}'


@pytest.mark.parametrize(
    "line",
    [
        "{torn",
        "7",
        '{"started":true}',
        '{"ms":1e999,"started":true}',
        '{"ms":1.7,"started":true}',
        '{"ms":"17","started":true}',
        '{"ms":true,"started":true}',
        '{"ms":1,"connection":5,"received":"AAQ="}',
        "[" * 100_000,
        '{"ms":1,"connection":"c"}',
        '{"ms":1,"connection":"c","sent":"AAQ="}',
        '{"ms":1,"connection":"c","received":"A"}',
        '{"ms":1,"connection":"c","received":"AAQ=","answered":"AAQ="}',
    ],
)
def test_what_is_no_record_is_refused(line: str) -> None:
    with pytest.raises(MalformedInput, match="is no record of the wire, with ms and started, or connection and"):
        parse_record(line, "broker-1/wire.jsonl:3")
