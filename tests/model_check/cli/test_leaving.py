"""The end of the program: all is said and put away, nothing is taken apart, and the exit code is the verb's."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

PROGRAM = """
import atexit, os
from model_check.cli import main, verbs

class Held:
    def __del__(self, write=os.write):  # sys.stdout may be gone by then
        write(1, b"taken apart\\n")

held = Held()

def app(prog_name):
    print("said", end=", ")
    atexit.register(print, "put away")
    {ending}

verbs.app = app
main()
"""


def ended(ending: str) -> tuple[int, str]:
    """The exit code and the output of a program whose verbs end so."""
    command = [sys.executable, "-c", PROGRAM.format(ending=ending)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout


@pytest.mark.parametrize("code", [0, 3])
def test_a_verb_that_says_how_it_ended_ends_the_program_at_once(code: int) -> None:
    assert ended(f"raise SystemExit({code})") == (code, "said, put away\n")


@pytest.mark.parametrize("ending", ["raise SystemExit('bad')", "raise RuntimeError", "return"])
def test_any_other_end_is_pythons(ending: str) -> None:
    code, said = ended(ending)
    assert said == "said, put away\ntaken apart\n"
    assert code == (0 if ending == "return" else 1)
