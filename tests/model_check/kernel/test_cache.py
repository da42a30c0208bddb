"""The cache folder: where it is, and whether anything can be kept there."""

from pathlib import Path

import pytest

from model_check.kernel.cache import cache_folder, can_keep, keep


def test_it_is_in_the_working_directory_unless_another_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCHECK_CACHE", "")
    assert cache_folder() == Path(".kcheck")
    monkeypatch.setenv("KCHECK_CACHE", "/elsewhere")
    assert cache_folder() == Path("/elsewhere")


def test_a_folder_that_can_be_written_is_made(tmp_path: Path) -> None:
    assert can_keep(tmp_path / "a" / "b")
    assert list((tmp_path / "a" / "b").iterdir()) == []
    (tmp_path / "file").touch()
    assert not can_keep(tmp_path / "file")
    assert not can_keep(tmp_path / "file" / "below")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a folder that nobody can write to, root neither")
def test_what_cannot_be_kept_is_done_without(tmp_path: Path) -> None:
    assert not can_keep(Path("/proc/nowhere"))
    keep(Path("/proc/nowhere/file"), b"content")
    keep(tmp_path / "a" / "file", b"content")
    assert (tmp_path / "a" / "file").read_bytes() == b"content"
