"""A revision as a folder: what is in it, what it leaves alone, and what is refused."""

import subprocess
from pathlib import Path

import pytest

from model_check.inventory.sources import ROOT
from model_check.revisions.revision import WORKING_TREE, commit_of, laid_out, other_pins, pins
from spec.errors import BadInput, EnvironmentFailure
from tests.model_check.revisions.repository import committed, content, git, needs_git

pytestmark = needs_git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with little in it: two commits, and an edit that nobody has committed."""
    for name in ("spec", "reference", "model_check"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "text.py").write_text("first\n")
    git(tmp_path, "init", "--quiet")
    committed(tmp_path, "first")
    (tmp_path / "spec" / "text.py").write_text("second\n")
    committed(tmp_path, "second")
    (tmp_path / "spec" / "text.py").write_text("an edit\n")
    return tmp_path


def test_a_copy_has_the_files_of_its_commit_and_is_gone_afterwards(repository: Path) -> None:
    before = content(repository)
    with laid_out("first", repository) as revision:
        assert (revision.folder / "spec" / "text.py").read_text() == "first\n"
        assert (revision.folder / "model_check" / "revisions" / "inside" / "__main__.py").is_file()
        assert content(repository) == before
    assert not revision.folder.exists()
    assert content(repository) == before
    assert revision.name == f"first ({git(repository, 'rev-parse', 'first')[:8]})"


def test_without_a_name_it_is_the_working_tree_where_it_stands(repository: Path) -> None:
    with laid_out(None, repository) as revision:
        assert (revision.name, revision.folder) == (WORKING_TREE, repository)
    assert (repository / "spec" / "text.py").read_text() == "an edit\n"


@pytest.mark.parametrize(
    "name", ["", "-h", "--all", "no-such-thing", "first..second", "first:spec", "a\0b", "\x1b[31m"]
)
def test_what_is_no_revision_is_refused(name: str, repository: Path) -> None:
    with pytest.raises(BadInput) as refused:
        commit_of(name, repository)
    assert len(str(refused.value).splitlines()) == 1
    assert "\x1b" not in str(refused.value)


def test_what_is_no_checkout_of_ours_has_no_revisions(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Nor has what was installed within somebody else's checkout, of which git would tell."""
    for folder in (tmp_path_factory.mktemp("installed"), repository / "spec"):
        with pytest.raises(BadInput, match=f"a checkout of this repository, which {folder} is not; run it in one"):
            commit_of("HEAD", folder)


def test_without_git_it_is_said(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(BadInput, match="there is none on the PATH"):
        commit_of("HEAD", repository)


def test_a_revision_from_before_the_specification_is_refused(repository: Path) -> None:
    git(repository, "rm", "--quiet", "-r", "--cached", "reference")
    git(repository, "commit", "--quiet", "--message", "third")
    with pytest.raises(BadInput, match="HEAD has no folder reference"), laid_out("HEAD", repository):
        pass


def test_pins_are_read_line_by_line() -> None:
    assert pins("# a comment\nnumpy==1.2  # why\n\nz3-solver == 4.1\nodd\n") == {"numpy": "1.2", "z3-solver": "4.1"}


def test_only_other_versions_of_what_computes_ask_for_an_environment() -> None:
    ours = (ROOT / "constraints.txt").read_text("utf-8")
    number = pins(ours)["numba"]
    assert other_pins(ours) == []
    assert other_pins(ours.replace(f"numba=={number}", "numba==0.1")) == ["numba==0.1"]
    assert other_pins(ours.replace(f"rich=={pins(ours)['rich']}", "rich==0.1")) == []


@pytest.mark.slow  # it makes a virtual environment
def test_where_no_environment_can_be_made_it_is_said(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    (repository / "constraints.txt").write_text("numba==0.1\n")
    committed(repository, "older")
    with pytest.raises(EnvironmentFailure, match=r"older wants numba==0\.1") as refused, laid_out("older", repository):
        pass
    assert "no environment can be made for it" in str(refused.value)


def test_the_repository_is_read_and_nothing_else(repository: Path) -> None:
    """No worktree is noted down, and no index, as `git status` would have it."""
    with laid_out("first", repository):
        listed = subprocess.run(["git", "worktree", "list"], cwd=repository, capture_output=True, text=True, check=True)
        assert len(listed.stdout.splitlines()) == 1
