"""Files are written together, or none of them is."""

import os
from pathlib import Path

import pytest

from model_check.verdicts.whole_files import refuse_unless_writable, write_files
from spec.errors import BadInput, EnvironmentFailure


def test_what_cannot_be_written_leaves_all_as_it_was(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "nowhere" / "second"
    first.write_text("before", "utf-8")
    with pytest.raises(EnvironmentFailure, match="second: cannot be written: there is no folder"):
        write_files({first: "after", second: "after"})
    assert [(one.name, one.read_text("utf-8")) for one in tmp_path.iterdir()] == [("first", "before")]


def test_what_can_be_written_is(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    write_files({first: "1", second: "ü"})
    assert sorted((one.name, one.read_text("utf-8")) for one in tmp_path.iterdir()) == [("first", "1"), ("second", "ü")]


def test_a_link_stays_and_so_does_who_may_read(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("before", "utf-8")
    target.chmod(0o640)
    link.symlink_to(target)
    write_files({link: "after"})
    assert (link.is_symlink(), target.read_text("utf-8"), target.stat().st_mode & 0o777) == (True, "after", 0o640)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["link", "target"]


def test_what_is_no_regular_file_is_refused_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, told in (
        (pipe, "it is no regular file"),
        (tmp_path, "it is a folder"),
        (pipe / "x", "there is no folder"),
    ):
        with pytest.raises(BadInput, match=told):
            refuse_unless_writable(path)
        with pytest.raises(EnvironmentFailure, match=told):
            write_files({path: "text"})
    assert pipe.is_fifo()
