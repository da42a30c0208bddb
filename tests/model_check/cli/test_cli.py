"""The command line as a whole: help that teaches, and a real process."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from model_check.cli import failures
from model_check.cli.verbs import VERBS, described, loaded
from tests.model_check.cli.conftest import Kcheck

ROOT = Path(__file__).resolve().parents[3]
TAUGHT = ("verify", "check", "explore", "enumerate", "prove", "defects", "replay", "campaign", "mutate")


def process(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `kcheck` as a process of its own, from this checkout."""
    command = [sys.executable, "-c", "from model_check.cli import main; main()", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)


def test_the_entry_point_is_the_one_that_is_installed() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'kcheck = "model_check.cli:main"' in text


def test_a_process_shows_the_scopes_without_colour_in_a_pipe() -> None:
    done = process("show", "scopes")
    assert (done.returncode, done.stderr) == (0, "")
    assert "tiny: " in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.slow
def test_a_reader_who_has_gone_away_makes_an_error_and_no_violation() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-c", "from model_check.cli import main; main()", "show", "tables"]
    done = subprocess.run(command, cwd=ROOT, stdout=writer, stderr=subprocess.PIPE, text=True, check=False, timeout=120)
    os.close(writer)
    assert (done.returncode, done.stderr) == (4, "")


def test_a_process_refuses_bad_input_without_a_traceback() -> None:
    done = process("explore", "nowhere")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("kcheck: no scope is called 'nowhere' (`kcheck show scopes` lists all ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments", [["--help"], ["shwo"]])
def test_help_and_a_typo_wait_for_no_engine(arguments: list[str]) -> None:
    code = f"""
import sys
from model_check.cli import main
sys.argv = ["kcheck", *{arguments!r}]
try:
    main()
finally:
    print(sorted({{"z3", "numba", "pyspark", "llvmlite"}} & sys.modules.keys()), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr.endswith("[]\n")
    assert ("Commands:" in done.stdout) or ("Did you mean 'show'?" in done.stderr)


@pytest.mark.parametrize("verb", VERBS)
def test_the_list_of_verbs_says_what_each_says_of_itself(verb: str) -> None:
    assert described(verb).split("\n")[0] == str(loaded(verb).help).split("\n")[0]


@pytest.mark.parametrize("arguments", [["--nonsense"], ["nonsense"], ["explore"], ["explore", "solo", "--limit", "0"]])
def test_bad_usage_is_2(kcheck: Kcheck, arguments: list[str]) -> None:
    assert kcheck(*arguments).exit_code == 2


@pytest.mark.parametrize("verb", TAUGHT)
def test_every_verb_teaches_by_example(kcheck: Kcheck, verb: str) -> None:
    lines = kcheck(verb, "--help").stdout.splitlines()
    start = lines.index("  For example:")
    assert lines[start + 1].startswith(f"    kcheck {'explore' if verb == 'replay' else verb}")


@pytest.mark.parametrize(
    "verb", ["check", "explore", "prove", "refine", "simulate", "defects", "matrix", "judge", "logs", "live", "mutate"]
)
def test_every_long_verb_says_that_it_begins_anew_after_ctrl_c(kcheck: Kcheck, verb: str) -> None:
    said = " ".join(kcheck(verb, "--help").stdout.split())
    assert re.search("Ctrl-C ends .* INCOMPLETE.* [Tt]he same command begins anew", said)


def test_the_help_names_every_exit_code_and_every_verb(kcheck: Kcheck) -> None:
    shown = kcheck("--help").stdout
    assert "0 all as expected, 1 violated, 2 bad usage or input, 3 incomplete, 4 error" in shown
    assert all(f"\n  {verb} " in shown for verb in (*TAUGHT, "show", "export"))


def test_what_cannot_be_kept_is_told_once_as_a_verb_ends(kcheck: Kcheck, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "lacking", {"compiled loops"})
    result = kcheck("show", "tables")
    told = "compiled loops could not be kept for the next time; name a folder that can be written in KCHECK_CACHE"
    assert (result.exit_code, result.stderr) == (0, f"kcheck: {told}\n")
