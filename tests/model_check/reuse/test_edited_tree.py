"""A copy of the sources, in which a line of each kind is changed: exactly those checks run again that depend on it.

Everything is real here: the copy is run by processes of its own, which build, explore, prove, replay and judge.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from model_check.inventory.sources import PACKAGES, ROOT

PROGRAM = """
import sys
from itertools import chain
from model_check.checks import gate
from model_check.reuse.reuse import Reuse
from spec.expectations import plans

every = {one.identity: one for one in chain(*gate.checks(list(plans().values()), whole=True, deep=False))}
how = Reuse()
for name in sys.argv[1:]:
    ((check, kept),) = how.earlier([every[name]])
    runs = [] if kept else list(how.made(check).make())
    is_kept = kept or any(run.made for run in runs)
    print(name, "kept" if is_kept else "made", {str(run.verdict) for run in runs}, sep=";")
"""
"""Make or take some checks, and say which."""

CHECKS = {
    "explore": "explorer bounce AS_CODED",
    "defects": "D12 bounce AS_CODED",
    "prove": "induction purgatory AS_CODED",
    "refine": "refinement lost_isr_write AS_CODED",
    "judge": "judge 13-D1-epoch-write-connectionloss AS_CODED",
    "manifest": "manifest",
}

Edit = Callable[[Path], None]


def line_in(path: str) -> Edit:
    """A comment more."""

    def edit(tree: Path) -> None:
        with (tree / path).open("a", encoding="utf-8") as file:
            file.write("# another line\n")

    return edit


def other(path: str, old: str, new: str) -> Edit:
    """Other words at one place."""

    def edit(tree: Path) -> None:
        text = (tree / path).read_text(encoding="utf-8")
        assert text.count(old) == 1
        (tree / path).write_text(text.replace(old, new), encoding="utf-8")

    return edit


def library(name: str) -> Edit:
    """One more library, or another version of one."""

    def edit(tree: Path) -> None:
        folder = tree / f"{name}-99.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 99.0\n", encoding="utf-8")

    return edit


ALL = frozenset(CHECKS)
RUN_RULES = frozenset({"refine", "judge"})
"""What runs the specification's text, not only its terms."""

EDITS: dict[str, tuple[Edit, frozenset[str]]] = {
    "the search": (line_in("model_check/explicit_state/search.py"), frozenset({"explore", "defects", "refine"})),
    "the kernel": (line_in("model_check/kernel/gates.py"), frozenset({"explore", "defects", "refine"})),
    "defects": (line_in("model_check/checks/defects.py"), frozenset({"defects"})),
    "induction": (line_in("model_check/proofs/induction.py"), frozenset({"prove"})),
    "the replay": (line_in("model_check/refinement/lockstep.py"), frozenset({"refine"})),
    "the reference": (line_in("reference/controller/controller.py"), frozenset({"refine"})),
    "the judge": (line_in("model_check/judging/search.py"), frozenset({"judge"})),
    "the reader of logs": (line_in("spec/logs/state_change_lines.py"), RUN_RULES | {"manifest"}),
    "the language": (line_in("spec/language/terms.py"), ALL),
    "a comment at a rule": (line_in("spec/protocol/requests/handling.py"), RUN_RULES | {"manifest"}),
    "a comment at the manifest": (line_in("spec/manifest.toml"), frozenset({"judge", "manifest"})),
    "a library": (library("numba"), ALL),
}
"""What is edited, and the checks that must run again; what runs a rule's text does so also after a comment."""


class Tree:
    """The copy."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in PACKAGES:
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "long"))
        shutil.copy(ROOT / "pyproject.toml", folder)

    def made(self) -> set[str]:
        """The checks that are made, not taken from earlier; each as expected."""
        env = {**os.environ, "PYTHONPATH": str(self.folder), "KCHECK_CACHE": str(self.folder / ".kcheck")}
        command = [sys.executable, "-c", PROGRAM, *CHECKS.values()]
        time.sleep(0.1)  # a process that begins with an edit, as clocks have it, keeps nothing
        done = subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        said = re.findall(r"^(.*);(made|kept);(.*)$", done.stdout, re.MULTILINE)
        assert {verdicts for _, how, verdicts in said if how == "made"} <= {"{'HOLDS'}"}, done.stdout
        names = {check: kind for kind, check in CHECKS.items()}
        assert [name for name, *_ in said] == list(CHECKS.values())
        return {names[name] for name, how, _ in said if how == "made"}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """A copy in which everything was made once, and nothing is made again."""
    made = Tree(tmp_path_factory.mktemp("tree"))
    assert made.made() == ALL
    assert made.made() == set()
    return made


@pytest.mark.slow
@pytest.mark.parametrize("name", EDITS)
def test_exactly_what_depends_on_an_edit_is_made_again(name: str, tree: Tree) -> None:
    edit, again = EDITS[name]
    edit(tree.folder)
    assert tree.made() == again


@pytest.mark.slow
def test_another_rule_is_explored_again_and_is_not_as_accepted(tree: Tree) -> None:
    """The brokers' fence, relaxed as in the README: the terms of `bounce` are others then."""
    other(
        "spec/protocol/requests/handling.py",
        "newer = flag(state.leader_epoch > known.leader_epoch)",
        "newer = flag(state.leader_epoch >= known.leader_epoch)",
    )(tree.folder)
    with pytest.raises(AssertionError, match=r"explorer bounce AS_CODED;made;.*VIOLATED"):
        tree.made()
