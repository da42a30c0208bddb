"""What compares is a fact: who makes a claim of recordings, the refinement or a check compare less is found."""

from dataclasses import replace

import pytest

from model_check.inventory.accepted import accepted
from model_check.inventory.changes import changes
from model_check.inventory.comparers import COMPARERS, code_of, comparer_facts
from model_check.inventory.sources import sources
from model_check.monitors.check import CLAIMS
from model_check.monitors.claims import Needs

FACTS = ("recorded claim ", "module ")
"""How the names of these facts begin."""


def changed(edited: dict[str, bytes] | None = None) -> list[str]:
    """The facts that are not as accepted, where some files have other texts."""
    known = {name: told for name, told in accepted().items() if name.startswith(FACTS)}
    return [one.name for one in changes(known, dict(comparer_facts({**sources(), **(edited or {})})))]


def test_what_is_not_edited_is_as_accepted() -> None:
    assert changed() == []


WEAKER = {
    "a claim of recordings always holds": (
        "model_check/monitors/leadership.py", "def clean_leaders_were_in_sync(history: History) -> Answers:\n",
        "def clean_leaders_were_in_sync(history: History) -> Answers:\n    return iter([None])\n",
    ),
    "a fingerprint leaves out two parts": (
        "model_check/refinement/memories.py", "(process.departure, process.allowed)", "()",
    ),
    "a comparison is not made": (
        "model_check/checks/live_checks.py", "comparisons=(met, done)", "comparisons=(met,)",
    ),
    "a judgement does not ask": (
        "model_check/judging/not_asked.py", '"busy_topics": "', '"connections": "", "busy_topics": "',
    ),
}  # fmt: skip


@pytest.mark.parametrize("edit", WEAKER)
def test_who_compares_less_is_named(edit: str) -> None:
    path, text, instead = WEAKER[edit]
    before = sources()[path].decode()
    assert before.count(text) == 1
    assert changed({path: before.replace(text, instead).encode()}) == [f"module {path} / code"]


def test_a_claim_that_is_asked_no_more_or_of_less_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, *others = CLAIMS
    fewer = (replace(second, needs=Needs.REST_AND_REQUESTS), *others)
    monkeypatch.setattr("model_check.inventory.comparers.CLAIMS", fewer)
    gone = f"recorded claim {first.name}"
    assert sorted(changed()) == sorted([gone, f"{gone} / words", f"recorded claim {second.name}"])


def test_words_and_empty_lines_are_no_code_and_all_else_is() -> None:
    plain = 'def f():\n    """Doc."""\n    return "a"  # why\n'
    assert code_of('"""Words,\nof two lines."""\n\n# more\n' + plain) == code_of(plain)
    assert code_of(plain.replace('"a"', '"b"')) != code_of(plain)
    assert code_of(plain.replace("    return", "return")) != code_of(plain)


@pytest.mark.parametrize(
    ("code", "other"),
    [
        ('def f():\n    """Doc."""; return 1\n', 'def f():\n    """Doc."""; return 2\n'),
        ('def f(): "Doc."\n', 'def g(): "Doc."\n'),
        ('TEXT = """a\n# b\n"""\n', 'TEXT = """a\n# c\n"""\n'),
        ('TEXT = f"""{a}\n\n# b"""\n', 'TEXT = f"""{a}\n# b"""\n'),
        ('# \u2028\nX = 1\n"""Of X."""\n', '# \u2028\nX = 2\n"""Of X."""\n'),
    ],
)
def test_what_only_looks_like_words_is_code(code: str, other: str) -> None:
    """Beside a docstring, within a text, behind what only Python's own `splitlines` takes for the end of a line."""
    assert code_of(code) != code_of(other)


def test_every_name_is_that_of_a_folder_or_file() -> None:
    assert [one for one in COMPARERS if not any(path.startswith(one) for path in sources())] == []
