"""The README says nothing that is not so: its numbers are the manifest's, its code is code, its output is output."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from model_check.cli.verbs import VERBS
from spec.defects import DEFECTS
from spec.expectations import plans

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def rows(header: str) -> list[list[str]]:
    """The cells of the table that begins with this header."""
    table = README.partition(header)[2].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in table]


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def test_every_verb_that_is_named_exists() -> None:
    assert set(re.findall(r"`(?:\.venv/bin/)?kcheck (\w+)", README)) <= set(VERBS)


def test_the_results_are_the_manifests() -> None:
    expected = []
    for plan in plans().values():
        for one in plan.explorations:
            broken = sorted({name.removeprefix("recoverable_").removeprefix("eventually_") for name in one.violated})
            counts = [f"{one.states:,}", f"{one.transitions:,}", str(one.depth)]
            expected.append([plan.scope, one.variant, *counts, ", ".join(broken) or "none"])
    assert rows("| scope | variant |") == expected
    examples = rows("| for example | variant |")
    assert len(examples) > 5
    assert [one for one in examples if one not in expected] == []


def test_the_defects_are_the_rows_of_the_specification() -> None:
    expected = [[one.id, one.title, str(one.first_depth), one.scope, one.remedy] for one in DEFECTS]
    assert rows("| defect | what goes wrong |") == expected


def test_the_action_shown_is_the_actions_text() -> None:
    (shown,) = blocks("python")
    assert shown.strip() in (ROOT / "spec/protocol/failover/steps.py").read_text(encoding="utf-8")


def test_files_that_are_named_exist() -> None:
    named = set(re.findall(r"`((?:spec|reference|model_check|tests)/[\w./]*)`", README))
    assert named
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_every_part_that_acts_has_its_files_of_both_sides() -> None:
    parts = rows("| part | section |")
    for column, here in enumerate((ROOT / "spec/protocol", ROOT / "reference"), start=2):
        named = set(re.findall(r"`([^`]*)`", "".join(row[column] for row in parts)))
        assert [name for name in sorted(named) if not (here / name).exists()] == []
    protocol = ROOT / "spec/protocol"
    acting = {path.relative_to(protocol) for path in protocol.rglob("*.py") if "\n@action(" in path.read_text("utf-8")}
    named = set(re.findall(r"`([^`]*)`", "".join(row[2] for row in parts)))
    assert len(acting) > 20
    assert {f"{path.parts[0]}/" if len(path.parts) > 1 else path.name for path in acting} <= named


@pytest.fixture(scope="module")
def planted_output(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What `kcheck explore tiny` prints of a copy of the specification to which the README's diff was applied."""
    copy = tmp_path_factory.mktemp("planted")
    shutil.copytree(ROOT / "spec", copy / "spec", ignore=shutil.ignore_patterns("__pycache__"))
    (diff,) = blocks("diff")
    old, new = (line[1:] for line in diff.splitlines())
    path = copy / "spec/protocol/requests/handling.py"
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    command = [sys.executable, "-c", "from model_check.cli import main; main()", "explore", "tiny"]
    environment = {**os.environ, "PYTHONPATH": f"{copy}{os.pathsep}{ROOT}", "KCHECK_CACHE": str(copy / "cache")}
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    return done.stdout


def test_the_planted_fault_is_found_with_the_output_that_is_shown(planted_output: str) -> None:
    lines = planted_output.splitlines()
    shown = [line for block in blocks("text") for line in block.splitlines() if line.strip()]
    assert len(shown) == 14
    assert [line for line in shown if line not in lines] == []
