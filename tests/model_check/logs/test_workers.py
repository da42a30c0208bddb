"""The answer is the same however files are cut, and whoever reads the pieces."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_check.logs import files
from model_check.logs.files import Cut, FileStream, cuts_of, lines_of, streams_of
from model_check.logs.judging import judge_logs
from model_check.logs.reading import Piece
from model_check.logs.workers import pieces_of
from model_check.verdicts.results import Run
from tests.model_check.unpacking import RECORDINGS, recording

pytestmark = RECORDINGS

NAME = "12-D1-epoch-write-delayed"


def read_in_pieces(streams: list[FileStream], size: int, workers: int) -> Iterator[tuple[Cut, Piece]]:
    """The pieces of some logs, of so many bytes."""
    return pieces_of(cuts_of(streams, size), workers)


def judged(folder: Path, size: int, workers: int = 1) -> list[Run]:
    """What comes of a folder that is read in pieces of so many bytes."""
    streams, _ = streams_of([folder])
    return judge_logs([folder], reader=lambda _: read_in_pieces(streams, size, workers), whole=True)


@pytest.mark.parametrize("size", [1, 1000, 20_000])
def test_pieces_of_any_size_make_the_same_answer(size: int) -> None:
    assert judged(recording(NAME), size) == judge_logs([recording(NAME)], whole=True)


@pytest.mark.takes("It starts two processes.")
def test_so_do_several_processes() -> None:
    assert judged(recording(NAME), 5000, workers=2) == judge_logs([recording(NAME)], whole=True)


LINES = st.lists(
    st.sampled_from(
        [
            "[2016-09-21 13:05:09,418] TRACE a line (state.change.logger)\n",
            "[2016-09-21 13:05:09,418] ERROR a line (state.change.logger)\n",
            "java.io.IOException: no\n",
            "\tat a.b(C.scala:1)\n",
            "torn [2016-09-21 13:05:09,418] TRACE a line (state.change.logger)\r\n",
            "\n",
            "ä" * 50 + "\n",
        ]
    ),
    min_size=1,
    max_size=30,
)


@given(LINES, st.integers(min_value=1, max_value=400), st.booleans())
def test_the_pieces_of_a_file_are_the_file_and_begin_at_entries(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], size: int, ended: bool
) -> None:
    file = tmp_path_factory.mktemp("logs") / "state-change.log"
    text = "".join(lines) if ended else "".join(lines).removesuffix("\n")
    file.write_bytes(text.encode())
    streams, _ = streams_of([file])
    pieces = ["".join(lines_of(cut)) for cut in cuts_of(streams, size)]
    assert "".join(pieces) == text
    assert all(one.startswith("[2016-09-21") for one in pieces[1:])


def test_of_a_line_without_end_the_beginning_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LONGEST", 100)
    (tmp_path / "x.log").write_bytes(b"a" * 1000 + b"\nb\n" + b"c" * 99)
    (cut,) = cuts_of(streams_of([tmp_path / "x.log"])[0])
    assert list(lines_of(cut)) == ["a" * 100, "b\n", "c" * 99]
