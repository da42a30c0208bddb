"""Loops that were compiled earlier: given back without numba's compiler, and mixed with what is compiled only now."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

LOOPS = """
from model_check.kernel.native import loop, tight_loop

@tight_loop
def double(number):
    return number + number

@loop
def quadruple(numbers):
    made = numbers.copy()
    for place in range(len(numbers)):
        made[place] = double(double(numbers[place]))
    return made
"""

RUN = """
import sys
import numpy as np
from loops import double, quadruple

found = [one(given) for one, given in {calls}]
hits = [sum(one.stats.cache_hits.values()) for one in (double, quadruple)]
print(*found, hits, "numba.np.linalg" in sys.modules)
"""
DOUBLE, QUADRUPLE = "(double, 3)", "(quadruple, np.arange(3))"


@pytest.mark.slow
@pytest.mark.takes("Four processes start, and two of them compile.")
def test_what_is_kept_is_given_back_without_what_compiling_needs(tmp_path: Path) -> None:
    (tmp_path / "loops.py").write_text(LOOPS)

    def told(*calls: str) -> str:
        """What calls give, how often each function was there already, and whether anything for compiling was loaded."""
        command = [sys.executable, "-c", RUN.format(calls=f"[{', '.join(calls)}]")]
        env = {"PYTHONPATH": f"{ROOT}:{tmp_path}", "NUMBA_CACHE_DIR": str(tmp_path)}
        return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout

    assert told(DOUBLE) == "6 [0, 0] True\n"
    assert told(DOUBLE) == "6 [1, 0] False\n"
    assert told(DOUBLE, QUADRUPLE) == "6 [0 4 8] [1, 0] True\n", "one is there, and the other compiled with it"
    assert told(QUADRUPLE, DOUBLE) == "[0 4 8] 6 [1, 1] False\n"


ANEW = """
from model_check.kernel import cache
cache.can_keep = lambda _: False
from loops import double

print(double(3), sorted(cache.lacking))
"""


@pytest.mark.slow
def test_where_nothing_can_be_kept_loops_are_compiled_anew(tmp_path: Path) -> None:
    """In a checkout that is read only, without a home."""
    (tmp_path / "loops.py").write_text(LOOPS)
    env = {"PYTHONPATH": f"{ROOT}:{tmp_path}"}
    made = subprocess.run([sys.executable, "-c", ANEW], env=env, capture_output=True, text=True, check=True)
    assert made.stdout == "6 ['compiled loops']\n"
