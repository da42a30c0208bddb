"""Goals that are kept: found by the next proof of the scope, and not where anything is wrong with them."""

from pathlib import Path

import pytest

from model_check.inventory import sources
from model_check.proofs.shown_goals import Shown
from model_check.reuse import kept_goals
from model_check.reuse.environment import environment
from model_check.reuse.kept_goals import OF_EACH, KeptGoals, forget_goals
from model_check.reuse.sealed_files import read_sealed, write_sealed
from tests.model_check.reuse.test_kept_results import DAMAGES


def digests(*numbers: int) -> frozenset[bytes]:
    return frozenset(number.to_bytes(16, "big") for number in numbers)


SHOWN = Shown(digests(1, 2), digests(3, 4, 5))


@pytest.fixture(autouse=True)
def loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sources count as loaded."""
    monkeypatch.setattr(kept_goals, "are_as_loaded", lambda: True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "goals"


def kept(folder: Path, scope: str = "proof", variant: str = "AS_CODED") -> KeptGoals:
    return KeptGoals(scope, variant, folder)


def test_what_one_variant_shows_every_variant_of_the_scope_finds_and_no_other_scope(folder: Path) -> None:
    assert kept(folder).earlier() == []
    kept(folder).put(SHOWN)
    assert kept(folder).earlier() == kept(folder, variant="FENCED").earlier() == [SHOWN]
    assert kept(folder, "proof_creation").earlier() == []
    other = Shown(SHOWN.hypotheses, digests(6))
    kept(folder, variant="FENCED").put(other)
    assert sorted(kept(folder).earlier(), key=lambda one: len(one.goals)) == [other, SHOWN]


def test_another_line_of_the_engine_leaves_nothing_of_before(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in ("goal_solver", "obligations", "shown_goals", "induction"):
        kept(folder).put(SHOWN)
        assert kept(folder).earlier() == [SHOWN]
        changed = f"model_check/proofs/{path}.py"
        edited = {**sources.sources(), changed: sources.sources()[changed] + b"# another line\n"}
        monkeypatch.setattr(sources, "sources", lambda edited=edited: edited)
        assert kept(folder).earlier() == []


def test_another_version_of_a_library_leaves_nothing_of_before(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept(folder).put(SHOWN)
    other = environment().replace("library z3-solver ", "library z3-solver 9")
    assert other != environment()
    monkeypatch.setattr(kept_goals, "environment", lambda: other)
    assert kept(folder).earlier() == []


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_goals_count_as_none(folder: Path, damage: object) -> None:
    kept(folder).put(SHOWN)
    (file,) = folder.iterdir()
    content = file.read_bytes()
    file.write_bytes(damage(content) if callable(damage) else b"")
    if file.read_bytes() == content:  # what does not occur in it
        file.write_bytes(content.replace(b"goals", b"goalz"))
    assert kept(folder).earlier() == []
    kept(folder).put(SHOWN)
    assert kept(folder).earlier() == [SHOWN]


@pytest.mark.parametrize(
    "entry", [None, [], {}, "text", {"hypotheses": "", "goals": ""}, {"engine": "", "hypotheses": "", "goals": ""}]
)
def test_what_is_sound_but_none_of_these_counts_as_none(folder: Path, entry: object) -> None:
    kept(folder).put(SHOWN)
    (file,) = folder.iterdir()
    write_sealed(file, entry)
    assert kept(folder).earlier() == []


def test_what_is_no_digest_counts_as_none(folder: Path) -> None:
    kept(folder).put(SHOWN)
    (file,) = folder.iterdir()
    write_sealed(file, {**read_sealed(file), "goals": "no digits"})
    assert kept(folder).earlier() == []


def test_what_was_shown_while_files_were_edited_is_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_goals, "are_as_loaded", lambda: False)
    kept(folder).put(SHOWN)
    assert not folder.exists()


def test_of_a_scope_only_the_latest_proofs_are_kept(folder: Path) -> None:
    for number in range(OF_EACH + 3):
        kept(folder).put(Shown(digests(number), digests(number)))
    kept(folder, "proof_creation").put(SHOWN)
    assert len(kept(folder).earlier()) == OF_EACH
    assert kept(folder, "proof_creation").earlier() == [SHOWN]


def test_all_can_be_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCHECK_CACHE", str(tmp_path))
    forget_goals()
    KeptGoals("proof", "AS_CODED").put(SHOWN)
    assert KeptGoals("proof", "AS_CODED").earlier() == [SHOWN]
    forget_goals()
    assert KeptGoals("proof", "AS_CODED").earlier() == []
