"""`kcheck --version`: the revision of the checkout, and what it runs on."""

import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import CliRunner

from model_check.cli import version as module
from model_check.cli.verbs import app


def test_it_names_the_revision_and_all_that_a_verdict_depends_on() -> None:
    result = CliRunner().invoke(app, ["--version"])
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].startswith(f"kcheck {version('kafka-controller-spec')} (")
    assert [line.split()[0] for line in lines] == ["kcheck", "Python", "z3", "Spark", "numba", "Java", "Files"]
    assert (Path(lines[-1].rpartition(" in ")[2]) / "model_check/RECORDING.md").is_file()
    assert f"z3 {version('z3-solver')}" in lines
    assert f"Spark {version('pyspark')}" in lines


def test_a_changed_checkout_says_so_and_what_is_none_says_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROOT", tmp_path)
    assert module.revision() == "no git checkout"
    for command in (
        ["init", "-q"],
        ["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "First"],
    ):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
    clean = module.revision()
    assert clean.startswith("revision ")
    monkeypatch.setattr(module, "ROOT", tmp_path / "site-packages")
    (tmp_path / "site-packages").mkdir()
    assert module.revision() == "no git checkout", "what is installed below it is no part of somebody's checkout"
    monkeypatch.setattr(module, "ROOT", tmp_path)
    (tmp_path / "new").touch()
    assert module.revision() == f"{clean} and changes"


def test_what_is_not_there_is_said_to_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert "Java not found\n" in module.versions()
    assert module.revision() == "no git checkout"
