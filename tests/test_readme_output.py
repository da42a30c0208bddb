"""What a README shows a command print, it prints."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_readme import README, ROOT, blocks, text


def printed(*arguments: str, cwd: Path, code: int) -> list[str]:
    """The lines that `kcheck` prints in a folder, where it exits with this code."""
    command = [sys.executable, "-c", "from model_check.cli import main; main()", *arguments]
    environment = {**os.environ, "PYTHONPATH": f"{cwd}{os.pathsep}{ROOT}", "KCHECK_CACHE": str(cwd / "cache")}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout.splitlines()


def is_within(shown: list[str], lines: list[str]) -> bool:
    """Whether the lines shown are among all lines, in their order."""
    rest = iter(lines)
    return all(one in rest for one in shown)


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the specification to which the README's diff was applied."""
    copy = tmp_path_factory.mktemp("planted")
    shutil.copytree(ROOT / "spec", copy / "spec", ignore=shutil.ignore_patterns("__pycache__"))
    (diff,) = blocks("diff")
    old, new = (line[1:] for line in diff.splitlines())
    path = copy / "spec/protocol/requests/handling.py"
    content = path.read_text(encoding="utf-8")
    assert content.count(old) == 1
    path.write_text(content.replace(old, new), encoding="utf-8")
    return copy


@pytest.mark.takes("A process explores a scope with all of its claims and goals.")
def test_the_planted_fault_is_found_with_the_output_that_is_shown(planted: Path) -> None:
    (block,) = blocks("console")
    command, *shown = block.splitlines()
    assert len(shown) == 14
    assert is_within(shown, printed(*command.removeprefix("$ kcheck ").split(), cwd=planted, code=1))


@pytest.mark.slow
def test_a_fix_is_tried_with_the_output_that_is_shown(tmp_path: Path) -> None:
    (shown,) = [block.splitlines() for block in blocks("text") if "beside" in block]
    command = re.findall(r"the last lines of `kcheck ([^`]*)` are", README)[0].split()
    assert printed(*command, cwd=tmp_path, code=1)[-3:] == shown


@pytest.mark.slow
def test_the_crash_matrix_is_the_one_that_is_shown(tmp_path: Path) -> None:
    (block,) = blocks("console", text("model_check/matrix/README.md"))
    command, *shown = block.splitlines()
    assert is_within(shown, printed(*command.removeprefix("$ kcheck ").split(), cwd=tmp_path, code=0))
