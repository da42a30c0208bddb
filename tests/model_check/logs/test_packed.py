"""Logs that are packed with gzip are read like those that are not."""

import gzip
import tarfile
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_check.logs.files import cuts_of, lines_of, starts_in, streams_of
from model_check.logs.judging import judge_logs
from model_check.logs.packed import end_of
from spec.errors import BadInput, EnvironmentFailure
from tests.model_check.logs.telling import CHANGES, REPORTS, election, log, obedience, starting, written

ROLLED = f"{CHANGES}.2016-09-21-13"
FILES = {
    f"broker-1/{ROLLED}": log(CHANGES, [*election(1, 2), *obedience(1, 1, 2, 4), *obedience(1, 1, 2, 4)]),
    f"broker-1/{CHANGES}": log(CHANGES, election(1, 3), since=100),
    f"broker-1/{REPORTS}.1": starting(1) + starting(1, 200),
}

CLEAN = log(CHANGES, [*obedience(1, 1, 2, 4), *obedience(1, 2, 3, 5)])


def packed(folder: Path, *names: str) -> Path:
    """A folder in which some files are packed."""
    for name in names:
        file = folder / name
        file.with_name(f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    return folder


@pytest.mark.parametrize("names", [[f"broker-1/{ROLLED}"], list(FILES)])
def test_what_is_packed_is_told_as_what_is_not(tmp_path: Path, names: list[str]) -> None:
    plain = judge_logs([written(tmp_path / "a" / "x", FILES)], whole=True)
    found = judge_logs([packed(written(tmp_path / "b" / "x", FILES), *names)], whole=True)
    assert str(found).replace(".gz:", ":") == str(plain)
    assert plain[0].verdict == "VIOLATED"


@given(st.lists(st.sampled_from(["a line", "another", "ä" * 40]), min_size=1), st.integers(min_value=1, max_value=300))
def test_the_pieces_of_a_packed_file_are_the_file(
    tmp_path_factory: pytest.TempPathFactory, messages: list[str], size: int
) -> None:
    text = log(CHANGES, messages)
    folder = packed(written(tmp_path_factory.mktemp("logs"), {CHANGES: text}), CHANGES)
    streams, _ = streams_of([folder])
    assert "".join("".join(lines_of(cut)) for cut in cuts_of(streams, size)) == text
    assert streams[0].files[0].size == len(text.encode())
    assert end_of(folder / f"{CHANGES}.gz", 7) == (text.encode()[-7:], len(text.encode()))


def test_a_packed_file_that_spans_many_blocks_has_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model_check.logs.packed.BLOCK", 3)
    (tmp_path / "x.gz").write_bytes(gzip.compress(b"0123456789"))
    assert end_of(tmp_path / "x.gz", 5) == (b"56789", 10)


def test_starts_in_a_packed_file_are_those_of_the_plain_one(tmp_path: Path) -> None:
    streams, _ = streams_of([written(tmp_path / "a", {REPORTS: FILES[f"broker-1/{REPORTS}.1"]})])
    (others, _) = streams_of([packed(written(tmp_path / "b", {REPORTS: FILES[f"broker-1/{REPORTS}.1"]}), REPORTS)])
    found = [*starts_in(streams[0])]
    assert found == [*starts_in(others[0])]
    assert len(found) == 2


def test_a_damaged_one_among_others_is_named_and_not_read(tmp_path: Path) -> None:
    folder = packed(written(tmp_path / "x", FILES), f"broker-1/{ROLLED}")
    file = folder / f"broker-1/{ROLLED}.gz"
    file.write_bytes(file.read_bytes()[:-9])
    (run,) = judge_logs([folder])
    assert any(f"not read: x/broker-1/{ROLLED}.gz (damaged (Compressed file ended" in one for one in run.notes)
    with pytest.raises(BadInput, match="is damaged"):
        judge_logs([file])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (f"{CHANGES}.gz", gzip.compress(CLEAN.encode())),
        (f"{CHANGES}.bak", CLEAN[: CLEAN.index("correlationId 1")].encode()),
    ],
    ids=["all of it", "its beginning"],
)
def test_a_copy_of_a_log_beside_it_is_named_and_not_read_again(tmp_path: Path, name: str, content: bytes) -> None:
    """As `gzip --keep` leaves one; all that a broker obeyed would be there twice."""
    folder = written(tmp_path / "x", {f"broker-1/{CHANGES}": CLEAN})
    (folder / f"broker-1/{name}").write_bytes(content)
    (run,) = judge_logs([folder])
    assert run.verdict == "HOLDS"
    assert f"not read: x/broker-1/{name} (a copy of x/broker-1/{CHANGES})" in run.notes
    assert not any("begin anew" in one for one in run.notes)


@pytest.mark.parametrize(
    ("mode", "name", "how"),
    [
        ("w", "logs.tar", "an archive of tar"),
        ("w:gz", "logs.tar.gz", "an archive of tar"),
        ("w:xz", "logs.tar.xz", "compressed otherwise than with gzip"),
    ],
)
def test_an_archive_of_several_logs_is_named_and_not_read_as_one(
    tmp_path: Path, mode: Literal["w", "w:gz", "w:xz"], name: str, how: str
) -> None:
    folder = written(tmp_path / "x", {f"broker-1/{CHANGES}": CLEAN})
    with tarfile.open(folder / name, mode) as archive:
        archive.add(folder / "broker-1", "broker-1")
    (run,) = judge_logs([folder])
    assert f"not read: x/{name} ({how})" in run.notes
    with pytest.raises(BadInput, match=f"{name} is {how}; unpack it first"):
        judge_logs([folder / name])


def test_a_damaged_log_is_named_before_files_that_are_none(tmp_path: Path) -> None:
    """A folder of Kafka's may have thousands of these."""
    files = {f"a-{number}.txt": "nothing" for number in range(9)}
    folder = written(tmp_path / "x", {f"broker-1/{CHANGES}": CLEAN, **files})
    for number in range(9):
        (folder / f"{number}.jar").write_bytes(b"PK\x03\x04")
    (folder / f"broker-1/{ROLLED}.gz").write_bytes(gzip.compress(gzip.compress(CLEAN.encode())))
    (run,) = judge_logs([folder])
    assert f"not read: x/broker-1/{ROLLED}.gz (compressed twice)" in run.notes
    named = ", ".join(f"x/{number}.jar" for number in range(6))
    assert f"no logs in question, and not read: {named}, and 12 more" in run.notes


def test_one_that_is_damaged_while_it_is_read_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: object) -> list[str]:
        raise EOFError("it ended")

    monkeypatch.setattr("model_check.logs.workers.lines_of", fails)
    with pytest.raises(EnvironmentFailure, match="can no longer be read"):
        judge_logs([packed(written(tmp_path, FILES), *FILES)])
