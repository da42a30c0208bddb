"""A run over a small checkout: what becomes of each mutant is known, and whatever fails anyway notices none."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from model_check.mutation.answers import Baseline, Stopped, answered
from model_check.mutation.fates import Kind, fate
from model_check.mutation.known import EQUIVALENT, OPEN, Known
from model_check.mutation.mutating import Mutating, ask, drawn_from, subjects
from model_check.mutation.mutation_report import document
from model_check.mutation.questions import Question
from model_check.mutation.trees import checkout_files, copied
from model_check.verdicts.verdict import Verdict
from model_check.waiting.board import Lines
from spec.errors import BadInput
from tests.model_check.mutation.small_checkout import FILES, small_checkout

LEAST = "model_check/least.py"


def asked(root: Path, run: Mutating, seconds: float = 60, stop: Callable[[], bool] = lambda: False) -> dict[str, str]:
    """The kind of each mutant's fate, by its change, as two copies find it."""
    before = {path: (root / path).read_bytes() for path in FILES}
    ask(run, 2, seconds, stop, Lines(len(run.mutants)))
    assert {path: (root / path).read_bytes() for path in FILES} == before
    return {one.mutant.change.rpartition("-> ")[2]: one.fate.kind for one in run.made}


@pytest.mark.takes("It starts pytest for each of three mutants, and again for what fails.")
def test_what_becomes_of_each_mutant_is_as_it_must_be(tmp_path: Path) -> None:
    root = small_checkout(tmp_path)
    run = drawn_from(subjects([LEAST], root), None, "1")
    assert asked(root, run) == {
        "return None": Kind.CAUGHT,
        "a >= b": Kind.CAUGHT,
        "a <= b": Kind.SURVIVED,  # it gives the same
    }
    found = document(run)
    assert (found.verdict, found.exit_code) == (Verdict.VIOLATED, 1)
    (told,) = [one for one in found.runs[0].findings if one.verdict is Verdict.VIOLATED]
    assert (told.source, told.statement) == (
        f"{LEAST}:2", "- return a if a < b else b\n+ return a if (a <= b) else b",
    )  # fmt: skip
    assert told.reason.startswith("survived: asked: loads, mirroring tests, nearby tests; not asked: ")
    by = {one.fate.why for one in run.made if one.fate.kind is Kind.CAUGHT}
    assert by == {"tests/model_check/test_least.py::test_of_two"}


@pytest.mark.takes("It starts pytest several times.")
def test_known_mutants_are_not_asked_or_expected_and_change_the_verdict(tmp_path: Path) -> None:
    run = drawn_from(subjects([LEAST], small_checkout(tmp_path)), None, "1", "a <= b")
    (mutant,) = run.mutants
    for kind, found_kind, expected in ((EQUIVALENT, Kind.EQUIVALENT, ""), (OPEN, Kind.SURVIVED, Verdict.VIOLATED)):
        run.made.clear()
        run.known = {mutant.name: Known(mutant.name, kind, "Equals are the same.")}
        assert asked(tmp_path, run) == {"a <= b": found_kind}
        found = document(run)
        (told,) = found.runs[0].findings
        assert (found.exit_code, told.expected) == (0, expected)
        assert told.reason.endswith("Equals are the same.")


@pytest.mark.takes("It starts pytest twice.")
def test_what_fails_without_any_mutant_notices_none_and_is_an_error(tmp_path: Path) -> None:
    root = small_checkout(tmp_path, test_least="def test_of_two():\n    assert False\n")
    run = drawn_from(subjects([LEAST], root), None, "1", "None")
    assert asked(root, run) == {}
    found = document(run)
    assert (found.verdict, found.exit_code) == (Verdict.ERROR, 4)
    (error,) = [one for one in found.runs if one.verdict is Verdict.ERROR]
    assert "tests/model_check/test_least.py::test_of_two` fails" in error.reason
    assert "make that pass first" in error.reason


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "change", "kind"),
    [
        ("n = 3\nwhile n > 0:\n    n = n - 1\n", "n - 1 -> n + 1", Kind.CAUGHT),
        ("import time\n\ntime.sleep(60 + 1)\n", "60 + 1 -> 60 - 1", Kind.UNDECIDED),
    ],
)
def test_what_hangs_is_caught_if_it_does_not_hang_anyway(text: str, change: str, kind: Kind, tmp_path: Path) -> None:
    root = small_checkout(tmp_path, least=text)
    (mutant,) = drawn_from(subjects([LEAST], root), None, "1", change).mutants
    runs = Question("runs", (sys.executable, LEAST))
    with copied(checkout_files(root), root) as copy:
        found = fate(mutant, text.encode(), [runs], copy, Baseline(4, lambda: False))
    assert found.kind is kind
    assert found.why.startswith({Kind.CAUGHT: "runs: no answer in 4 s", Kind.UNDECIDED: "too long"}[kind])


def test_ctrl_c_ends_it_with_what_was_found(tmp_path: Path) -> None:
    root = small_checkout(tmp_path)
    run = drawn_from(subjects([LEAST], root), None, "1")
    assert asked(root, run, stop=lambda: True) == {}
    found = document(run)
    assert (found.verdict, found.exit_code) == (Verdict.INCOMPLETE, 3)
    assert found.runs[0].reason == "interrupted: 0 of 3 mutants were asked about"


def test_a_command_that_is_stopped_leaves_no_process(tmp_path: Path) -> None:
    written = tmp_path / "pid"
    code = f"import os, time; open({str(written)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    with pytest.raises(Stopped):
        answered([sys.executable, "-c", code], tmp_path, 60, lambda: written.exists() and bool(written.read_text()))
    assert not Path(f"/proc/{written.read_text()}").exists()


@pytest.mark.parametrize("path", ["tests", "model_check/none.py", "model_check/leas", "../model_check"])
def test_what_is_no_module_to_change_is_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no module of spec, reference, model_check is there"):
        subjects([path], small_checkout(tmp_path))


def test_paths_name_files_or_folders_each_module_once(tmp_path: Path) -> None:
    root = small_checkout(tmp_path)
    assert [*subjects(["./model_check/", LEAST], root).sources] == [
        "model_check/__init__.py", LEAST, "model_check/using.py",
    ]  # fmt: skip
    with pytest.raises(BadInput, match="'none' is in its title"):
        drawn_from(subjects([LEAST], root), None, "1", "none")
