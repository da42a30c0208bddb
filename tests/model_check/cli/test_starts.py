"""What a verb loads: exactly the large libraries, and parts of ours, that it needs; so no start gets slow unnoticed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from model_check.judging.shipped_recordings import unpacked

ROOT = Path(__file__).resolve().parents[3]

LARGE = frozenset({
    "hypothesis", "kazoo", "llvmlite", "networkx", "numba", "numpy", "py4j", "pyarrow", "pydantic", "pyspark", "pytest",
    "reference", "rich", "statemachine", "z3",
})  # fmt: skip
RULES_ON_NUMBERS = "rules on numbers"
"""That the rules were read once more: stories, judgements and replays run them."""

PROGRAM = f"""
import sys
from model_check.cli import main
sys.argv = ["kcheck", *sys.argv[1:]]
try:
    main()
finally:
    loaded = {set(LARGE)!r} & sys.modules.keys()
    stepping = sys.modules.get("model_check.stepping.plain_rules")
    if stepping and stepping.plain_rules.cache_info().currsize:
        loaded.add({RULES_ON_NUMBERS!r})
    print(*sorted(loaded), sep=", ", file=sys.stderr)
"""

TERMS = frozenset({"pydantic", "z3"})
"""pydantic is typer's, which reads options with it."""
SEARCH = TERMS | {"llvmlite", "numba", "numpy"}
BOTH_SIDES = TERMS | {"reference", "statemachine"}

LOADED = {
    "--help": frozenset[str](),
    "show tables": TERMS,
    "show scopes": TERMS,
    "explore bounce": SEARCH,
    "explore bounce --property recoverable_live_replicas_are_informed": SEARCH | {RULES_ON_NUMBERS},
    "defects D12": SEARCH | {RULES_ON_NUMBERS},
    "prove bounce --property leader_epoch_never_goes_back": TERMS,
    "refine bounce": SEARCH | BOTH_SIDES | {RULES_ON_NUMBERS},
    "simulate bounce --runs 1 --steps 1": SEARCH | BOTH_SIDES | {"hypothesis"},
    # Of the reference, judging has what ZooKeeper's transactions are.
    "judge {recordings}/33-D54-connectionloss-on-create": TERMS | {"reference", RULES_ON_NUMBERS},
    "matrix --help": TERMS,
    "enumerate --help": TERMS,
    "live --help": BOTH_SIDES,
    "verify --help": BOTH_SIDES,
}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """That of a pipe, with a cache folder that all of these share: what is compiled is compiled once.

    Hypothesis loads what other installed libraries bring along for it (trio's part loads pytest); that is not ours.
    """
    others = {name: value for name, value in os.environ.items() if name not in {"FORCE_COLOR", "TTY_COMPATIBLE"}}
    return {**others, "KCHECK_CACHE": str(tmp_path_factory.mktemp("kcheck")), "HYPOTHESIS_NO_PLUGINS": "1"}


SELDOM = {
    "show tables", "defects D12",
    "show scopes", "explore bounce --property recoverable_live_replicas_are_informed", "matrix --help",
    "prove bounce --property leader_epoch_never_goes_back", "enumerate --help", "live --help",
    "refine bounce", "simulate bounce --runs 1 --steps 1", "verify --help",
    "judge {recordings}/33-D54-connectionloss-on-create",
}  # fmt: skip
"""What each of these needs others need, too, or nobody is promised how soon it starts."""


@pytest.mark.parametrize("line", [pytest.param(one, marks=[pytest.mark.slow] * (one in SELDOM)) for one in LOADED])
@pytest.mark.takes("It starts a process, which loads all that a verb needs, and runs the verb.")
def test_a_verb_loads_what_it_needs_and_nothing_else(line: str, environment: dict[str, str]) -> None:
    with unpacked() as recordings:
        words = [word.format(recordings=recordings) for word in line.split()]
        command = [sys.executable, "-c", PROGRAM, *words]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == ", ".join(sorted(LOADED[line]))
