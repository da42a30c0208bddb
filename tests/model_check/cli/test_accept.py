"""`kcheck accept` alone writes the inventory, and says in words what that changes."""

from pathlib import Path
from typing import Any

import pytest

from model_check.cli import accept as verb
from model_check.inventory import accepted as store
from model_check.inventory import inventory_check
from model_check.inventory.accepted import accepted
from tests.model_check.cli.conftest import Kcheck


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An inventory of its own, without the terms of the whole protocol, which no test changes."""
    monkeypatch.setattr(store, "FILE", tmp_path / "inventory.txt")
    monkeypatch.setattr(inventory_check, "term_facts", lambda: iter(()))
    return store.FILE


def test_what_is_checked_is_written_and_then_nothing_has_changed(kcheck: Kcheck, file: Path) -> None:
    first = kcheck("accept")
    assert first.exit_code == 0, first.output
    assert {"system solo AS_CODED", "system pair AS_CODED", "scope pair / verified"} <= accepted().keys()
    assert "\nsystem solo AS_CODED\n  added: " in first.stdout
    written = file.read_text()
    assert kcheck("accept").stdout == "inventory.txt: nothing changed\n"
    assert file.read_text() == written


def test_what_changed_is_told_in_words(kcheck: Kcheck, file: Path, manifest: dict[str, Any]) -> None:
    kcheck("accept")
    assert file.exists()
    manifest["pair"]["verify"]["deep"] = True
    assert kcheck("accept").stdout.splitlines() == [
        "inventory.txt: 2 changed",
        "gate explorer pair AS_CODED",
        "  changed: every day -> with --deep",
        "scope pair",
        "  changed: verified: every day -> with --deep",
    ]


def test_systems_of_other_scopes_are_left_alone(
    kcheck: Kcheck, file: Path, manifest: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    kcheck("accept")
    assert file.exists()
    made: list[str] = []

    def noted(keys: Any, _tell: object) -> dict[str, str]:
        made.extend(one.name for one in keys)
        return {one.name: "anew" for one in keys}

    monkeypatch.setattr(verb, "system_facts", noted)
    assert kcheck("accept", "pair").exit_code == 0
    assert made == ["system pair AS_CODED"]
    assert accepted()["system pair AS_CODED"] == "anew"
    assert accepted()["system solo AS_CODED"] != "anew"
    assert kcheck("accept", "pare").exit_code == 2
    del manifest["solo"]["expect"]["AS_CODED"]
    kcheck("accept", "pair")
    assert "system solo AS_CODED" not in accepted()


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a folder that nobody can write to, root neither")
def test_where_nothing_can_be_written_nobody_waits_for_minutes(
    kcheck: Kcheck, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verb, "FILE", Path("/proc/inventory.txt"))
    result = kcheck("accept")
    assert (result.exit_code, result.stdout) == (4, "")
    assert result.stderr == (
        "kcheck: /proc/inventory.txt cannot be written; accept in a checkout of the repository that is yours\n"
    )
    assert not file.exists()
