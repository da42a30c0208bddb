"""What a revision has changed: the checks that depend on it, and no others."""

from functools import partial
from pathlib import Path

import pytest

from model_check.inventory.accepted import FILE
from model_check.inventory.known_terms import KnownTerms
from model_check.inventory.sources import ROOT
from model_check.inventory.system_facts import SystemKey
from model_check.reuse import since as module
from model_check.reuse.reusable import MANIFEST, Reusable
from model_check.reuse.since import Since
from model_check.verdicts.results import Run
from model_check.verdicts.verification import Check
from spec.errors import BadInput
from spec.manifest import manifest
from spec.variants import AS_CODED
from tests.model_check.reuse.test_reuse import CHECKS, ENGINES

RULES = "spec/protocol/requests/handling.py"
PARTS = {"actions": "1", "claims": "2"}


class Known(KnownTerms):
    """Terms that are as they were, or as a test says."""

    def __init__(self, parts: dict[str, str]) -> None:
        super().__init__()
        self.parts = parts

    def found(self, key: SystemKey, built: object = None) -> dict[str, str]:  # noqa: ARG002 - none is built
        return self.parts


@pytest.fixture
def differing(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that differ from the revision, for a test to say; its inventory and manifest are today's."""
    names: list[str] = []

    def git(verb: str, *rest: str) -> str:
        match verb:
            case "diff":
                return "\0".join(names)
            case "ls-files":
                return ""
        path = ROOT / rest[0].partition(":")[2]
        text = path.read_text(encoding="utf-8")
        return "".join(_with_parts(line) for line in text.splitlines(keepends=True)) if path == FILE else text

    monkeypatch.setattr(module, "_git", git)
    return names


def _with_parts(line: str) -> str:
    """The fact of a system with the digests that `PARTS` has."""
    head, _, _ = line.partition(": ")
    parts = ", ".join(f"{part} {digest}" for part, digest in PARTS.items())
    return f"{head}: {parts}\n" if line.startswith("system ") else line


@pytest.fixture(autouse=True)
def _accepted(monkeypatch: pytest.MonkeyPatch, differing: list[str]) -> None:
    assert differing == []
    monkeypatch.setattr(module, "accepted", lambda: Since("REV")._facts)


def touched(parts: dict[str, str] = PARTS) -> set[str]:
    since = Since("REV")
    return {engine for engine in ENGINES if since.touches(CHECKS[engine], Known(parts))}


def test_where_nothing_differs_nothing_is_touched() -> None:
    assert touched() == set()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_file_touches_the_checks_that_run_it(engine: str, differing: list[str]) -> None:
    differing.append(ENGINES[engine])
    assert engine in touched()


def test_a_file_that_no_check_runs_touches_none(differing: list[str]) -> None:
    differing += ["README.md", "tests/test_readme.py", "model_check/cli/show.py"]
    assert touched() == set()


def test_a_rule_touches_who_runs_it_and_the_systems_whose_terms_are_others(differing: list[str]) -> None:
    differing.append(RULES)
    assert touched() == {"refinement", "simulation", "judge", "live", "crash matrix"}
    assert touched({**PARTS, "actions": "9"}) == set(ENGINES)


@pytest.mark.parametrize("name", ["constraints.txt", "pyproject.toml"])
def test_other_libraries_touch_everything(name: str, differing: list[str]) -> None:
    differing.append(name)
    assert touched() == set(ENGINES)


def test_another_expectation_touches_its_scope_and_what_reads_the_whole_manifest(
    differing: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    differing.append(MANIFEST.relative_to(ROOT).as_posix())
    assert touched() == {"judge", "live"}
    scope = CHECKS["explorer"].scope
    entries = dict(manifest()["scope"])
    entries[scope] = {**entries[scope], "verify": {"goals": False}}
    monkeypatch.setattr(module, "manifest", lambda: {"scope": entries})
    assert touched() == {"judge", "live"} | {one for one in ENGINES if CHECKS[one].scope == scope}


def test_a_recording_touches_its_judgement(differing: list[str]) -> None:
    differing.append(CHECKS["judge"].files[0].relative_to(ROOT).as_posix())
    assert touched() == {"judge"}


def test_a_check_that_depends_on_who_knows_what_is_always_touched() -> None:
    assert Since("REV").touches(Check("manifest", "", "", 0, partial(list)), Known(PARTS))
    of_none = Reusable("explorer", "tiny", "no such variant", 0, partial(list[Run]), system=SystemKey("tiny", AS_CODED))
    assert not Since("REV").touches(of_none, Known(PARTS))


def test_what_git_refuses_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.undo()
    with pytest.raises(BadInput, match="--since: git diff fails: "):
        assert Since("no-such-revision").files
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BadInput, match="there is none on the PATH"):
        assert Since("HEAD").files


def test_what_is_installed_has_no_revisions_to_ask_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it lies within somebody else's checkout, that has some."""
    monkeypatch.undo()
    monkeypatch.setattr(module, "ROOT", ROOT / "tests")
    with pytest.raises(BadInput, match=f"--since is for a checkout of this repository, which {ROOT}/tests is not"):
        assert Since("HEAD").files
