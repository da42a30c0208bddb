"""No README says what is not so: numbers are the manifest's, code is code, output is output, what is named exists."""

import re
from pathlib import Path

import pytest

from model_check.cli.verbs import VERBS
from spec.defects import DEFECTS
from spec.expectations import Expectation, plans
from spec.properties import claims
from spec.scopes import scopes
from spec.variants import DOCUMENTATION, DOCUMENTED, switch

ROOT = Path(__file__).parents[1]
FOLDERS = ("spec", "reference", "model_check", "tests")
PATHS = [
    "README.md", "CONTRIBUTING.md", "CHANGELOG.md",
    *sorted(str(one.relative_to(ROOT)) for top in FOLDERS for one in (ROOT / top).rglob("README.md")),
]  # fmt: skip
README = (ROOT / "README.md").read_text(encoding="utf-8")
SPEC = (ROOT / "spec/README.md").read_text(encoding="utf-8")

every_readme = pytest.mark.parametrize("path", PATHS)


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def rows(header: str, of: str = README) -> list[list[str]]:
    """The cells of the table that begins with this header."""
    table = of.partition(header)[2].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in table]


def blocks(language: str, of: str = README) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", of, re.DOTALL | re.MULTILINE)


def explorations() -> list[Expectation]:
    return [one for plan in plans().values() for one in plan.explorations]


def test_what_is_told_of_a_folder_is_in_it() -> None:
    assert {"README.md", "spec/README.md", "spec/lemmas/README.md", "model_check/matrix/README.md"} <= set(PATHS)


def test_the_first_readme_is_short() -> None:
    assert len(README.splitlines()) <= 200


@every_readme
def test_every_verb_that_is_named_exists(path: str) -> None:
    assert set(re.findall(r"(?:`|^\$ |^)(?:\.venv/bin/)?kcheck ([a-z]+)", text(path), re.MULTILINE)) <= set(VERBS)


def test_every_verb_is_named() -> None:
    named = [verb for row in rows("| command | answers |") for verb in re.findall(r"`kcheck (\w+)", row[0])]
    assert sorted(named) == sorted(VERBS)


@every_readme
def test_files_that_are_named_or_linked_exist(path: str) -> None:
    named = set(re.findall(r"`((?:spec|reference|model_check|tests)/[\w./]*)`", text(path)))
    linked = {target for target in re.findall(r"\]\(([^)#:]+)\)", text(path)) if not target.startswith("http")}
    here = (ROOT / path).parent
    assert [one for one in sorted(named) if not (ROOT / one).exists()] == []
    assert [one for one in sorted(linked) if not (here / one).exists()] == []


def test_the_map_names_folders() -> None:
    named = [name for row in rows("| folder | holds |") for name in re.findall(r"`([^`]*)`", row[0])]
    assert {f"{top}/" for top in FOLDERS} - set(named) == {"model_check/"}, "which is named folder by folder"
    assert [name for name in named if not (ROOT / name).is_dir()] == []


@every_readme
def test_sizes_of_scopes_are_the_manifests(path: str) -> None:
    known = {f"{one.states:,}" for one in explorations()}
    told = set(re.findall(r"(\d+(?:,\d{3})+) states(?! ->)", text(path)))
    assert told - known == set()


@every_readme
def test_claims_that_output_names_are_claimed(path: str) -> None:
    lines = [
        line for block in (*blocks("console", text(path)), *blocks("text", text(path))) for line in block.split("\n")
    ]
    named = {name for line in lines for name in re.findall(r"(?:VIOLATED +\w+ +|broken: |^  [a-e]: )(\w+_\w+)", line)}
    known = {one.name for one in claims()}
    assert named <= known | {name.partition("_")[2] for name in known}, "of a goal also without how it is claimed"


@pytest.mark.parametrize(
    "path", ["README.md", "spec/README.md", "spec/lemmas/README.md", "model_check/matrix/README.md"]
)
def test_scopes_that_are_named_exist(path: str) -> None:
    named = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", text(path)))
    assert named <= scopes().keys()


def test_the_results_are_the_manifests() -> None:
    expected = []
    for one in explorations():
        broken = {name.removeprefix("recoverable_").removeprefix("eventually_") for name in one.violated}
        counts = [f"{one.states:,}", f"{one.transitions:,}", str(one.depth), str(len(broken))]
        expected.append([one.scope, one.variant, *counts])
    shown = rows("| scope | variant |")
    assert len(shown) == 6
    assert [one for one in shown if one not in expected] == []


def test_the_defects_are_rows_of_the_specification() -> None:
    expected = [[one.id, one.title, str(one.first_depth), one.scope, one.remedy] for one in DEFECTS]
    shown = rows("| defect | what goes wrong |")
    assert len(shown) == 3
    assert [one for one in shown if one not in expected] == []


def test_what_the_documentation_has_fixed_is_what_it_says() -> None:
    shown = rows("| defect | fixed by | the words |", SPEC)
    assert {switch(name) for _, name, _ in shown} == DOCUMENTED
    for id_, name, words in shown:
        assert any(one.id == id_ and switch(name) in one.fix for one in DEFECTS)
        parts = re.findall(r'"(.*)"', words)[0].split(" [...] ")
        assert [part for part in parts if part not in DOCUMENTATION[switch(name)].replace("3.2 ", "")] == []


def test_the_action_shown_is_the_actions_text() -> None:
    (shown,) = blocks("python")
    assert shown.strip() in (ROOT / "spec/protocol/failover/steps.py").read_text(encoding="utf-8")


def test_every_part_that_acts_has_its_files_of_both_sides() -> None:
    parts = rows("| part | section |", SPEC)
    for column, here in enumerate((ROOT / "spec/protocol", ROOT / "reference"), start=2):
        named = set(re.findall(r"`([^`]*)`", "".join(row[column] for row in parts)))
        assert [name for name in sorted(named) if not (here / name).exists()] == []
    protocol = ROOT / "spec/protocol"
    declared = re.compile(r"\n@(action|controller_step|listener|locking_step)\(")
    acting = {path.relative_to(protocol) for path in protocol.rglob("*.py") if declared.search(path.read_text("utf-8"))}
    named = set(re.findall(r"`([^`]*)`", "".join(row[2] for row in parts)))
    assert len(acting) > 20
    assert {f"{path.parts[0]}/" if len(path.parts) > 1 else path.name for path in acting} <= named
