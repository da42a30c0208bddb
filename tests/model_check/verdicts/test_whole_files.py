"""Files are written together, or none of them is."""

from pathlib import Path

import pytest

from model_check.verdicts.whole_files import write_files
from spec.errors import EnvironmentFailure


def test_what_cannot_be_written_leaves_all_as_it_was(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "nowhere" / "second"
    first.write_text("before", "utf-8")
    with pytest.raises(EnvironmentFailure, match="second: cannot be written: No such file or directory; name"):
        write_files({first: "after", second: "after"})
    assert [(one.name, one.read_text("utf-8")) for one in tmp_path.iterdir()] == [("first", "before")]


def test_what_can_be_written_is(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    write_files({first: "1", second: "ü"})
    assert sorted((one.name, one.read_text("utf-8")) for one in tmp_path.iterdir()) == [("first", "1"), ("second", "ü")]
