"""Which systems have other terms than the accepted ones: found, kept, and found again where code or bounds changed."""

from functools import cache
from pathlib import Path

import pytest

from model_check.inventory import changed_terms as module
from model_check.inventory import known_terms, sources, system_facts
from model_check.inventory.changed_terms import TERMS, changed_terms, parts_of_fact, terms_of_fact
from model_check.inventory.known_terms import Parts, code_digest
from model_check.inventory.system_facts import SystemKey, system_fact
from spec.scopes import scope
from spec.variants import AS_CODED, FENCED

KEYS = [SystemKey("bounce", AS_CODED), SystemKey("removal", FENCED)]
"""Small ones, which are soon built."""


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The systems that were built, with an empty cache."""
    monkeypatch.setenv("KCHECK_CACHE", str(tmp_path))
    names = list[str]()

    def noting(key: SystemKey) -> Parts:
        names.append(key.name)
        return {part: one for part, one in parts_of_fact(fact(key)).items() if part != known_terms.WORDS}

    monkeypatch.setattr(module, "parts_of_system", noting)
    return names


@cache
def fact(key: SystemKey) -> str:
    """That of a system, which stays the same while these tests run."""
    return system_fact(key.built())


def facts() -> dict[str, str]:
    return {one.name: fact(one) for one in KEYS}


def test_the_terms_of_a_system_are_those_of_its_fact() -> None:
    parts = module.parts_of_system(KEYS[0])
    assert parts.items() <= parts_of_fact(fact(KEYS[0])).items()
    assert set(TERMS) < parts.keys()


def found(accepted: dict[str, str]) -> list[bool]:
    pairs = list(changed_terms(KEYS, accepted))
    assert [key for key, _ in pairs] == KEYS
    return [is_changed for _, is_changed in pairs]


def test_a_system_is_changed_if_any_part_of_its_terms_is(built: list[str]) -> None:
    known = facts()
    assert found(known) == [False, False]
    for part in TERMS:
        other = {**known, KEYS[1].name: known[KEYS[1].name].replace(f"{part} ", f"{part} 0")}
        assert found(other) == [False, True]
    for part in ("words", "observations"):
        other = {**known, KEYS[1].name: known[KEYS[1].name].replace(f"{part} ", f"{part} 0")}
        assert found(other) == [False, False]
    assert found({}) == [True, True]
    assert built == [one.name for one in KEYS], "once each"


def test_a_system_that_is_asked_for_twice_is_built_once_and_taken_for_no_other(built: list[str]) -> None:
    assert not [key for key, is_changed in changed_terms([KEYS[0], *KEYS], facts()) if is_changed]
    assert built == [one.name for one in KEYS]


def test_other_code_is_built_again_and_other_words_are_not(built: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    known = facts()
    found(known)
    monkeypatch.setattr(known_terms, "files_digest", lambda: "other words")
    assert found(known) == [False, False]
    assert len(built) == 2
    monkeypatch.setattr(known_terms, "files_digest", lambda: "other code")
    monkeypatch.setattr(known_terms, "code_digest", lambda: "other code")
    assert found(known) == [False, False]
    assert len(built) == 4


def test_a_scope_of_other_bounds_is_built_again(built: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    known = facts()
    found(known)
    monkeypatch.setattr(known_terms, "scope", lambda name: scope("tiny") if name == KEYS[1].scope else scope(name))
    found(known)
    assert built[2:] == [KEYS[1].name]


def test_nothing_is_kept_once_a_file_was_edited(built: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "are_as_loaded", lambda: False)
    for number in (2, 4):
        found(facts())
        assert len(built) == number


@pytest.mark.parametrize("content", ["", "{", "[]", '{"files": 1, "code": 2}', '{"system": "x", "actions": "0"}'])
def test_a_damaged_file_tells_nothing(built: list[str], tmp_path: Path, content: str) -> None:
    found(facts())
    files = list((tmp_path / "terms").iterdir())
    assert len(files) == 3, "one for the code, one for each system"
    for file in files:
        file.write_text(content, encoding="utf-8")
    assert found(facts()) == [False, False]
    assert len(built) == 4
    assert found(facts()) == [False, False]
    assert len(built) == 4


@pytest.mark.slow
@pytest.mark.takes("Two processes start, and build a system each.")
def test_several_processes_find_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KCHECK_CACHE", str(tmp_path))
    monkeypatch.setattr(system_facts, "FEW", 1)
    assert found(facts()) == [False, False]


def test_the_digest_of_the_code_is_of_what_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {
        "plain": '"""Doc."""\nx = 1  # why\ndef f():\n    """Doc."""\n    return x\n',
        "other words": '"""Other."""\n\nx = 1\n\n\ndef f():\n    """Another."""\n    return x\n',
        "other code": '"""Doc."""\nx = 2\ndef f():\n    return x\n',
    }
    digests = {}
    for name, text in texts.items():
        monkeypatch.setattr(known_terms, "_sources", lambda text=text: iter([("spec/a.py", text)]))
        digests[name] = code_digest()
    assert digests["plain"] == digests["other words"] != digests["other code"]


def test_the_parts_of_what_is_to_be_proved_are_also_those_of_the_lemmas() -> None:
    key = SystemKey("proof_preferred_election", FENCED, proving=True)
    built = key.built()
    parts, fact = known_terms.parts_of(built), parts_of_fact(system_fact(built))
    assert "lemmas" in parts
    assert fact.keys() - parts.keys() == {"words"}
    assert parts.items() <= fact.items()


def test_the_terms_of_a_fact_are_read_from_it() -> None:
    fact = "3 variables, 2 actions, 1 claims: variables a, actions b, claims c, rows d, observations e, words f"
    assert terms_of_fact(fact) == {"variables": "a", "actions": "b", "claims": "c", "rows": "d"}
    assert terms_of_fact("") == {}


def test_the_files_that_decide_what_a_digest_is_count() -> None:
    """A name in that list that no file has would go unnoticed."""
    assert {path for path, _ in known_terms._sources()} > {*known_terms.DIGESTS_BY}
