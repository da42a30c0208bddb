"""Compiled modules that are kept: the same code as compiled now, and made anew for anything that it depends on."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType

import pytest

from model_check.compiled_modules import CHECKSUM, kept_code

ROOT = Path(__file__).resolve().parents[2]


def code_of(text: str) -> CodeType:
    code: CodeType = compile(text, "<a module>", "exec")
    return code


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """Ask for the code of a text in an empty cache folder; what was compiled until then is told."""
    monkeypatch.setenv("KCHECK_CACHE", str(tmp_path))
    compiled: list[str] = []

    def ask(text: str) -> list[str]:
        def make() -> CodeType:
            compiled.append(text)
            return code_of(text)

        assert kept_code("spec.one", text.encode(), make) == code_of(text)
        return compiled

    return ask


def test_what_has_not_changed_is_compiled_once(made: Callable[[str], list[str]]) -> None:
    made("one = 1")
    assert made("one = 1") == ["one = 1"]


def test_another_text_of_the_same_length_is_compiled(made: Callable[[str], list[str]]) -> None:
    made("one = 1")
    assert made("one = 2") == ["one = 1", "one = 2"]


@pytest.mark.parametrize("place", [0, CHECKSUM, -1, None])
def test_damaged_code_is_compiled_anew(made: Callable[[str], list[str]], tmp_path: Path, place: int | None) -> None:
    made("one = 1")
    file = tmp_path / "code" / "spec.one"
    content = bytearray(file.read_bytes())
    if place is None:
        del content[CHECKSUM:]
    else:
        content[place] ^= 1
    file.write_bytes(content)
    assert made("one = 1") == ["one = 1"] * 2
    assert made("one = 1") == ["one = 1"] * 2


def test_where_nothing_can_be_written_all_is_compiled(made: Callable[[str], list[str]], tmp_path: Path) -> None:
    (tmp_path / "code").write_text("no folder")
    made("one = 1")
    assert made("one = 1") == ["one = 1"] * 2


IMPORTING = """
import gc, sys
from model_check.compiled_modules import start_quickly
from model_check.verdicts.second_process import leave_to_the_first_process
sys.dont_write_bytecode = {told}
{begin}()
import spec.errors, tomllib
print(*(type(one.__loader__).__name__ for one in (spec.errors, tomllib)), spec.errors.__file__, gc.get_threshold())
"""


@pytest.mark.parametrize(
    ("begin", "told", "loader", "kept"),
    [
        ("start_quickly", True, "_Loader", ["spec.errors"]),
        pytest.param("start_quickly", False, "SourceFileLoader", [], marks=pytest.mark.slow),
        pytest.param("leave_to_the_first_process", True, "_Loader", ["spec.errors"], marks=pytest.mark.slow),
    ],
)
def test_modules_of_ours_are_kept_where_python_keeps_none(
    tmp_path: Path, begin: str, told: bool, loader: str, kept: list[str]
) -> None:
    command = [sys.executable, "-B", "-c", IMPORTING.format(begin=begin, told=told)]
    env = {"KCHECK_CACHE": str(tmp_path), "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(tmp_path / "python")}
    for _ in range(2):
        told_of = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
        assert told_of == f"{loader} SourceFileLoader {ROOT / 'spec' / 'errors.py'} (10000, 20, 20)\n"
        assert [one.name for one in (tmp_path / "code").glob("*")] == kept
