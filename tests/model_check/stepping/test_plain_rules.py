"""The rules read once more: all of them, and compiled earlier they are the same as compiled now."""

from collections.abc import Mapping
from pathlib import Path
from types import CodeType

import pytest

from model_check.stepping import plain_modules, plain_rules
from spec.system import rules


def test_every_rule_is_read_once_more() -> None:
    read = plain_rules.plain_rules()
    assert list(read) == [rule.name for rule in rules()]
    assert all(rule.function is not read[rule.name].function for rule in rules())


def test_rules_compiled_earlier_are_those_compiled_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCHECK_CACHE", str(tmp_path))

    def codes() -> Mapping[str, CodeType]:
        plain_rules._reader.cache_clear()
        return {name: one.function.__code__ for name, one in plain_rules.plain_rules.__wrapped__().items()}

    compiled, kept = codes(), codes()
    assert kept == compiled
    assert len(list((tmp_path / "code").glob("plain-spec.protocol.*"))) > 40


def test_rules_are_compiled_again_where_what_changes_them_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its change, `with when` stays: the code kept with it is not taken for it."""
    monkeypatch.setenv("KCHECK_CACHE", str(tmp_path))
    name = "spec.protocol.brokers.processes"
    changed = plain_modules._code(name)
    monkeypatch.setattr(plain_modules, "OWN_TEXT", b"another text of it")
    monkeypatch.setattr(plain_modules._Branches, "visit", lambda _, tree: tree)
    assert plain_modules._code(name) != changed
