"""Copies of a checkout: what is changed there is changed there only, at once, and goes again."""

import subprocess
import sys
from pathlib import Path

import pytest

from model_check.mutation.trees import ROOT, checkout_files, copied
from spec.errors import BadInput
from tests.model_check.mutation.small_checkout import FILES, small_checkout


def test_a_copy_has_what_git_tracks_or_would_and_goes_at_the_end(tmp_path: Path) -> None:
    root = small_checkout(tmp_path)
    (root / ".gitignore").write_text("junk.py\n", encoding="utf-8")
    (root / "junk.py").write_text("", encoding="utf-8")
    files = checkout_files(root)
    assert files == sorted([*FILES, ".gitignore"])
    with copied(files, root) as copy:
        folder = copy.folder
        assert {str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file()} == set(files)
    assert not folder.exists()


def test_python_sees_each_text_though_it_is_as_long_and_as_old_as_the_last(tmp_path: Path) -> None:
    root = small_checkout(tmp_path)
    asked = [sys.executable, "-c", "import model_check.least as one; print(one.least(1, 2))"]

    def least(folder: Path) -> str:
        done = subprocess.run(asked, cwd=folder, capture_output=True, text=True, check=True, env={"PYTHONPATH": "."})
        return done.stdout.strip()

    with copied(checkout_files(root), root) as copy:
        said = [least(copy.folder)]
        for _ in range(3):
            with copy.changed("model_check/least.py", FILES["model_check/least.py"].replace("<", ">").encode()):
                said.append(least(copy.folder))
            said.append(least(copy.folder))
    assert said == ["1", "2", "1", "2", "1", "2", "1"]
    assert (root / "model_check/least.py").read_text("utf-8") == FILES["model_check/least.py"]


def test_what_is_no_checkout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="clone the repository"):
        checkout_files(tmp_path)
    assert "model_check/mutation/trees.py" in checkout_files(ROOT)
